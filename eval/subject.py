"""The real advisor as the thing that is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer, Event
from app.errors import AdvisorError
from app.fabric.calculation import Language
from app.library.passage import Hit
from app.settings import Settings
from eval.record import FoundPassage

CANDIDATES = 60  # as many as both halves of the search may bring


class AdvisorSubject:
    """Asks an open Advisor; the text of a document is read once."""

    def __init__(self, advisor: Advisor):
        self._advisor = advisor
        self._texts: dict[str, str] = {}

    def ask(self, question: str, history: Sequence[Answer]) -> Iterator[Event]:
        return self._advisor.ask(question, list(history))

    def retrieve(self, query: str, language: str, k: int) -> Mapping[str, tuple[FoundPassage, ...]]:
        """The fused ranking, and what the rankings would be by similarity or by words alone."""
        hits = self._advisor.library.search(query, k=CANDIDATES, language=cast(Language, language))
        near = sorted((hit for hit in hits if hit.dense is not None), key=lambda hit: -(hit.dense or 0))
        matching = sorted((hit for hit in hits if hit.lexical), key=lambda hit: -(hit.lexical or 0))
        stages = {"fused": hits, "dense": near, "lexical": matching}
        return {stage: tuple(_found(hit) for hit in ranking[:k]) for stage, ranking in stages.items()}

    def document_text(self, document_id: str) -> str:
        if document_id not in self._texts:
            try:
                self._texts[document_id] = self._advisor.library.text(document_id)
            except AdvisorError:
                raise KeyError(document_id) from None
        return self._texts[document_id]


def _found(hit: Hit) -> FoundPassage:
    passage = hit.passage
    return FoundPassage(passage.document, passage.topic, passage.section, hit.score, hit.dense, hit.lexical)


def opener(settings: Settings) -> Callable[[], AdvisorSubject]:
    """Open the advisor once, now, so that a fault of the set-up ends the run; threads share it."""
    advisor = Advisor.open(settings)
    check_library(advisor)
    return lambda: AdvisorSubject(advisor)


def check_library(advisor: Advisor) -> None:
    """Raises AdvisorError where documents are stored and yet not found: every case would fail for one cause."""
    ready = [document for document in advisor.library.documents() if document.status == "ready"]
    if not ready:
        raise AdvisorError("The library is empty.", "Run: fabric-advisor ingest.")
    if not any(advisor.library.search(document.title, k=1) for document in ready[:5]):
        raise AdvisorError("The library finds none of its documents.", "Run: fabric-advisor ingest --reindex.")
