"""The answer, its parts, and the events of the stream that carries it.

`Answer.to_json` is a contract for scripts; `from_json` restores what a chat has stored. Nothing here decides or
computes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.fabric.calculation import Language

Kind = Literal[
    "decision",
    "comparison",
    "sizing",
    "cost",
    "performance",
    "configuration",
    "diagnosis",
    "explanation",
    "out_of_scope",
    "clarification",
    "no_evidence",
]
Choice = Literal["infiniband", "roce", "naas", "either"]
Confidence = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, and who says so: `article` (the source article's advice), `calculator`, `published` practice, or `said` by
    those who ask."""

    text: str
    provenance: Literal["article", "calculator", "published", "said"]
    favours: Choice
    reference: str = ""  # calculation id (T1) or citation marker ("[2]")

    def to_json(self) -> dict[str, str]:
        return {
            "text": self.text,
            "provenance": self.provenance,
            "favours": self.favours,
            "reference": self.reference,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    choice: Choice
    confidence: Confidence
    reasons: tuple[Reason, ...]
    would_flip: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "choice": self.choice,
            "confidence": self.confidence,
            "reasons": [reason.to_json() for reason in self.reasons],
            "would_flip": list(self.would_flip),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        return cls(
            data["choice"],
            data["confidence"],
            tuple(Reason(**reason) for reason in data["reasons"]),
            tuple(data["would_flip"]),
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that the text cites as [marker]; `document_text[start:end] == passage`."""

    marker: int
    document: str
    document_id: str
    passage_id: str
    title: str
    url: str
    section: str
    passage: str
    start: int
    end: int
    page: int | None = None
    sources: tuple[Mapping[str, str], ...] = ()  # where the note has it from: title, url, date, trust

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "sources"} | {
            "sources": [dict(source) for source in self.sources]
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Citation:
        return cls(**{**data, "sources": tuple(data.get("sources", ()))})


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something assumed for the user. `field` is the spec field that a reply can change, "" where none can."""

    field: str
    text: str

    def to_json(self) -> dict[str, str]:
        return {"field": self.field, "text": self.text}


@dataclass(frozen=True, slots=True)
class Grounding:
    numbers_checked: int = 0
    unsupported: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "numbers_checked": self.numbers_checked,
            "unsupported": list(self.unsupported),
            "contradictions": list(self.contradictions),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Grounding:
        return cls(data["numbers_checked"], tuple(data["unsupported"]), tuple(data["contradictions"]))


@dataclass(frozen=True, slots=True)
class Reference:
    """`text[start:end]` of an answer is a figure: `value` of the calculation with this id."""

    start: int
    end: int
    calculation: str
    value: str

    def to_json(self) -> dict[str, Any]:
        return {"start": self.start, "end": self.end, "calculation": self.calculation, "value": self.value}


@dataclass(frozen=True, slots=True)
class Answer:
    question: str
    language: Language
    kind: Kind
    spec: Mapping[str, Any]
    verdict: Verdict | None
    text: str  # Markdown with [n] markers; figures filled in
    citations: tuple[Citation, ...] = ()
    calculations: tuple[Mapping[str, Any], ...] = ()  # Calculation.to_json of each
    assumptions: tuple[Assumption, ...] = ()
    follow_ups: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()  # e.g. "the model did not answer; this is the built-in text"
    searched: tuple[str, ...] = ()  # queries that were run, for "I don't know; I searched …"
    grounding: Grounding = Grounding()
    model: str = "builtin"
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()  # where the figures of calculations stand in the text
    usage: Mapping[str, int] = field(default_factory=dict)  # of a model: calls, tokens, tool calls, …

    def to_json(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "language": self.language,
            "kind": self.kind,
            "spec": dict(self.spec),
            "verdict": self.verdict.to_json() if self.verdict else None,
            "text": self.text,
            "citations": [citation.to_json() for citation in self.citations],
            "calculations": [dict(calculation) for calculation in self.calculations],
            "assumptions": [assumption.to_json() for assumption in self.assumptions],
            "follow_ups": list(self.follow_ups),
            "notices": list(self.notices),
            "searched": list(self.searched),
            "grounding": self.grounding.to_json(),
            "model": self.model,
            "timings_ms": dict(self.timings_ms),
            "references": [reference.to_json() for reference in self.references],
            "usage": dict(self.usage),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Answer:
        return cls(
            question=data["question"],
            language=data["language"],
            kind=data["kind"],
            spec=data["spec"],
            verdict=Verdict.from_json(data["verdict"]) if data["verdict"] else None,
            text=data["text"],
            citations=tuple(Citation.from_json(one) for one in data["citations"]),
            calculations=tuple(data["calculations"]),
            assumptions=tuple(Assumption(**one) for one in data["assumptions"]),
            follow_ups=tuple(data["follow_ups"]),
            notices=tuple(data["notices"]),
            searched=tuple(data["searched"]),
            grounding=Grounding.from_json(data["grounding"]),
            model=data["model"],
            timings_ms=data["timings_ms"],
            references=tuple(Reference(**one) for one in data.get("references", ())),
            usage=data.get("usage", {}),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """A stage of the work that has begun: read, search, calculate, write or check; `detail` is for people."""

    stage: Literal["read", "search", "calculate", "write", "check"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer's Markdown, to append to what came before."""

    text: str


Event = Step | Text | Answer
