"""Hybrid search: nearest vectors and matching words, weighed together, cut where nothing is relevant.

Both searches nominate candidates; each is then judged by its exact similarity, by the share of the query's concepts
(app.library.query) that it has, and by the share that its title and heading have. The English and the Chinese
version of a note say the same, so both together judge a passage: what one model misses in one language it often sees
in the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from langchain_core.embeddings import Embeddings

from app.fabric.calculation import Language
from app.library.duplicates import say_the_same
from app.library.embeddings import embed_queries
from app.library.filters import Filters, chosen
from app.library.glossary import Glossary
from app.library.language import detect_language
from app.library.nearest import Near, Nearest, strongest
from app.library.pairs import Paired, pairs_of
from app.library.passage import Hit, Passage
from app.library.passage_index import PassageIndex
from app.library.query import Concept, Query, QueryReader
from app.library.relevance import Limits, is_relevant
from app.library.reranker import Reranker
from app.library.vector_table import Rows, VectorTable
from app.library.words import Words

_CANDIDATES = 30  # nominated by each of the two searches
# Parts of the score: similarity, words, words of the heading. Tuned on the "tune" half of eval/retrieval; from 0.23 to
# 0.4 for words and from 0.1 to 0.2 for the heading rank about equally well.
_SIMILARITY, _WORDS, _HEADING = 0.58, 0.29, 0.13
_OWN = 0.75  # of a pair's similarity: that of the version in the language of the query
_NAMED = 0.5  # share of its concepts by which a query may have weak matches though it has no term of our field
_TAIL = 0.5  # a passage that is not relevant by itself is shown from this share of the best score
# Of what a question compares, each side's best passages stand as near to the best of all.
_PER_SIDE, _SIDE = 2, 0.95
_RERANKED = 20
_ALONE = Paired("", ())


@dataclass(frozen=True, slots=True)
class _Candidate:
    """`lexical`: share of the concepts in the passage's own words, which are `words`. `score` ranks, may exceed 1 and
    counts the note's other version in.
    """

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
        self._reader = QueryReader(words, glossary, index.document_frequency, index.words_beginning)
        self._limits = limits
        self._reranker = reranker
        self._pairs_at: tuple[int, Mapping[str, Paired]] = (-1, {})

    def search(
        self,
        query: str,
        k: int,
        language: Language | None,
        kind: str | None,
        filters: Filters | None = None,
        *,
        weak: bool = False,
        rerank: bool = True,
    ) -> list[Hit]:
        """The k best passages, best first; none if nothing is relevant. With `weak`, the nearest even then, marked as
        weak, if the query has a term of our field or some passage has half of its words. Without `rerank`, as the two
        searches weighed together have it, whether or not there is a reranker.
        """
        asked = self._reader.read(query)
        if asked is None or k < 1:
            return []
        filters = filters or Filters()
        rows = self._table.rows()
        nearest, *nearest_of_sides = self._nearest(rows, [asked, *asked.sides])
        candidates = self._candidates(asked, rows, nearest, kind, filters)
        relevant = self._relevant(candidates, asked)
        named = max((one.lexical for one in candidates), default=0.0) >= _NAMED
        weak = weak and not relevant and (asked.terms > 0 or named)
        if not (relevant or weak):
            return []
        for side, nearest in zip(asked.sides, nearest_of_sides, strict=True):
            candidates = _raised(candidates, self._candidates(side, rows, nearest, kind, filters)[:_PER_SIDE])
        # What ranks near the best of these belongs to the answer too, e.g. a document in the other language.
        enough = _TAIL * max(one.score for one in candidates if weak or one.id in relevant)
        candidates = [one for one in candidates if one.id in relevant or one.score >= enough]
        passages = self._index.passages(one.id for one in candidates)
        found = [(one, passages[one.id]) for one in candidates if one.id in passages]
        # A filter by language is met by what was found; otherwise a note's counterpart may stand in for it.
        shown = filters.language or language or asked.language
        different = list(islice(self._different(found, shown), max(k, _RERANKED)))
        if rerank:
            different = self._reranked(asked.text, different)
        return [
            Hit(passage, _readable(one.score), round(one.near.cosine, 4), round(one.lexical, 4), weak)
            for one, passage in different[:k]
        ]

    def _relevant(self, candidates: Sequence[_Candidate], asked: Query) -> frozenset[str]:
        limits = self._limits()
        return frozenset(
            one.id for one in candidates if is_relevant(one.near, one.lexical, asked.terms, asked.language, limits)
        )

    def alone(self, query: str, k: int, language: Language | None, by: Literal["dense", "lexical"]) -> list[Hit]:
        """What one of the two searches finds by itself, its own score with each, relevant or not: to measure them."""
        asked = self._reader.read(query)
        if asked is None:
            return []
        if by == "dense":
            (similarities,) = self._table.rows().similarities([self._embeddings.embed_query(asked.text)])
            best = similarities.best(2 * _CANDIDATES)
        else:
            best = self._index.match(asked.names, 2 * _CANDIDATES)
        words = self._index.words_of(id_ for id_, _ in best)
        passages = self._index.passages(id_ for id_, _ in best)
        found = [
            (_Candidate(id_, Near(0.0, 0.0, 0.0), 0.0, score, words.get(id_, frozenset())), passages[id_])
            for id_, score in best
            if id_ in passages
        ]
        different = self._different(found, language or asked.language)
        return [Hit(passage, round(one.score, 4)) for one, passage in islice(different, k)]

    def strongest(self, query: str) -> tuple[float, float]:
        """Greatest similarity and contrast that any note has for a query."""
        (similarities,) = self._table.rows().similarities([self._embeddings.embed_query(query)])
        return strongest(Nearest(similarities, detect_language(query)).best("note").values())

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

    def _nearest(self, rows: Rows, queries: Sequence[Query]) -> list[Nearest]:
        vectors = embed_queries(self._embeddings, [query.embedded for query in queries])
        found = rows.similarities(vectors)
        return [Nearest(one, query.language) for one, query in zip(found, queries, strict=True)]

    def _candidates(
        self, asked: Query, rows: Rows, nearest: Nearest, kind: str | None, filters: Filters
    ) -> list[_Candidate]:
        """What either search nominates, best first."""
        limits = self._limits()
        documents = chosen(filters, self._index.document_facts()) if filters.of_documents else None
        near = nearest.best(kind, language=filters.language, documents=documents)
        if asked.concepts:
            matching = self._index.match(asked.names, _CANDIDATES, kind, language=filters.language, documents=documents)
            near |= nearest.of(self._index.languages(id_ for id_, _ in matching if id_ not in near))
        pairs = self._pairs(rows.generation)
        others = {other for id_ in near for other in pairs.get(id_, _ALONE).others} - near.keys()
        both = near | nearest.of(self._index.languages(others))
        words = self._index.words_of(both)
        lexical = self._shares(asked.concepts, words)
        headings = self._shares(asked.concepts, self._heading_words(near))
        candidates = []
        for id_, one in near.items():
            pair = pairs.get(id_, _ALONE)
            same = [other for other in pair.others if other in both]
            similarity = one.similarity
            if same:
                counted = _OWN if pair.language == asked.language else 1 - _OWN
                similarity = counted * similarity + (1 - counted) * max(both[other].similarity for other in same)
            share = max(lexical.get(other, 0.0) for other in (id_, *same))
            score = _SIMILARITY * limits.spread(similarity, asked.language) + _WORDS * share
            score += _HEADING * headings.get(id_, 0.0)
            candidates.append(_Candidate(id_, one, lexical.get(id_, 0.0), score, words.get(id_, frozenset())))
        return sorted(candidates, key=lambda one: (-one.score, one.id))

    def _pairs(self, generation: int) -> Mapping[str, Paired]:
        """Passages of notes that stand at the same heading in the other language."""
        known, pairs = self._pairs_at
        if known != generation:
            pairs = pairs_of(self._index.note_places())
            self._pairs_at = (generation, pairs)
        return pairs

    def _heading_words(self, ids: Mapping[str, object]) -> dict[str, frozenset[str]]:
        return {id_: frozenset(self._words.of(heading)) for id_, heading in self._index.headings(ids).items()}

    def _shares(self, concepts: Sequence[Concept], words_of: Mapping[str, frozenset[str]]) -> dict[str, float]:
        """Share of the query's concepts that each set of words has, rare concepts weighing more."""
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
        named = [
            (weight, {name[0] for name in concept.names if len(name) == 1}, [n for n in concept.names if len(n) > 1])
            for concept, weight in zip(concepts, weights, strict=True)
        ]
        return {
            id_: sum(
                weight
                for weight, single, several in named
                if not words.isdisjoint(single) or any(words.issuperset(name) for name in several)
            )
            / everything
            for id_, words in words_of.items()
        }

    def _different(
        self, found: Sequence[tuple[_Candidate, Passage]], language: str
    ) -> Iterator[tuple[_Candidate, Passage]]:
        """Each statement once; of a pair of notes, the one in the wanted language stands for both."""
        pairs = self._pairs(self._table.rows().generation)
        wanted = {one.id: pairs[one.id].others[0] for one, _ in found if pairs.get(one.id, _ALONE).others}
        standing_in = self._index.passages(wanted.values())
        seen: list[frozenset[str]] = []
        shown = set()
        for candidate, passage in found:
            other = standing_in.get(wanted.get(passage.id, ""))
            if passage.language != language and other is not None and other.language == language:
                passage = other
            if passage.text in shown or any(say_the_same(candidate.words, words) for words in seen):
                continue
            shown.add(passage.text)
            seen.append(candidate.words)
            yield candidate, passage


def _raised(candidates: Sequence[_Candidate], best: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates with the best ones of a side of a comparison among them, scored in proportion."""
    if not best or best[0].score <= 0 or not candidates:
        return list(candidates)
    by_id = {one.id: one for one in candidates}
    top = _SIDE * candidates[0].score / best[0].score
    for one in best:
        known = by_id.get(one.id, one)
        by_id[one.id] = replace(known, score=max(known.score if one.id in by_id else 0.0, top * one.score))
    return sorted(by_id.values(), key=lambda one: (-one.score, one.id))


def _readable(score: float) -> float:
    return round(min(1.0, max(0.0, score)), 4)
