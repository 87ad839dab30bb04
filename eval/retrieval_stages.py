"""The stages of our search over our retrieval set: dense alone, lexical alone, fused, and reranked where a reranker is
configured. All search one library: the shipped notes, the documents asked for, and the distractors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.errors import AdvisorError
from app.library.library import Library
from app.library.passage import Hit, Passage
from app.settings import Settings
from eval.metrics.retrieval import Found
from eval.retrieval_set import INTRODUCTION, Query, RetrievalSet

DEPTH = 10
Ranker = Callable[[Query], Sequence[Found]]  # the first DEPTH passages found, best first


@contextmanager
def retrieval_library(data: RetrievalSet, settings: Settings) -> Iterator[Library]:
    """Notes, documents and distractors in a library of their own, in a temporary folder; the unpacked model is that of
    `settings`.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        models = settings.home / "models"
        models.mkdir(parents=True, exist_ok=True)
        (home / "models").symlink_to(models.resolve())
        library = Library.open(settings.model_copy(update={"home": home, "chroma_url": None}))
        try:
            library.ensure_notes()
            report = library.ingest([data.documents, data.distractors])
            if report.failed:
                raise AdvisorError(f"{report.failed[0].name} could not be read.", "Correct the retrieval set.")
            yield library
        finally:
            library.close()


def stages(library: Library, settings: Settings) -> dict[str, Ranker]:
    """By name, in the order of the table."""
    searcher = library.searcher
    rankers: dict[str, Callable[[Query], Sequence[Hit]]] = {
        "dense": lambda query: searcher.alone(query.text, DEPTH, None, "dense"),
        "lexical": lambda query: searcher.alone(query.text, DEPTH, None, "lexical"),
        "clear": lambda query: searcher.search(query.text, DEPTH, None, None, rerank=False),
        "fused": lambda query: searcher.search(query.text, DEPTH, None, None, weak=True, rerank=False),
    }
    if settings.reranker:
        rankers["reranked"] = lambda query: searcher.search(query.text, DEPTH, None, None, weak=True)
    return {name: _found(ranker) for name, ranker in rankers.items()}


def _found(ranker: Callable[[Query], Sequence[Hit]]) -> Ranker:
    return lambda query: [found_of(hit.passage) for hit in ranker(query)]


def found_of(passage: Passage) -> Found:
    return Found(passage.topic, passage.document, passage.section or INTRODUCTION)
