"""Several writers over the same questions, side by side: what each got wrong, and what of it was let through."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from app.advisor.answer import Answer
from app.settings import Settings
from eval.cases import Case
from eval.metrics.contradictions import misplaced_figures
from eval.metrics.support import unsupported_numbers
from eval.record import Trial
from eval.runner import run_cases
from eval.scoring import score
from eval.subject import opener
from eval.summary import Measure, measures

COLUMNS: Mapping[str, str] = {
    "model": "model",
    "cases": "cases",
    "verdict": "verdict as calculated",
    "numbers_shown_unsupported": "unsupported numbers shown",
    "numbers_removed": "unsupported numbers removed",
    "contradictions_shown": "contradictions let through",
    "contradictions_caught": "contradictions caught",
    "citation_precision": "citation precision",
    "citation_recall": "citation recall",
    "language": "language",
    "refusal_recall": "refusals",
    "fell_back": "built-in text used",
    "model_calls": "model calls",
    "tool_calls": "tool calls",
    "input_tokens": "tokens read",
    "output_tokens": "tokens written",
    "latency_p50_ms": "p50 ms",
    "latency_p95_ms": "p95 ms",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One writer's results, by column."""

    values: Mapping[str, Any]

    @property
    def sound(self) -> bool:
        """Nothing wrong was shown."""
        return not self.values["numbers_shown_unsupported"] and not self.values["contradictions_shown"]


@contextmanager
def served(name: str, settings: Settings) -> Iterator[Settings]:
    """Settings for a model's name; `smollm2` and `scripted-bad` are served here as long as the context is open."""
    if name == "scripted-bad":
        from eval.scripted_bad import NAME, ScriptedBadServer

        with ScriptedBadServer() as bad:
            yield settings.model_copy(update={"model": NAME, "model_base_url": bad.url})
    elif name == "smollm2":
        from eval.smollm2 import NAME as SMOLLM2
        from eval.smollm2 import SmolLM2Server

        with SmolLM2Server() as small:
            yield settings.model_copy(update={"model": SMOLLM2, "model_base_url": small.url})
    else:
        yield settings.model_copy(update={"model": name})


def measure_model(name: str, cases: Sequence[Case], settings: Settings, folder: Path) -> Row:
    """Ask every case of one writer. The answers are kept in `folder`, as those of any run."""
    folder.mkdir(parents=True, exist_ok=True)
    with served(name, settings) as chosen:
        began = time.monotonic()
        trials = list(run_cases(cases, opener(chosen), folder / f"{name.replace(':', '-').replace('/', '-')}.jsonl"))
        seconds = time.monotonic() - began
    by_id = {case.id: case for case in cases}
    measured = measures(cases, trials, [score(by_id[trial.case_id], trial) for trial in trials])
    return Row({"model": name, "cases": len(trials), **_counts(trials), **_shares(measured), "seconds": seconds})


def _counts(trials: Sequence[Trial]) -> dict[str, Any]:
    answers = [answer for trial in trials for answer in trial.answers]
    asked = {id(one): [other.question for other in trial.answers] for trial in trials for one in trial.answers}
    times = sorted(one.timings_ms.get("total", 0.0) for one in answers) or [0.0]
    shown = sum(len(unsupported_numbers(one, asked[id(one)])) for one in answers)
    return {
        "numbers_shown_unsupported": shown,
        "numbers_removed": sum(len(one.grounding.unsupported) for one in answers),
        "contradictions_shown": sum(len(misplaced_figures(one)) + len(one.grounding.contradictions) for one in answers),
        "contradictions_caught": sum(one.usage.get("repairs", 0) for one in answers),
        "fell_back": sum(_fell_back(one) for one in answers),
        "model_calls": sum(one.usage.get("model_calls", 0) for one in answers),
        "tool_calls": sum(one.usage.get("tool_calls", 0) for one in answers),
        "input_tokens": sum(one.usage.get("input_tokens", 0) for one in answers),
        "output_tokens": sum(one.usage.get("output_tokens", 0) for one in answers),
        "latency_p50_ms": round(median(times)),
        "latency_p95_ms": round(times[int(0.95 * (len(times) - 1))]),
    }


def sampled(cases: Sequence[Case], most: int) -> list[Case]:
    """At most so many cases, the same ones at every run: those whose ids hash lowest."""
    chosen = sorted(cases, key=lambda case: hashlib.sha256(case.id.encode()).hexdigest())[:most]
    kept = {case.id for case in chosen}
    return [case for case in cases if case.id in kept]


def _fell_back(answer: Answer) -> bool:
    return answer.model == "builtin" and bool(answer.usage)


def _shares(measured: Mapping[str, Measure]) -> dict[str, float | None]:
    names = ("verdict", "citation_precision", "citation_recall", "language", "refusal_recall")
    return {name: round(measured[name].value, 3) if name in measured else None for name in names}


def table_lines(rows: Sequence[Row]) -> list[str]:
    """A Markdown table, one column a writer."""
    heads = [str(row.values["model"]) for row in rows]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(rows)]
    for name, title in COLUMNS.items():
        if name != "model":
            cells = ["–" if row.values[name] is None else f"{row.values[name]:,}" for row in rows]
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines
