"""The bill of materials against NVIDIA's published one, the Aug 2024 cost sheet, and itself."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import AdvisorError
from app.fabric.bill import CATEGORIES, Bill, bill_of_materials
from app.fabric.cost import Design
from app.fabric.estimate import Estimate
from app.fabric.power import network_power
from app.fabric.topology import size_fabric
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")


def bill(gpus: int, fabric: str = "infiniband", *, spares: float = 0, **options: object) -> Bill:
    lengths = {name: options.pop(name) for name in list(options) if name.endswith("_m")}
    parts = {name: options.pop(name) for name in ("nic", "twin_port_nodes") if name in options}
    sized = size_fabric(CATALOG, gpus=gpus, fabric=fabric, **options)  # type: ignore[arg-type]
    return bill_of_materials(CATALOG, sized, spares_percent=spares, **lengths, **parts)  # type: ignore[arg-type]


def pieces(found: Bill, category: str, *roles: str) -> int:
    return sum(line.quantity for line in found.lines if line.category == category and line.role in roles)


def test_the_four_unit_h100_bill() -> None:
    # RA-11333-001 V11, tables 7, 8: 48 switches, 2,040 fibres, 1,536 switch and 508 node modules, 4 for UFM.
    found = bill(1016, reserved_ports=4, twin_port_nodes=True)
    assert found.quantity("qm9700") == 48
    assert pieces(found, "cables", "node-leaf", "leaf-spine") == 2040 == 1016 + 1024
    assert pieces(found, "optics", "leaf", "spine") == 1536
    assert pieces(found, "optics", "node") == 508 == 127 * 4
    assert pieces(found, "optics", "reserved") == pieces(found, "cables", "reserved") == 4
    assert found.quantity("connectx-7") == 1016


def test_one_node_module_a_nic_unless_the_node_has_twin_ports() -> None:
    found = bill(1024)
    assert pieces(found, "optics", "node") == found.quantity("osfp-400-sr4") == 1024
    assert pieces(found, "optics", "leaf", "spine") == (1024 + 2 * 1024) // 2


@pytest.mark.parametrize(
    ("gpus", "options", "usd_per_gpu"),
    [(512, {"topology": "rail-only"}, 1320), (1024, {}, 2560), (32768, {"topology": "rail-only"}, 3800)],
)
def test_optics_and_cables_agree_with_the_2024_sheet(
    gpus: int, options: dict[str, object], usd_per_gpu: int
) -> None:
    # 675,840 / 512 = 1,320; 2,621,440 / 1,024 = 2,560; 124,518,400 / 32,768 = 3,800 USD per H100.
    found = bill(gpus, **options).category_usd("optics", "cables") * (1 / gpus)
    assert found.typical == pytest.approx(usd_per_gpu, rel=0.06)
    assert found.low < usd_per_gpu < found.high


def test_optics_by_hand_for_64_gpus() -> None:
    # Two switches: 32 + 32 links each = 32 cages each, 64 modules at 1,180. 64 node modules at 670, 64 fibres
    # of 10 m at 50 + 10, 32 of 30 m at 50 + 30.
    found = bill(64)
    assert found.category_usd("optics").typical == 64 * 1180 + 64 * 670
    assert found.category_usd("cables").typical == 64 * 60 + 32 * 80
    assert found.category_usd("switches").typical == 2 * 38_000
    assert found.category_usd("nics").typical == 64 * 2250


def test_copper_when_short() -> None:
    found = bill(64, node_leaf_m=2, leaf_spine_m=2)
    assert (found.quantity("dac-800-split"), found.quantity("dac-800")) == (32, 16)  # two links a cable
    assert found.category_usd("optics") == Estimate.exact(0)
    assert bill(64, node_leaf_m=4).quantity("acc-800-split") == 32
    assert bill(64, node_leaf_m=4).quantity("osfp-400-sr4") == 0


def test_single_mode_when_long() -> None:
    found = bill(1024, leaf_spine_m=80)
    assert (
        found.quantity("osfp-800-2xdr4") == 1024
    )  # 32 uplinks of 32 leaves and 64 links of 16 spines, two a module
    assert found.quantity("osfp-800-2xsr4") == 512
    assert found.quantity("mpo12-os2") == 1024
    assert bill(1024, leaf_spine_m=1000).quantity("osfp-800-2xfr4") == 1024


def test_slower_links_share_a_module() -> None:
    found = bill(512, gbps_per_gpu=200)
    assert pieces(found, "optics", "leaf", "spine") == (512 + 2 * 512) // 4
    assert found.quantity("mpo12-split-om4") == 256  # one 1:2 splitter for two NICs
    assert found.quantity("mpo12-om4") == 256  # a straight fibre between switches carries 400G, so two links


def test_the_same_nic_serves_both_fabrics_by_default() -> None:
    ib, roce = bill(1024), bill(1024, "roce")
    assert ib.quantity("connectx-7") == roce.quantity("connectx-7") == 1024
    assert ib.category_usd("nics") == roce.category_usd("nics")
    assert any("both fabrics carry the same card" in note.en for note in ib.assumptions)
    assert bill(1024, "roce", gbps_per_gpu=800, planes=2).quantity("connectx-8") == 1024


def test_management_of_each_fabric() -> None:
    ib, roce = bill(1024), bill(1024, "roce")
    assert (ib.quantity("ufm-appliance"), ib.quantity("ufm-license")) == (2, 1024)
    assert (roce.quantity("ufm-license"), roce.quantity("ethernet-manager")) == (0, 24)
    assert ib.quantity("sn2201") == 4  # 128 nodes + 48 switches on 48 ports each


def test_spares() -> None:
    found = bill(1024, spares=2)
    spare = {line.item: line.quantity for line in found.lines if line.category == "spares"}
    assert spare == {"qm9700": 1, "connectx-7": 21, "osfp-800-2xsr4": 31, "osfp-400-sr4": 21, "mpo12-om4": 41}
    assert "qm9700" not in {line.item for line in bill(64, spares=2).lines if line.category == "spares"}


def test_power_by_hand() -> None:
    # 64 GPUs on SN5600: 2 x 940 + 64 NICs x 24 + 64 modules x 15 + 64 x 8 + SN2201 98 = 4,986 W.
    power = network_power(bill(64, "roce"), pue=1.5)
    assert power.typical_w == 2 * 940 + 64 * 24 + 64 * 15 + 64 * 8 + 98
    assert power.facility_typical_w == power.typical_w * 1.5


def test_a_full_switch_draws_its_plate_value_at_most() -> None:
    # 48 full QM9700: chassis and modules together are the published 1,720 W each.
    found = bill(1024)
    lines = [line for line in found.lines if line.role in ("leaf", "spine")]
    assert sum(line.quantity * line.power_max_w for line in lines) == 48 * 1720


def test_pue_below_one_is_refused() -> None:
    with pytest.raises(AdvisorError, match="pue"):
        network_power(bill(64), pue=0.9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"node_leaf_m": 600}, "Shorten the link"),
        ({"node_leaf_m": 0}, "0.1 to 2,000"),
        ({"nic": "pollara-400"}, "connectx-7"),
        ({"nic": "connectx-9"}, "connectx"),
        ({"spares": 101}, "from 0 to 100"),
    ],
)
def test_bad_input(options: dict[str, object], words: str) -> None:
    with pytest.raises(AdvisorError, match=words):
        bill(64, **options)  # type: ignore[arg-type]


def test_every_line_is_priced_with_a_source_and_says_what_it_serves() -> None:
    for fabric in ("infiniband", "roce"):
        for line in bill(4096, fabric, spares=2).lines:
            assert line.priced and line.sources and line.unit_price_usd.high > 0
            assert line.serves.en and line.serves.zh and line.price_note.en and line.price_note.zh


def test_a_missing_price_is_said() -> None:
    found = bill(64, "roce", switch="sn4700", leaf_spine_m=10)
    assert any("No price was found for NVIDIA Spectrum-3 SN4700" in note.en for note in found.assumptions)
    assert any("No power figure" in note.en for note in found.assumptions)


@settings(max_examples=150, deadline=None)
@given(
    gpus=st.integers(1, 50_000),
    fabric=st.sampled_from(["infiniband", "roce"]),
    spares=st.sampled_from([0, 2, 5]),
    whole=st.booleans(),
    metres=st.sampled_from([2, 10, 80]),
)
def test_totals_are_the_sum_of_the_lines(
    gpus: int, fabric: str, spares: int, whole: bool, metres: int
) -> None:
    found = bill(gpus, fabric, spares=spares, whole_units=whole, leaf_spine_m=metres)
    typical = sum(line.quantity * line.unit_price_usd.typical for line in found.lines)
    assert found.capex_usd.typical == pytest.approx(typical)
    by_category = Estimate.total(found.category_usd(category) for category in CATEGORIES)
    assert by_category.typical == pytest.approx(typical)
    assert {line.category for line in found.lines} <= set(CATEGORIES)
    # Every link has its two ends: modules at switches carry all link ends that are on fibre.
    t, carried = found.topology, pieces(found, "optics", "leaf", "spine", "core") * 2
    on_fibre = (
        t.node_leaf_links
        + 2 * (t.switch_links if metres > 5 else 0)
        + 2 * (t.spine_core_links if metres <= 5 else 0)
    )
    assert carried >= on_fibre
    assert carried <= on_fibre + 2 * t.switches


def test_modules_fit_the_cage_of_the_nic() -> None:
    """ConnectX-7 has an OSFP cage; BlueField-3 takes QSFP112 only, and QSFP112 does not fit a switch."""
    for nic, module, other in (
        ("connectx-7", "osfp-400-sr4", "qsfp112-400-sr4"),
        ("bluefield-3-b3140h", "qsfp112-400-sr4", "osfp-400-sr4"),
    ):
        found = Design(512, "roce", nic=nic).billed(CATALOG)
        assert found.quantity(module) == 512 and found.quantity(other) == 0
        assert {line.role for line in found.lines if line.item == module} == {"node", "spare"}
