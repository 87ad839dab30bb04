"""Do two askings of one question, reworded or translated, get the same answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.advisor.answer import Answer


def disagreements(first: Answer, second: Answer) -> list[str]:
    """What differs: kind, verdict, a value that was calculated; where nothing was, the topics cited."""
    found = []
    if first.kind != second.kind:
        found.append(f"kind: {first.kind} and {second.kind}")
    choices = [answer.verdict.choice if answer.verdict else None for answer in (first, second)]
    if choices[0] != choices[1]:
        found.append(f"verdict: {choices[0]} and {choices[1]}")
    left, right = _values(first), _values(second)
    if left or right:
        found += [
            f"{name}: {left.get(name)} and {right.get(name)}"
            for name in sorted(left.keys() | right.keys())
            if left.get(name) != right.get(name)
        ]
    elif first.kind not in ("out_of_scope", "no_evidence", "clarification") and not (_topics(first) & _topics(second)):
        found.append(f"cited: {sorted(_topics(first))} and {sorted(_topics(second))}")
    return found


def _values(answer: Answer) -> dict[str, Any]:
    return {
        f"{calculation['tool']}.{calculation['label']}.{name}": _rounded(value)
        for calculation in answer.calculations
        for name, value in calculation["values"].items()
    }


def _rounded(value: Mapping[str, Any]) -> Any:
    number = value["value"]
    return float(f"{number:.9g}") if isinstance(number, int | float) else number


def _topics(answer: Answer) -> set[str]:
    """The documents cited, a note pair as one: pfc.en.md and pfc.zh.md are both pfc."""
    return {
        citation.document.removesuffix(".md").removesuffix(".en").removesuffix(".zh") for citation in answer.citations
    }
