"""An uncertain quantity: the lowest, typical and highest value that its sources support."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """Three points of an uncertain quantity; the unit stands in the name of whatever holds it.

    Sums add low to low and high to high: the range of a total is what follows if every part is at its low (or
    high) end at once, so it is wider than a statistical interval. It says nothing about probability.
    """

    low: float
    typical: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"not in order: {self.low}, {self.typical}, {self.high}")

    @classmethod
    def exact(cls, value: float) -> Estimate:
        return cls(value, value, value)

    @classmethod
    def total(cls, parts: Iterable[Estimate]) -> Estimate:
        low = typical = high = 0.0
        for part in parts:
            low += part.low
            typical += part.typical
            high += part.high
        return cls(low, typical, high)

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.low + other.low, self.typical + other.typical, self.high + other.high)

    def __mul__(self, factor: float) -> Estimate:
        if factor < 0:
            raise ValueError("an Estimate is scaled by factors of at least 0")
        return Estimate(self.low * factor, self.typical * factor, self.high * factor)

    __rmul__ = __mul__
