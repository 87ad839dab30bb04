"""`fabric-advisor evaluate`: run the questions, compare two runs, measure retrieval, start a new case."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import click

from app.errors import AdvisorError
from app.settings import Settings, load_settings

P = ParamSpec("P")
HERE = Path(__file__).parent
QUESTIONS = HERE / "questions"
BASELINE = HERE / "baseline.json"
THRESHOLDS = HERE / "thresholds.yaml"


class DefaultGroup(click.Group):
    """A group whose first word need not be a subcommand: `evaluate SET` means `evaluate run SET`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args.insert(0, "run")
        return super().parse_args(ctx, args)


def ends_well(command: Callable[P, int]) -> Callable[P, None]:
    """Run a command for its exit code: 0 yes, 1 no, 2 bad input or set-up with one line on stderr."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except AdvisorError as error:
            click.echo(f"fabric-advisor: {error}", err=True)
            sys.exit(2)
        sys.exit(code)

    return run


@click.group(cls=DefaultGroup)
def evaluate() -> None:
    """Ask scripted questions and say whether the answers are good enough.

    `evaluate [SET…]` is short for `evaluate run [SET…]`; see `evaluate run --help` for its options.
    """


@evaluate.command("run")
@click.argument("sets", nargs=-1, type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="ID|TAG", help="Only cases with this id or tag; may be repeated.")
@click.option("--model", help="Writer: as in the settings, smollm2 or scripted-bad.")
@click.option("--repeat", default=1, type=click.IntRange(1, 100), help="Ask each case so many times.")
@click.option("--jobs", default=1, type=click.IntRange(1, 64), help="Cases asked at once.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Outcome to compare with.")
@click.option("--update-baseline", is_flag=True, help="Write this outcome as the baseline.")
@click.option("--thresholds", type=click.Path(path_type=Path), default=THRESHOLDS, help="Limits of the metrics.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the files of the run.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that fails.")
@ends_well
def run_command(sets: tuple[Path, ...], model: str | None, **options: Any) -> int:
    """Ask the cases of SET… (YAML or CSV files, folders; default: the shipped ones), judge the answers.

    Exit code 0: thresholds are met and what passed in the baseline still passes; 1: not so; 2: bad input.
    """
    from eval.evaluation import Plan, evaluate_sets
    from eval.models import served

    settings = load_settings()
    shipped = not sets
    baseline = options["baseline"] or (BASELINE if shipped and BASELINE.exists() else None)
    plan = Plan(
        sets=sets or (QUESTIONS,),
        thresholds=options["thresholds"],
        only=options["only"],
        repeat=options["repeat"],
        jobs=options["jobs"],
        fail_fast=options["fail_fast"],
        baseline=None if options["update_baseline"] else baseline,
        new_baseline=(options["baseline"] or BASELINE) if options["update_baseline"] else None,
        out=options["out"],
        runs=settings.home / "runs",
    )
    with served(model or settings.model, settings) as chosen:
        return evaluate_sets(plan, chosen)


@evaluate.command("models")
@click.argument("names", nargs=-1, required=True)
@click.option("--only", multiple=True, default=("quick",), show_default=True, help="Cases with this id or tag.")
@click.option("--all", "every", is_flag=True, help="Every case instead of those of --only.")
@click.option("--sample", type=click.IntRange(1), help="At most so many of them, always the same ones.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the answers; those in it are not asked again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")
@ends_well
def models_command(
    names: tuple[str, ...], only: tuple[str, ...], every: bool, sample: int | None, out: Path | None, as_json: bool
) -> int:
    """Compare writers NAMES: builtin, provider:name as in the settings, smollm2 or scripted-bad.

    The last two are served here: a real but weak model, and one that does everything wrong.
    Exit code 1 if any of them got a wrong number or a contradiction past the checks.
    """
    import json
    from datetime import UTC, datetime

    from eval.evaluation import select
    from eval.models import measure_model, sampled, table_lines
    from eval.user_sets import load_sets

    settings = load_settings()
    cases = select(load_sets((QUESTIONS,)), () if every else only)
    cases = sampled(cases, sample) if sample else cases
    folder = out or settings.home / "runs" / f"models-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    rows = [measure_model(name, cases, settings, folder) for name in names]
    if as_json:
        click.echo(json.dumps([dict(row.values) for row in rows], ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(table_lines(rows)))
    return 0 if all(row.sound for row in rows) else 1


@evaluate.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@ends_well
def compare_command(first: Path, second: Path) -> int:
    """Is run SECOND better than run FIRST? Both are folders of finished runs. Exit code 1 if it is worse."""
    from eval.compare import compare_runs, comparison_lines
    from eval.report import read_run

    comparison = compare_runs(read_run(first), read_run(second))
    click.echo("\n".join(comparison_lines(comparison)))
    return 1 if comparison.verdict == "worse" else 0


@evaluate.command("rescore")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("sets", nargs=-1, type=click.Path(path_type=Path))
@click.option("--thresholds", type=click.Path(path_type=Path), default=THRESHOLDS, help="Limits of the metrics.")
@ends_well
def rescore_command(run: Path, sets: tuple[Path, ...], thresholds: Path) -> int:
    """Judge the answers of a finished RUN by the questions as they are now, without asking again."""
    from eval.evaluation import rescore

    return rescore(run, sets or (QUESTIONS,), thresholds)


@evaluate.command("judge")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("sets", nargs=-1, type=click.Path(path_type=Path))
@click.option("--model", required=True, help="Model that judges, as in the settings: provider:name.")
@ends_well
def judge_command(run: Path, sets: tuple[Path, ...], model: str) -> int:
    """Ask a model for its opinion of the answers of a finished RUN. It decides nothing; the exit code is 0."""
    from app.advisor.model_setup import make_model
    from eval.judge import opinion_lines, opinions
    from eval.record import Trial
    from eval.report import read_run
    from eval.user_sets import load_sets

    trials = [Trial.from_json(trial) for trial in read_run(run)["trials"]]
    judge = make_model(_settings(model))
    if judge is None:
        raise AdvisorError("The built-in writer cannot judge.", "Give --model provider:name.")
    click.echo("\n".join(opinion_lines(list(opinions(judge, load_sets(sets or (QUESTIONS,)), trials)))))
    return 0


@evaluate.command("retrieval")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--split", default="test", help="Of FOLDER: its file of judgements, qrels/<split>.tsv.")
@click.option("--k", default=10, type=click.IntRange(1, 100), help="Of FOLDER: depth of the ranking.")
@click.option("--misses", is_flag=True, help="List the queries of the tuning half that the fused search misses.")
@click.option("--save", "keep", is_flag=True, help="Keep the figures for the README's table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")
@ends_well
def retrieval_command(folder: Path | None, split: str, k: int, misses: bool, keep: bool, as_json: bool) -> int:
    """Measure search alone, stage by stage, on our own retrieval set: notes, documents and distractors together.

    Exit code 1 if the fused search stays below the limits of eval/retrieval/limits.yaml. With FOLDER, in BEIR format
    (corpus.jsonl, queries.jsonl, qrels/), the search is measured on that instead.
    """
    if folder is not None:
        return _beir(folder, split, k, as_json)
    import json

    from eval.retrieval_measures import limits, measure_retrieval, save, table_lines
    from eval.retrieval_set import load_retrieval_set

    settings = load_settings()
    results = measure_retrieval(load_retrieval_set(settings.knowledge / "notes"), settings)
    missed = results.missed_limits(limits())
    if keep:
        save(results)
    if as_json:
        click.echo(json.dumps({**results.to_json(), "missed_limits": missed}, ensure_ascii=False, indent=2))
    else:
        lines = table_lines(results)
        if misses:
            lines += [f"missed {one.query.id}: {one.query.text}: {', '.join(one.found)}" for one in results.misses]
        click.echo("\n".join(lines + [f"fused: {line}" for line in missed]))
    return 1 if missed else 0


def _beir(folder: Path, split: str, k: int, as_json: bool) -> int:
    import json

    from eval.beir import read_beir, retrieval_metrics
    from eval.beir_library import search_of

    data = read_beir(folder, split)
    with search_of(data, load_settings()) as search:
        metrics = retrieval_metrics(data, search, k)
    if as_json:
        found = {**metrics, "queries": len(data.relevant), "documents": len(data.corpus)}
        click.echo(json.dumps(found, indent=2))
        return 0
    for name, value in metrics.items():
        click.echo(f"{name:<12} {value:.4f}")
    click.echo(f"{len(data.relevant)} queries, {len(data.corpus)} documents")
    return 0


@evaluate.command("new")
@click.argument("question", required=False)
@click.option("--conversation", help="Take the question from this chat instead.")
@click.option("--turn", type=click.IntRange(1), help="Its turn; default: the last one rated down, or the last.")
@click.option("--id", "case_id", help="Id of the case.")
@ends_well
def new_command(question: str | None, conversation: str | None, turn: int | None, case_id: str | None) -> int:
    """Print the scaffold of a case for QUESTION, or for a turn of a chat (with what was said of it)."""
    from eval.new_case import from_conversation, from_question
    from eval.scaffold import id_from, scaffold

    if (question is None) == (conversation is None):
        raise AdvisorError("Give a question or --conversation, one of the two.", "See evaluate new --help.")
    settings = load_settings()
    answers, comment = (
        from_conversation(settings, conversation, turn) if conversation else from_question(settings, str(question))
    )
    name = case_id or id_from(answers[-1].question, answers[-1].language)
    click.echo(scaffold(name, answers, comment), nl=False)
    return 0


def _settings(model: str | None) -> Settings:
    return load_settings(**({"model": model} if model else {}))
