"""Recall@k, MRR and nDCG@k, gold named by topic or topic#heading so that re-chunking keeps the set valid.

Binary gains; each gold item counts once, at its best rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2


@dataclass(frozen=True, slots=True)
class Found:
    """What of a hit can be gold: the topic, the document and the heading path of its passage. `others`: further
    headings that it covers, if it was cut without regard to them.
    """

    topic: str
    document: str = ""
    section: str = ""
    others: tuple[str, ...] = ()


def matches(gold: str, found: Found) -> bool:
    """Is the hit this gold item? `topic#heading` needs both; `a|b` is met by either.

    The heading is the end of the heading path, whatever its letter case.
    """
    return any(_matches_one(one.strip(), found) for one in gold.split("|"))


def _matches_one(gold: str, found: Found) -> bool:
    name, _, heading = gold.partition("#")
    if name not in (found.topic, found.document):
        return False
    wanted = heading.casefold().strip()
    return any(section.casefold().strip().endswith(wanted) for section in (found.section, *found.others))


def first_ranks(gold: Sequence[str], hits: Sequence[Found]) -> list[int | None]:
    """For each gold item the rank (from 1) of the first hit that is it, None where there is none."""
    return [next((rank for rank, hit in enumerate(hits, 1) if matches(item, hit)), None) for item in gold]


def recall(gold: Sequence[str], hits: Sequence[Found], k: int) -> float:
    """Share of the gold items among the first k hits; gold must not be empty."""
    return sum(rank is not None and rank <= k for rank in first_ranks(gold, hits)) / len(gold)


def reciprocal_rank(gold: Sequence[str], hits: Sequence[Found]) -> float:
    """1 / rank of the first hit that is gold, 0 where none is."""
    ranks = [rank for rank in first_ranks(gold, hits) if rank]
    return 1 / min(ranks) if ranks else 0.0


def ndcg(gold: Sequence[str], hits: Sequence[Found], k: int) -> float:
    """Normalised discounted cumulative gain of the first k hits (Järvelin and Kekäläinen 2002)."""
    gained = sum(1 / log2(rank + 1) for rank in set(first_ranks(gold, hits)) if rank and rank <= k)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(len(gold), k) + 1))
    return gained / best
