"""How commands print: JSON for scripts, a short table for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from app.advisor.figures import with_range
from app.fabric.calculation import Calculation, Language, rows_in

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def json_option(function: Decorated) -> Decorated:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")(function)


def language_option(function: Decorated) -> Decorated:
    return click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True)(function)


def print_json(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


def print_calculation(calculation: Calculation, *, as_json: bool, language: Language) -> None:
    data = calculation.to_json(language)
    if as_json:
        print_json(data)
        return
    title = f"{calculation.tool} {calculation.label}".strip()
    click.secho(title, bold=True)
    click.echo(
        "  inputs: " + ", ".join(f"{name}={value}" for name, value in data["inputs"].items() if value is not None)
    )
    width = max((len(name) for name in data["values"]), default=0)
    for name, value in data["values"].items():
        click.echo(f"  {name:<{width}}  {with_range(value, language)}")
    rows = rows_in(data["rows"], language)
    findings = [f"{row['level']}: {row.get('finding') or row[language]}" for row in rows if "level" in row]
    if rows and not findings:
        click.echo(_table(rows))
    for heading, lines in (
        ("findings", findings),
        ("assumptions", data["assumptions"]),
        ("sources", [_source(one) for one in data["sources"]]),
    ):
        if lines:
            click.echo(f"  {heading}:")
            for line in lines:
                click.echo(f"    - {line}")


def print_calculations(
    calculation: Calculation, more: Mapping[str, Calculation], *, as_json: bool, language: Language
) -> None:
    """The calculation, and others that go with it: in JSON each under its own key."""
    if as_json:
        print_json(calculation.to_json(language) | {name: one.to_json(language) for name, one in more.items()})
        return
    for one in (calculation, *more.values()):
        print_calculation(one, as_json=False, language=language)


def _source(source: Mapping[str, str]) -> str:
    return ", ".join(
        part for part in (source["title"], source["url"], source["date"], f"trust: {source['trust']}") if part
    )


def _table(rows: list[dict[str, Any]]) -> str:
    """Rows as aligned columns; long cells are cut, since --json carries everything."""
    names = [name for name in rows[0] if name not in {"sources", "source"}]
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[at]) for line in cells)) for at, name in enumerate(names)]
    lines = ["  ".join(name.ljust(width) for name, width in zip(names, widths, strict=True))]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return "\n".join("  " + line.rstrip() for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"
