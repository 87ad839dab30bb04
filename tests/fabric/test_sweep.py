"""Sweeps give the figures of single costs, go on past impossible designs, and are fast."""

import time
from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.fabric.cost import Design
from app.fabric.naas import Naas
from app.fabric.sweep import sweep
from app.fabric.terms import default_terms
from app.fabric.topology import size_fabric
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")
DESIGNS = [
    Design(64, "roce"),
    Design(1016, "infiniband", reserved_ports=4, twin_port_nodes=True),
    Design(4096, "infiniband", oversubscription=2),
    Design(4096, "roce", switch="7060x6-64pe", planes=2, gbps_per_gpu=800),
]


def test_each_figure_is_that_of_the_design_alone() -> None:
    found = sweep(CATALOG, DESIGNS)
    for at, design in enumerate(DESIGNS):
        alone = design.cost(CATALOG)
        capex, tco = alone.capex_usd, alone.tco_usd
        assert found.capex_usd[at] == pytest.approx([capex.low, capex.typical, capex.high])
        assert found.tco_usd[at, 0] == pytest.approx([tco.low, tco.typical, tco.high])
        assert found.switches[at] == alone.bill.topology.switches and found.tiers[at] == alone.bill.topology.tiers
        assert found.power_typical_kw[at] == pytest.approx(alone.power.typical_w / 1000)
    assert not found.refused


def test_every_design_under_every_set_of_terms() -> None:
    terms = [
        default_terms(CATALOG, 1000, years=3, usd_per_kwh=0.12),
        default_terms(CATALOG, 1000, years=7, discount_percent=8, support_percent=12, naas=Naas(ports_10g=2)),
    ]
    found = sweep(CATALOG, DESIGNS, terms)
    assert found.tco_usd.shape == (4, 2, 3)
    for at, design in enumerate(DESIGNS):
        for set_at, one in enumerate(terms):
            alone = design.cost(CATALOG, one).tco_usd
            assert found.tco_usd[at, set_at] == pytest.approx([alone.low, alone.typical, alone.high])


def test_an_impossible_design_does_not_stop_the_others() -> None:
    found = sweep(CATALOG, [Design(70_000, "infiniband"), Design(64, "roce")])
    assert list(found.refused) == [0] and found.refused[0].code == "gpus_out_of_range"
    assert found.tco_usd[0, 0, 1] != found.tco_usd[0, 0, 1]  # NaN
    assert found.tco_usd[1, 0, 1] > 0


def test_spares_belong_to_the_bill() -> None:
    terms = [default_terms(CATALOG, 64, spares_percent=percent) for percent in (2, 3)]
    with pytest.raises(AdvisorError, match="spares_percent"):
        sweep(CATALOG, DESIGNS, terms)


def test_ten_thousand_scenarios_take_less_than_two_seconds() -> None:
    designs = [
        Design(gpus, fabric, oversubscription=ratio)  # type: ignore[arg-type]
        for gpus in range(64, 64 + 8 * 1250, 8)
        for fabric in ("infiniband", "roce")
        for ratio in (1.0, 2.0)
    ]
    terms = [default_terms(CATALOG, 1000, usd_per_kwh=tariff) for tariff in (0.07, 0.2)]
    assert len(designs) * len(terms) == 10_000
    start = time.process_time()
    found = sweep(CATALOG, designs, terms)
    assert time.process_time() - start < 2
    assert not found.refused


@pytest.mark.parametrize("gpus", [64, 2_056, 8_200, 65_544, 250_000, 524_296, 747_816, 1_000_000])
def test_any_sizing_takes_less_than_a_millisecond(gpus: int) -> None:
    for options in ({}, {"whole_units": False}, {"oversubscription": 3.0}, {"topology": "rail-only"}):
        size_fabric(CATALOG, gpus=gpus, fabric="roce", switch="sn6600", **options)  # type: ignore[arg-type]
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            size_fabric(CATALOG, gpus=gpus, fabric="roce", switch="sn6600", **options)  # type: ignore[arg-type]
            taken.append(time.perf_counter() - start)
        assert min(taken) < 0.001, options
