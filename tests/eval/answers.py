"""Answers and hits made by hand, for the tests of the evals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.advisor.answer import Answer, Citation, Event, Grounding, Step, Text, Verdict
from eval.record import FoundPassage

NOTE = "Credits keep InfiniBand lossless. A QM9700 has 64 ports of 400 Gb/s and draws 747 W."


def verdict(choice: str) -> Verdict:
    return Verdict(choice, "medium", (), ())  # type: ignore[arg-type]


def citation(marker: int = 1, passage: str = NOTE, document: str = "switches.en.md", **other: Any) -> Citation:
    start = other.pop("start", 0)
    return Citation(
        marker=marker,
        document=document,
        document_id=document,
        passage_id=f"{document}#0",
        title=other.pop("title", "Switches"),
        url="",
        section=other.pop("section", "Ports"),
        passage=passage,
        start=start,
        end=start + len(passage),
        **other,
    )


def calculation(tool: str = "size", label: str = "", id: str = "T1", **values: Any) -> dict[str, Any]:
    """A calculation as JSON; a value is a number, (number, unit) or (number, unit, low, high)."""

    def value(given: Any) -> dict[str, Any]:
        parts = given if isinstance(given, tuple) else (given, "")
        low, high = (parts[2], parts[3]) if len(parts) == 4 else (None, None)
        return {"value": parts[0], "unit": parts[1], "low": low, "high": high}

    return {
        "id": id,
        "tool": tool,
        "label": label,
        "inputs": {},
        "values": {name: value(given) for name, given in values.items()},
        "assumptions": [],
        "sources": [],
        "rows": [],
    }


def answer(text: str = "", **fields: Any) -> Answer:
    defaults: dict[str, Any] = {
        "question": "RoCE or InfiniBand for 64 GPUs?",
        "language": "en",
        "kind": "explanation",
        "spec": {},
        "verdict": None,
        "timings_ms": {"total": 10.0},
        "grounding": Grounding(),
    }
    return Answer(text=text, **{**defaults, **fields})


class ScriptedSubject:
    """Gives the answers that a test has put in, by question; an exception in their place is raised.

    `asked` keeps what was asked, with the number of earlier answers.
    """

    def __init__(self, answers: Mapping[str, Answer | Exception], hits: Sequence[FoundPassage] = (), text: str = NOTE):
        self.answers = answers
        self.hits = tuple(hits)
        self.text = text
        self.asked: list[tuple[str, int]] = []

    def ask(self, question: str, history: Sequence[Answer]) -> Iterator[Event]:
        self.asked.append((question, len(history)))
        yield Step("read")
        found = self.answers[question]
        if isinstance(found, Exception):
            raise found
        yield Text(found.text)
        yield found

    def retrieve(self, query: str, language: str, k: int) -> Mapping[str, tuple[FoundPassage, ...]]:
        return {"fused": self.hits[:k]}

    def document_text(self, document_id: str) -> str:
        return self.text
