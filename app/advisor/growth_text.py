"""What growth on old switches comes to, in sentences whose figures lead to the calculation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.advisor.figures import with_range
from app.advisor.references import marked
from app.fabric.calculation import Calculation, Language
from app.fabric.stock_sentences import SENTENCES, said

LEVELS = ("breaks", "check", "fine")
_IN_THE_HEADLINE = frozenset({"fits", "buy"})


def growth_context(calculation: Calculation | None, language: Language, *, asked: bool = True) -> dict[str, Any]:
    """For the template: sentences by level, and whether switches are kept or bought. Empty without a calculation.

    `asked`: a number of GPUs was; else the number is the most that the switches carry, which leaves no room.
    """
    if calculation is None:
        return {}
    one = calculation

    def shown(name: str) -> str:
        return marked(with_range(one.values[name].to_json(), language), one.id, name)

    found: dict[str, Any] = {level: [] for level in LEVELS}
    for code in _codes(one):
        if code in _IN_THE_HEADLINE or (code == "gpus-there" and not asked):
            continue
        found[SENTENCES[code].level].append(said(code, shown).in_language(language))
    return found | {
        "bought": bool(one.values["bought_switches"].value),
        "unfit": "kept_model" not in one.values,
        "kept": bool(one.values["kept_switches"].value),
        "priced": next((name for name in ("bought_usd", "priced_part_usd") if name in one.values), ""),
        "ratio": f"{one.inputs['oversubscription']:g}",
    }


def finding_lines(calculation: Calculation) -> Iterator[str]:
    """The same for a model: references in place of the figures."""
    if calculation.tool == "grow":
        for code in _codes(calculation):
            text = said(code, lambda name: f"{{{calculation.id}.{name}}}").en
            yield f"{calculation.id} {SENTENCES[code].level}: {text}"


def _codes(calculation: Calculation) -> list[str]:
    return [str(row["code"]) for row in calculation.rows]
