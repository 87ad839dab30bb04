"""Power of a bill of materials: typical and maximum, in the racks and at the meter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.fabric.bill import Bill
from app.fabric.checks import bad_value, between
from app.fabric.parts import BillLine


@dataclass(frozen=True, slots=True)
class Power:
    """Watts. `typical_w` and `max_w` are at the equipment; `facility_*` include cooling (PUE)."""

    typical_w: float
    max_w: float
    pue: float

    @property
    def facility_typical_w(self) -> float:
        return self.typical_w * self.pue

    @property
    def facility_max_w(self) -> float:
        return self.max_w * self.pue


def network_power(bill: Bill, *, pue: float) -> Power:
    """Sum over the bill. `pue` is facility power over IT power; AdvisorError unless it is from 1 to 5."""
    if not 1 <= pue <= 5:
        raise bad_value("pue", pue, between(1, 5))
    return power_of(bill.lines, pue=pue)


def power_of(lines: Iterable[BillLine], *, pue: float) -> Power:
    typical = highest = 0.0
    for line in lines:
        typical += line.quantity * line.power_typical_w
        highest += line.quantity * line.power_max_w
    return Power(typical, max(typical, highest), pue)
