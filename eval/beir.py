"""Retrieval metrics over a corpus in BEIR format: corpus.jsonl, queries.jsonl and qrels/<split>.tsv.

Relevance above 0 counts as relevant (binary gains).
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import AdvisorError
from eval.metrics.retrieval import Found, ndcg, recall, reciprocal_rank

# (query, k) -> ids of the documents found, best first, each once
Search = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Beir:
    corpus: dict[str, tuple[str, str]]  # document id -> title, text
    queries: dict[str, str]
    relevant: dict[str, list[str]]  # query id -> relevant document ids


def read_beir(folder: Path, split: str = "test") -> Beir:
    """Raises AdvisorError that names the file and line of a fault."""
    corpus = {
        _text(row, "_id", where): (str(row.get("title") or ""), _text(row, "text", where))
        for row, where in _json_lines(folder / "corpus.jsonl")
    }
    queries = {
        _text(row, "_id", where): _text(row, "text", where) for row, where in _json_lines(folder / "queries.jsonl")
    }
    relevant: dict[str, list[str]] = defaultdict(list)
    path = folder / "qrels" / f"{split}.tsv"
    for line, row in enumerate(_rows(path), 1):
        if line == 1 and row[:1] == ["query-id"]:
            continue
        if len(row) < 3 or row[0] not in queries or row[1] not in corpus or not row[2].isdigit():
            raise AdvisorError(
                f"{path.name}, line {line}: not 'query-id, corpus-id, score' of this corpus.",
                "See the BEIR format.",
            )
        if int(row[2]) > 0:
            relevant[row[0]].append(row[1])
    if not relevant:
        raise AdvisorError(f"{path.name} judges nothing as relevant.", "Give qrels with scores above 0.")
    return Beir(corpus, queries, dict(relevant))


def retrieval_metrics(data: Beir, search: Search, k: int = 10) -> dict[str, float]:
    """Means over the judged queries: recall@1, @5, @k, MRR@k and nDCG@k."""
    sums: dict[str, float] = defaultdict(float)
    for query_id, gold in data.relevant.items():
        hits = [Found(document) for document in search(data.queries[query_id], k)]
        sums["recall@1"] += recall(gold, hits, 1)
        sums["recall@5"] += recall(gold, hits, 5)
        sums[f"recall@{k}"] += recall(gold, hits, k)
        sums[f"mrr@{k}"] += reciprocal_rank(gold, hits[:k])
        sums[f"ndcg@{k}"] += ndcg(gold, hits, k)
    return {name: total / len(data.relevant) for name, total in sums.items()}


def _json_lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AdvisorError(f"Cannot read {path.name}: {error}.", "Name a folder in BEIR format.") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise AdvisorError(f"{where}: not a JSON object.", "Correct the line.")
        yield row, where


def _text(row: dict[str, Any], name: str, where: str) -> str:
    if not isinstance(row.get(name), str):
        raise AdvisorError(f"{where}, field '{name}': is missing or no text.", "See the BEIR format.")
    return str(row[name])


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t"))
    except (OSError, UnicodeDecodeError) as error:
        raise AdvisorError(f"Cannot read {path.name}: {error}.", "Name a folder in BEIR format.") from None
