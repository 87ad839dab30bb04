"""How long answers take, from the timings that they carry."""

from __future__ import annotations

from collections.abc import Iterable

from app.advisor.answer import Answer
from eval.metrics.statistics import percentile


def latency_ms(answers: Iterable[Answer]) -> tuple[float, float] | None:
    """p50 and p95 of the total time, milliseconds; None where no answer says how long it took."""
    totals = [float(a.timings_ms["total"]) for a in answers if "total" in a.timings_ms]
    return (percentile(totals, 0.5), percentile(totals, 0.95)) if totals else None
