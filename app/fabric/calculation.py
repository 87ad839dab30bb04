"""What every calculator returns: values with units, the assumptions made, and the sources of the data used.

A Calculation is a record to show and to check answers against; it does not compute anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from app.fabric.estimate import Estimate

Language = Literal["en", "zh"]
Scalar = float | int | str | bool | None


@dataclass(frozen=True, slots=True)
class Bilingual:
    """One sentence in both languages of the product."""

    en: str
    zh: str

    def in_language(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Source:
    """Where a datum comes from. `trust` says how far to believe it:

    vendor | standard | paper | source-code | measurement | secondary | estimate | article | ours
    (`ours`: a default that we chose because no source states one).
    """

    title: str
    url: str
    date: str
    trust: str

    def to_json(self) -> dict[str, str]:
        return {"title": self.title, "url": self.url, "date": self.date, "trust": self.trust}


@dataclass(frozen=True, slots=True)
class Value:
    """A result with its unit; `low` and `high` when it is a range (then `value` is the typical one)."""

    value: float | int | str
    unit: str = ""
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, estimate: Estimate, unit: str) -> Value:
        return cls(estimate.typical, unit, estimate.low, estimate.high)

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "unit": self.unit, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Calculation:
    """One run of one calculator. `id` (T1, T2, …) is given by the answer that uses it.

    `rows` is a table that belongs to the result (the lines of a bill, the sides of a comparison): each row maps
    column names with units in them to scalars.
    """

    tool: str
    inputs: Mapping[str, Scalar]
    values: Mapping[str, Value]
    assumptions: tuple[Bilingual, ...] = ()
    sources: tuple[Source, ...] = ()
    rows: tuple[Mapping[str, Scalar], ...] = ()
    id: str = ""
    label: str = field(default="")  # what it was computed for, e.g. "roce"; tells two runs of a tool apart

    def with_id(self, id: str) -> Calculation:
        return replace(self, id=id)

    def to_json(self, language: Language = "en") -> dict[str, Any]:
        return {
            "id": self.id,
            "tool": self.tool,
            "label": self.label,
            "inputs": dict(self.inputs),
            "values": {name: value.to_json() for name, value in self.values.items()},
            "assumptions": [text.in_language(language) for text in self.assumptions],
            "sources": [source.to_json() for source in self.sources],
            "rows": [dict(row) for row in self.rows],
        }


def rows_in(rows: Iterable[Mapping[str, Any]], language: Language) -> list[dict[str, Any]]:
    """Rows in one language: of a column `x` and its twin `x_zh`, the reader's is left, named `x`."""
    return [
        {
            name: row[f"{name}_zh"] if language == "zh" and f"{name}_zh" in row else value
            for name, value in row.items()
            if not name.endswith("_zh")
        }
        for row in rows
    ]
