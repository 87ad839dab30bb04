"""Figures that the text gives to the wrong fabric: an independent check, for prose and for table columns.

A sentence that speaks of one fabric only, or a column of a table headed by one, must not hold a figure that the
calculations give for the other fabric alone. What a cited passage says is not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.advisor.answer import Answer
from eval.metrics.sentences import claims
from eval.metrics.support import Known
from eval.quantities import Quantity, find_quantities

FABRICS = {
    "infiniband": re.compile(r"infiniband|(?<![A-Za-z])IB(?![A-Za-z])|Quantum|QM9", re.IGNORECASE),
    "roce": re.compile(r"RoCE|ethernet|以太网|Spectrum|SN5", re.IGNORECASE),
}
_JUDGED = frozenset({"usd", "W", "s", "bit/s"})  # counts such as 2 or 8 are too common to belong to anybody


def misplaced_figures(answer: Answer) -> list[str]:
    """ "figure: where" of every figure that only the other fabric has."""
    known = {fabric: _known_of(fabric, answer) for fabric in FABRICS}
    quoted = Known()
    for citation in answer.citations:
        quoted.add_text(citation.passage)
    quoted.add_text(answer.question)
    return [
        f"{quantity.text}: {where}"
        for fabric, text, where in _places(answer.text)
        for quantity in find_quantities(text)
        if _belongs_elsewhere(quantity, fabric, known) and not quoted.supports(quantity)
    ]


def _belongs_elsewhere(quantity: Quantity, fabric: str, known: Mapping[str, Known]) -> bool:
    if quantity.dimension not in _JUDGED or known[fabric].supports(quantity):
        return False
    return any(other.supports(quantity) for name, other in known.items() if name != fabric)


def _known_of(fabric: str, answer: Answer) -> Known:
    """Values that the calculations give for this fabric, or for none in particular."""
    known = Known()
    for calculation in answer.calculations:
        if calculation["label"] in FABRICS and calculation["label"] != fabric:
            continue
        for name, value in calculation["values"].items():
            if _owner(name) in (None, fabric):
                _add(known, value)
    return known


def _owner(name: str) -> str | None:
    return next((fabric for fabric in FABRICS if name.startswith(f"{fabric}_")), None)


def _add(known: Known, value: Mapping[str, Any]) -> None:
    for end in ("value", "low", "high"):
        known.add_scalar(value[end], value["unit"] or "count")


def _places(text: str) -> list[tuple[str, str, str]]:
    """(fabric, text, where) of every sentence and table cell that is about one fabric alone."""
    found = []
    for claim in claims("\n\n".join(block for block in _blocks(text) if not block.startswith("|"))):
        if fabric := _only_fabric(claim.bare):
            found.append((fabric, claim.bare, claim.text[:120]))
    for block in _blocks(text):
        if block.startswith("|"):
            header, *rows = [_cells(line) for line in block.splitlines()]
            owners = [_only_fabric(cell) for cell in header]
            found += [
                (owner, cell, " | ".join(row)[:120])
                for row in rows
                for owner, cell in zip(owners, row, strict=False)
                if owner
            ]
    return found


def _only_fabric(text: str) -> str | None:
    spoken_of = [fabric for fabric, pattern in FABRICS.items() if pattern.search(text)]
    return spoken_of[0] if len(spoken_of) == 1 else None


def _blocks(text: str) -> list[str]:
    return [block.strip() for block in re.split(r"\n\s*\n", text)]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
