"""One evaluation from the questions to the verdict: wires cases, runner, scoring, baseline and reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from app.errors import AdvisorError
from app.settings import Settings
from eval import baseline as baselines
from eval import console
from eval.cases import Case
from eval.provenance import header
from eval.record import Trial
from eval.report import RUN, Result, read_run, write_files
from eval.runner import JOURNAL, Subject, run_cases
from eval.scoring import Score, score
from eval.summary import all_disagreements, flickering_cases, groups, measures, stage_counts
from eval.thresholds import judge, load_thresholds
from eval.user_sets import load_sets

PLAN = "plan.json"
HELD_OUT = frozenset({"heldout", "heldout2", "heldout3", "heldout4"})


@dataclass(frozen=True, slots=True)
class Plan:
    sets: Sequence[Path]
    thresholds: Path
    runs: Path  # where folders of runs are made when `out` is None
    only: Sequence[str] = ()
    repeat: int = 1
    jobs: int = 1
    fail_fast: bool = False
    baseline: Path | None = None
    new_baseline: Path | None = None
    out: Path | None = None


def evaluate_sets(plan: Plan, settings: Settings, open_subject: Callable[[], Subject] | None = None) -> int:
    """Run and report; returns the exit code 0 or 1. Raises AdvisorError for bad input and set-up.

    `open_subject` is for tests; by default the advisor of `settings` is opened.
    """
    cases = select(load_sets(plan.sets), plan.only)
    thresholds = load_thresholds(plan.thresholds)
    before = baselines.read_baseline(plan.baseline) if plan.baseline else None
    facts = header(settings, _files(plan.sets), repeat=plan.repeat, only=plan.only)
    folder = open_folder(plan, facts)
    click.echo("\n".join(console.header_lines(facts, cases)))
    if open_subject is None:
        from eval.subject import opener

        open_subject = opener(settings)
    trials, scores = _ask_all(cases, plan, folder, open_subject)
    result = conclude(facts, cases, trials, scores, thresholds)
    now = baselines.make_baseline(facts, cases, trials, scores, result.measures)
    if before:
        whole = not plan.only and not plan.fail_fast
        result = replace(result, difference=baselines.difference(before, now, whole_set=whole))
    write_files(folder, result)
    report(result)
    if plan.new_baseline:
        baselines.write_baseline(plan.new_baseline, now)
        click.echo(f"Baseline written: {plan.new_baseline}")
    click.echo(f"Files: {folder}")
    click.echo(result.verdict)
    return 1 if result.reasons_to_fail else 0


def rescore(run: Path, sets: Sequence[Path], thresholds: Path) -> int:
    """Judge the answers of a finished run again; returns the exit code."""
    data = read_run(run)
    trials = [Trial.from_json(trial) for trial in data["trials"]]
    asked = {trial.case_id for trial in trials}
    cases = [case for case in load_sets(sets) if case.id in asked]
    if not cases:
        raise AdvisorError("None of these questions was asked in that run.", "Name the set of the run.")
    by_id = {case.id: case for case in cases}
    trials = [trial for trial in trials if trial.case_id in by_id]
    scores = [score(by_id[trial.case_id], trial) for trial in trials]
    result = conclude(data["header"], cases, trials, scores, load_thresholds(thresholds))
    for trial, one in zip(trials, scores, strict=True):
        click.echo(console.case_line(by_id[trial.case_id], trial, one))
    report(result)
    click.echo(result.verdict)
    return 1 if result.reasons_to_fail else 0


def select(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """The cases whose id or one of whose tags is in `only`; all where it is empty.

    A held-out case is chosen by its id or by its tag of HELD_OUT, else never: no gate and no baseline counts it.
    """
    known = {case.id for case in cases} | {tag for case in cases for tag in case.tags}
    for name in only:
        if name not in known:
            raise AdvisorError(f"There is no case and no tag '{name}'.", "Give an id or a tag of the set.")
    wanted = set(only)

    def chosen(case: Case) -> bool:
        if held := HELD_OUT.intersection(case.tags):
            return bool({case.id, *held} & wanted)
        return not wanted or bool({case.id, *case.tags} & wanted)

    left = [case for case in cases if chosen(case)]
    if not left:  # nothing asked is no pass
        sets = ", ".join(sorted(HELD_OUT))
        raise AdvisorError("No case is left to ask.", f"Blind sets run with --only: {sets}.")
    return left


def conclude(
    facts: Any, cases: Sequence[Case], trials: Sequence[Trial], scores: Sequence[Score], thresholds: Any
) -> Result:
    measured = measures(cases, trials, scores)
    return Result(
        header=facts,
        cases=[case for case in cases if any(score.case_id == case.id for score in scores)],
        trials=trials,
        scores=scores,
        measures=measured,
        groups=groups(cases, scores),
        outcomes=judge(thresholds, measured),
        disagreements=all_disagreements(cases, trials),
        flickering=flickering_cases(scores),
    )


def open_folder(plan: Plan, facts: dict[str, Any]) -> Path:
    """The folder of this run: the one given, or an interrupted run of exactly the same, or a new one."""
    folder = plan.out
    if folder is None:
        same = sorted(plan.runs.glob(f"*-{facts['fingerprint']}"), reverse=True)
        unfinished = [one for one in same if not (one / RUN).exists() and (one / JOURNAL).exists()]
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        folder = unfinished[0] if unfinished else plan.runs / f"{stamp}-{facts['fingerprint']}"
    note = folder / PLAN
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not note.exists() or (folder / RUN).exists():
            (folder / JOURNAL).unlink(missing_ok=True)
            (folder / RUN).unlink(missing_ok=True)
            note.write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")
        earlier = json.loads(note.read_text(encoding="utf-8"))["fingerprint"]
    except (OSError, ValueError, KeyError) as error:
        raise AdvisorError(f"Cannot use the folder {folder} ({error}).", "Name another with --out.") from None
    if earlier != facts["fingerprint"]:
        raise AdvisorError(
            f"{folder} holds an interrupted run of something else ({earlier}).",
            "Remove it, or name another folder with --out.",
        )
    return folder


def _ask_all(
    cases: Sequence[Case], plan: Plan, folder: Path, open_subject: Callable[[], Subject]
) -> tuple[list[Trial], list[Score]]:
    by_id = {case.id: case for case in cases}
    trials: list[Trial] = []
    scores: list[Score] = []

    def failed(trial: Trial) -> bool:
        return plan.fail_fast and not score(by_id[trial.case_id], trial).passed

    with console.Progress(len(cases) * plan.repeat, sys.stderr) as progress:
        found: Iterator[Trial] = run_cases(
            cases, open_subject, folder / JOURNAL, repeat=plan.repeat, jobs=plan.jobs, stop=failed
        )
        for trial in found:
            trials.append(trial)
            scores.append(score(by_id[trial.case_id], trial))
            progress.clear()
            click.echo(console.case_line(by_id[trial.case_id], trial, scores[-1]))
            progress.step()
    return trials, scores


def report(result: Result) -> None:
    """Failures, tables and the difference from the baseline, on stdout; the caller prints the verdict."""
    trials = {(trial.case_id, trial.repeat): trial for trial in result.trials}
    by_id = {case.id: case for case in result.cases}
    for one in result.scores:
        if not one.passed:
            trial = trials[one.case_id, one.repeat]
            click.echo("\n" + "\n".join(console.failure_lines(by_id[one.case_id], trial, one)))
    blocks = [
        console.group_lines(result.groups),
        console.measure_lines(result.measures),
        [console.stage_line(stage_counts(result.scores))],
        console.disagreement_lines(result.disagreements),
        [f"Flickers between repeats: {case_id}" for case_id in result.flickering],
        console.threshold_lines(result.outcomes),
        console.difference_lines(result.difference) if result.difference else [],
    ]
    for block in blocks:
        if block:
            click.echo("\n" + "\n".join(block))


def _files(sets: Sequence[Path]) -> list[Path]:
    return [file for one in sets for file in (sorted(one.glob("*.yaml")) if one.is_dir() else [one])]
