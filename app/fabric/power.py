"""Power of a bill of materials: typical and maximum, in the racks and at the meter."""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.bill import Bill
from app.fabric.checks import bad_value, between


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
    typical = sum(line.quantity * line.power_typical_w for line in bill.lines)
    highest = sum(line.quantity * line.power_max_w for line in bill.lines)
    return Power(typical, max(typical, highest), pue)
