"""validate: our figures beside the published ones."""

from __future__ import annotations

import csv
from pathlib import Path

import click

from app.accelerators import load_accelerators
from app.commands.output import json_option, print_json
from app.errors import AdvisorError
from app.knowledge import load_catalog
from app.settings import knowledge_folder


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
    """Measured collectives: error of each row, calibrating rows apart from the rest."""
    from app.fabric.validate_collectives import summarise, validate_collectives

    rows = validate_collectives(
        reference_rows("collectives"), load_accelerators(knowledge_folder() / "catalog")
    )
    summary = summarise(rows)
    if as_json:
        print_json({"rows": [row.to_json() for row in rows], "summary": summary})
        return
    for row in rows:
        click.echo(row.line())
    for name, value in summary.items():
        click.echo(f"{name}: {value}")
