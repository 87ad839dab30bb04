"""search, ingest, documents: the library from the shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import click

from app.commands.output import json_option, print_json
from app.library.library import Library
from app.settings import load_settings


def progress_line(text: object) -> None:
    """Progress on stderr, so that stdout stays the command's own: one moving line on a terminal, else a line in 25."""
    done = str(text).split("/", 1)[0]
    if sys.stderr.isatty():
        click.echo(f"\r\033[KIndexing: {text}", err=True, nl=False)
    elif not done.isdigit() or int(done) % 25 == 1:
        click.echo(f"Indexing: {text}", err=True)


def open_library(*, with_notes: bool = True) -> Library:
    library = Library.open(load_settings())
    if with_notes:
        library.ensure_notes(progress_line)
    return library


@click.command()
@click.argument("query")
@click.option("-k", type=click.IntRange(1, 100), default=5, show_default=True, help="How many passages.")
@click.option("--language", type=click.Choice(["en", "zh"]), default=None, help="Preferred language of note pairs.")
@json_option
def search(query: str, k: int, language: Literal["en", "zh"] | None, as_json: bool) -> None:
    """The passages nearest to QUERY, best first."""
    from app.advisor.question import clean, detect_language

    query = clean(query, load_settings().max_question_chars)
    hits = open_library().search(query, k=k, language=language or detect_language(query))
    if as_json:
        print_json({"query": query, "passages": [hit.to_json() for hit in hits]})
        return
    if not hits:
        click.echo("Nothing relevant was found.")
    for hit in hits:
        click.secho(
            f"{hit.score:.2f}  {hit.passage.title} › {hit.passage.section} ({hit.passage.document})",
            bold=True,
        )
        click.echo("      " + " ".join(hit.passage.text.split())[:240])


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--reindex", is_flag=True, help="Embed everything again, after a change of the embedding model.")
@json_option
def ingest(paths: tuple[Path, ...], dry_run: bool, reindex: bool, as_json: bool) -> None:
    """Add files and folders to the library: .md .txt .pdf .html .docx. Exit 1 if a file failed."""
    if not paths and not reindex:
        raise click.UsageError("Name a file or folder, or --reindex.")
    library = open_library(with_notes=not reindex)
    if reindex:
        passages = library.reindex(_show_progress)
        click.echo(f"{passages} passages embedded anew.", err=True)
        library.ensure_notes(progress_line)
    report = library.ingest(paths, on_progress=_show_progress, dry_run=dry_run)
    if as_json:
        print_json(report.to_json())
    else:
        click.echo(report.summary("en"))
        for failure in report.failed:
            click.echo(f"  failed: {failure.name}: {failure.reason}", err=True)
    if report.failed:
        raise SystemExit(1)


def _show_progress(progress: object) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{progress}", err=True, nl=False)


@click.group()
def documents() -> None:
    """What the library holds."""


@documents.command("list")
@json_option
def list_documents(as_json: bool) -> None:
    """All documents, and those that failed."""
    found = open_library().documents()
    if as_json:
        print_json({"documents": [one.to_json() for one in found]})
        return
    for one in found:
        detail = one.error if one.status == "failed" else f"{one.passages} passages, {one.language}"
        click.echo(f"{one.id[:12]}  {one.status:<7} {one.kind:<8} {one.name}  ({detail})")


@documents.command("show")
@click.argument("name")
@json_option
def show_document(name: str, as_json: bool) -> None:
    """One document (name or id) and its text."""
    library = open_library()
    one = library.document(name)
    text = library.text(one.id) if one.status == "ready" else ""
    if as_json:
        data: dict[str, Any] = one.to_json() | {"text": text}
        print_json(data)
        return
    click.secho(f"{one.title} ({one.name}, {one.status})", bold=True)
    click.echo(one.error if one.status == "failed" else text)


@documents.command("remove")
@click.argument("name")
@json_option
def remove_document(name: str, as_json: bool) -> None:
    """Remove one document (name or id): its vectors, words and text."""
    one = open_library().remove(name)
    if as_json:
        print_json({"removed": one.to_json()})
    else:
        click.echo(f"Removed {one.name}.")
