"""The range of the ratio of two costs that share uncertain parts.

Dividing the low end of one total by the high end of the other would let one part (a NIC that both
bills hold) be cheap and dear at once. Here every part has one price in both totals.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.fabric.cost import HOURS_PER_YEAR, SUPPORTED, Cost
from app.fabric.estimate import Estimate
from app.fabric.parts import BillLine

Weights = Mapping[str, float]
FIXED = "fixed"


def capex_ratio(above: Cost, below: Cost, categories: tuple[str, ...] | None = None) -> Estimate:
    """Capex of one over the other, all of it or of some categories."""
    return ratio_of_totals(weights(above, categories), weights(below, categories), prices(above, below))


def tco_ratio(above: Cost, below: Cost) -> Estimate:
    """TCO of one over the other: prices, tariff, support and staff are common to both.

    Prices move freely; each of the other terms is tried at its low and its high end.
    """
    terms, ratios = above.terms, []
    parts = {**prices(above, below), FIXED: Estimate.exact(1.0)}
    for support in (terms.support_percent.low, terms.support_percent.high):
        for usd_per_it_kwh in (
            terms.usd_per_kwh.low * terms.pue.low,
            terms.usd_per_kwh.high * terms.pue.high,
        ):
            fixed = above.staff_usd + above.naas_usd  # the same for both
            for other in (fixed.low, fixed.high):
                pair = [_owning(cost, support, usd_per_it_kwh, other) for cost in (above, below)]
                ratios.append(ratio_of_totals(pair[0], pair[1], parts))
    typical = above.tco_usd.typical / below.tco_usd.typical
    low, high = min(ratio.low for ratio in ratios), max(ratio.high for ratio in ratios)
    return Estimate(min(low, typical), typical, max(high, typical))


def ratio_of_totals(above: Weights, below: Weights, parts: Mapping[str, Estimate]) -> Estimate:
    """The lowest, typical and highest value of sum(above x part) / sum(below x part).

    The extremes of such a quotient lie at ends of the parts' ranges; Dinkelbach's iteration finds them. The
    total below must be positive at every end.
    """
    usual = {id: part.typical for id, part in parts.items()}
    typical = _total(above, usual) / _total(below, usual)
    low = _extreme(above, below, parts, typical, dearer=False)
    high = _extreme(above, below, parts, typical, dearer=True)
    return Estimate(min(low, typical), typical, max(high, typical))


def _extreme(
    above: Weights, below: Weights, parts: Mapping[str, Estimate], start: float, *, dearer: bool
) -> float:
    ratio = start
    for _ in range(50):
        ends = {
            id: part.high if (above.get(id, 0.0) - ratio * below.get(id, 0.0) > 0) == dearer else part.low
            for id, part in parts.items()
        }
        found = _total(above, ends) / _total(below, ends)
        if abs(found - ratio) < 1e-12:
            break
        ratio = found
    return ratio


def _total(weights: Weights, unit: Mapping[str, float]) -> float:
    return sum(weight * unit[id] for id, weight in weights.items())


def weights(cost: Cost, categories: tuple[str, ...] | None = None) -> dict[str, float]:
    """Pieces by part, of the whole bill or of some categories."""
    found: dict[str, float] = {}
    for line in cost.bill.lines:
        if categories is None or line.category in categories:
            found[key(line)] = found.get(key(line), 0.0) + line.quantity
    return found


def _owning(cost: Cost, support_percent: float, usd_per_it_kwh: float, fixed_usd: float) -> dict[str, float]:
    years = cost.terms.annuity_years
    found = weights(cost)
    for part, pieces in weights(cost, SUPPORTED).items():
        found[part] += pieces * support_percent / 100 * years
    found[FIXED] = cost.power.typical_w / 1000 * HOURS_PER_YEAR * usd_per_it_kwh * years + fixed_usd
    return found


def prices(*costs: Cost) -> dict[str, Estimate]:
    return {key(line): line.unit_price_usd for cost in costs for line in cost.bill.lines}


def key(line: BillLine) -> str:
    """One part, one price: cables of different lengths are different parts."""
    return f"{line.item}/{line.unit_price_usd.typical:g}"
