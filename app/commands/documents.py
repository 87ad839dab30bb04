"""search, ingest, documents: the library from the shell."""

from __future__ import annotations

import shutil
import sys
from typing import Any, Literal

import click

from app.commands.output import json_option, print_json
from app.errors import AdvisorError
from app.library.document import Progress
from app.library.filters import Filters
from app.library.library import Library
from app.library.splitting import FOOTNOTE
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
@click.option("--prefer", type=click.Choice(["en", "zh"]), default=None, help="Language shown of a note pair.")
@click.option("--language", type=click.Choice(["en", "zh"]), default=None, help="Only passages in this language.")
@click.option("--kind", type=click.Choice(["notes", "documents"]), default=None, help="Only notes, or only your own.")
@click.option("--document", "documents_", multiple=True, metavar="NAME", help="Only this document; may be repeated.")
@click.option("--source", default="", metavar="TEXT", help="Only documents whose path, address or sources hold TEXT.")
@click.option("--since", default="", metavar="DATE", help="Only documents of this date or later: YYYY[-MM[-DD]].")
@json_option
def search(
    query: str,
    k: int,
    prefer: Literal["en", "zh"] | None,
    language: Literal["en", "zh"] | None,
    kind: Literal["notes", "documents"] | None,
    documents_: tuple[str, ...],
    source: str,
    since: str,
    as_json: bool,
) -> None:
    """The passages nearest to QUERY, best first."""
    from app.advisor.question import clean, detect_language

    query = clean(query, load_settings().max_question_chars)
    library = open_library()
    chosen = tuple(library.document(name).id for name in documents_)
    hits = library.search(
        query,
        k=k,
        language=prefer or language or detect_language(query),
        only=kind,
        filters=Filters(language or "", chosen, source, since),
        weak=True,
    )
    if as_json:
        print_json({"query": query, "passages": [hit.to_json() for hit in hits]})
        return
    if not hits:
        click.echo("Nothing relevant was found.")
    if any(hit.weak for hit in hits):
        click.echo("Nothing is clearly relevant; nearest are:")
    for hit in hits:
        click.secho(
            f"{hit.score:.2f}  {' › '.join(filter(None, (hit.passage.title, hit.passage.section)))} "
            f"({hit.passage.document})",
            bold=True,
        )
        click.echo("      " + " ".join(FOOTNOTE.sub("", hit.passage.text).split())[:240])


@click.command()
@click.argument("paths", nargs=-1, metavar="[FILE|FOLDER|ZIP|URL]…")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--reindex", is_flag=True, help="Read the named again though unchanged; without names, embed everything.")
@click.option("--workers", type=click.IntRange(1, 32), default=None, help="Threads that read; default: one a core.")
@click.option("--watch", is_flag=True, help="Go on, and take in what changes, until Ctrl-C.")
@json_option
def ingest(
    paths: tuple[str, ...], dry_run: bool, reindex: bool, workers: int | None, watch: bool, as_json: bool
) -> None:
    """Add files, folders, zip files and web pages to the library. Exit 1 if one failed.

    Read are .md .txt .log .pdf .html .mhtml .docx .pptx .xlsx .csv .epub .eml. Without names, the library is put in
    order.
    """
    if watch and not paths:
        raise click.UsageError("Name the folder to watch.")
    if watch and dry_run:
        raise click.UsageError("--watch and --dry-run exclude each other.")
    everything = reindex and not paths
    library = open_library(with_notes=not everything)
    if everything:
        passages = library.reindex(_show_progress)
        _end_line()
        click.echo(f"{passages} passages embedded anew.", err=True)
        library.ensure_notes(progress_line)

    def take_in() -> bool:
        report = library.ingest(
            paths, on_progress=_show_progress, dry_run=dry_run, workers=workers, afresh=reindex and bool(paths)
        )
        _end_line()
        if as_json:
            print_json(report.to_json())
        else:
            click.echo(report.summary("en") if paths else "The library is in order.")
            for failure in report.failed:
                click.echo(f"  failed: {failure.name}: {failure.reason}", err=True)
        return not report.failed

    if watch:
        from app.library.watching import changes

        for _ in changes(paths):
            try:
                take_in()
            except AdvisorError as error:  # e.g. another ingest at work: the next change may fare better
                click.echo(f"fabric-advisor: {error}", err=True)
    elif not take_in():
        raise SystemExit(1)


def _show_progress(progress: Progress) -> None:
    _show(progress.line())


def _show(text: str) -> None:
    """One moving line, on a terminal only."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\033[K{text[:width]}", err=True, nl=False)


def _end_line() -> None:
    if sys.stderr.isatty():
        click.echo("\r\033[K", err=True, nl=False)


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


@documents.command("dismiss")
@click.argument("name")
@json_option
def dismiss_failure(name: str, as_json: bool) -> None:
    """Take a file that failed (name, id or path) off the list; it is tried again at the next ingest."""
    one = open_library().dismiss(name)
    if as_json:
        print_json({"dismissed": one.to_json()})
    else:
        click.echo(f"Dismissed {one.name}.")
