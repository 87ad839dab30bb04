"""The money terms of a cost: years, tariff, PUE, support, staff. Defaults come from the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Source
from app.fabric.catalog import Catalog
from app.fabric.checks import bad_value, between, one_of
from app.fabric.estimate import Estimate
from app.fabric.naas import Naas

_NOTHING = Estimate.exact(0.0)
_RANGES = {
    "usd_per_kwh": (0, 10),
    "pue": (1, 5),
    "support_percent": (0, 100),
    "staff_fte": (0, 10_000),
    "salary_usd": (0, 10_000_000),
}


@dataclass(frozen=True, slots=True)
class CostTerms:
    """What money terms a cost uses. Percentages are per year; `staff_fte` is the same for either fabric."""

    years: float
    pue: Estimate
    usd_per_kwh: Estimate
    support_percent: Estimate
    staff_fte: Estimate
    salary_usd: Estimate
    discount_percent: float
    spares_percent: float
    naas_usd_per_year: Estimate = _NOTHING
    notes: tuple[Bilingual, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def annuity_years(self) -> float:
        """Worth today of 1 paid at each year's end: the number of years where nothing is discounted."""
        rate = self.discount_percent / 100
        return self.years if rate == 0 else (1 - (1 + rate) ** -self.years) / rate


def default_terms(catalog: Catalog, gpus: int, *, naas: Naas | None = None, **given: Any) -> CostTerms:
    """The catalog's defaults for so many GPUs, with `given` terms (numbers or Estimates) in their place.

    `naas`: ports and data that are rented beside the network, at the catalog's prices.
    Raises AdvisorError for an unknown term, years outside 0-30 (code years_out_of_range), another bad value.
    """
    known = {field.name for field in fields(CostTerms)} - {"notes", "sources", "naas_usd_per_year"}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in known:
            raise bad_value("terms", name, one_of(sorted(known)))
    base, more = catalog.default("staff_fte_base"), catalog.default("staff_fte_per_1000_gpus")
    terms: dict[str, Any] = {
        "staff_fte": base.value + more.value * (max(gpus, 0) / 1000)
    }
    notes: list[Bilingual] = []
    sources: list[Source] = []
    for name in ("usd_per_kwh", "pue", "support_percent", "salary_usd", "years", "discount_percent"):
        row = catalog.default(name)
        terms[name] = row.value
        if name not in given:
            notes.append(row.note)
            sources += row.sources
    if "staff_fte" not in given:
        notes.append(base.note)
        sources += base.sources
    for name in ("years", "discount_percent", "spares_percent"):
        terms[name] = catalog.default(name).value.typical
    for name, value in given.items():
        numeric = name in ("years", "discount_percent", "spares_percent")
        terms[name] = _number(name, value) if numeric else _as_estimate(name, value)
    _check(terms)
    if naas is not None and naas.chosen:
        terms["naas_usd_per_year"] = naas.usd_per_year(catalog)
        notes.append(naas.note())
        sources += naas.sources(catalog)
    return CostTerms(**terms, notes=tuple(notes), sources=tuple(dict.fromkeys(sources)))


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_value(name, value, Bilingual("Give a number.", "请给出数字。"))
    return float(value)


def _as_estimate(name: str, value: object) -> Estimate:
    return value if isinstance(value, Estimate) else Estimate.exact(_number(name, value))


def _check(terms: Mapping[str, Any]) -> None:
    years = terms["years"]
    if not isfinite(years) or not 0 < years <= 30:
        raise AdvisorError(
            f"{years:g} years is no time to own a network for.",
            "Choose more than 0 and at most 30 years.",
            code="years_out_of_range",
            values={"years": f"{years:g}"},
        )
    for name, (low, high) in _RANGES.items():
        if not low <= terms[name].low <= terms[name].high <= high:
            raise bad_value(name, terms[name].typical, between(low, high))
    for name in ("discount_percent", "spares_percent"):
        if not isfinite(terms[name]) or not 0 <= terms[name] <= 100:
            raise bad_value(name, terms[name], between(0, 100))
