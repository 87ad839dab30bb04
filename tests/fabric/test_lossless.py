"""PFC headroom, thresholds and loss against published tables and values that a person can work out."""

import csv
import shutil
from collections import Counter
from pathlib import Path

import pytest

from app.advisor.error_text import error_text
from app.errors import AdvisorError
from app.fabric.calculation import Calculation
from app.fabric.lossless import (
    Pattern,
    ack_timeout_s,
    bytes_on_cable,
    cell_occupancy,
    dscp_of,
    go_back_n_efficiency,
    headroom,
    interpolated,
    packets_in_flight,
    pause_point_bytes,
    peer_response_bytes,
    round_up,
    traffic_class_of,
)
from app.fabric.lossless_plan import Asked, plan_lossless
from app.fabric.validate_lossless import validate_lossless
from app.lossless_data import load_lossless

ROOT = Path(__file__).parent.parent.parent
DATA = load_lossless(ROOT / "knowledge")
with (ROOT / "eval" / "reference" / "lossless.csv").open(encoding="utf-8", newline="") as file:
    REFERENCE = list(csv.DictReader(file))


def part(name: str, **given: object) -> Calculation:
    return plan_lossless(DATA, Asked(**({"gbps": 400, "cable_m": 40.0} | given))).part(name)  # type: ignore[arg-type]


def number(calculation: Calculation, name: str) -> float:
    return float(calculation.values[name].value)


@pytest.mark.parametrize(
    ("gbps", "sizes"),
    [
        (100, (631, 5_051, 12_626, 37_879)),
        (200, (1_263, 10_101, 25_253, 75_758)),
        (400, (2_525, 20_202, 50_505, 151_515)),
        (800, (5_051, 40_404, 101_010, 303_030)),
    ],
)
def test_bytes_on_the_cable_there_and_back(gbps: int, sizes: tuple[int, ...]) -> None:
    """2 * 100 m * 400 Gbit/s / (8 * 198,000 km/s) = 50,505 B."""
    assert tuple(round(bytes_on_cable(DATA.formula, gbps, metres)) for metres in (5, 40, 100, 300)) == sizes


@pytest.mark.parametrize(("gbps", "size"), [(100, 25_216), (200, 28_992), (400, 57_920), (800, 57_920)])
def test_the_peer_responds_within_its_pause_quanta(gbps: int, size: int) -> None:
    """905 quanta of 512 bits are 57,920 B."""
    assert peer_response_bytes(DATA.formula, gbps) == size


def test_small_packets_waste_cells() -> None:
    """A 64-byte packet takes a cell of 192 B: three times its size, if every packet is small."""
    source = DATA.formula.sources[0]
    assert cell_occupancy(DATA.formula, 192, Pattern("all", 1024, 100, source)) == pytest.approx(3)
    # 50% of each by number: 64 / 544 of the bytes as the script counts, two extra cells each
    assert cell_occupancy(DATA.formula, 192, Pattern("half", 1024, 50, source)) == pytest.approx(1 + 2 * 64 / 544)
    assert cell_occupancy(DATA.formula, 96, Pattern("all", 1024, 100, source)) == 2  # 192 / 97, rounded up


def test_headroom_of_spectrum_4_by_hand() -> None:
    """1,024 + (9,216 + 20,202 + 819.2 + 57,920 + 6,000) * (1 + 128/544) = 117,338 B, so 115 KiB."""
    made = headroom(DATA.formula, DATA.asics["spectrum-4"], DATA.patterns[0], gbps=400, cable_m=40, port_mtu_bytes=9216)
    assert (made.tile_bytes, made.mac_phy_bytes) == (6000, pytest.approx(819.2))
    assert made.propagation_bytes == pytest.approx(94_157, abs=1)
    assert made.xoff_bytes == 115 * 1024 == 117_760
    assert (made.xon_bytes, made.size_bytes) == (19 * 1024, 134 * 1024)


