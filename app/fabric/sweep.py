"""Many scenarios at once: each design is sized and billed once, then costed under every set of terms with NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import AdvisorError
from app.fabric.catalog import Catalog
from app.fabric.checks import bad_value, one_of
from app.fabric.cost import HOURS_PER_YEAR, SUPPORTED, Design
from app.fabric.power import network_power
from app.fabric.terms import CostTerms, default_terms

if TYPE_CHECKING:
    import numpy

    Table = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float64]]

POINTS = ("low", "typical", "high")


@dataclass(frozen=True, slots=True)
class Sweep:
    """US dollars by design, set of terms and point (low, typical, high); counts by design. NaN where impossible.

    `refused` says why, by the position of the design.
    """

    capex_usd: Table  # designs x points
    tco_usd: Table  # designs x terms x points
    switches: Table
    tiers: Table
    power_typical_kw: Table
    refused: Mapping[int, AdvisorError]


def sweep(catalog: Catalog, designs: Sequence[Design], terms: Sequence[CostTerms] | None = None) -> Sweep:
    """Cost every design under every set of terms; without `terms`, under the defaults for its own GPUs.

    The figures are those of Design.cost. A design that cannot be built does not stop the others. Raises
    AdvisorError where sets of terms differ in spares, which belong to the bill.
    """
    import numpy as np  # here, so that sizing and costing alone do not load NumPy

    if terms and len({one.spares_percent for one in terms}) > 1:
        raise bad_value("spares_percent", "several values", one_of([f"{terms[0].spares_percent:g}"]))
    own = {gpus: default_terms(catalog, gpus) for gpus in {design.gpus for design in designs}} if not terms else {}
    width = len(terms) if terms else 1
    bills = np.full((len(designs), 11), np.nan)  # capex x 3, supported x 3, watts x 2, switches, tiers, gpus
    refused: dict[int, AdvisorError] = {}
    for at, design in enumerate(designs):
        spares = (terms[0] if terms else own[design.gpus]).spares_percent
        try:
            bill = design.billed(catalog, spares)
        except AdvisorError as error:
            refused[at] = error
            continue
        power = network_power(bill, pue=1.0)
        capex, supported, sized = bill.capex_usd, bill.category_usd(*SUPPORTED), bill.topology
        bills[at] = (
            capex.low, capex.typical, capex.high, supported.low, supported.typical, supported.high,
            power.typical_w, power.max_w, sized.switches, sized.tiers, sized.gpus,
        )  # fmt: skip
    capex_usd, supported_usd, watts = bills[:, 0:3], bills[:, 3:6], bills[:, [6, 6, 7]]
    if terms:
        money = np.array([_per_year(one) for one in terms])[None]  # 1 x terms x 4 x points
    else:
        money = np.array([_per_year(own[design.gpus]) for design in designs]).reshape(len(designs), 1, 4, 3)
    years, per_watt, per_supported, fixed = (money[:, :, kind] for kind in range(4))
    yearly = watts[:, None] * per_watt + supported_usd[:, None] * per_supported + fixed
    tco = np.broadcast_to(capex_usd[:, None] + yearly * years, (len(designs), width, 3))
    return Sweep(capex_usd, tco, bills[:, 8], bills[:, 9], bills[:, 6] / 1000, refused)


def _per_year(terms: CostTerms) -> list[list[float]]:
    """Annuity years, and US dollars a year: of one watt, of one dollar under support, and of all else."""
    rows: list[list[float]] = [[terms.annuity_years] * 3, [], [], []]
    for point in POINTS:
        kwh = HOURS_PER_YEAR / 1000 * getattr(terms.pue, point) * getattr(terms.usd_per_kwh, point)
        staff = getattr(terms.staff_fte, point) * getattr(terms.salary_usd, point)
        rows[1].append(kwh)
        rows[2].append(getattr(terms.support_percent, point) / 100)
        rows[3].append(staff + getattr(terms.naas_usd_per_year, point))
    return rows
