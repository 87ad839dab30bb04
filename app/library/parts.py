"""The parts of a library, each made when first needed: models, dictionaries and stores load slowly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from functools import wraps
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings

from app.errors import AdvisorError
from app.library import shipped
from app.library.database import Database
from app.library.e5 import MODEL_ID as E5_MODEL_ID
from app.library.embeddings import make_embeddings, model_id
from app.library.glossary import Glossary
from app.library.ingest import Ingester
from app.library.manifest import Manifest
from app.library.passage_index import PassageIndex
from app.library.relevance import E5_LIMITS, Limits, limits_from_probes
from app.library.reranker import Reranker, make_reranker
from app.library.search import Searcher
from app.library.store import VectorStore
from app.library.vector_table import VectorTable
from app.library.word_index import WordIndex
from app.library.words import Words
from app.settings import Settings

Made = TypeVar("Made")


def _once(make: Callable[[Any], Made]) -> Any:
    """A property made when first asked for, by one thread only."""

    @wraps(make)
    def get(self: Any) -> Made:
        with self._loading:
            if make.__name__ not in self._parts:
                self._parts[make.__name__] = make(self)
            part: Made = self._parts[make.__name__]
            return part

    return property(get)


class Parts:
    def __init__(self, settings: Settings, embeddings: Embeddings | None):
        self._settings = settings
        self._given = embeddings
        self._loading = threading.RLock()
        self._parts: dict[str, Any] = {}
        self._database = Database(settings.home / "library.sqlite3")
        self.manifest = Manifest(self._database)
        self.index = PassageIndex(self._database, WordIndex(self._database, self.manifest.generation))

    def close(self) -> None:
        if "store" in self._parts:
            self.store.close()
        self._database.close()

    @_once
    def embeddings(self) -> Embeddings:
        return self._given or make_embeddings(self._settings)

    @property
    def model_id(self) -> str:
        return model_id(self.embeddings)

    @_once
    def glossary(self) -> Glossary:
        return Glossary.load(self._settings.knowledge / "glossary.yaml")

    @_once
    def words(self) -> Words:
        return Words(self.glossary, self._settings.home / "models" / "jieba")

    @_once
    def store(self) -> VectorStore:
        home, url = self._settings.home, self._settings.chroma_url
        library = self.manifest.library_id()
        return VectorStore(home / "chroma", library, self.model_id, self.manifest.generation, url)

    @_once
    def table(self) -> VectorTable:
        return VectorTable(self.index, self.store, self.manifest.generation)

    @_once
    def reranker(self) -> Reranker | None:
        return make_reranker(self._settings.reranker)

    @_once
    def searcher(self) -> Searcher:
        return Searcher(
            self.index,
            self.table,
            self.embeddings,
            self.words,
            self.glossary,
            lambda: self.limits,
            lambda: self.reranker,
        )

    @_once
    def limits(self) -> Limits:
        """Known for the default model; for another, measured once on the notes and kept with the index."""
        if self.model_id == E5_MODEL_ID:
            return E5_LIMITS
        key = f"limits:{self.model_id}"
        kept = self.manifest.setting(key)
        if kept:
            return Limits(*json.loads(kept))
        searcher: Searcher = self.searcher
        limits = limits_from_probes(searcher.strongest)
        with suppress(AdvisorError):  # on a full disk they are measured at each start
            self.manifest.set_setting(key, json.dumps(astuple(limits)))
        return limits

    @_once
    def ingester(self) -> Ingester:
        return Ingester(
            self.manifest,
            self.store,
            self.embeddings,
            self.words,
            shipped_vectors=lambda: self.shipped_vectors,
            max_bytes=self._settings.max_file_mb * 2**20,
        )

    @_once
    def shipped_vectors(self) -> dict[str, Any]:
        return shipped.load(shipped.vector_file(self._settings.knowledge, self.model_id))
