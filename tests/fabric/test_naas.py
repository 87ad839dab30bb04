"""Rented ports and data, by hand from the published cloud interconnect prices."""

from pathlib import Path

import pytest

from app.errors import AdvisorError
from app.fabric.compare import compare_fabrics
from app.fabric.cost import Design
from app.fabric.naas import Naas
from app.fabric.terms import default_terms
from app.fabric.uncertainty import cost_spread, tornado
from app.knowledge import load_catalog

CATALOG = load_catalog(Path(__file__).parents[2] / "knowledge" / "catalog")
CHOSEN = Naas(ports_10g=1, ports_100g=2, egress_tb_per_month=100)
# low: AWS 10G, Google 100G, 0.02 a GB; high: Google 10G, AWS 100G, 0.042 a GB in Asia
MONTH = (1642 + 2 * 13_000 + 100_000 * 0.02, 1700 + 2 * 16_425 + 100_000 * 0.042)


def test_a_year_by_hand() -> None:
    year = CHOSEN.usd_per_year(CATALOG)
    assert (year.low, year.high) == pytest.approx((12 * MONTH[0], 12 * MONTH[1]))
    assert {source.title.split()[0] for source in CHOSEN.sources(CATALOG)} == {"AWS", "Google"}


def test_it_is_part_of_the_tco_and_of_its_spread() -> None:
    plain = Design(64, "roce").cost(CATALOG, default_terms(CATALOG, 64))
    rented = Design(64, "roce").cost(CATALOG, default_terms(CATALOG, 64, naas=CHOSEN))
    assert rented.naas_usd.low == pytest.approx(5 * 12 * MONTH[0])
    assert rented.tco_usd.typical - plain.tco_usd.typical == pytest.approx(rented.naas_usd.typical)
    assert "naas_usd" not in plain.values() and rented.values()["naas_usd"].value == rented.naas_usd.typical
    swing = next(one for one in tornado(rented) if "NaaS" in one.factor.en)
    assert swing.width_usd == pytest.approx(rented.naas_usd.high - rented.naas_usd.low)
    assert cost_spread(rented).tco.p50 - cost_spread(plain).tco.p50 == pytest.approx(rented.naas_usd.typical, rel=0.1)
    assert any("NaaS" in note.en for note in rented.terms.notes)


def test_both_fabrics_rent_the_same() -> None:
    terms = default_terms(CATALOG, 64, naas=CHOSEN)
    found = compare_fabrics(CATALOG, gpus=64, terms=terms)
    rows = {str(row["quantity"]): row for row in found.calculation().rows}
    assert rows["NaaS ports and data"]["infiniband"] == rows["NaaS ports and data"]["roce"]
    plain = compare_fabrics(CATALOG, gpus=64)
    assert abs(found.tco_ratio.typical - 1) < abs(plain.tco_ratio.typical - 1)  # a common cost draws the ratio to 1


def test_nothing_chosen_is_nothing_said() -> None:
    terms = default_terms(CATALOG, 64, naas=Naas())
    assert terms.naas_usd_per_year.high == 0 and not any("NaaS" in note.en for note in terms.notes)


@pytest.mark.parametrize("given", [{"ports_10g": -1}, {"egress_tb_per_month": float("nan")}, {"ports_100g": 10**9}])
def test_bad_input(given: dict[str, float]) -> None:
    with pytest.raises(AdvisorError, match="naas_"):
        Naas(**given)  # type: ignore[arg-type]
