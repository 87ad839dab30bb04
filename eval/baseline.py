"""The committed outcome that changes are measured against: cases passed, with their verdicts and values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.errors import AdvisorError
from eval.cases import Case
from eval.metrics.tools import look_up
from eval.record import SCHEMA, Trial
from eval.scoring import Score
from eval.summary import Measure, passed_cases


@dataclass(frozen=True, slots=True)
class Baseline:
    header: Mapping[str, Any]
    measures: Mapping[str, float]
    cases: Mapping[str, Mapping[str, Any]]  # id -> {passed, stage, kind, verdict, values}

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "header": dict(self.header),
            "measures": dict(self.measures),
            "cases": dict(self.cases),
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed since the baseline. `worse` makes a run fail: cases that passed and no longer do."""

    fixed: list[str] = field(default_factory=list)
    newly_failing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # "id: verdict roce -> infiniband"
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    measures: list[tuple[str, float, float]] = field(default_factory=list)  # name, before, now

    @property
    def worse(self) -> bool:
        return bool(self.newly_failing)


def make_baseline(
    header: Mapping[str, Any],
    cases: Sequence[Case],
    trials: Sequence[Trial],
    scores: Sequence[Score],
    measured: Mapping[str, Measure],
) -> Baseline:
    """Timings stay out: they differ from machine to machine."""
    passed = passed_cases(scores)
    stage = {score.case_id: score.failed_stage for score in reversed(scores)}
    answers = {trial.case_id: trial for trial in trials if trial.repeat == 0}
    return Baseline(
        {name: header[name] for name in header if name not in ("started", "versions")},
        {name: round(one.value, 6) for name, one in measured.items() if "latency" not in name},
        {
            case.id: {
                "passed": passed[case.id],
                "stage": stage[case.id],
                **_outcome(case, answers[case.id]),
            }
            for case in cases
            if case.id in passed and case.id in answers
        },
    )


def _outcome(case: Case, trial: Trial) -> dict[str, Any]:
    answer = trial.answer
    if answer is None:
        return {"kind": "error", "verdict": None, "values": {}}
    values: dict[str, Any] = {}
    for expected in case.values:
        try:
            value, _ = look_up(expected.path, answer.calculations)
        except KeyError:
            continue
        values[expected.path] = value if isinstance(value, str) else float(f"{value:.6g}")
    verdict = answer.verdict.choice if answer.verdict else None
    return {"kind": answer.kind, "verdict": verdict, "values": values}


def read_baseline(path: Path) -> Baseline:
    """Raises AdvisorError for a file that is no baseline, or one of another version of this program."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        schema = data["schema"]
        baseline = Baseline(data["header"], data["measures"], data["cases"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AdvisorError(
            f"{path} is no baseline ({type(error).__name__}: {error}).",
            "Write one with: fabric-advisor evaluate --update-baseline.",
        ) from None
    if schema != SCHEMA:
        raise AdvisorError(
            f"{path} has schema {schema}; this program reads {SCHEMA}.",
            "Write it anew with: fabric-advisor evaluate --update-baseline.",
        )
    return baseline


def write_baseline(path: Path, baseline: Baseline) -> None:
    text = json.dumps(baseline.to_json(), ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def difference(before: Baseline, now: Baseline, *, whole_set: bool = True) -> Difference:
    """`whole_set` False (a selection was run): cases that were not run are not reported as removed."""
    found = Difference()
    for case_id, outcome in now.cases.items():
        old = before.cases.get(case_id)
        if old is None:
            found.added.append(case_id)
            continue
        if outcome["passed"] != old["passed"]:
            (found.fixed if outcome["passed"] else found.newly_failing).append(case_id)
        found.changed.extend(f"{case_id}: {change}" for change in _changes(old, outcome))
    if whole_set:
        found.removed.extend(case_id for case_id in before.cases if case_id not in now.cases)
        for name in sorted(before.measures.keys() & now.measures.keys()):
            if abs(before.measures[name] - now.measures[name]) > 1e-6:
                found.measures.append((name, before.measures[name], now.measures[name]))
    return found


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    changes = [f"{name} {old[name]} → {new[name]}" for name in ("kind", "verdict") if old[name] != new[name]]
    for path in sorted(old["values"].keys() | new["values"].keys()):
        before, after = old["values"].get(path), new["values"].get(path)
        if before != after:
            changes.append(f"{path} {before} → {after}")
    return changes
