"""The run as text on a terminal: what is measured, a line a case, the failures, the tables, one verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from eval.baseline import Difference
from eval.cases import Case
from eval.record import Trial
from eval.scoring import STAGES, Score
from eval.summary import NOT_SHARES, Disagreement, Group, Measure
from eval.thresholds import Outcome


def header_lines(header: Mapping[str, Any], cases: Sequence[Case]) -> list[str]:
    hashes = ", ".join(f"{n} {header[n]}" for n in ("questions", "notes", "catalog", "prompts", "code"))
    settings = ", ".join(f"{name} {value}" for name, value in header["settings"].items())
    versions = ", ".join(f"{name} {number}" for name, number in header["versions"].items())
    return [
        f"Evaluating {len(cases)} cases × {header['repeat']}, git {header['git']}",
        f"  run {header['fingerprint']}: {hashes}",
        f"  model {header['model']}, embedding {header['embedding']}, {settings}",
        f"  {versions}",
    ]


def case_line(case: Case, trial: Trial, score: Score) -> str:
    """One line: passed or not, what the metrics of the case say, and how long it took."""
    mark = "!" if score.error else "✓" if score.passed else "✗"
    repeat = f"#{score.repeat + 1}" if score.repeat else ""
    if trial.answer is None:
        return f"{mark} {case.id + repeat:<34} {case.language:<5} error: {score.error}"
    answer = trial.answer
    parts: list[str] = [answer.verdict.choice] if answer.verdict else []
    for name, label in (("numbers", "num"), ("citation_recall", "cited"), ("key_points", "points")):
        if name in score.counts:
            good, n = score.counts[name]
            parts.append(f"{label} {good:.0f}/{n:.0f}")
    if "recall@5" in score.counts:
        parts.append(f"R@5 {score.counts['recall@5'][0]:.2f}")
    took = f"{answer.timings_ms.get('total', 0):.0f} ms"
    failed = f"  ← {score.failed_stage}" if score.failed_stage else ""
    start = f"{mark} {case.id + repeat:<34} {case.language:<5} {answer.kind:<13}"
    return f"{start} {', '.join(parts)} {took}{failed}"


def failure_lines(case: Case, trial: Trial, score: Score) -> list[str]:
    """Everything that a person needs to see why: question, expected, got, what was found and calculated."""
    lines = [f"✗ {case.id}  ({case.file}:{case.line})  failed first at: {score.failed_stage}"]
    lines += [f"    asked      {turn}" for turn in case.turns]
    if score.error:
        return [*lines, f"    error      {score.error}"]
    for check in score.failures:
        lines.append(f"    {check.stage:<10} {check.name}")
        lines.append(f"      expected {_short(check.expected)}")
        lines.append(f"      got      {_short(check.got)}")
    if trial.retrieved:
        hits = [f"{h.document} › {h.section} {h.score:.2f}" for h in trial.retrieved["fused"][:5]]
        lines.append(f"    retrieved  {'; '.join(hits) or 'nothing'}")
    if trial.answer and trial.answer.calculations:
        called = [
            f"{one['id']} {one['tool']} {one['label']}".strip() + f" ({_inputs(one['inputs'])})"
            for one in trial.answer.calculations
        ]
        lines.append(f"    calculated {_short('; '.join(called), 400)}")
    return [*lines, f"    source     {_short(case.source)}"]


def _inputs(inputs: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in list(inputs.items())[:6])


def _short(text: str, limit: int = 300) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def group_lines(groups: Iterable[Group]) -> list[str]:
    lines = [f"{'':<24} {'n':>5} {'passed':>7}  {'95 % interval':>15}  errors"]
    for group in groups:
        low, high = group.interval
        judged = group.n - group.errored
        share = f"{group.passed / judged:.3f}" if judged else "-"
        errors = str(group.errored) if group.errored else ""
        lines.append(f"{group.name:<24} {group.n:>5} {share:>7}  {low:>7.3f}–{high:.3f}  {errors}")
    return lines


def measure_lines(measures: Mapping[str, Measure]) -> list[str]:
    lines = [f"{'metric':<28} {'value':>8} {'n':>6}  95 % interval"]
    for name, one in measures.items():
        shown = (
            f"{one.value:.0f}" if name.split("[")[0] in NOT_SHARES - {"calculations_per_answer"} else f"{one.value:.3f}"
        )
        interval = f"{one.low:.3f}–{one.high:.3f}" if one.low is not None and one.high is not None else ""
        lines.append(f"{name:<28} {shown:>8} {one.n:>6.0f}  {interval}")
    return lines


def threshold_lines(outcomes: Iterable[Outcome]) -> list[str]:
    lines = [f"{'threshold':<28} {'wanted':>8} {'value':>8}"]
    for outcome in outcomes:
        value = "not measured" if outcome.measure is None else f"{outcome.measure.value:.4g}"
        mark = "" if outcome.met else "  MISSED"
        lines.append(f"{outcome.threshold.metric:<28} {outcome.threshold.text:>8} {value:>8}{mark}")
    return lines


def difference_lines(difference: Difference) -> list[str]:
    lines = [
        f"Against the baseline: {len(difference.fixed)} fixed, "
        f"{len(difference.newly_failing)} newly failing, {len(difference.changed)} changed values, "
        f"{len(difference.added)} added, {len(difference.removed)} removed"
    ]
    for title, entries in (
        ("newly failing", difference.newly_failing),
        ("fixed", difference.fixed),
        ("changed", difference.changed),
        ("added", difference.added),
        ("removed", difference.removed),
    ):
        lines += [f"  {title}: {entry}" for entry in entries[:40]]
        if len(entries) > 40:
            lines.append(f"  {title}: and {len(entries) - 40} more")
    return lines + [f"  {name}: {old:.4g} → {new:.4g}" for name, old, new in difference.measures]


def disagreement_lines(pairs: Iterable[Disagreement]) -> list[str]:
    return [
        f"  {pair.first} and {pair.second} differ: {_short('; '.join(pair.differences))}"
        for pair in pairs
        if pair.differences
    ]


def stage_line(counts: Mapping[str, int]) -> str:
    parts = [f"{stage} {counts[stage]}" for stage in (*STAGES, "error") if counts.get(stage)]
    return "Failed first at: " + (", ".join(parts) or "nowhere")


class Progress:
    """A bar on a terminal, rewritten in place; nothing where the output is no terminal."""

    def __init__(self, total: int, stream: TextIO):
        self.total, self.stream, self.done = total, stream, 0
        self.shown = stream.isatty()

    def __enter__(self) -> Progress:
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def step(self) -> None:
        self.done += 1
        self._draw()

    def clear(self) -> None:
        if self.shown:
            self.stream.write("\r\033[K")
            self.stream.flush()

    def _draw(self) -> None:
        if self.shown:
            filled = round(30 * self.done / max(self.total, 1))
            self.stream.write(f"\r\033[K[{'█' * filled}{'·' * (30 - filled)}] {self.done}/{self.total}")
            self.stream.flush()
