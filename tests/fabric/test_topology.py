"""Sizing rules, by hand and by properties: ports never oversold, links balanced, counts that only grow."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import AdvisorError
from app.fabric.topology import Topology, size_fabric
from app.fabric.tree import smallest_divisor
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")


def size(gpus: int, fabric: str = "infiniband", **options: object) -> Topology:
    return size_fabric(CATALOG, gpus=gpus, fabric=fabric, **options)  # type: ignore[arg-type]


def counts(t: Topology) -> tuple[int, int, int]:
    return t.leaf_switches, t.spine_switches, t.core_switches


def test_spines_divide_the_uplinks_of_a_leaf() -> None:
    # NVIDIA's 3-SU row: 24 leaves x 32 uplinks / 64 ports = 12, but 12 does not divide 32.
    assert smallest_divisor(32, 12) == 16
    assert counts(size(760)) == (24, 16, 0)
    # B300 XDR, 4 SU: 32 x 72 / 144 = 16 does not divide 72; 18 does.
    assert counts(size(2304, gbps_per_gpu=800)) == (32, 18, 0)


@pytest.mark.parametrize(
    ("gpus", "switch", "tiers", "max_gpus"),
    [
        (64, "qm9700", 1, 64),
        (65, "qm9700", 2, 64 * 64 // 2),
        (2048, "qm9700", 2, 2048),
        (2049, "qm9700", 3, 64**3 // 4),
        (65536, "qm9700", 3, 65536),
    ],
)
def test_tiers_and_their_limits(gpus: int, switch: str, tiers: int, max_gpus: int) -> None:
    t = size(gpus, switch=switch)
    assert (t.tiers, t.max_gpus, t.switch_max_gpus) == (tiers, max_gpus, 65536)


@pytest.mark.parametrize(("switch", "speed", "two_tiers"), [("sn5600", 400, 8192), ("q3400", 800, 10368)])
def test_two_tier_limit_is_half_the_radix_squared(switch: str, speed: int, two_tiers: int) -> None:
    fabric = "roce" if switch == "sn5600" else "infiniband"
    assert size(1024, fabric, switch=switch, gbps_per_gpu=speed).max_gpus == two_tiers


def test_two_switches_back_to_back_as_in_basepod() -> None:
    for gpus, between in ((32, 16), (64, 32)):
        t = size(gpus)
        assert (t.layout, counts(t), t.node_leaf_links, t.leaf_spine_links) == (
            "back-to-back",
            (2, 0, 0),
            gpus,
            between,
        )
    single = size(64, single_switch=True)
    assert (single.layout, single.switches, single.leaf_spine_links) == ("single-switch", 1, 0)


def test_three_tiers_of_one_tree_against_separate_rails() -> None:
    # 4,096 GPUs, radix 64: one tree 5N/r = 320 switches, eight rails 3N/r = 192. Both are published.
    tree, rails = size(4096), size(4096, topology="rail-only")
    assert (tree.switches, tree.tiers) == (5 * 4096 // 64, 3)
    assert (rails.switches, rails.tiers, rails.max_gpus) == (3 * 4096 // 64, 2, 8 * 2048)
    assert any("Separate rails" in note.en for note in rails.assumptions)
    assert any("One connected tree" in note.en for note in tree.assumptions)


def test_rail_only_in_one_tier_is_one_switch_a_rail() -> None:
    assert counts(size(512, topology="rail-only")) == (8, 0, 0)
    assert size(512, topology="rail-only").max_gpus == 512
    assert counts(size(64, topology="rail-only", whole_units=False)) == (
        1,
        0,
        0,
    )  # all eight rails in one box


def test_two_planes_are_two_networks() -> None:
    # B300 Spectrum-X: 512 GPUs with 2 x 400G have 1,024 links; the published 512 are cables of two links.
    t = size(512, "roce", gbps_per_gpu=800, planes=2)
    assert (counts(t), t.link_gbps, t.node_leaf_links, t.leaf_spine_links) == ((16, 8, 0), 400, 1024, 1024)


def test_breakout() -> None:
    assert (size(512, gbps_per_gpu=200).radix, size(512, gbps_per_gpu=100).radix) == (128, 128)
    assert (size(512, "roce").radix, size(512, "roce", gbps_per_gpu=200).radix) == (128, 256)
    assert (size(512, "roce").links_per_cage, size(512, "roce", gbps_per_gpu=800).links_per_cage) == (2, 1)
    assert size(512, gbps_per_gpu=800).switch.id == "q3400"


def test_cages_filled_and_cages_needed() -> None:
    # H100 4 SU: 127 nodes and 4 UFM links. 28 leaves use 64 ports, 4 use 63: all 32 cages of each are filled.
    t = size(1016, reserved_ports=4)
    assert sum(count for count, links in t.leaf_loads if links == 32) == 28
    assert sum(count for count, links in t.leaf_loads if links == 31) == 4
    assert t.cages_used == 48 * 32 == 1536
    assert (t.node_leaf_links + t.reserved_ports + 2 * t.leaf_spine_links) / 2 == 1534


def test_whole_units_and_exact_counts() -> None:
    whole, exact = size(256, "roce"), size(256, "roce", whole_units=False)
    assert (counts(whole), whole.sized_for_gpus) == ((8, 4, 0), 512)
    assert (counts(exact), exact.sized_for_gpus) == ((4, 2, 0), 256)  # two rails share a leaf
    assert any("12 switches, 6 with exact counts" in note.en for note in whole.assumptions)
    assert counts(size(256, gbps_per_gpu=800, whole_units=False)) == (4, 2, 0)


def test_reserved_ports_take_a_node_position() -> None:
    assert counts(size(248, reserved_ports=4)) == (8, 4, 0)  # 31 nodes and UFM fill one unit
    assert counts(size(256, reserved_ports=4)) == (16, 8, 0)  # a 32nd node needs a second one


def test_room_to_grow() -> None:
    # Sized for 2,048 (64 leaves, 32 spines), populated with 1,000: 125 nodes are cabled, the fabric is whole.
    t = size(1000, grow_to=2048)
    assert (counts(t), t.node_leaf_links, t.leaf_spine_links) == ((64, 32, 0), 1000, 2048)
    assert t.sized_for_gpus == 2048
    assert sum(count * links for count, links in t.leaf_loads) == 1000
    assert any("built for 2,048 GPUs; 1,000 are there" in note.en for note in t.assumptions)
    assert counts(size(64, grow_to=512)) == counts(size(512))
    pair = size(16, grow_to=64)
    assert (pair.layout, pair.leaf_spine_links, pair.node_leaf_links) == ("back-to-back", 32, 16)


def test_oversubscription() -> None:
    # SemiAnalysis: 1,024 GPUs need 16 spines at 1:1 and 8 at 2:1, with 32-node groups in both.
    assert counts(size(1024, oversubscription=2)) == (32, 8, 0)
    assert size(1024, oversubscription=2).leaf_spine_links == 512
    # 7:1 above the spines, as Meta's RoCE cluster: a seventh of the links go on to the cores.
    t = size(24576, "roce", core_oversubscription=7)
    assert t.leaf_spine_links == 24576
    assert t.spine_core_links == pytest.approx(24576 / 7, rel=0.01)


def test_nics_per_gpu_and_domains() -> None:
    double = size(256, nics_per_gpu=2, gbps_per_gpu=800, switch="qm9700")
    assert (double.ports, double.rails, double.link_gbps) == (512, 8, 400)
    half = size(256, nics_per_gpu=0.5, gbps_per_gpu=200, switch="qm9700")
    assert (half.ports, half.rails, half.link_gbps) == (128, 4, 400)
    assert size(576, gpus_per_node=72).rails == 4  # compute trays of four GPUs
    assert size(64, gpus_per_node=4).rails == 4


def test_gpus_that_are_not_whole_nodes() -> None:
    t = size(100)
    assert (t.nodes, t.node_leaf_links) == (13, 104)
    assert any("13 nodes" in note.en and "13 个节点" in note.zh for note in t.assumptions)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"gpus": 0}, "gpus_out_of_range", "65,536"),
        ({"gpus": -8}, "gpus_out_of_range", "-8"),
        ({"gpus": 10_000_000}, "gpus_out_of_range", "q3400 carries 746,496"),
        ({"gpus": 1_000_000, "fabric": "roce"}, "gpus_out_of_range", "sn6600 carries 4,194,304"),
        ({"gpus": 64, "switch": "qm97000"}, "unknown_switch", "qm9700"),
        ({"gpus": 64, "switch": "sn5600"}, "switch_of_other_fabric", "qm9700"),
        ({"gpus": 64, "switch": "sn2201"}, "switch_of_other_fabric", "qm9700"),
        ({"gpus": 64, "switch": "qm9700", "gbps_per_gpu": 800}, "switch_too_slow", "q3400"),
        ({"gpus": 64, "gbps_per_gpu": 300}, "bad_value", "400"),
        ({"gpus": 64, "planes": 0}, "bad_value", "planes"),
        ({"gpus": 64, "gpus_per_node": 0}, "bad_value", "gpus_per_node"),
        ({"gpus": 64, "oversubscription": 0.0}, "bad_value", "oversubscription"),
        ({"gpus": 64, "oversubscription": float("nan")}, "bad_value", "oversubscription"),
        ({"gpus": 64, "topology": "torus"}, "bad_value", "rail-only"),
        ({"gpus": 64, "fabric": "token-ring"}, "bad_value", "roce"),
        ({"gpus": 64, "nics_per_gpu": 0.3}, "bad_value", "nics_per_gpu"),
        ({"gpus": 64, "rails": 3}, "bad_value", "1, 2, 4, 8"),
        ({"gpus": 64, "grow_to": 70_000}, "gpus_out_of_range", "70,000"),
    ],
)
def test_bad_input_is_one_line_with_a_remedy(options: dict[str, object], code: str, words: str) -> None:
    with pytest.raises(AdvisorError) as caught:
        size(**{"fabric": "infiniband", **options})  # type: ignore[arg-type]
    assert caught.value.code == code
    assert words in str(caught.value)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_the_limit_is_a_value_of_the_error() -> None:
    with pytest.raises(AdvisorError) as caught:
        size(70_000)
    found = caught.value.values
    assert (found["gpus"], found["limit"], found["switch"]) == (70_000, 65_536, "NVIDIA Quantum-2 QM9700")
    assert "65,536" in str(found["advice"]) and "q3400" in str(found["advice"])
    assert size(65_536).switches == 5 * 65_536 // 64


def test_a_part_filled_unit_says_what_exact_counts_would_take() -> None:
    """96 GPUs: NVIDIA's rule builds a unit of 256 with 8 + 4 switches; 12 nodes of two rails a leaf need 4 + 2."""
    whole, exact = size(96), size(96, whole_units=False)
    assert (whole.leaf_switches, whole.spine_switches) == (8, 4)
    assert (exact.leaf_switches, exact.spine_switches) == (4, 2)
    note = next(note for note in whole.assumptions if "whole units" in note.en)
    for text in (note.en, note.zh):
        assert all(number in text for number in ("256", "96", "12", "6")) and "NVIDIA" in text


