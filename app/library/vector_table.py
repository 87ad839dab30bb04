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
_BLOCK = 4096  # passages, 6 MB


@dataclass(frozen=True, slots=True)
class Labels:
    """A label of each row, as numbers: 100,000 document ids take 0.4 MB, and comparing them 0.05 ms."""

    numbers: Mapping[str, int]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, labels: Iterable[str]) -> Labels:
        every = list(labels)
        numbers = {label: number for number, label in enumerate(dict.fromkeys(every))}
        return cls(numbers, np.fromiter(map(numbers.__getitem__, every), np.int32, len(every)))

    def among(self, wanted: Iterable[str]) -> NDArray[np.bool_]:
        """Which rows have one of the wanted labels."""
        chosen = np.zeros(len(self.numbers), bool)
        chosen[[self.numbers[label] for label in wanted if label in self.numbers]] = True
        found: NDArray[np.bool_] = chosen[self.codes]
        return found


@dataclass(frozen=True, slots=True)
class Rows:
    """Passages in the order of the matrix, whose rows have length 1."""

    generation: int
    ids: tuple[str, ...]
    place: Mapping[str, int]
    matrix: Vectors
    languages: Labels
    kinds: Labels
    documents: Labels
    missing: tuple[str, ...]  # passages without a vector

    def similarities(self, vectors: Sequence[Sequence[float]]) -> list[Similarities]:
        """Of each query vector to every passage. Block by block: memory is read once for all of them."""
        cosines = np.zeros((len(vectors), len(self.ids)), np.float32)
        queries = [np.asarray(vector, np.float32) for vector in vectors]
        queries = [query / (float(np.linalg.norm(query)) or 1.0) for query in queries]
        if self.ids and all(len(query) == self.matrix.shape[1] for query in queries):
            for start in range(0, len(self.ids), _BLOCK):
                block = self.matrix[start : start + _BLOCK]
                for query, own in zip(queries, cosines, strict=True):
                    np.dot(block, query, out=own[start : start + _BLOCK])
        return [Similarities(self, own) for own in cosines]


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
        wanted = rows.languages.among([language]) if language else np.ones(len(rows.ids), bool)
        if kind:
            wanted &= rows.kinds.among([kind])
        if documents is not None:
            wanted &= rows.documents.among(documents)
        places = np.flatnonzero(wanted)
        if len(places) > count:
            cosines = self._cosines[places]
            places = places[cosines >= np.partition(cosines, -count)[-count]]
        return sorted(
            ((rows.ids[place], float(self._cosines[place])) for place in places), key=lambda one: (-one[1], one[0])
        )[:count]

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
        place = {row.id: number for number, row in enumerate(present)}
        known = before.place if before else {}
        filled = np.zeros(len(present), bool)
        matrix = np.zeros((len(present), 0), np.float32)
        if before and len(before.ids):
            matrix = np.zeros((len(present), before.matrix.shape[1]), np.float32)
            of = np.fromiter((known.get(id_, -1) for id_ in place), np.int64, len(place))
            filled = of >= 0
            matrix[filled] = before.matrix[of[filled]]
        new = [row.id for row in present if row.id not in known]
        for start in range(0, len(new), _AT_ONCE):
            ids, vectors = self._store.vectors(new[start : start + _AT_ONCE])
            if not ids:
                continue
            if matrix.shape[1] != vectors.shape[1]:  # the first, or of another model than before
                matrix = np.zeros((len(present), vectors.shape[1]), np.float32)
                filled[:] = False
            to = np.array([place[id_] for id_ in ids])
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            matrix[to] = vectors / np.where(lengths == 0, 1.0, lengths)
            filled[to] = True
        there = [row for row, has in zip(present, filled, strict=True) if has]
        if len(there) < len(present):
            matrix = matrix[filled]
            place = {row.id: number for number, row in enumerate(there)}
        return Rows(
            generation,
            tuple(row.id for row in there),
            place,
            matrix,
            Labels.of(row.language for row in there),
            Labels.of(row.kind for row in there),
            Labels.of(row.document_id for row in there),
            tuple(row.id for row, has in zip(present, filled, strict=True) if not has),
        )
