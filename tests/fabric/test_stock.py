"""Growing with switches that are there: counts by hand, what breaks, and ports that are neither lost nor made."""

from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import AdvisorError
from app.fabric.stock import StockPlan, parse_stock, plan_stock
from app.fabric.topology import size_fabric
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")


def plan(keep: str, add_gpus: int, **options: object) -> StockPlan:
    return plan_stock(CATALOG, keep=keep, add_gpus=add_gpus, **options)  # type: ignore[arg-type]


def values(of: StockPlan) -> dict[str, float | int | str]:
    return {name: value.value for name, value in of.calculation().values.items()}


def codes(of: StockPlan) -> list[object]:
    return [row["code"] for row in of.calculation().rows]


def test_forty_sn4700_and_256_gpus_at_three_to_one() -> None:
    """32 nodes on 8 rails: two leaves of 16 nodes a rail, 6 uplinks each (16/6 is under 3), 96 links on 3 spines."""
    found = values(plan("40x sn4700", 256, oversubscription=3.0))
    assert (found["leaf_switches"], found["spine_switches"], found["core_switches"]) == (16, 3, 0)
    assert (found["kept_switches"], found["idle_switches"], found["bought_switches"]) == (19, 21, 0)
    assert found["leaf_spine_links"] == 96
    # 256 to nodes, and both ends of 96 links; 40 boxes of 32 ports
    assert found["used_ports"] == 256 + 2 * 96
    assert found["stock_ports"] == 40 * 32
    assert found["idle_ports"] == 21 * 32
    assert found["free_ports"] == 19 * 32 - 448


def test_they_end_at_768_gpus_in_two_tiers() -> None:
    """24 ports down and 8 up; 32 leaves, as a spine has 32 ports; 32 x 8 / 32 = 8 spines: just the 40 there."""
    alone = plan("40 SN4700", 256, gpus_there=512, oversubscription=3.0)
    found = values(alone)
    assert (found["leaf_switches"], found["spine_switches"]) == (32, 8)
    assert (found["two_tier_gpus"], found["stock_max_gpus"], found["spare_gpus"]) == (768, 768, 0)
    assert found["idle_switches"] == found["bought_switches"] == found["free_ports"] == 0
    assert not {"short", "third-tier", "buy"} & set(codes(alone))


def test_beyond_that_spines_of_more_ports_are_bought_rather_than_a_third_tier() -> None:
    """1,024 GPUs are 128 nodes: 6 leaves a rail, 48 in all, 384 links; SN5600 has 128 ports of 400G: 3 would do, 4
    divide the 8 uplinks. SN4700 alone: 48 leaves, 24 spines (16 down each), 12 cores."""
    full = plan("40x sn4700", 256, gpus_there=768, oversubscription=3.0)
    found = values(full)
    assert (found["leaf_switches"], found["spine_switches"], found["tiers"]) == (48, 4, 2)
    assert full.bought == {"sn4700": 8, "sn5600": 4}
    assert (found["alone_switches"], found["short_switches"], found["alone_tiers"]) == (84, 44, 3)
    assert {"third-tier", "short", "buy", "price-of-some"} <= set(codes(full))
    usd = full.calculation().values["priced_part_usd"]  # SN4700 has no price in the catalog
    assert usd.value == 4 * 70_000 and (usd.low, usd.high) == (4 * 55_000, 4 * 95_000)


def test_oversubscription_that_nobody_needs_is_said() -> None:
    """At 1:1 each leaf has 16 down and 16 up: 16 leaves, 256 links, 8 spines; 24 of the 40."""
    found = plan("40x sn4700", 256, oversubscription=3.0)
    assert found.lowest_ratio == 1.0 and "tighter" in codes(found)
    even = values(plan("40x sn4700", 256))
    assert (even["leaf_switches"], even["spine_switches"], even["kept_switches"]) == (16, 8, 24)
    assert even["across_gbps"] == 400


def test_one_switch_less_than_needed_is_one_short() -> None:
    short = plan("23x sn4700", 256, new_switch="sn4700")
    assert values(short)["short_switches"] == 1 and short.bought == {"sn4700": 1}
    assert values(plan("24x sn4700", 256))["bought_switches"] == 0


