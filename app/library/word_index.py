"""Which passages hold which words, and how much that weighs (BM25), word by word in memory.

FTS5 keeps the words and finds their passages fast, but it ranks at about 2 µs a passage and word: a question whose
words are common takes 0.4 s among 100,000 passages. Here a word's passages and weights are read once, kept while the
library stays as it is, and added up as arrays.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.library.database import Database

_K1, _B = 1.2, 0.75  # as FTS5's own bm25()
_LEAST_IDF = 1e-6  # of a word that most passages hold; FTS5 does the same
_MOST_BYTES = 64 * 2**20  # of words kept; at 100,000 passages some 500 of the commonest
Numbers = NDArray[np.int64]
Name = tuple[str, ...]  # index words that must all be there


@dataclass(frozen=True, slots=True)
class _Postings:
    """Places (in the order of passage numbers) of the passages that hold a name, and its weight in each."""

    places: NDArray[np.int32]
    weights: NDArray[np.float32]

    @property
    def bytes(self) -> int:
        return self.places.nbytes + self.weights.nbytes + 200


@dataclass(slots=True)
class _State:
    """The library at one generation. `norms` is what a passage's length adds to a word's count in BM25."""

    generation: int
    numbers: Numbers
    norms: NDArray[np.float32]
    postings: OrderedDict[Name, _Postings] = field(default_factory=OrderedDict)
    bytes: int = 0


class WordIndex:
    """Safe to use from several threads; follows the library's generation."""

    def __init__(self, database: Database, generation: Callable[[], int]):
        self._db = database
        self._generation = generation
        self._lock = threading.RLock()
        self._state: _State | None = None

    def best(self, names: Iterable[Name], limit: int, allowed: Numbers | None = None) -> list[tuple[int, float]]:
        """Numbers and BM25 scores of the passages that hold any of the names, best first; equal ones in the order
        they were stored. A name's score counts only where all its words are. `allowed`: numbers to choose from.
        """
        with self._lock:
            state = self._now()
            scores = np.zeros(len(state.numbers), np.float32)
            for name in names:
                found = self._postings(state, name)
                scores[found.places] += found.weights
        if allowed is not None:
            scores[~np.isin(state.numbers, allowed)] = 0
        places = np.flatnonzero(scores)
        if len(places) > limit:
            least = np.partition(scores[places], -limit)[-limit]
            places = places[scores[places] >= least]
        ordered = places[np.lexsort((places, -scores[places]))][:limit]
        return [(int(state.numbers[place]), float(scores[place])) for place in ordered]

    def count(self) -> int:
        """Of all passages."""
        with self._lock:
            return len(self._now().numbers)

    def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """In how many passages each word occurs; a word that is nowhere is left out."""
        with self._lock:
            state = self._now()
            counts = {word: len(self._postings(state, (word,)).places) for word in dict.fromkeys(words)}
        return {word: count for word, count in counts.items() if count}

    def _now(self) -> _State:
        generation = self._generation()
        if self._state is None or self._state.generation != generation:
            self._state = self._read(generation)
        return self._state

    def _read(self, generation: int) -> _State:
        rows = self._db.rows("SELECT id, sz FROM words_docsize ORDER BY id")
        lengths = np.fromiter((size[0] if len(size) == 1 else _varint(size) for _, size in rows), np.float32, len(rows))
        average = float(lengths.mean()) if len(rows) else 1.0
        norms = (_K1 * (1 - _B + _B * lengths / max(average, 1e-9))).astype(np.float32)
        return _State(generation, np.fromiter((number for number, _ in rows), np.int64, len(rows)), norms)

    def _postings(self, state: _State, name: Name) -> _Postings:
        kept = state.postings.get(name)
        if kept is not None:
            state.postings.move_to_end(name)
            return kept
        if len(name) == 1:
            made = self._read_postings(state, name[0])
        else:
            made = _all_of([self._postings(state, (word,)) for word in name])
        state.postings[name] = made
        state.bytes += made.bytes
        while state.bytes > _MOST_BYTES and len(state.postings) > 1:
            state.bytes -= state.postings.popitem(last=False)[1].bytes
        return made

    def _read_postings(self, state: _State, word: str) -> _Postings:
        # As one text: 0.2 µs an occurrence, a tenth of fetching rows.
        ((text,),) = self._db.rows("SELECT group_concat(doc, ' ') FROM temp.occurrences WHERE term = ?", (word,))
        numbers, counts = np.unique(np.fromstring(text or "", np.int64, sep=" "), return_counts=True)
        places = np.searchsorted(state.numbers, numbers)
        there = np.zeros(len(numbers), bool)
        inside = places < len(state.numbers)
        there[inside] = state.numbers[places[inside]] == numbers[inside]  # another process may be writing
        places, often = places[there], counts[there].astype(np.float32)
        total = len(state.numbers)
        idf = max(math.log((total - len(places) + 0.5) / (len(places) + 0.5)), _LEAST_IDF) if len(places) else 0.0
        weights = idf * often * (_K1 + 1) / (often + state.norms[places])
        return _Postings(places.astype(np.int32), weights.astype(np.float32))


def _all_of(words: Sequence[_Postings]) -> _Postings:
    """Passages that hold all the words, with the sum of the weights."""
    first, *rest = sorted(words, key=lambda one: len(one.places))
    for other in rest:
        at = np.searchsorted(other.places, first.places)
        both = np.flatnonzero(at < len(other.places))
        both = both[other.places[at[both]] == first.places[both]]
        first = _Postings(first.places[both], first.weights[both] + other.weights[at[both]])
    return first


def _varint(data: bytes) -> int:
    """FTS5's record of a passage's length: seven bits a byte, the highest bit says that more follow."""
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value