def test_ports_of_eight_lanes_and_spectrum_6() -> None:
    """SN5610N ships xon 38,912 at 800G and 19,456 below; Spectrum-6 adds 18 KiB."""
    spectrum4, spectrum6 = DATA.asics["spectrum-4"], DATA.asics["spectrum-6"]
    fast = headroom(DATA.formula, spectrum4, DATA.patterns[0], gbps=800, cable_m=5, port_mtu_bytes=9216)
    assert fast.xon_bytes == 38_912
    assert fast.size_bytes == fast.xoff_bytes + 38_912 + 9_216
    made = headroom(DATA.formula, spectrum6, DATA.patterns[0], gbps=400, cable_m=5, port_mtu_bytes=9216)
    assert made.xoff_bytes == round_up(1024 + made.propagation_bytes * made.cell_occupancy) + 18 * 1024
    with pytest.raises(ValueError, match="no cell size"):
        headroom(DATA.formula, DATA.asics["tomahawk-5"], DATA.patterns[0], gbps=400, cable_m=5, port_mtu_bytes=9216)


@pytest.mark.parametrize("family", [id for id, asic in DATA.asics.items() if asic.cell_bytes])
def test_headroom_grows_with_length_speed_and_mtu(family: str) -> None:
    asic = DATA.asics[family]

    def xoff(gbps: int, cable_m: float, mtu: int) -> int:
        pattern = DATA.patterns[0]
        return headroom(DATA.formula, asic, pattern, gbps=gbps, cable_m=cable_m, port_mtu_bytes=mtu).xoff_bytes

    lengths = [xoff(100, metres, 9216) for metres in (1, 5, 40, 100, 300, 2000)]
    speeds = [xoff(gbps, 40, 9216) for gbps in sorted(DATA.formula.pause_quanta)]
    assert lengths == sorted(lengths) and lengths[-1] > lengths[0]
    assert speeds == sorted(speeds) and speeds[-1] > speeds[0]
    assert xoff(100, 40, 9216) > xoff(100, 40, 1500)


def test_shipped_tables_of_nvidia_come_out_byte_for_byte() -> None:
    """102 of NVIDIA's 118 rows are exact by a stated rule; what is not says why, Broadcom's follow another rule."""
    rows = validate_lossless(REFERENCE, DATA)
    assert len(rows) == len(REFERENCE) > 100
    assert not [row.line() for row in rows if row.unexplained]
    exact = Counter(row.rule for row in rows if row.difference == 0)
    assert exact == {"current": 40, "constant-peer": 39, "unrounded": 23}
    broadcom = [row for row in rows if row.asic.startswith("tomahawk")]
    assert broadcom and all(row.published > 2 * row.computed and "another rule" in row.explanation for row in broadcom)
    assert sum(row.rule == "current" and row.difference != 0 for row in rows) == 16  # SN5610N at 250 m and 1,000 m


def test_broadcom_takes_three_bytes_a_byte_on_the_cable() -> None:
    """Z9864F at 400G: (839,216 - 393,192) over 295 m, beside 505 B a metre on the cable."""
    table = next(one for one in DATA.tables if one.switch == "Dell Z9864F").xoff_bytes[400]
    per_metre = (table[300] - table[5]) / 295
    assert per_metre / bytes_on_cable(DATA.formula, 400, 1) == pytest.approx(2.99, abs=0.01)


def test_the_catalog_repeats_the_published_tables() -> None:
    published = {(row["switch"], row["gbps"], row["cable_m"]): int(row["xoff_bytes"]) for row in REFERENCE}
    for table in DATA.tables:
        for gbps, lengths in table.xoff_bytes.items():
            for metres, size in lengths.items():
                key = (table.switch, str(gbps), str(metres))
                if table.asic != "jericho" or metres == 30:  # one size up to 2,000 m
                    assert published[key] == size, key


def test_between_the_lengths_of_a_table() -> None:
    assert interpolated({5: 1000, 15: 2000}, 5) == 1000
    assert interpolated({5: 1000, 15: 2000}, 10) == 1500
    assert interpolated({5: 1000, 15: 2000}, 1) == 1000
    assert interpolated({5: 1000, 15: 2000}, 16) is None


@pytest.mark.parametrize(("loss", "efficiency"), [(1e-4, 0.99), (1e-3, 0.89), (1e-2, 0.45)])
def test_go_back_n(loss: float, efficiency: float) -> None:
    """400G, 10 us and 4 KiB: 122 packets in flight."""
    flight = packets_in_flight(400, 10, 4096)
    assert flight == pytest.approx(122, abs=0.1)
    assert go_back_n_efficiency(loss, flight) == pytest.approx(efficiency, abs=0.005)
    assert number(part("loss", loss=loss), "go_back_n_efficiency") == pytest.approx(efficiency, abs=0.005)


def test_timeouts() -> None:
    """4.096 us * 2^20 = 4.295 s, seven tries 30.06 s."""
    assert ack_timeout_s(4.096, 20) == pytest.approx(4.295, abs=0.001)
    made = part("nccl")
    assert (number(made, "ack_timeout_s"), number(made, "time_to_failure_s")) == (4.295, 30.06)


@pytest.mark.parametrize(("traffic_class", "dscp"), [(106, 26), (104, 26), (236, 59), (41, 10)])
def test_dscp_is_the_upper_six_bits(traffic_class: int, dscp: int) -> None:
    assert dscp_of(traffic_class) == dscp
    assert number(part("priority", traffic_class=traffic_class), "roce_dscp") == dscp
    assert traffic_class_of(dscp) == traffic_class - traffic_class % 4
    assert number(part("priority", dscp=dscp), "nccl_ib_tc") == 4 * dscp


def test_ecn_bits_in_a_traffic_class_are_told() -> None:
    assert any("carries 2 in its two ECN bits" in one.en for one in part("priority", traffic_class=106).assumptions)
    assert not any("carries" in one.en for one in part("priority", traffic_class=104).assumptions)


def test_thresholds_are_a_range_over_sources() -> None:
    """At 400G without deep buffers: Kmin from Arista's 128 KiB to SONiC's 1 MiB."""
    made = part("ecn")
    kmin, kmax = made.values["ecn_kmin_bytes"], made.values["ecn_kmax_bytes"]
    assert (kmin.low, kmin.high, kmin.value) == (131_072, 1_048_576, "131,072–1,048,576")
    assert (kmax.low, kmax.high) == (239_616, 2_097_152)
    assert len(made.rows) == 6 and {row["ecn_before_pfc"] for row in made.rows} == {None}
    deep = part("ecn", switch_family="jericho")
    assert deep.values["ecn_kmax_bytes"].high == 10_000_000
    assert any(row["kmin_bytes"] is None and "55%" in str(row["note"]) for row in deep.rows)


def test_the_pause_point_of_a_shared_buffer() -> None:
    """One congested group with alpha 1 takes half of the buffer; alpha 8 takes 8/9, two groups 8/17 each."""
    assert pause_point_bytes(3_000_000, 1, 1) == 1_500_000
    assert pause_point_bytes(9_000_000, 8, 1) == 8_000_000
    assert pause_point_bytes(1_700_000, 8, 2) == 800_000


def test_ecn_after_pfc_is_said() -> None:
    """A pause point of 1.5 MB is at Cumulus's Kmax and below SONiC's; lossy queues have no PFC to compare with."""
    made = part("ecn", shared_buffer=3_000_000)
    assert number(made, "pause_point_bytes") == 1_500_000
    assert number(made, "ecn_sources_after_pfc") == 2
    late = [row["name"] for row in made.rows if row["ecn_before_pfc"] is False]
    assert late == ["NVIDIA Cumulus and Onyx default", "SONiC AZURE_LOSSLESS default"]
    assert [row["ecn_before_pfc"] for row in made.rows if row["pfc_behind"] is False] == [None, None]
    said = next(one for one in made.assumptions if one.en.startswith("Does not hold"))
    assert "SONiC AZURE_LOSSLESS default (2,097,152 B)" in said.en and "不成立" in said.zh
    holds = part("ecn", pause_point=2_097_153)
    assert number(holds, "ecn_sources_after_pfc") == 0
    assert any(one.en.startswith("Holds at") for one in holds.assumptions)
    unchecked = next(one for one in part("ecn").assumptions if "not checked" in one.en)
    assert "2,097,152" in unchecked.en and "2,097,152" in unchecked.zh


def test_without_a_family_the_headroom_is_a_range() -> None:
    """From Spectrum-3 with large packets to the deep buffer, at 400G and 40 m."""
    value = part("headroom").values["headroom_xoff_bytes"]
    assert (value.value, value.low, value.high) == (117_760, 98_304, 1_495_040)
    fast = part("headroom", gbps=800, cable_m=5.0)
    names = {row["name"] for row in fast.rows if row["method"] != "published"}
    assert names == {
        *("NVIDIA Spectrum-4", "NVIDIA Spectrum-5", "NVIDIA Spectrum-6"),
        *("Broadcom Tomahawk 5", "Broadcom Jericho (deep buffer)"),
    }


