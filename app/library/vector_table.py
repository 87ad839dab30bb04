"""All vectors of a library in one matrix, compared exactly: 100,000 passages take 150 MB and about 10 ms.

The manifest says which passages there are, the vector store has their vectors. The table follows the manifest's
generation and fetches only what it lacks, so it also sees first when the store has lost vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.library.passage_index import PassageIndex
from app.library.store import VectorStore

Vectors = NDArray[np.float32]
_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Rows:
    """Passages in the order of the matrix, whose rows have length 1."""

    generation: int
    ids: tuple[str, ...]
    place: Mapping[str, int]
    matrix: Vectors
    languages: NDArray[np.str_]
    kinds: NDArray[np.str_]
    documents: NDArray[np.str_]
    missing: tuple[str, ...]  # passages without a vector

    def similarities(self, vector: Sequence[float]) -> Similarities:
        query = np.asarray(vector, np.float32)
        length = float(np.linalg.norm(query)) or 1.0
        if self.ids and self.matrix.shape[1] == len(query):
            return Similarities(self, self.matrix @ (query / length))
        return Similarities(self, np.zeros(len(self.ids), np.float32))


class Similarities:
    """Cosine similarities of one query to every passage."""

    def __init__(self, rows: Rows, cosines: Vectors):
        self._rows = rows
        self._cosines = cosines

    def best(
        self, count: int, *, language: str = "", kind: str | None = None, documents: Iterable[str] | None = None
    ) -> list[tuple[str, float]]:
        """Ids and similarities of the nearest passages of a language, a kind and some documents, best first."""
        rows = self._rows
        wanted = rows.languages == language if language else np.ones(len(rows.ids), bool)
        if kind:
            wanted &= rows.kinds == kind
        if documents is not None:
            wanted &= np.isin(rows.documents, list(documents))
        places = np.flatnonzero(wanted)
        if len(places) > count:
            places = places[np.argpartition(-self._cosines[places], count)[:count]]
        return sorted(
            ((rows.ids[place], float(self._cosines[place])) for place in places), key=lambda one: (-one[1], one[0])
        )

    def of(self, ids: Iterable[str]) -> dict[str, float]:
        """Similarities of some passages; one without a vector is left out."""
        return {id_: float(self._cosines[self._rows.place[id_]]) for id_ in ids if id_ in self._rows.place}


class VectorTable:
    def __init__(self, index: PassageIndex, store: VectorStore, generation: Callable[[], int]):
        self._index = index
        self._store = store
        self._generation = generation
        self._lock = threading.Lock()
        self._rows: Rows | None = None

    def rows(self) -> Rows:
        """The vectors of the library as it is now."""
        with self._lock:
            generation = self._generation()
            if self._rows is None or self._rows.generation != generation or self._rows.missing:
                self._rows = self._read(generation, self._rows)
            return self._rows

    def forget(self) -> None:
        """Read everything anew at the next use, as after vectors have been repaired."""
        with self._lock:
            self._rows = None

    def _read(self, generation: int, before: Rows | None) -> Rows:
        present = self._index.places()
        known = before.place if before else {}
        new = [row.id for row in present if row.id not in known]
        fetched: dict[str, Vectors] = {}
        for start in range(0, len(new), _AT_ONCE):
            fetched |= self._store.vectors(new[start : start + _AT_ONCE])
        there = [row for row in present if row.id in known or row.id in fetched]
        width = len(next(iter(fetched.values()))) if fetched else before.matrix.shape[1] if before else 0
        matrix = np.zeros((len(there), width), np.float32)
        if before and before.matrix.shape[1] == width:
            old = [(number, known[row.id]) for number, row in enumerate(there) if row.id in known]
            if old:
                to, of = np.array(old).T
                matrix[to] = before.matrix[of]
        for number, row in enumerate(there):
            if row.id in fetched:
                vector = np.asarray(fetched[row.id], np.float32)
                matrix[number] = vector / (np.linalg.norm(vector) or 1.0)
        return Rows(
            generation,
            tuple(row.id for row in there),
            {row.id: number for number, row in enumerate(there)},
            matrix,
            np.array([row.language for row in there], str),
            np.array([row.kind for row in there], str),
            np.array([row.document_id for row in there], str),
            tuple(row.id for row in present if row.id not in known and row.id not in fetched),
        )
