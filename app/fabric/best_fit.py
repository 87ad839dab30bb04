"""The least dear switch of the catalog for a design, with exact counts: what a tight budget would build."""

from __future__ import annotations

from dataclasses import replace

from app.errors import AdvisorError
from app.fabric.catalog import Catalog
from app.fabric.cost import Cost, Design
from app.fabric.terms import CostTerms


def best_fit(catalog: Catalog, design: Design, terms: CostTerms) -> Cost:
    """The cost of `design` with the priced switch that makes its typical capex smallest, in exact counts.

    Raises the AdvisorError of the design's own switch if no switch fits at all.
    """
    found: list[Cost] = []
    for switch in catalog.switches.values():
        if switch.fabric != design.fabric or switch.id not in catalog.prices:
            continue
        try:
            found.append(replace(design, switch=switch.id, whole_units=False).cost(catalog, terms))
        except AdvisorError:  # too few ports at this speed, or no cable for its cages: another switch may do
            continue
    if not found:
        return design.exact().cost(catalog, terms)
    return min(found, key=lambda cost: cost.capex_usd.typical)
