"""Designs side by side, the price of a slow network, and the bill as CSV."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.fabric.compare import compare_fabrics
from app.fabric.cost import Design
from app.fabric.estimate import Estimate
from app.fabric.export import bill_csv
from app.fabric.options import compare_designs
from app.fabric.slowdown import slower_network
from app.fabric.terms import default_terms
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")


def test_two_roce_designs_and_infiniband() -> None:
    found = compare_designs(
        CATALOG,
        {
            "Spectrum": Design(1024, "roce"),
            "Arista": Design(1024, "roce", switch="7060x6-64pe"),
            "Spectrum 2:1": Design(1024, "roce", oversubscription=2),
            "Quantum": Design(1024, "infiniband"),
        },
    )
    rows = {row["design"]: row for row in found.rows}
    assert (rows["Spectrum"]["capex_ratio"], rows["Spectrum"]["capex_ratio_high"]) == (1, 1)
    assert rows["Arista"]["switches"] == rows["Spectrum"]["switches"] == 24
    # 24 boxes at 90,000 rather than 70,000; no spare at 2 % of 24 rounds to one of 0.48: none.
    assert float(str(rows["Arista"]["capex_usd"])) - float(str(rows["Spectrum"]["capex_usd"])) == 24 * 20_000
    assert rows["Spectrum 2:1"]["switches"] == 20
    assert rows["Quantum"]["switches"] == 48
    assert found.values["Quantum_capex_usd"].value == rows["Quantum"]["capex_usd"]


def test_no_design() -> None:
    with pytest.raises(AdvisorError, match="at least one"):
        compare_designs(CATALOG, {})


def test_a_cheaper_network_that_wastes_gpus_is_the_dearer_one() -> None:
    pair = compare_fabrics(CATALOG, gpus=4096).owned
    ib, roce = pair["infiniband"], pair["roce"]
    saving = ib.tco_usd.typical - roce.tco_usd.typical
    assert saving > 0
    hours = 4096 * 8760 * 5 * 0.8
    found = slower_network(
        roce, ib, lost_percent=Estimate(0, 5, 10), gpu_hour_usd=Estimate(2, 3, 6), used_percent=80
    ).values
    assert found["gpu_hours"].value == hours
    assert found["lost_usd"].value == pytest.approx(hours * 0.05 * 3)
    assert (found["lost_usd"].low, found["lost_usd"].high) == (0, pytest.approx(hours * 0.10 * 6))
    assert found["net_saving_usd"].value == pytest.approx(saving - hours * 0.05 * 3)
    assert float(found["net_saving_usd"].value) < 0
    assert found["break_even_lost_percent"].value == pytest.approx(100 * saving / (hours * 3))
    assert found["break_even_gpu_hour_usd"].value == pytest.approx(saving / (hours * 0.05))


def test_a_network_that_wastes_nothing_keeps_its_saving() -> None:
    pair = compare_fabrics(CATALOG, gpus=4096).owned
    found = slower_network(
        pair["roce"], pair["infiniband"], lost_percent=Estimate.exact(0), gpu_hour_usd=Estimate.exact(3)
    ).values
    assert found["net_saving_usd"].value == found["tco_saving_usd"].value
    assert "break_even_gpu_hour_usd" not in found


@pytest.mark.parametrize(("lost", "used"), [(Estimate.exact(101), 100), (Estimate.exact(5), -1)])
def test_percentages(lost: Estimate, used: float) -> None:
    cost = Design(64, "roce").cost(CATALOG)
    with pytest.raises(AdvisorError, match="from 0 to 100"):
        slower_network(cost, cost, lost_percent=lost, gpu_hour_usd=Estimate.exact(3), used_percent=used)


def test_clusters_of_different_size_are_not_compared() -> None:
    costs = [Design(gpus, "roce").cost(CATALOG) for gpus in (64, 128)]
    with pytest.raises(AdvisorError, match="same size"):
        slower_network(*costs, lost_percent=Estimate.exact(1), gpu_hour_usd=Estimate.exact(3))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_csv_holds_every_line_and_the_total(language: str) -> None:
    bill = Design(1024, "infiniband").cost(CATALOG, default_terms(CATALOG, 1024)).bill
    rows = list(csv.reader(StringIO(bill_csv(bill, language))))  # type: ignore[arg-type]
    heading, lines, total = rows[0], rows[1:-1], rows[-1]
    assert heading[0] == ("类别" if language == "zh" else "category")
    assert len(lines) == len(bill.lines) and len({len(row) for row in rows}) == 1
    sums = heading.index("小计典型（美元）" if language == "zh" else "total_usd")
    assert (
        sum(float(row[sums]) for row in lines) == pytest.approx(float(total[sums])) == bill.capex_usd.typical
    )
    assert all(row[heading.index("来源" if language == "zh" else "source")] for row in lines)
