"""How well each stage of the search finds what our retrieval set asks for, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from app.settings import Settings
from eval.metrics.retrieval import Found, ndcg, recall, reciprocal_rank
from eval.retrieval_plain import how_to_install, plain_pipeline
from eval.retrieval_set import HERE, LANGUAGES, PARTS, Query, RetrievalSet, counts, of_half
from eval.retrieval_stages import DEPTH, Ranker, retrieval_library, stages
from eval.thresholds import Threshold, load_thresholds

RESULTS = HERE / "results.json"
LIMITS = HERE / "limits.yaml"
MEASURES = ("recall@1", "recall@3", "recall@5", "mrr@10", "ndcg@10")
HALVES = ("all", *PARTS)
PLAIN = "plain"
GATED = "fused"  # the stage that must reach the limits
NAMES = {
    "dense": "dense: nearest vectors alone",
    "lexical": "lexical: matching words alone",
    "clear": "fused, clear matches only, as answers rest on them",
    "fused": "fused, as `fabric-advisor search` shows it",
    "reranked": "reranked by a cross-encoder",
    PLAIN: "plain: all-MiniLM-L6-v2 + Chroma, 1,000-character chunks",
}


@dataclass(frozen=True, slots=True)
class Row:
    stage: str
    language: str
    half: str
    queries: int
    values: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        values = {name: round(value, 4) for name, value in self.values.items()}
        return {"stage": self.stage, "language": self.language, "half": self.half, "queries": self.queries, **values}


@dataclass(frozen=True, slots=True)
class Miss:
    """A query of the tuning half of which something was not among the first five, and what was."""

    query: Query
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    rows: tuple[Row, ...]
    absent: Mapping[str, str]  # stages that were not measured, and why
    queries: Mapping[str, Mapping[str, int]]
    documents: int
    distractors: int
    passages: int
    model: str
    misses: tuple[Miss, ...]

    def value(self, stage: str, language: str, measure: str, half: str = "all") -> float | None:
        found = (row for row in self.rows if (row.stage, row.language, row.half) == (stage, language, half))
        return next((row.values[measure] for row in found), None)

    def missed_limits(self, limits: Iterable[Threshold]) -> list[str]:
        """Limits of the fused search that are not reached, `measure[language]` each."""
        missed = []
        for limit in limits:
            measure, _, language = limit.metric.rstrip("]").partition("[")
            value = self.value(GATED, language, measure)
            if value is None or not limit.met_by(value):
                missed.append(f"{limit.metric} is {'-' if value is None else f'{value:.3f}'}, not {limit.text}")
        return missed

    def to_json(self) -> dict[str, Any]:
        return {
            "queries": self.queries,
            "documents": self.documents,
            "distractors": self.distractors,
            "passages": self.passages,
            "model": self.model,
            "rows": [row.to_json() for row in self.rows],
            "absent": dict(self.absent),
        }


def measure_retrieval(data: RetrievalSet, settings: Settings) -> Results:
    """Every stage on every query, in one library; the plain pipeline on the same texts, where it is installed."""
    absent = {}
    found: dict[str, dict[str, Sequence[Found]]] = {}
    with retrieval_library(data, settings) as library:
        for stage, ranker in stages(library, settings).items():
            found[stage] = _ranked(ranker, data.queries)
        if not settings.reranker:
            absent["reranked"] = "no reranker is set (FABRIC_ADVISOR_RERANKER); no package with such weights was found"
        if command := how_to_install():
            absent[PLAIN] = f"to measure it: {command}"
        else:
            with plain_pipeline(library) as plain:
                found[PLAIN] = _ranked(plain, data.queries)
        documents, passages = len(library.documents()), len(library.passages())
        model = library.model_id
    rows = [
        row(stage, language, half, of_half(data.queries, half), hits)
        for stage, hits in found.items()
        for half in HALVES
        for language in LANGUAGES
        if any(query.language == language for query in of_half(data.queries, half))
    ]
    misses = _misses(of_half(data.queries, "tune"), found[GATED])
    distractors = len(list(data.distractors.iterdir()))
    return Results(tuple(rows), absent, counts(data.queries), documents, distractors, passages, model, misses)


def _ranked(ranker: Ranker, queries: Iterable[Query]) -> dict[str, Sequence[Found]]:
    return {query.id: ranker(query) for query in queries}


def row(stage: str, language: str, half: str, queries: Iterable[Query], hits: Mapping[str, Sequence[Found]]) -> Row:
    """Means over the queries of a language."""
    own = [query for query in queries if query.language == language]
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    for query in own:
        found = hits[query.id]
        for k in (1, 3, 5):
            values[f"recall@{k}"].append(recall(query.gold, found, k))
        values["mrr@10"].append(reciprocal_rank(query.gold, found[:DEPTH]))
        values["ndcg@10"].append(ndcg(query.gold, found, DEPTH))
    return Row(stage, language, half, len(own), {name: fmean(all_) if all_ else 0.0 for name, all_ in values.items()})


def _misses(queries: Iterable[Query], hits: Mapping[str, Sequence[Found]]) -> tuple[Miss, ...]:
    return tuple(
        Miss(query, tuple(f"{hit.topic or hit.document}#{hit.section}" for hit in hits[query.id][:5]))
        for query in queries
        if recall(query.gold, hits[query.id], 5) < 1
    )


def table_lines(results: Results) -> list[str]:
    """For a terminal: each stage in both languages, then the fused search on either half."""
    head = f"{'stage':<58} {'language':<9}" + "".join(f"{name:>10}" for name in MEASURES)
    lines = [head]
    for one in results.rows:
        if one.half == "all":
            lines.append(_line(NAMES[one.stage], one))
    lines += [f"{NAMES[stage]:<58} not measured: {why}" for stage, why in results.absent.items()]
    lines += [
        "",
        "fused, on the half that it was tuned on, on the half that it was not, and on queries written blind:",
    ]
    lines += [_line(f"{one.half} ({one.queries} queries)", one) for one in results.rows if _by_half(one)]
    number = sum(sum(halves.values()) for halves in results.queries.values())
    lines.append(
        f"{number} queries, {results.documents} documents of which {results.distractors} distractors, "
        f"{results.passages} passages, embeddings {results.model}"
    )
    return lines


def _by_half(one: Row) -> bool:
    return one.stage == GATED and one.half != "all"


def _line(name: str, one: Row) -> str:
    return f"{name:<58} {one.language:<9}" + "".join(f"{one.values[measure]:>10.3f}" for measure in MEASURES)


def limits() -> list[Threshold]:
    return load_thresholds(LIMITS)


def save(results: Results, path: Path = RESULTS) -> None:
    """Keep the figures for the README's table."""
    path.write_text(json.dumps(results.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
