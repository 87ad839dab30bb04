"""validate: our figures beside the published ones."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from app.accelerators import load_accelerators
from app.commands.output import json_option, print_json
from app.errors import AdvisorError
from app.knowledge import load_catalog
from app.settings import knowledge_folder


class Checked(Protocol):
    """A published figure beside ours."""

    def line(self) -> str: ...

    def to_json(self) -> dict[str, Any]: ...


@click.group()
def validate() -> None:
    """Re-derive published figures and print published, computed and difference."""


def reference_rows(name: str) -> list[dict[str, str]]:
    """Rows of eval/reference/NAME.csv. Raises AdvisorError where it is not there (an installed wheel has none)."""
    import eval as eval_package

    path = Path(eval_package.__path__[0]) / "reference" / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError:
        raise AdvisorError(f"{name}.csv is not there.", "Run this in a checkout of the repository.") from None


@validate.command()
@json_option
def fabrics(as_json: bool) -> None:
    """Published sizes of fabrics and of the networks beside them. Exit 1 on any difference without an explanation."""
    from app.fabric.validate_fabrics import validate_fabrics
    from app.fabric.validate_side_networks import validate_side_networks

    catalog = load_catalog(knowledge_folder() / "catalog")
    rows = validate_fabrics(reference_rows("fabrics"), catalog)
    rows += validate_side_networks(reference_rows("networks"), catalog)
    unexplained = [row for row in rows if row.unexplained]
    if as_json:
        print_json({"rows": [row.to_json() for row in rows], "unexplained": len(unexplained)})
    else:
        for row in rows:
            click.echo(row.line())
        click.echo(f"{len(rows)} published figures, {len(unexplained)} unexplained differences.")
    if unexplained:
        raise SystemExit(1)


@validate.command()
@json_option
def collectives(as_json: bool) -> None:
    """Measured collectives: error of each row. Exit 1 where the median of large ones that set nothing is above 10 %."""
    from app.fabric.validate_collectives import missed_targets, summarise, validate_collectives

    rows = validate_collectives(reference_rows("collectives"), load_accelerators(knowledge_folder() / "catalog"))
    _report(rows, summarise(rows), missed_targets(rows), as_json)


@validate.command()
@json_option
def training(as_json: bool) -> None:
    """Published training steps.

    Exit 1 where the median is above 10 %, a row without an explanation above 25 %, or Megatron's mean above 5 %.
    """
    from app.fabric.validate_training import missed_targets, summarise, validate_training
    from app.workloads import load_workloads

    folder = knowledge_folder() / "catalog"
    rows = validate_training(reference_rows("training"), load_accelerators(folder), load_workloads(folder))
    _report(rows, summarise(rows), missed_targets(rows), as_json)


@validate.command()
@json_option
def lossless(as_json: bool) -> None:
    """PFC headroom that SONiC ships, to the byte. Exit 1 on any difference without an explanation."""
    from app.fabric.validate_lossless import validate_lossless
    from app.lossless_data import load_lossless

    rows = validate_lossless(reference_rows("lossless"), load_lossless(knowledge_folder() / "catalog"))
    exact = sum(row.difference == 0 for row in rows)
    summary = {"published headrooms": len(rows), "equal to the byte": exact, "explained": len(rows) - exact}
    _report(
        rows, summary, [f"{row.id} differs by {row.difference:+,} bytes" for row in rows if row.unexplained], as_json
    )


@validate.command()
@json_option
def inference(as_json: bool) -> None:
    """Published figures of serving. Exit 1 where a metric's median error is above 15 %, or one row's above 25 %."""
    from app.fabric.validate_inference import missed_targets, summarise, validate_inference
    from app.serving_data import load_serving
    from app.workloads import load_workloads

    folder = knowledge_folder() / "catalog"
    rows = validate_inference(
        reference_rows("inference"), load_accelerators(folder), load_workloads(folder).models, load_serving(folder)
    )
    summary = summarise(rows)
    _report(rows, summary, missed_targets(summary), as_json)


def _report(rows: Sequence[Checked], summary: Mapping[str, float], missed: Sequence[str], as_json: bool) -> None:
    """Every row, the summary and what targets are missed; exit code 1 where one is."""
    if as_json:
        print_json({"rows": [row.to_json() for row in rows], "summary": summary, "missed": missed})
    else:
        for row in rows:
            click.echo(row.line())
        for name, value in summary.items():
            click.echo(f"{name}: {value}")
        for one in missed:
            click.echo(f"MISSED: {one}")
    if missed:
        raise SystemExit(1)
