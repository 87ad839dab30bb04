"""Hybrid search: nearest vectors and matching words, fused by rank, cut where nothing is relevant.

A query is taken as *concepts*: a glossary term with all its names in both languages is one concept, any other
word is one of its own. A passage has a concept if it has any of its names; so an English question matches
Chinese words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.embeddings import Embeddings

from app.fabric.calculation import Language
from app.library.glossary import Glossary
from app.library.language import detect_language
from app.library.manifest import Manifest
from app.library.passage import Hit, Passage
from app.library.store import VectorStore
from app.library.words import Words

_CANDIDATES = 30
_RANK_CONSTANT = 10  # of reciprocal rank fusion; small, since both lists are short and mostly right
_LONGEST_QUERY = 2_000  # characters; the model reads 512 tokens anyway


@dataclass(frozen=True, slots=True)
class Concept:
    """Names of one thing, each a tuple of index words; `known` if it comes from the glossary."""

    names: tuple[tuple[str, ...], ...]
    known: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: str
    fused: float
    dense: float | None
    lexical: float


class Searcher:
    def __init__(
        self, manifest: Manifest, store: VectorStore, embeddings: Embeddings, words: Words, glossary: Glossary
    ):
        self._manifest = manifest
        self._store = store
        self._embeddings = embeddings
        self._words = words
        self._glossary = glossary

    def search(self, query: str, k: int, language: Language | None, kind: str | None) -> list[Hit]:
        """The k best passages, best first; none if nothing is relevant."""
        query = " ".join(query.split())[:_LONGEST_QUERY]
        if not any(character.isalnum() for character in query) or k < 1:
            return []
        concepts = self.concepts(query)
        near = self._store.query(self._embeddings.embed_query(query), _CANDIDATES, kind)
        matching = self._manifest.match(_match_expression(concepts), _CANDIDATES, kind) if concepts else []
        candidates = self._fused(near, matching, concepts)
        candidates = [one for one in candidates if self._is_relevant(one, concepts)]
        passages = self._manifest.passages(one.id for one in candidates)
        language = language or detect_language(query)
        found = [(one, passages[one.id]) for one in candidates if one.id in passages]
        return [
            Hit(passage, round(_score(one), 4), one.dense, round(one.lexical, 4))
            for one, passage in self._in_language(found, language)[:k]
        ]

    def concepts(self, query: str) -> list[Concept]:
        terms = self._glossary.find(query)
        covered = [span for _, spans in terms for span in spans]
        concepts = []
        for term, _ in terms:
            names = {tuple(self._words.of(name)) for name in term.names}
            concepts.append(Concept(tuple(sorted(name for name in names if name)), known=True))
        rest = _without(query, covered)
        for word in dict.fromkeys(self._words.of(rest)):
            concepts.append(Concept(((word,),), known=False))
        return [concept for concept in concepts if concept.names]

    def _fused(
        self,
        near: Sequence[tuple[str, float]],
        matching: Sequence[tuple[str, float]],
        concepts: Sequence[Concept],
    ) -> list[_Candidate]:
        fused: dict[str, float] = {}
        for ranking in (near, matching):
            for rank, (id_, _) in enumerate(ranking, 1):
                fused[id_] = fused.get(id_, 0.0) + 1.0 / (_RANK_CONSTANT + rank)
        dense = dict(near)
        lexical = self._lexical(list(fused), concepts)
        candidates = [
            _Candidate(id_, score, dense.get(id_), lexical.get(id_, 0.0)) for id_, score in fused.items()
        ]
        return sorted(candidates, key=lambda one: (-one.fused, one.id))

    def _lexical(self, ids: Sequence[str], concepts: Sequence[Concept]) -> dict[str, float]:
        """Share of the query's concepts that each passage has, rare concepts weighing more."""
        total = max(1, self._manifest.passage_count())
        frequency = self._manifest.document_frequency(
            word for concept in concepts for name in concept.names for word in name
        )
        weights = []
        for concept in concepts:
            often = max(min(frequency.get(word, 0) for word in name) for name in concept.names)
            weights.append(math.log(1 + total / (1 + often)))
        everything = sum(weights)
        if not everything:
            return {}
        return {
            id_: sum(
                weight
                for concept, weight in zip(concepts, weights, strict=True)
                if any(words.issuperset(name) for name in concept.names)
            )
            / everything
            for id_, words in self._manifest.words_of(ids).items()
        }

    def _is_relevant(self, candidate: _Candidate, concepts: Sequence[Concept]) -> bool:
        dense = candidate.dense if candidate.dense is not None else 0.0
        known = any(concept.known for concept in concepts)
        return (
            dense >= 0.86
            or (dense >= 0.80 and candidate.lexical >= 0.25)
            or (known and candidate.lexical >= 0.5)
        )

    def _in_language(
        self, found: Sequence[tuple[_Candidate, Passage]], language: Language
    ) -> list[tuple[_Candidate, Passage]]:
        """Of a pair of notes, the passage in the wanted language stands for both."""
        positions = self._manifest.positions(one.id for one, _ in found)
        result: dict[str, tuple[_Candidate, Passage]] = {}
        for candidate, passage in found:
            kind, section_number, part = positions[candidate.id]
            if kind == "note" and passage.topic and passage.language != language:
                others = self._manifest.counterparts(passage.topic, language, section_number)
                if others:
                    other_id = others[min(part, len(others) - 1)]
                    passage = self._manifest.passages([other_id])[other_id]
                    candidate = replace(candidate, id=other_id)
            if passage.id not in result:
                result[passage.id] = (candidate, passage)
        return list(result.values())


def _without(query: str, spans: Sequence[tuple[int, int]]) -> str:
    kept = list(query)
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def _match_expression(concepts: Sequence[Concept]) -> str:
    """FTS5: any name of any concept; a name of several words needs them all."""
    names = dict.fromkeys(name for concept in concepts for name in concept.names)
    return " OR ".join("(" + " AND ".join(f'"{word}"' for word in name) + ")" for name in names)


def _score(candidate: _Candidate) -> float:
    """For people, 0..1: similarity spread over the range in which this kind of model moves, and word
    coverage.
    """
    similarity = min(1.0, max(0.0, ((candidate.dense or 0.0) - 0.75) / 0.2))
    return 0.6 * similarity + 0.4 * candidate.lexical
