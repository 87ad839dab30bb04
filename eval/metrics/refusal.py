"""Precision and recall of refusals, from the structured kind of the answer alone.

Both are counted as (right, of how many), so that they add up over cases.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.cases import REFUSALS


def precision_count(accepted_kinds: Sequence[str], kind: str) -> tuple[float, float]:
    """A refusal is right if the case accepts one; answers, and cases that do not say, count for nothing."""
    if kind not in REFUSALS or not accepted_kinds:
        return 0.0, 0.0
    return float(bool(REFUSALS & set(accepted_kinds))), 1.0


def recall_count(accepted_kinds: Sequence[str], kind: str) -> tuple[float, float]:
    """Where the case accepts nothing but a refusal, was it one?"""
    if not accepted_kinds or not set(accepted_kinds) <= REFUSALS:
        return 0.0, 0.0
    return float(kind in REFUSALS), 1.0