def test_a_looser_ratio_at_which_the_switches_suffice_is_named() -> None:
    """At 2:1 20 down and 10 up on 16 leaves: 160 links, 5 spines, 21 switches; 23 are there and 1:1 takes 24."""
    short = plan("23x sn4700", 256, new_switch="sn4700")
    assert short.lowest_ratio == 1.5 and "looser" in codes(short)


def test_a_switch_without_ports_of_the_speed_cannot_be_kept() -> None:
    slow = plan("40x sn4700", 256, gbps_per_gpu=800)
    found = values(slow)
    assert (found["kept_switches"], found["idle_switches"], found["too_slow_switches"]) == (0, 40, 40)
    assert found["fastest_gbps"] == 400
    assert codes(slow)[0] == "too-slow"
    # the remedy that the sentence names: two planes of 400G
    assert values(plan("40x sn4700", 256, gbps_per_gpu=800, planes=2))["kept_switches"] == 32


def test_a_switch_of_the_other_network_cannot_be_kept() -> None:
    other = plan("12x qm9700, 2 sn5600", 64, fabric="roce")
    found = values(other)
    assert (found["other_fabric_switches"], found["kept_switches"], found["idle_switches"]) == (12, 2, 12)
    assert codes(other)[0] == "other-fabric"


def test_two_models_pair_as_leaves_and_spines() -> None:
    """32 nodes of SN4700 leaves at 1:1 (16 a rail pair, 256 links) under two SN5600 of 128 ports."""
    found = plan("16x sn4700, 2x sn5600", 256)
    assert not found.bought
    assert (found.chosen.leaf.id, found.chosen.spine.id) == ("sn4700", "sn5600")
    assert found.kept == {"sn4700": 16, "sn5600": 2} and found.used_ports == 16 * 32 + 2 * 128


def test_a_pairing_of_one_model_is_what_size_says() -> None:
    sized = size_fabric(CATALOG, gpus=1024, fabric="infiniband", switch="qm9700")
    found = values(plan("48x qm9700", 1024))
    assert (found["leaf_switches"], found["spine_switches"]) == (sized.leaf_switches, sized.spine_switches) == (32, 16)
    assert found["bought_switches"] == found["idle_switches"] == 0


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("40x sn4700", {"sn4700": 40}),
        ("40 SN4700, 4x SN5600", {"SN4700": 40, "SN5600": 4}),
        ("40×sn4700；4 台 sn5600", {"sn4700": 40, "sn5600": 4}),
        ("1,024 sn5600 and 2 qm9700", {"sn5600": 1024, "qm9700": 2}),
        ("3x 7060x6-64pe,200 sn5600", {"7060x6-64pe": 3, "sn5600": 200}),
        ("40 NVIDIA Spectrum SN4700 switches", {"SN4700": 40}),
        ("2 sn5600 + 3 sn5600", {"sn5600": 5}),
    ],
)
def test_stock_as_people_write_it(text: str, stock: dict[str, int]) -> None:
    assert parse_stock(text) == stock


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"keep": "", "add_gpus": 8}, "bad_stock"),
        ({"keep": "some switches", "add_gpus": 8}, "bad_stock"),
        ({"keep": "0x sn4700", "add_gpus": 8}, "bad_stock"),
        ({"keep": "4x sn9999", "add_gpus": 8}, "unknown_switch"),
        ({"keep": "4x sn4600c", "add_gpus": 8}, "which_fabric"),
        ({"keep": "4x sn5600, 4x qm9700", "add_gpus": 8}, "which_fabric"),
        ({"keep": "4x sn5600", "add_gpus": 0}, "gpus_out_of_range"),
        ({"keep": "4x sn5600", "add_gpus": -1}, "bad_value"),
        ({"keep": "4x sn5600", "add_gpus": 9_000_000}, "gpus_out_of_range"),
        ({"keep": "4x sn5600", "add_gpus": 8, "oversubscription": 0.5}, "bad_value"),
        ({"keep": "4x sn5600", "add_gpus": 8, "new_switch": "qm9700"}, "switch_of_other_fabric"),
        ({"keep": "4x sn5600", "add_gpus": 8, "topology": "rail-only"}, "bad_value"),
    ],
)
def test_bad_input_is_one_line_with_a_remedy(given: dict[str, object], code: str) -> None:
    with pytest.raises(AdvisorError) as caught:
        plan_stock(CATALOG, **given)  # type: ignore[arg-type]
    assert caught.value.code == code and caught.value.remedy