@pytest.mark.parametrize(("gpus", "spines"), [(512, 8), (2048, 32)])
def test_spine_counts_that_other_tools_got_wrong(gpus: int, spines: int) -> None:
    # One tool took uplink bandwidth for a number of spines (56 for 512 GPUs at 400G), and earlier gave 2 or 3
    # spines for 2,048 GPUs; another gave 48 for radix 144 where the plain quotient of ports is not a divisor.
    assert size(gpus).spine_switches == spines
    assert size(6912, gpus_per_node=8, gbps_per_gpu=800).spine_switches == 72


def test_cables_are_leaves_times_uplinks_and_not_times_spines() -> None:
    t = size(512)
    assert t.leaf_spine_links == t.leaf_switches * t.uplinks_per_leaf == 512
    assert t.leaf_spine_links != t.leaf_switches * t.spine_switches


designs = st.fixed_dictionaries(
    {
        "fabric": st.sampled_from(["infiniband", "roce"]),
        "topology": st.sampled_from(["rail-optimized", "fat-tree", "rail-only"]),
        "oversubscription": st.sampled_from([1.0, 1.5, 2.0, 3.0, 7.0]),
        "core_oversubscription": st.sampled_from([1.0, 2.0, 7.0]),
        "gpus_per_node": st.sampled_from([1, 4, 8, 72]),
        "planes": st.sampled_from([1, 2]),
        "whole_units": st.booleans(),
        "reserved_ports": st.sampled_from([0, 4]),
        "grow_to": st.sampled_from([None, 5_000]),
    }
)


