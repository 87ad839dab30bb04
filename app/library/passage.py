"""What the library hands out: passages with their exact place in a document, and hits of a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document: `document_text[start:end] == text`, always."""

    id: str
    document_id: str
    document: str  # name to show and to ask for: "pfc-deadlock.en.md", "report.pdf"
    title: str
    url: str  # public address, or "" where there is none
    section: str  # heading path, " › " between levels
    text: str
    start: int
    end: int
    language: str  # "en" | "zh"
    page: int | None = None
    topic: str = ""  # key of a note pair; "" for other documents
    source_refs: tuple[str, ...] = field(default=())  # footnote ids of a note that occur in the text

    def to_json(self) -> dict[str, Any]:
        return {
            "document": self.document,
            "document_id": self.document_id,
            "passage_id": self.id,
            "title": self.title,
            "url": self.url,
            "section": self.section,
            "passage": self.text,
            "start": self.start,
            "end": self.end,
            "page": self.page,
            "language": self.language,
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `score` is 0..1, higher is better, made for people; `dense` is the cosine similarity
    to the query (None if only words matched), `lexical` the share of the query's (idf-weighted) terms
    present, 0..1. `weak`: nothing was clearly relevant; this is only the nearest.
    """

    passage: Passage
    score: float
    dense: float | None = None
    lexical: float | None = None
    weak: bool = False

    def to_json(self) -> dict[str, Any]:
        scores = {name: getattr(self, name) for name in ("score", "dense", "lexical", "weak")}
        return {**self.passage.to_json(), **scores}
