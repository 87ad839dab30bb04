"""Do two askings of one question, reworded or translated, get the same answer?

What counts is what the reader is told: whether it was answered at all, the verdict, the numbers, and where nothing
was calculated the notes that were cited. "configuration" and "explanation" are then the same kind of answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.advisor.answer import Answer
from eval.cases import REFUSALS
from eval.metrics.citations import topic_of


def disagreements(first: Answer, second: Answer) -> list[str]:
    """What differs: refused or not, verdict, a value that was calculated; where nothing was, the topics cited."""
    if _manner(first) != _manner(second):
        return [f"kind: {first.kind} and {second.kind}"]
    found = []
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
    elif _manner(first) == "answered" and not _topics(first) & _topics(second):
        found.append(f"cited: {sorted(_topics(first))} and {sorted(_topics(second))}")
    return found


def _manner(answer: Answer) -> str:
    if answer.kind in REFUSALS:
        return "refused"
    return "asked back" if answer.kind == "clarification" else "answered"


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
    return {topic_of(citation.document) for citation in answer.citations}