STOCK = st.dictionaries(st.sampled_from(["sn4700", "sn5600", "sn5400", "7060x6-32pe"]), st.integers(1, 80), min_size=1)
RATIO = st.sampled_from([1.0, 1.5, 2.0, 3.0, 4.0])


@settings(max_examples=60, deadline=None)
@given(STOCK, st.integers(1, 4000), RATIO, st.sampled_from([200, 400, 800]), st.booleans())
def test_no_port_and_no_switch_is_lost_or_made(
    there: dict[str, int], gpus: int, ratio: float, gbps: int, whole: bool
) -> None:
    one = plan_stock(CATALOG, keep=there, add_gpus=gpus, oversubscription=ratio, gbps_per_gpu=gbps, whole_units=whole)
    found = one.calculation().values
    number = {name: value.value for name, value in found.items() if isinstance(value.value, int)}
    assert number["used_ports"] + number["free_ports"] + number["idle_ports"] == number["stock_ports"]
    assert number["stock_ports"] == sum(n * CATALOG.switch(id).radix(gbps) for id, n in there.items())
    assert number["free_ports"] >= 0
    assert number["kept_switches"] + number["idle_switches"] == number["stock_switches"] == sum(there.values())
    needed = number["leaf_switches"] + number["spine_switches"] + number["core_switches"]
    assert number["kept_switches"] + number["bought_switches"] == needed
    assert one.chosen.oversubscription() <= ratio + 1e-9
    assert number["node_leaf_links"] >= gpus
    loads = one.chosen.loads()
    ends = number["node_leaf_links"] + 2 * (number["leaf_spine_links"] + number["spine_core_links"])
    assert sum(map(sum, loads.values())) == ends
    for id, links in loads.items():
        assert max(links) <= CATALOG.switch(id).radix(gbps)


@settings(max_examples=25, deadline=None)
@given(STOCK, RATIO)
def test_the_most_that_the_stock_carries_is_the_most(there: dict[str, int], ratio: float) -> None:
    most = plan_stock(CATALOG, keep=there, add_gpus=8, oversubscription=ratio).max_gpus
    assert most % 8 == 0
    if most:
        assert not plan_stock(CATALOG, keep=there, add_gpus=most, oversubscription=ratio).bought
    assert plan_stock(CATALOG, keep=there, add_gpus=most + 8, oversubscription=ratio).bought
    ports = sum(n * CATALOG.switch(id).radix(400) for id, n in there.items())
    assert most <= ports


def test_sentences_are_filled_in_both_languages_and_name_only_values() -> None:
    for one in (
        plan("40x sn4700", 256, gpus_there=768, oversubscription=3.0),
        plan("12x qm9700, 2x sn5600", 64, fabric="roce"),
        plan("40x sn4700", 256, gbps_per_gpu=800),
    ):
        for row in one.calculation().rows:
            assert "{" not in f"{row['finding']}{row['finding_zh']}"
            assert any("一" <= letter <= "鿿" for letter in str(row["finding_zh"]))


def test_plurals_are_no_other_switch() -> None:
    assert plan("40 SN4700s, 2 7060dx5-64s", 64).there == {"sn4700": 40, "7060dx5-64s": 2}


def test_nodes_are_whole() -> None:
    assert values(plan("40x sn4700", 250))["node_leaf_links"] == ceil(250 / 8) * 8


def test_what_keeping_them_all_the_same_would_take() -> None:
    """2,048 GPUs at 1:1: SN5600 alone are 32 leaves and 2,048 / 128 = 16 spines. With SN4700 as spines 2,048 / 32 = 64,
    of which 40 are there: 56 to buy. (As leaves of 16 GPUs they would be 128: 88 and 16 spines to buy.)"""
    found = plan("40x sn4700", 2048)
    assert found.bought == {"sn5600": 48} and found.kept == {"sn4700": 0}
    assert found.keeping is not None and found.missing(found.keeping) == {"sn5600": 32, "sn4700": 24}
    assert values(found)["keeping_kept"] == 40 and "keep-anyway" in codes(found)
