"""Any number of designs side by side: vendors, speeds, oversubscription, either fabric."""

from __future__ import annotations

from collections.abc import Mapping

from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.catalog import Catalog
from app.fabric.checks import bad_value
from app.fabric.cost import Cost, Design
from app.fabric.estimate import Estimate
from app.fabric.ratio import capex_ratio
from app.fabric.slowdown import lost_money
from app.fabric.terms import CostTerms, default_terms


def compare_designs(
    catalog: Catalog,
    designs: Mapping[str, Design],
    *,
    terms: CostTerms | None = None,
    lost_percent: Mapping[str, Estimate] | None = None,
    gpu_hour: str = "gpu-hour-h100",
) -> Calculation:
    """One row a design, in the order given; ratios are to the first. All on the same terms.

    `lost_percent`: per cent of the GPU hours that a design wastes, by its name; where any is given, each row
    also has the money lost (at the price of the catalog's item `gpu_hour`) and TCO with it. Values: capex and
    TCO of each by its name. Raises AdvisorError without designs, or for an impossible one.
    """
    if not designs:
        raise bad_value("designs", "none", Bilingual("Name at least one design.", "请至少给出一个方案。"))
    terms = terms or default_terms(catalog, next(iter(designs.values())).gpus)
    costs = {name: design.cost(catalog, terms) for name, design in designs.items()}
    first = next(iter(costs.values()))
    rows = {name: _row(name, cost, first) for name, cost in costs.items()}
    values: dict[str, Value] = {}
    for name, cost in costs.items():
        values[f"{name}_capex_usd"] = Value.of(cost.capex_usd, "USD")
        values[f"{name}_tco_usd"] = Value.of(cost.tco_usd, "USD")
    hour_sources: tuple[Source, ...] = ()
    if lost_percent:
        price = catalog.prices[catalog.service(gpu_hour).id]
        hour_sources = price.sources
        for name, cost in costs.items():
            lost = lost_money(cost, lost_percent.get(name, Estimate.exact(0)), price.usd)
            with_lost = cost.tco_usd + lost
            values[f"{name}_lost_usd"] = Value.of(lost, "USD")
            values[f"{name}_tco_and_lost_usd"] = Value.of(with_lost, "USD")
            rows[name] |= {"lost_usd": lost.typical, "tco_and_lost_usd": with_lost.typical}
    bills = [cost.bill for cost in costs.values()]
    notes = [note for bill in bills for note in (*bill.topology.assumptions, *bill.assumptions)]
    sources = [source for bill in bills for source in (*bill.topology.sources, *bill.sources)]
    return Calculation(
        tool="designs",
        inputs={"designs": ", ".join(designs), "gpus": first.gpus, "years": terms.years},
        values=values,
        assumptions=tuple(dict.fromkeys((*notes, *terms.notes))),
        sources=tuple(dict.fromkeys((*sources, *terms.sources, *hour_sources))),
        rows=tuple(rows.values()),
    )


def _row(name: str, cost: Cost, first: Cost) -> dict[str, Scalar]:
    t, ratio = cost.bill.topology, capex_ratio(cost, first)
    return {
        "design": name,
        "fabric": t.fabric,
        "switch": t.switch.name,
        "gpus": t.gpus,
        "gbps_per_gpu": t.gbps_per_gpu,
        "oversubscription": t.oversubscription,
        "layout": t.layout,
        "tiers": t.tiers,
        "switches": t.switches,
        "links_between_switches": t.switch_links,
        "capex_usd_low": cost.capex_usd.low,
        "capex_usd": cost.capex_usd.typical,
        "capex_usd_high": cost.capex_usd.high,
        "capex_usd_per_gpu": cost.capex_usd.typical / cost.gpus,
        "tco_usd_low": cost.tco_usd.low,
        "tco_usd": cost.tco_usd.typical,
        "tco_usd_high": cost.tco_usd.high,
        "power_typical_kw": cost.power.typical_w / 1000,
        "capex_ratio_low": ratio.low,
        "capex_ratio": ratio.typical,
        "capex_ratio_high": ratio.high,
    }
