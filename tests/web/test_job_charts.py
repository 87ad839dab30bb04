"""What the charts of performance draw, in both languages, from the rows of real calculations."""

from __future__ import annotations

from typing import Any

import pytest

from app.advisor.advisor import Advisor
from app.web.components import charts, job_charts
from app.web.labels import labels

QUESTIONS = {
    "step time of Llama 3 70B on 512 H100s?": {"chart_step", "chart_scaling"},
    "How long does a 1 GiB all-reduce take on 64 H100s?": {"chart_bandwidth"},
    "RoCE vs IB for a 64-GPU cluster": set(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_answer_draws_the_charts_of_its_calculations(
    advisor: Advisor, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, list[dict[str, Any]]] = {}
    monkeypatch.setattr(job_charts, "_show", lambda key, caption, points, spec: drawn.update({caption: list(points)}))
    monkeypatch.setattr(charts.cost_chart, "draw", lambda *arguments: None)
    answer = advisor.answer(question)
    for language in ("en", "zh"):
        drawn.clear()
        words = labels(language)  # type: ignore[arg-type]
        charts.draw("chat-1", answer.calculations, words)
        assert set(drawn) == {words[name] for name in QUESTIONS[question]}
        for points in drawn.values():
            assert len(points) > 6
            assert {words.name("tools", fabric) for fabric in ("infiniband", "roce")} <= {
                point["fabric"] for point in points
            }


def test_the_bars_of_a_step_are_its_parts(advisor: Advisor, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(job_charts, "_show", lambda key, caption, points, spec: drawn.extend(points))
    answer = advisor.answer("step time of Llama 3 70B on 512 H100s?")
    rows = next(one["rows"] for one in answer.calculations if one["tool"] == "training_comparison")
    job_charts.draw_step("key", rows, labels("en"))
    for row in rows:
        name = labels("en").name("tools", job_charts.label_of(row))
        assert sum(one["seconds"] for one in drawn if one["fabric"] == name) == pytest.approx(row["step_time_s"])
