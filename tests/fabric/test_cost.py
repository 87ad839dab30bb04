"""Money: arithmetic by hand, the published band of switch prices, ratios with one price for shared parts."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import AdvisorError
from app.fabric.compare import compare_fabrics
from app.fabric.cost import Design, cost_calculation
from app.fabric.estimate import Estimate
from app.fabric.ratio import ratio_of_totals
from app.fabric.terms import default_terms
from app.fabric.uncertainty import cost_spread, ratio_spread, tornado, uncertainty_calculation
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")
PLAIN = {"usd_per_kwh": 0.1, "pue": 1.5, "support_percent": 10, "staff_fte": 1, "salary_usd": 100_000}


def test_owning_by_hand() -> None:
    terms = default_terms(CATALOG, 64, years=4, spares_percent=0, **PLAIN)
    cost = Design(64, "roce").cost(CATALOG, terms)
    # 4,986 W x 8,760 h x 4 years x 1.5 x 0.1 USD
    assert cost.energy_usd.typical == pytest.approx(4.986 * 8760 * 4 * 1.5 * 0.1)
    # 10 % a year of 2 switches at 70,000, 64 NICs at 2,250, SN2201 at 6,500, two manager licences at 1,500
    assert cost.support_usd.typical == pytest.approx(0.1 * 4 * (140_000 + 144_000 + 6_500 + 3_000))
    assert cost.staff_usd.typical == 4 * 100_000
    parts = (cost.capex_usd, cost.energy_usd, cost.support_usd, cost.staff_usd)
    assert cost.tco_usd.typical == pytest.approx(sum(part.typical for part in parts))


def test_discounting_is_an_annuity() -> None:
    assert default_terms(CATALOG, 64, years=5).annuity_years == 5
    ten = default_terms(CATALOG, 64, years=2, discount_percent=10)
    assert ten.annuity_years == pytest.approx(1 / 1.1 + 1 / 1.21)


def test_defaults_come_from_the_catalog_and_are_said() -> None:
    terms = default_terms(CATALOG, 1000)
    assert (terms.years, terms.pue.typical, terms.usd_per_kwh.typical) == (5, 1.58, 0.078)
    assert terms.staff_fte == Estimate(0.375, 0.75, 1.5)
    assert any("8-15 %" in note.en for note in terms.notes)
    assert not any("PUE" in note.en for note in default_terms(CATALOG, 1000, pue=1.3).notes)


@pytest.mark.parametrize("years", [0, -1, 31, float("inf"), float("nan")])
def test_years_out_of_range(years: float) -> None:
    with pytest.raises(AdvisorError) as caught:
        default_terms(CATALOG, 64, years=years)
    assert caught.value.code == "years_out_of_range"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pue", 0.5),
        ("usd_per_kwh", -1),
        ("support_percent", 200),
        ("discount_percent", -1),
        ("pue", "high"),
        ("rent", 1),
    ],
)
def test_bad_terms(name: str, value: object) -> None:
    with pytest.raises(AdvisorError) as caught:
        default_terms(CATALOG, 64, **{name: value})
    assert caught.value.code == "bad_value"


def test_cost_calculation_has_the_named_values_and_the_bill_as_rows() -> None:
    found = cost_calculation(CATALOG, gpus=1024, fabric="infiniband")
    money = "capex switches nics optics_and_cables management spares energy support staff tco"
    names = [f"{name}_usd" for name in money.split()]
    names += ["power_typical_kw", "power_max_kw", "capex_usd_per_gpu", "network_share_percent"]
    assert set(names) <= set(found.values)
    assert (found.tool, found.label) == ("cost", "infiniband")
    total = sum(float(str(row["total_usd"])) for row in found.rows)
    assert total == pytest.approx(float(found.values["capex_usd"].value))
    assert found.values["capex_usd_per_gpu"].value == pytest.approx(total / 1024)
    assert all(row["source"] and row["date"] for row in found.rows)


def test_network_share_of_the_2024_sheet() -> None:
    # Sheet, 128 nodes: (1,728,000 + 2,621,440) / 50,429,440 = 8.6 %; 6.4 M are the facility, and NICs
    # are in the node price. Our share counts NICs (8 x 2,250 = 18,000 of 310,000) and management as network.
    found = cost_calculation(
        CATALOG, gpus=1024, fabric="infiniband", terms=default_terms(CATALOG, 1024, spares_percent=0)
    )
    network = sum(float(found.values[name].value) for name in ("switches_usd", "optics_and_cables_usd"))
    assert 100 * network / (network + 128 * 310_000 + 6_400_000) == pytest.approx(8.6, abs=0.3)
    share = found.values["network_share_percent"]
    capex = float(found.values["capex_usd"].value)
    assert share.value == pytest.approx(100 * capex / (capex + 128 * (310_000 - 18_000)))


@pytest.mark.parametrize(
    ("gpus", "boxes", "lowest", "highest"),
    [(1024, (48, 24), 0.8, 1.45), (4096, (320, 96), 1.26, 2.38)],
)
def test_switch_prices_are_at_par_at_1024_and_apart_at_4096(
    gpus: int, boxes: tuple[int, int], lowest: float, highest: float
) -> None:
    # Published signals: QM9700 36-50 k, boxes of 128x400G 70-95 k. 48 x 36 / (24 x 95) = 0.76 to
    # 48 x 50 / (24 x 70) = 1.43; 320 x 36 / (96 x 95) = 1.26 to 320 x 50 / (96 x 70) = 2.38.
    found = compare_fabrics(CATALOG, gpus=gpus)
    assert tuple(cost.bill.topology.switches for cost in found.owned.values()) == boxes
    assert lowest < found.switch_ratio.typical < highest
    assert found.switch_ratio.typical == pytest.approx(boxes[0] * 38 / (boxes[1] * 70))


def test_comparison_names_the_claim_and_what_makes_the_ratio() -> None:
    found = compare_fabrics(CATALOG, gpus=4096)
    calculation = found.calculation()
    assert (
        calculation.values["article_ratio_claim"].low,
        calculation.values["article_ratio_claim"].high,
    ) == (2, 3)
    differences = found.differences()
    assert next(iter(differences)) == "optics and cables"
    ib, roce = found.owned["infiniband"].capex_usd, found.owned["roce"].capex_usd
    assert sum(differences.values()) == pytest.approx(ib.typical - roce.typical)
    assert differences["nics"] == 0
    assert found.capex_ratio.typical == pytest.approx(ib.typical / roce.typical)
    assert any(
        "2-3" in note.en and f"{found.capex_ratio.typical:.2f}" in note.en for note in calculation.assumptions
    )
    capex = next(row for row in calculation.rows if row["quantity"] == "capex")
    assert (capex["infiniband"], capex["roce"]) == (ib.typical, roce.typical)


def test_shared_parts_do_not_widen_the_ratio() -> None:
    found = compare_fabrics(CATALOG, gpus=1024)
    ib, roce = found.owned["infiniband"].capex_usd, found.owned["roce"].capex_usd
    assert ib.low / roce.high < found.capex_ratio.low < found.capex_ratio.high < ib.high / roce.low


def test_break_even_slowdown_by_hand() -> None:
    found = compare_fabrics(CATALOG, gpus=4096)
    saving = found.owned["infiniband"].tco_usd.typical - found.owned["roce"].tco_usd.typical
    assert found.break_even_slowdown_percent().typical == pytest.approx(
        100 * saving / (4096 * 8760 * 5 * 3.0)
    )


def test_best_fit_at_small_scale_is_no_dearer() -> None:
    found = compare_fabrics(CATALOG, gpus=64)
    assert found.fitting["roce"].bill.topology.switch.id == "sn5400"  # 2 x 45,000 rather than 2 x 70,000
    for fabric, cost in found.fitting.items():
        assert cost.capex_usd.typical <= found.owned[fabric].capex_usd.typical


def test_two_designs_of_one_fabric() -> None:
    from app.fabric.ratio import capex_ratio

    full, half = (Design(1024, "roce", oversubscription=ratio).cost(CATALOG) for ratio in (1.0, 2.0))
    assert capex_ratio(full, half).typical > 1


@given(
    above=st.lists(st.floats(0, 100), min_size=3, max_size=3),
    below=st.lists(st.floats(1, 100), min_size=3, max_size=3),
    lows=st.lists(st.floats(1, 10), min_size=3, max_size=3),
    widths=st.lists(st.floats(0, 10), min_size=3, max_size=3),
)
def test_ratio_bounds_are_those_of_all_corners(
    above: list[float], below: list[float], lows: list[float], widths: list[float]
) -> None:
    parts = {
        str(i): Estimate(low, low + width / 2, low + width)
        for i, (low, width) in enumerate(zip(lows, widths, strict=True))
    }
    corners = []
    for mask in range(8):
        unit = [parts[str(i)].high if mask >> i & 1 else parts[str(i)].low for i in range(3)]
        top = sum(weight * price for weight, price in zip(above, unit, strict=True))
        corners.append(top / sum(weight * price for weight, price in zip(below, unit, strict=True)))
    found = ratio_of_totals(
        {str(i): weight for i, weight in enumerate(above)},
        {str(i): weight for i, weight in enumerate(below)},
        parts,
    )
    assert found.low == pytest.approx(min(corners), rel=1e-9, abs=1e-12)
    assert found.high == pytest.approx(max(corners), rel=1e-9, abs=1e-12)


def test_percentiles_lie_in_the_range_and_repeat() -> None:
    cost = Design(1024, "infiniband").cost(CATALOG)
    spread = cost_spread(cost)
    assert cost.capex_usd.low < spread.capex.p10 < spread.capex.p50 < spread.capex.p90 < cost.capex_usd.high
    assert cost.tco_usd.low < spread.tco.p10 < spread.tco.p90 < cost.tco_usd.high
    assert cost_spread(cost) == spread


def test_percentiles_without_uncertainty_are_the_value() -> None:
    cost = Design(1024, "roce").cost(CATALOG)
    ratio = ratio_spread(cost, cost)
    assert (ratio.capex.p10, ratio.tco.p90, ratio.chance_dearer) == (1, 1, 0)


def test_tornado_by_hand() -> None:
    terms = default_terms(
        CATALOG, 64, years=5, spares_percent=0, **{**PLAIN, "usd_per_kwh": Estimate(0.05, 0.1, 0.3)}
    )
    cost = Design(64, "roce").cost(CATALOG, terms)
    swings = {swing.factor.en: swing for swing in tornado(cost)}
    assert [swing.width_usd for swing in swings.values()] == sorted(
        (s.width_usd for s in swings.values()), reverse=True
    )
    power = swings["price of electricity"]
    assert power.width_usd == pytest.approx(4.986 * 8760 * 5 * 1.5 * 0.25)
    switch = swings["price of NVIDIA Spectrum-4 SN5600"]
    assert switch.width_usd == pytest.approx(
        2 * (95_000 - 55_000) * 1.5
    )  # with five years of support at 10 %
    assert "PUE" not in swings  # it has no range here
    rows = uncertainty_calculation(cost).rows
    assert [row["factor"] for row in rows] == list(swings)


@settings(max_examples=60, deadline=None)
@given(gpus=st.integers(1, 20_000), years=st.floats(0.5, 10))
def test_more_years_never_cost_less(gpus: int, years: float) -> None:
    short, long = (
        Design(gpus, "roce").cost(CATALOG, default_terms(CATALOG, gpus, years=span))
        for span in (years, years + 1)
    )
    assert short.tco_usd.typical < long.tco_usd.typical
    assert short.capex_usd == long.capex_usd


def test_the_three_ratios_of_a_small_cluster_are_said_in_both_languages() -> None:
    found = compare_fabrics(CATALOG, gpus=96)
    ratios = (found.capex_ratio, found.exact_ratio, found.best_fit_ratio)
    values = found.calculation().values
    assert values["capex_ratio_exact_counts"].value == found.exact_ratio.typical
    assert values["capex_ratio_best_fit"].value == found.best_fit_ratio.typical
    assert found.capex_ratio.typical > 1.5 * found.exact_ratio.typical  # 12 switches against 6
    note = next(one for one in found.calculation().assumptions if "Whole scalable units" in one.en)
    for text in (note.en, note.zh):
        assert all(f"{ratio.typical:.2f}" in text for ratio in ratios)