def test_a_family_with_tables_only() -> None:
    """Z9864F publishes 446,024 B for 400G and 40 m; no formula, so no cell occupancy."""
    made = part("headroom", switch_family="tomahawk-5")
    assert number(made, "headroom_xoff_bytes") == 446_024
    assert "cell_occupancy" not in made.values
    assert {row["name"] for row in made.rows if row["method"] == "published"} >= {"Dell Z9864F"}
    assert number(part("headroom", switch_family="tomahawk-4", cable_m=300.0), "headroom_xoff_bytes") == 817_372


def test_the_traffic_given_replaces_the_range() -> None:
    """SN5610N ships 104,448 B for 400G and 40 m: lossless MTU 4,096, half of the packets small."""
    made = part("headroom", switch_family="spectrum-4", lossless_mtu=4096, small_packet_percent=50.0)
    value = made.values["headroom_xoff_bytes"]
    assert (value.value, value.low, value.high) == (104_448, 104_448, 104_448)


def test_platforms() -> None:
    assert {row["name"] for row in part("priority", platform="sonic").rows} == {"SONiC default map"}
    assert part("priority", platform="sonic").rows[0]["nccl_ib_tc"] == "12, 16"
    assert len(part("priority").rows) == 5
    # no DSCP is stated for RoCE in Cumulus's documentation
    assert part("priority", platform="cumulus").rows[0]["roce_dscp"] is None


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"gbps": 300}, "bad_value", "400"),
        ({"cable_m": 0.0}, "bad_value", "cable_m"),
        ({"cable_m": float("nan")}, "bad_value", "cable_m"),
        ({"cable_m": -5.0}, "bad_value", "cable_m"),
        ({"mtu": 100}, "bad_value", "mtu"),
        ({"switch_family": "tofino"}, "bad_value", "tomahawk-5"),
        ({"platform": "ios"}, "bad_value", "nx-os"),
        ({"loss": 0.9}, "bad_value", "loss"),
        ({"dscp": 64}, "bad_value", "63"),
        ({"traffic_class": 256}, "bad_value", "255"),
        ({"pause_point": 0}, "bad_value", "pause_point"),
        ({"shared_buffer": 10, "alpha": 0.0}, "bad_value", "alpha"),
        ({"gbps": 800, "switch_family": "spectrum-2"}, "family_too_slow", "200G"),
        ({"gbps": 100, "switch_family": "tomahawk-5"}, "no_headroom_table", "200G, 400G, 800G"),
        ({"cable_m": 301.0, "switch_family": "tomahawk-5"}, "no_headroom_table", "300"),
    ],
)
def test_bad_input(given: dict[str, object], code: str, words: str) -> None:
    with pytest.raises(AdvisorError) as caught:
        part("headroom", **given)
    chinese = error_text(caught.value, "zh")
    assert caught.value.code == code and words in str(caught.value) and words in chinese, chinese
    assert chinese != str(caught.value) and "\n" not in str(caught.value)


def test_both_dscp_and_traffic_class_that_disagree() -> None:
    with pytest.raises(AdvisorError, match="26"):
        part("priority", dscp=46, traffic_class=106)


@pytest.mark.parametrize(
    ("old", "new", "section"),
    [
        ("source: sonic-headroom", "source: nowhere", "formula"),
        ("asic: tomahawk-4", "asic: tomahawk-9", "tables"),
        ("kmin_bytes: 150000", "kmin_bytes: 9000000", "ecn"),
        ('roce_class: "TC 3"', 'class: "TC 3"', "priorities"),
        ("retries: 7", "retries: many", "nccl"),
    ],
)
def test_bad_data_names_its_section(tmp_path: Path, old: str, new: str, section: str) -> None:
    text = (ROOT / "knowledge" / "catalog" / "lossless.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "lossless.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AdvisorError, match=f"section {section}") as caught:
        load_lossless(tmp_path)
    assert caught.value.code == "bad_catalog"


def test_every_source_is_used_and_dated(tmp_path: Path) -> None:
    shutil.copy(ROOT / "knowledge" / "catalog" / "lossless.yaml", tmp_path)
    whole = plan_lossless(DATA, Asked(400, 40.0, shared_buffer=10**7)).calculation()
    assert all(source.date and source.trust for source in whole.sources)
    assert {row["part"] for row in whole.rows} == {"headroom", "ecn", "priority", "loss", "nccl"}
