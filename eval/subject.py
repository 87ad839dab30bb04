"""The real advisor as the thing that is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer, Event
from app.fabric.calculation import Language
from app.library.passage import Hit
from app.settings import Settings
from eval.record import FoundPassage


class AdvisorSubject:
    """Asks an open Advisor; what the library holds is read once for each document."""

    def __init__(self, advisor: Advisor):
        self._advisor = advisor
        self._texts: dict[str, str] = {}

    def ask(self, question: str, history: Sequence[Answer]) -> Iterator[Event]:
        return self._advisor.ask(question, list(history))

    def retrieve(self, query: str, language: str, k: int) -> Mapping[str, tuple[FoundPassage, ...]]:
        hits = self._advisor.library.search(query, k=k, language=cast(Language, language))
        return {"fused": tuple(_found(hit) for hit in hits)}

    def document_text(self, document_id: str) -> str:
        if document_id not in self._texts:
            self._texts[document_id] = self._advisor.library.text(document_id)
        return self._texts[document_id]


def _found(hit: Hit) -> FoundPassage:
    passage = hit.passage
    return FoundPassage(passage.document, passage.topic, passage.section, hit.score, hit.dense, hit.lexical)


def opener(settings: Settings) -> Callable[[], AdvisorSubject]:
    """Open the advisor once, now, so that a fault of the set-up ends the run; threads share it."""
    advisor = Advisor.open(settings)
    return lambda: AdvisorSubject(advisor)
