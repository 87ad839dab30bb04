"""Precision and recall of refusals, from the structured kind of the answer alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

REFUSALS = frozenset({"out_of_scope", "no_evidence"})


@dataclass(frozen=True, slots=True)
class RefusalCounts:
    should_and_did: int
    should: int
    did: int

    @property
    def precision(self) -> float | None:
        """Share of the refusals that were due; None where nothing was refused."""
        return self.should_and_did / self.did if self.did else None

    @property
    def recall(self) -> float | None:
        """Share of the due refusals that were made; None where none was due."""
        return self.should_and_did / self.should if self.should else None


def count_refusals(pairs: Iterable[tuple[bool, str]]) -> RefusalCounts:
    """From pairs of (a refusal is due, kind of the answer)."""
    rows = [(due, kind in REFUSALS) for due, kind in pairs]
    return RefusalCounts(
        sum(due and did for due, did in rows), sum(due for due, _ in rows), sum(did for _, did in rows)
    )
