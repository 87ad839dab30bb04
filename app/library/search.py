"""Hybrid search: nearest vectors and matching words, weighed together, cut where nothing is relevant.

A query is taken as *concepts*: a glossary term with all its names in both languages is one concept, any other
word is one of its own. A passage has a concept if it has any of its names; so an English question matches
Chinese words. Both searches nominate candidates; each is then judged by its exact similarity and the concepts
it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.embeddings import Embeddings

from app.fabric.calculation import Language
from app.library.chinese import simplified
from app.library.duplicates import say_the_same
from app.library.filters import Filters, chosen
from app.library.glossary import Glossary
from app.library.language import detect_language
from app.library.nearest import Near, Nearest, strongest
from app.library.passage import Hit, Passage
from app.library.passage_index import PassageIndex
from app.library.relevance import Limits, is_relevant
from app.library.reranker import Reranker
from app.library.vector_table import VectorTable
from app.library.words import Words

_CANDIDATES = 30  # nominated by each of the two searches
_WORDS_WEIGHT = 0.17  # of words against similarity in the score; 0.05 to 0.2 rank equally well on our questions
_SHORT_QUERY = 24  # characters
_RERANKED = 20
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
    words: frozenset[str]


class Searcher:
    def __init__(
        self,
        index: PassageIndex,
        table: VectorTable,
        embeddings: Embeddings,
        words: Words,
        glossary: Glossary,
        limits: Callable[[], Limits],
        reranker: Callable[[], Reranker | None] = lambda: None,
    ):
        self._index = index
        self._table = table
        self._embeddings = embeddings
        self._words = words
        self._glossary = glossary
        self._limits = limits
        self._reranker = reranker

    def search(
        self, query: str, k: int, language: Language | None, kind: str | None, filters: Filters | None = None
    ) -> list[Hit]:
        """The k best passages, best first; none if nothing is relevant."""
        query = simplified(" ".join(query.split())[:_LONGEST_QUERY])
        if query.isupper() and " " in query:  # the model takes shouting for another subject
            query = query.lower()
        if not any(character.isalnum() for character in query) or k < 1:
            return []
        concepts = self.concepts(query)
        asked_in = detect_language(query)
        candidates = self._candidates(query, asked_in, concepts, kind, filters or Filters())
        relevant = self._relevant(candidates, concepts, asked_in)
        if not relevant:
            return []
        # What is nearer than the best of these belongs to the answer too, e.g. a document in the other language.
        enough = max(one.near.similarity for one in relevant)
        known = {one.id for one in relevant}
        candidates = [one for one in candidates if one.id in known or one.near.similarity >= enough]
        passages = self._index.passages(one.id for one in candidates)
        found = [(one, passages[one.id]) for one in candidates if one.id in passages]
        # A filter by language is met by what was found; otherwise a note's counterpart may stand in for it.
        shown = (filters.language if filters else "") or language or asked_in
        different = list(self._different(found, shown))
        return [
            Hit(passage, round(one.score, 4), round(one.near.cosine, 4), round(one.lexical, 4))
            for one, passage in self._reranked(query, different)[:k]
        ]

    def _relevant(
        self, candidates: Sequence[_Candidate], concepts: Sequence[Concept], asked_in: Language
    ) -> list[_Candidate]:
        codes = [word for concept in concepts for name in concept.names for word in name if "_" in word]
        # a counter or setting that some passage names makes a question one of our field as much as two terms do
        named = 2 if codes and self._index.document_frequency(codes) else 0
        terms = named + sum(concept.known for concept in concepts)
        limits = self._limits()
        return [one for one in candidates if is_relevant(one.near, one.lexical, terms, asked_in, limits)]

    def _reranked(self, query: str, found: list[tuple[_Candidate, Passage]]) -> list[tuple[_Candidate, Passage]]:
        """By the cross-encoder's score, if there is one; what it has not read comes after."""
        reranker = self._reranker()
        if reranker is None:
            return found
        first, rest = found[:_RERANKED], found[_RERANKED:]
        scores = reranker.scores(query, [f"{passage.title}\n{passage.text}" for _, passage in first])
        least = min(scores, default=0.0)
        read = [(replace(one, score=score), passage) for (one, passage), score in zip(first, scores, strict=True)]
        read.sort(key=lambda pair: -pair[0].score)
        return read + [(replace(one, score=min(one.score, least)), passage) for one, passage in rest]

    def strongest(self, query: str) -> tuple[float, float]:
        """Greatest similarity and contrast that any note has for a query."""
        similarities = self._table.rows().similarities(self._embeddings.embed_query(query))
        return strongest(Nearest(similarities, detect_language(query)).best("note").values())

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
        self, query: str, asked_in: Language, concepts: Sequence[Concept], kind: str | None, filters: Filters
    ) -> list[_Candidate]:
        """What either search nominates, best first."""
        limits = self._limits()
        vector = self._embeddings.embed_query(self._spelt_out(query, asked_in))
        nearest = Nearest(self._table.rows().similarities(vector), asked_in)
        documents = chosen(filters, self._index.document_facts()) if filters.of_documents else None
        near = nearest.best(kind, language=filters.language, documents=documents)
        if concepts:
            names = dict.fromkeys(name for concept in concepts for name in concept.names)
            matching = self._index.match(names, _CANDIDATES, kind, language=filters.language, documents=documents)
            rest = [id_ for id_, _ in matching if id_ not in near]
            near |= nearest.of(self._index.languages(rest))
        words = self._index.words_of(near)
        lexical = self._lexical(words, concepts)
        candidates = []
        for id_, one in near.items():
            share = lexical.get(id_, 0.0)
            score = (1 - _WORDS_WEIGHT) * limits.spread(one.similarity) + _WORDS_WEIGHT * share
            candidates.append(_Candidate(id_, one, share, score, words.get(id_, frozenset())))
        return sorted(candidates, key=lambda one: (-one.score, one.id))

    def _lexical(self, words_of: Mapping[str, frozenset[str]], concepts: Sequence[Concept]) -> dict[str, float]:
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
            for id_, words in words_of.items()
        }

    def _different(
        self, found: Sequence[tuple[_Candidate, Passage]], language: str
    ) -> Iterator[tuple[_Candidate, Passage]]:
        """Each statement once; of a pair of notes, the one in the wanted language stands for both."""
        seen: list[frozenset[str]] = []
        shown = set()
        for candidate, passage in found:
            if passage.topic and passage.language != language:
                passage = self._index.counterpart(passage, language) or passage
            if passage.text in shown or any(say_the_same(candidate.words, other) for other in seen):
                continue
            shown.add(passage.text)
            seen.append(candidate.words)
            yield candidate, passage


def _is_abbreviation(name: str) -> bool:
    return len(name) <= 6 and name.isascii() and name.isalnum()


def _without(query: str, spans: Sequence[tuple[int, int]]) -> str:
    kept = list(query)
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)
