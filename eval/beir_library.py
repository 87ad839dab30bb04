"""A BEIR corpus in a library of its own, in a temporary folder, searched as the advisor searches."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings
from eval.beir import Beir, Search

PASSAGES_PER_DOCUMENT = 3  # hits asked for, for each document wanted: a document may be hit more than once


@contextmanager
def search_of(data: Beir, settings: Settings) -> Iterator[Search]:
    """Ingest the corpus with the embeddings of `settings`; the search gives ids of documents, best first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = folder / "documents"
        documents.mkdir()
        ids: dict[str, str] = {}
        for number, (document_id, (title, text)) in enumerate(data.corpus.items()):
            file = documents / f"{number}.txt"
            file.write_text(f"{title}\n\n{text}".strip() + "\n", encoding="utf-8")
            ids[file.name] = document_id
        library = Library.open(settings.model_copy(update={"home": folder / "home", "chroma_url": None}))
        try:
            report = library.ingest([documents])
            if len(report.added) != len(ids):
                missing = len(ids) - len(report.added)
                raise AdvisorError(f"{missing} documents of the corpus could not be read.", "Correct them.")
            yield lambda query, k: _documents(library, query, k, ids)
        finally:
            library.close()


def _documents(library: Library, query: str, k: int, ids: dict[str, str]) -> Sequence[str]:
    hits = library.search(query, k=k * PASSAGES_PER_DOCUMENT)
    return list(dict.fromkeys(ids[hit.passage.document] for hit in hits))[:k]
