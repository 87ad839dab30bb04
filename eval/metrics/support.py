"""An independent check that every number of an answer has a source; it shares no code with the app's own.

A number is supported if it is a fair rounding of a value or an input of a calculation, if it is in a cited
passage, in the question or in the cluster that was assumed, or if it is a year or the number of a list item.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from app.advisor.answer import Answer
from eval.metrics.sentences import Claim, claims
from eval.quantities import Quantity, find_quantities, in_si, reach_of


@dataclass(slots=True)
class Known:
    """Numbers that a text may state, in SI: `typed` by dimension, `untyped` where the unit is not known."""

    typed: dict[str, set[float]] = field(default_factory=lambda: defaultdict(set))
    untyped: set[float] = field(default_factory=set)

    def add_text(self, text: str) -> None:
        for kind, value in _numbers_of(text):
            self.typed[kind].add(value)

    def add_scalar(self, value: Any, unit: str | None = None) -> None:
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, str):
            self.add_text(value)
        elif unit:
            si, dimension = in_si(float(value), unit)
            self.typed[_kind(dimension)].add(si)
        else:
            self.untyped.add(float(value))

    def supports(self, quantity: Quantity) -> bool:
        """An untyped number is compared as printed as well: an input of 400 is said as 400 Gb/s."""
        unit = quantity.value / quantity.face if quantity.face else 1.0
        reach = reach_of(quantity)
        return (
            any(abs(quantity.value - value) <= reach for value in self.typed[_kind(quantity.dimension)])
            or any(abs(quantity.value - value) <= reach for value in self.untyped)
            or any(abs(quantity.face - value) <= reach / unit for value in self.untyped)
        )


@lru_cache(maxsize=8192)  # the same assumptions and passages come in hundreds of answers
def _numbers_of(text: str) -> tuple[tuple[str, float], ...]:
    return tuple((_kind(quantity.dimension), quantity.value) for quantity in find_quantities(text))


def _kind(dimension: str) -> str:
    return "" if dimension == "ratio" else dimension  # 1.6 and 1.6x are the same


def known_to_calculations(calculations: Iterable[Mapping[str, Any]]) -> Known:
    known = Known()
    for calculation in calculations:
        for value in calculation["inputs"].values():
            known.add_scalar(value)
        for value in calculation["values"].values():
            for end in ("value", "low", "high"):
                known.add_scalar(value[end], value["unit"])
        for row in calculation.get("rows", ()):
            for cell in row.values():
                known.add_scalar(cell)
        for assumption in calculation["assumptions"]:
            known.add_text(assumption)
    return known


def known_without_citations(answer: Answer, asked: Sequence[str] = ()) -> Known:
    """What the calculations, the assumed cluster and the questions of the conversation (`asked`) say."""
    known = known_to_calculations(answer.calculations)
    for value in answer.spec.values():
        known.add_scalar(value)
    for text in (answer.question, *asked):
        known.add_text(text)
    return known


def unsupported_numbers(answer: Answer, asked: Sequence[str]) -> list[str]:
    """Numbers of the text, as printed, that have no source. `asked`: the questions of the conversation."""
    known = known_without_citations(answer, asked)
    for citation in answer.citations:
        known.add_text(f"{citation.title} {citation.section} {citation.passage}")
    return [
        quantity.text
        for claim in claims(answer.text)
        for quantity in find_quantities(claim.bare)
        if not is_year(quantity) and not known.supports(quantity)
    ]


def all_known(claim: Claim, known: Known) -> bool:
    """Has the claim numbers, and are all of them known?"""
    quantities = [quantity for quantity in find_quantities(claim.bare) if not is_year(quantity)]
    return bool(quantities) and all(known.supports(quantity) for quantity in quantities)


def is_year(quantity: Quantity) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d\s?年?", quantity.text))
