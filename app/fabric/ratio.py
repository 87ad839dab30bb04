"""Bounds of the ratio of two totals that share uncertain parts.

Dividing the low end of one total by the high end of the other would let one and the same part (a NIC that
both bills hold) be cheap and dear at once. Here every part has one price in both totals.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.fabric.estimate import Estimate

Weights = Mapping[str, float]


def ratio_of_totals(above: Weights, below: Weights, parts: Mapping[str, Estimate]) -> Estimate:
    """The lowest, typical and highest value of sum(above x part) / sum(below x part).

    The extremes of such a quotient lie at ends of the parts' ranges; Dinkelbach's iteration finds them. The
    total below must be positive at every end.
    """
    typical = _total(above, {id: part.typical for id, part in parts.items()}) / _total(
        below, {id: part.typical for id, part in parts.items()}
    )
    low = _extreme(above, below, parts, typical, dearer=False)
    high = _extreme(above, below, parts, typical, dearer=True)
    return Estimate(min(low, typical), typical, max(high, typical))


def _extreme(
    above: Weights, below: Weights, parts: Mapping[str, Estimate], start: float, *, dearer: bool
) -> float:
    ratio = start
    for _ in range(50):
        prices = {
            id: part.high if (above.get(id, 0.0) - ratio * below.get(id, 0.0) > 0) == dearer else part.low
            for id, part in parts.items()
        }
        found = _total(above, prices) / _total(below, prices)
        if abs(found - ratio) < 1e-12:
            break
        ratio = found
    return ratio


def _total(weights: Weights, prices: Mapping[str, float]) -> float:
    return sum(weight * prices[id] for id, weight in weights.items())
