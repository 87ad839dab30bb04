"""Hybrid search: nearest vectors and matching words, weighed together, cut where nothing is relevant.

A query is taken as *concepts*: a glossary term with all its names in both languages is one concept, any other
word is one of its own. A passage has a concept if it has any of its names; so an English question matches
Chinese words. Both searches nominate candidates; each is then judged by its exact similarity and the concepts
it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from langchain_core.embeddings import Embeddings

from app.fabric.calculation import Language
from app.library.glossary import Glossary
from app.library.language import detect_language
from app.library.nearest import Near, Nearest, strongest
from app.library.passage import Hit, Passage
from app.library.passage_index import PassageIndex
from app.library.relevance import Limits, is_relevant
from app.library.store import VectorStore
from app.library.words import Words

_CANDIDATES = 30  # nominated by each of the two searches
_WORDS_WEIGHT = 0.17  # of words against similarity in the score; 0.05 to 0.2 rank equally well on our questions
_SHORT_QUERY = 24  # characters
_MOST_CONCEPTS = 64  # of a long query; glossary terms come first
_LONGEST_QUERY = 2_000  # characters; the model reads 512 tokens anyway


@dataclass(frozen=True, slots=True)
class Concept:
    """Names of one thing, each a tuple of index words; `known` if it comes from the glossary."""

    names: tuple[tuple[str, ...], ...]
    known: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: str
    near: Near
    lexical: float
    score: float


class Searcher:
    def __init__(
        self,
        index: PassageIndex,
        store: VectorStore,
        embeddings: Embeddings,
        words: Words,
        glossary: Glossary,
        limits: Callable[[], Limits],
    ):
        self._index = index
        self._store = store
        self._embeddings = embeddings
        self._words = words
        self._glossary = glossary
        self._limits = limits

    def search(self, query: str, k: int, language: Language | None, kind: str | None) -> list[Hit]:
        """The k best passages, best first; none if nothing is relevant."""
        query = " ".join(query.split())[:_LONGEST_QUERY]
        if query.isupper() and " " in query:  # the model takes shouting for another subject
            query = query.lower()
        if not any(character.isalnum() for character in query) or k < 1:
            return []
        concepts = self.concepts(query)
        asked_in = detect_language(query)
        codes = [word for concept in concepts for name in concept.names for word in name if "_" in word]
        # a counter or setting that some passage names makes a question one of our field as much as two terms do
        named = 2 if codes and self._index.document_frequency(codes) else 0
        terms = named + sum(concept.known for concept in concepts)
        limits = self._limits()
        candidates = self._candidates(query, asked_in, concepts, kind, limits)
        relevant = [one for one in candidates if is_relevant(one.near, one.lexical, terms, asked_in, limits)]
        if not relevant:
            return []
        # What is nearer than the best of these belongs to the answer too, e.g. a document in the other language.
        enough = max(one.near.similarity for one in relevant)
        candidates = [one for one in candidates if one in relevant or one.near.similarity >= enough]
        passages = self._index.passages(one.id for one in candidates)
        found = [(one, passages[one.id]) for one in candidates if one.id in passages]
        return [
            Hit(passage, round(one.score, 4), round(one.near.cosine, 4), round(one.lexical, 4))
            for one, passage in islice(self._in_language(found, language or asked_in), k)
        ]

    def strongest(self, query: str) -> tuple[float, float]:
        """Greatest similarity and contrast that any note has for a query."""
        nearest = Nearest(self._store, self._embeddings.embed_query(query), detect_language(query))
        return strongest(nearest.best("note").values())

    def concepts(self, query: str) -> list[Concept]:
        terms = self._glossary.find(query)
        covered = [span for _, spans in terms for span in spans]
        concepts = []
        for term, _ in terms:
            names = {tuple(self._words.of(name)) for name in term.names}
            concepts.append(Concept(tuple(sorted(name for name in names if name)), known=True))
        rest = _without(query, covered)
        concepts += [Concept((word,), known=False) for word in self._words.for_query(rest)]
        return [concept for concept in concepts if concept.names][:_MOST_CONCEPTS]

    def _spelt_out(self, query: str, asked_in: Language) -> str:
        """A short query with the names of its abbreviations: the model knows few of them ("DLB", "AR")."""
        if len(query) > _SHORT_QUERY:
            return query
        full = [
            term.full_name(asked_in)
            for term, spans in self._glossary.find(query)
            if any(_is_abbreviation(query[start:end]) for start, end in spans)
        ]
        missing = [name for name in dict.fromkeys(full) if name.lower() not in query.lower()]
        return f"{query} ({', '.join(missing)})" if missing else query

    def _candidates(
        self, query: str, asked_in: Language, concepts: Sequence[Concept], kind: str | None, limits: Limits
    ) -> list[_Candidate]:
        """What either search nominates, best first."""
        vector = self._embeddings.embed_query(self._spelt_out(query, asked_in))
        nearest = Nearest(self._store, vector, asked_in)
        near = nearest.best(kind)
        matching = self._index.match(_match_expression(concepts), _CANDIDATES, kind) if concepts else []
        rest = [id_ for id_, _ in matching if id_ not in near]
        if rest:
            near |= nearest.of(self._index.languages(rest))
        lexical = self._lexical(list(near), concepts)
        candidates = []
        for id_, one in near.items():
            share = lexical.get(id_, 0.0)
            score = (1 - _WORDS_WEIGHT) * limits.spread(one.similarity) + _WORDS_WEIGHT * share
            candidates.append(_Candidate(id_, one, share, score))
        return sorted(candidates, key=lambda one: (-one.score, one.id))

    def _lexical(self, ids: Sequence[str], concepts: Sequence[Concept]) -> dict[str, float]:
        """Share of the query's concepts that each passage has, rare concepts weighing more."""
        total = max(1, self._index.count())
        frequency = self._index.document_frequency(
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
            for id_, words in self._index.words_of(ids).items()
        }

    def _in_language(
        self, found: Sequence[tuple[_Candidate, Passage]], language: Language
    ) -> Iterator[tuple[_Candidate, Passage]]:
        """Each text once; of a pair of notes, the one in the wanted language stands for both."""
        seen = set()
        for candidate, passage in found:
            if passage.topic and passage.language != language:
                passage = self._index.counterpart(passage, language) or passage
            if passage.text not in seen:
                seen.add(passage.text)
                yield candidate, passage


def _is_abbreviation(name: str) -> bool:
    return len(name) <= 6 and name.isascii() and name.isalnum()


def _without(query: str, spans: Sequence[tuple[int, int]]) -> str:
    kept = list(query)
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def _match_expression(concepts: Sequence[Concept]) -> str:
    """FTS5: any name of any concept; a name of several words needs them all."""
    names = dict.fromkeys(name for concept in concepts for name in concept.names)
    return " OR ".join("(" + " AND ".join(f'"{word}"' for word in name) + ")" for name in names)
