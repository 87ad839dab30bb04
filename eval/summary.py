"""From scores to metrics: sums over cases by language and tag, agreement of pairs, latency, what flickers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.cases import Case
from eval.metrics.agreement import disagreements
from eval.metrics.latency import latency_ms
from eval.metrics.statistics import wilson
from eval.record import Trial
from eval.scoring import Score

TOTALS = frozenset({"unsupported_numbers", "contradictions", "invalid_citations"})  # added up, not averaged
NOT_SHARES = TOTALS | {"latency_p50_ms", "latency_p95_ms", "calculations_per_answer"}


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric over the cases it applies to (`n`); `low`, `high`: the 95 % Wilson interval of a share."""

    name: str
    value: float
    n: float
    low: float | None = None
    high: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Group:
    """How many cases of a tag or language passed; those that raised are counted apart, not as failures."""

    name: str
    n: int
    passed: int
    errored: int

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.passed, self.n - self.errored)


@dataclass(frozen=True, slots=True)
class Disagreement:
    first: str
    second: str
    translation: bool
    differences: tuple[str, ...]


def passed_cases(scores: Iterable[Score]) -> dict[str, bool]:
    """A case passes if every repeat of it does."""
    passed: dict[str, bool] = {}
    for score in scores:
        passed[score.case_id] = passed.get(score.case_id, True) and score.passed
    return passed


def errored_cases(scores: Iterable[Score]) -> dict[str, str]:
    return {score.case_id: score.error for score in scores if score.error}


def flickering_cases(scores: Iterable[Score]) -> list[str]:
    """Cases of which some repeats pass and others do not."""
    seen: dict[str, set[bool]] = defaultdict(set)
    for score in scores:
        seen[score.case_id].add(score.passed)
    return sorted(case_id for case_id, outcomes in seen.items() if len(outcomes) > 1)


def measures(cases: Sequence[Case], trials: Sequence[Trial], scores: Sequence[Score]) -> dict[str, Measure]:
    """Every metric by name; `name[en]` and `name[zh]` hold it for the cases answered in that language."""
    language = {case.id: case.answers_in for case in cases}
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for score in scores:
        for name, (total, n) in score.counts.items():
            for key in (name, f"{name}[{language[score.case_id]}]"):
                sums[key][0] += total
                sums[key][1] += n
    found = {name: _measure(name, total, n) for name, (total, n) in sums.items()}
    for name, pairs in _agreement_counts(cases, trials).items():
        found[name] = _measure(name, *pairs)
    answers = [trial.answer for trial in trials if trial.answer]
    if latency := latency_ms(answers):
        found["latency_p50_ms"] = Measure("latency_p50_ms", latency[0], len(answers))
        found["latency_p95_ms"] = Measure("latency_p95_ms", latency[1], len(answers))
    if answers:
        calls = sum(len(answer.calculations) for answer in answers) / len(answers)
        found["calculations_per_answer"] = Measure("calculations_per_answer", calls, len(answers))
    return dict(sorted(found.items()))


def _measure(name: str, total: float, n: float) -> Measure:
    if name.split("[")[0] in TOTALS:
        return Measure(name, total, n)
    return Measure(name, total / n, n, *wilson(total, n))


def all_disagreements(cases: Sequence[Case], trials: Sequence[Trial]) -> list[Disagreement]:
    """Pairs of cases that should agree and were both answered, with what differs (nothing, if they agree)."""
    by_id = {case.id: case for case in cases}
    answers = {trial.case_id: trial.answer for trial in trials if trial.answer and trial.repeat == 0}
    found = []
    for case in cases:
        first, second = answers.get(case.agrees_with), answers.get(case.id)
        if first and second and case.agrees_with in by_id:
            translation = by_id[case.agrees_with].answers_in != case.answers_in
            differences = tuple(disagreements(first, second))
            found.append(Disagreement(case.agrees_with, case.id, translation, differences))
    return found


def _agreement_counts(cases: Sequence[Case], trials: Sequence[Trial]) -> dict[str, tuple[float, float]]:
    counts: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for pair in all_disagreements(cases, trials):
        for name in ("agreement", "agreement_translation" if pair.translation else "agreement_paraphrase"):
            counts[name][0] += not pair.differences
            counts[name][1] += 1
    return {name: (good, n) for name, (good, n) in counts.items()}


def groups(cases: Sequence[Case], scores: Sequence[Score]) -> list[Group]:
    """Cases passed: all, by language, by tag; in this order."""
    passed, errored = passed_cases(scores), errored_cases(scores)
    members: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.id not in passed:
            continue
        members["all"].append(case.id)
        members[f"language {case.language}"].append(case.id)
        for tag in case.tags:
            members[tag].append(case.id)
    order = sorted(members, key=lambda name: (name != "all", not name.startswith("language "), name))
    return [
        Group(
            name,
            len(members[name]),
            sum(passed[id] for id in members[name]),
            sum(id in errored for id in members[name]),
        )
        for name in order
    ]


def stage_counts(scores: Iterable[Score]) -> Mapping[str, int]:
    """How many cases failed first at each stage."""
    counts: dict[str, int] = defaultdict(int)
    for score in scores:
        if score.failed_stage:
            counts[score.failed_stage] += 1
    return counts
