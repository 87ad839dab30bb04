"""How sure a cost is: P10, P50 and P90 by seeded draws, and what moves it most.

Each part's price and each money term is drawn independently from a triangle over its low, typical and high
value; a part that two costs share has one price in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.fabric.calculation import Bilingual, Calculation, Scalar, Value
from app.fabric.cost import HOURS_PER_YEAR, SUPPORTED, Cost
from app.fabric.estimate import Estimate
from app.fabric.ratio import prices, weights

if TYPE_CHECKING:
    import numpy

    Draws = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]

DRAWS = 4000
SEED = 20260901
TERMS = ("usd_per_kwh", "pue", "support_percent", "staff_fte", "salary_usd", "naas_usd_per_year")
_TERM_NAMES = {
    "usd_per_kwh": Bilingual("price of electricity", "电价"),
    "pue": Bilingual("PUE", "PUE"),
    "support_percent": Bilingual("support percentage", "支持费比例"),
    "staff_fte": Bilingual("network staff", "网络人力"),
    "salary_usd": Bilingual("salary", "薪酬"),
    "naas_usd_per_year": Bilingual("price of NaaS ports and data", "NaaS 端口与流量价格"),
}


@dataclass(frozen=True, slots=True)
class Percentiles:
    """One in ten outcomes lies below p10, half below p50, nine in ten below p90."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class CostSpread:
    """US dollars."""

    capex: Percentiles
    tco: Percentiles


@dataclass(frozen=True, slots=True)
class RatioSpread:
    """Ratios; `chance_dearer` is the share of draws in which the first cost's TCO is above the second's."""

    capex: Percentiles
    tco: Percentiles
    chance_dearer: float


@dataclass(frozen=True, slots=True)
class Swing:
    """TCO in US dollars with one factor at its low and at its high end, all others typical."""

    factor: Bilingual
    low_usd: float
    high_usd: float

    @property
    def width_usd(self) -> float:
        return self.high_usd - self.low_usd


def cost_spread(cost: Cost, *, draws: int = DRAWS, seed: int = SEED) -> CostSpread:
    """P10, P50 and P90 of capex and TCO."""
    drawn = _draw((cost,), draws, seed)
    return CostSpread(_percentiles(_capex(cost, drawn)), _percentiles(_tco(cost, drawn)))


def ratio_spread(above: Cost, below: Cost, *, draws: int = DRAWS, seed: int = SEED) -> RatioSpread:
    """The same of the ratio of two costs, whose terms must be the same."""
    drawn = _draw((above, below), draws, seed)
    tco = _tco(above, drawn) / _tco(below, drawn)
    capex = _capex(above, drawn) / _capex(below, drawn)
    return RatioSpread(_percentiles(capex), _percentiles(tco), float((tco > 1).mean()))


def tornado(cost: Cost) -> tuple[Swing, ...]:
    """TCO with each factor in turn at its low and high end, widest swing first; only those that move it."""
    swings: dict[str, Swing] = {}
    names = {line.item: line.name for line in cost.bill.lines}
    years = cost.terms.annuity_years
    base = cost.tco_usd.typical
    for item, name in names.items():
        low = high = base
        for line in cost.bill.lines:
            if line.item == item:
                share = (
                    cost.terms.support_percent.typical / 100 * years if line.category in SUPPORTED else 0.0
                )
                price = line.unit_price_usd
                low += (price.low - price.typical) * line.quantity * (1 + share)
                high += (price.high - price.typical) * line.quantity * (1 + share)
        swings[item] = Swing(Bilingual(f"price of {name}", f"{name} 的价格"), low, high)
    for term in TERMS:
        part = _term_share(cost, term)
        value: Estimate = getattr(cost.terms, term)
        if value.typical:
            low = base + part * (value.low / value.typical - 1)
            swings[term] = Swing(_TERM_NAMES[term], low, base + part * (value.high / value.typical - 1))
    found = [swing for swing in swings.values() if swing.width_usd > 0]
    return tuple(sorted(found, key=lambda swing: -swing.width_usd))


def uncertainty_calculation(cost: Cost) -> Calculation:
    """P10, P50 and P90 of a cost as values, and its tornado as rows."""
    spread = cost_spread(cost)
    values = {
        f"{name}_{point}_usd": Value(getattr(points, point), "USD")
        for name, points in (("capex", spread.capex), ("tco", spread.tco))
        for point in ("p10", "p50", "p90")
    }
    rows: list[dict[str, Scalar]] = [
        {
            "factor": swing.factor.en,
            "factor_zh": swing.factor.zh,
            "tco_low_usd": swing.low_usd,
            "tco_high_usd": swing.high_usd,
            "width_usd": swing.width_usd,
        }
        for swing in tornado(cost)
    ]
    t = cost.bill.topology
    return Calculation(
        tool="uncertainty",
        label=t.fabric,
        inputs={"gpus": t.gpus, "fabric": t.fabric, "draws": DRAWS, "seed": SEED},
        values=values,
        assumptions=(
            Bilingual(
                f"{DRAWS:,} seeded draws; each price and term independent and triangular over its range.",
                f"固定种子的 {DRAWS:,} 次抽样；各价格与参数独立，在其范围内服从三角分布。",
            ),
        ),
        sources=cost.bill.sources,
        rows=tuple(rows),
    )


def _term_share(cost: Cost, term: str) -> float:
    if term in ("usd_per_kwh", "pue"):
        return cost.energy_usd.typical
    if term == "naas_usd_per_year":
        return cost.naas_usd.typical
    return cost.support_usd.typical if term == "support_percent" else cost.staff_usd.typical


def _draw(costs: tuple[Cost, ...], draws: int, seed: int) -> dict[str, Draws]:
    import numpy as np  # here, so that sizing and costing alone do not load NumPy

    random = np.random.default_rng(seed)
    parts = prices(*costs) | {term: getattr(costs[0].terms, term) for term in TERMS}
    return {
        name: random.triangular(part.low, part.typical, part.high, draws)
        if part.low < part.high
        else np.full(draws, part.typical)
        for name, part in sorted(parts.items())
    }


def _capex(cost: Cost, drawn: dict[str, Draws]) -> Draws:
    total = sum(drawn[part] * pieces for part, pieces in weights(cost).items())
    assert not isinstance(total, int)  # a bill has at least one line
    return total


def _tco(cost: Cost, drawn: dict[str, Draws]) -> Draws:
    years = cost.terms.annuity_years
    supported = sum(drawn[part] * pieces for part, pieces in weights(cost, SUPPORTED).items())
    energy = cost.power.typical_w / 1000 * HOURS_PER_YEAR * years * drawn["usd_per_kwh"] * drawn["pue"]
    staff = drawn["staff_fte"] * drawn["salary_usd"] * years
    naas = drawn["naas_usd_per_year"] * years
    return _capex(cost, drawn) + supported * drawn["support_percent"] * (years / 100) + energy + staff + naas


def _percentiles(values: Draws) -> Percentiles:
    import numpy as np

    p10, p50, p90 = np.percentile(values, (10, 50, 90))
    return Percentiles(float(p10), float(p50), float(p90))
