"""What a run keeps of one case: enough to score it again without asking again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.advisor.answer import Answer
from eval.metrics.retrieval import Found

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A hit of the library for the question of a case, as far as metrics and readers of a failure need it."""

    document: str
    topic: str
    section: str
    score: float
    dense: float | None = None
    lexical: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def found(self) -> Found:
        return Found(self.topic, self.document, self.section)


@dataclass(frozen=True, slots=True)
class Trial:
    """One asking of one case: the answers to its turns, or the error that stopped it."""

    case_id: str
    repeat: int
    answers: tuple[Answer, ...] = ()
    retrieved: Mapping[str, tuple[FoundPassage, ...]] | None = None  # by stage: fused, dense, lexical
    query: str = ""
    bad_quotes: tuple[str, ...] = ()
    error: str = ""

    @property
    def answer(self) -> Answer | None:
        return self.answers[-1] if self.answers and not self.error else None

    def to_json(self) -> dict[str, Any]:
        return {
            "case_id": self.case_id,
            "repeat": self.repeat,
            "answers": [answer.to_json() for answer in self.answers],
            "retrieved": None
            if self.retrieved is None
            else {stage: [hit.to_json() for hit in hits] for stage, hits in self.retrieved.items()},
            "query": self.query,
            "bad_quotes": list(self.bad_quotes),
            "error": self.error,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trial:
        retrieved = data["retrieved"]
        return cls(
            data["case_id"],
            data["repeat"],
            tuple(Answer.from_json(answer) for answer in data["answers"]),
            None
            if retrieved is None
            else {stage: tuple(FoundPassage(**hit) for hit in hits) for stage, hits in retrieved.items()},
            data["query"],
            tuple(data["bad_quotes"]),
            data["error"],
        )
