"""The charts of an answer, each from the rows or values of its own calculations; none where they were not made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.web.components import cost_chart, job_charts
from app.web.labels import Labels


def draw(key: str, calculations: Sequence[Mapping[str, Any]], words: Labels) -> None:
    cost_chart.draw(key, calculations, words)
    for one in calculations:
        if one["tool"] == "bandwidth_curve":
            job_charts.draw_bandwidth(f"{key}-{one['id']}", one["rows"], words)
        elif one["tool"] == "training_comparison":
            job_charts.draw_step(f"{key}-{one['id']}", one["rows"], words)
        elif one["tool"] == "scaling_curve":
            job_charts.draw_scaling(f"{key}-{one['id']}", one["rows"], words)