def speed(design: dict[str, object]) -> int:
    return 400 * int(str(design["planes"]))


@settings(max_examples=300, deadline=None)
@given(gpus=st.integers(1, 60_000), design=designs)
def test_no_switch_is_oversold(gpus: int, design: dict[str, object]) -> None:
    switch = {"infiniband": "qm9700", "roce": "sn5600"}[str(design["fabric"])]
    t = size(gpus, gbps_per_gpu=speed(design), switch=switch, **design)
    assert sum(count for count, _ in t.leaf_loads) == t.leaf_switches
    assert all(links + t.uplinks_per_leaf <= t.radix for _, links in t.leaf_loads)
    assert all(links <= t.radix for _, links in (*t.spine_loads, *t.core_loads))
    ends = sum(count * links for count, links in t.leaf_loads)
    assert ends >= t.node_leaf_links + t.reserved_ports * t.planes
    assert t.sized_for_gpus >= gpus
    assert t.max_gpus >= gpus
    if t.tiers > 1:
        assert t.uplinks_per_leaf * t.oversubscription >= max(links for _, links in t.leaf_loads) - 1e-6


@settings(max_examples=200, deadline=None)
@given(gpus=st.integers(1, 65_536), fabric=st.sampled_from(["infiniband", "roce"]))
def test_links_into_a_tier_are_links_out_at_one_to_one(gpus: int, fabric: str) -> None:
    t = size(gpus, fabric)
    if t.tiers == 2:
        assert t.leaf_spine_links == t.leaf_switches * t.radix // 2 >= t.node_leaf_links
        assert t.leaf_spine_links <= t.spine_switches * t.radix
        assert t.uplinks_per_leaf % t.spine_switches == 0  # the same whole number of links to every spine
    if t.tiers == 3:
        assert t.leaf_spine_links == t.spine_core_links >= t.node_leaf_links
        assert t.leaf_switches == t.spine_switches
        assert t.core_switches == -(-t.sized_for_gpus // t.radix)


@settings(max_examples=200, deadline=None)
@given(
    few=st.integers(1, 60_000),
    more=st.integers(1, 5_000),
    fabric=st.sampled_from(["infiniband", "roce"]),
    shape=st.sampled_from(["rail-optimized", "fat-tree", "rail-only"]),
)
def test_more_gpus_never_need_fewer_switches_or_links(few: int, more: int, fabric: str, shape: str) -> None:
    small, large = (size(gpus, fabric, topology=shape) for gpus in (few, few + more))
    assert small.switches <= large.switches
    assert small.leaf_switches <= large.leaf_switches
    assert small.node_leaf_links <= large.node_leaf_links


@settings(max_examples=300, deadline=None)
@given(gpus=st.one_of(st.integers(-2, 140_000), st.integers(65_400, 65_700)), design=designs)
def test_a_refused_size_is_really_beyond_the_limit_that_is_named(gpus: int, design: dict[str, object]) -> None:
    """Whatever fits is sized; whatever is refused is above the limit, and the limit itself can be built."""
    switch = {"infiniband": "qm9700", "roce": "sn5600"}[str(design["fabric"])]
    options = {"gbps_per_gpu": speed(design), "switch": switch, **design}
    try:
        size(gpus, **options)
    except AdvisorError as error:
        assert error.code == "gpus_out_of_range"
        limit = int(str(error.values["limit"]))
        assert gpus < 1 or max(gpus, int(str(design["grow_to"] or 0))) > limit
        assert size(limit, **options).gpus == limit


def test_sizing_takes_less_than_a_millisecond() -> None:
    options = {"fabric": "roce", "switch": "sn6600", "oversubscription": 3.0}
    size(1_000_000, **options)  # type: ignore[arg-type]
    best = min(_elapsed(lambda: size(1_000_000, **options)) for _ in range(20))  # type: ignore[arg-type]
    assert best < 0.001


def _elapsed(run: object) -> float:
    assert callable(run)
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
