"""Intervals and tests for counts of right and wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, comb, sqrt

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution


def wilson(successes: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson score interval of a proportion (Wilson 1927); (0, 1) when nothing was observed."""
    if n <= 0:
        return 0.0, 1.0
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar p-value from the discordant pairs: right in one run only, by which run."""
    n = only_first + only_second
    if n == 0:
        return 1.0
    tail = float(sum(comb(n, k) for k in range(min(only_first, only_second) + 1))) / 2.0**n
    return min(1.0, 2 * tail)


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest-rank percentile: the smallest value with at least `share` of the values at or below it."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(ceil(share * len(values)) - 1, 0)]
