"""Is everything in place? Each check says what it found and, where it fails, the remedy."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass

from app.advisor.model_setup import make_model
from app.advisor.tools import load_tools
from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    message: str
    remedy: str = ""

    def to_json(self) -> dict[str, object]:
        return {"name": self.name, "ok": self.ok, "message": self.message, "remedy": self.remedy}


def examine(settings: Settings) -> list[Check]:
    """Run every check; one that fails does not stop the others."""
    checks: tuple[tuple[str, Callable[[Settings], str]], ...] = (
        ("python", _python),
        ("home", _home),
        ("sqlite", _sqlite),
        ("knowledge", _knowledge),
        ("library", _library),
        ("failed documents", _failed),
        ("model", _model),
    )
    return [_run(name, check, settings) for name, check in checks]


def _run(name: str, check: Callable[[Settings], str], settings: Settings) -> Check:
    try:
        return Check(name, True, check(settings))
    except AdvisorError as error:
        return Check(name, False, error.message, error.remedy)


def _python(_: Settings) -> str:
    return f"Python {sys.version.split()[0]}"


def _home(settings: Settings) -> str:
    home = settings.home.resolve()
    parent = next(folder for folder in (home, *home.parents) if folder.exists())
    if not os.access(parent, os.W_OK):
        raise AdvisorError(f"{parent} is not writable.", "Set FABRIC_ADVISOR_HOME to a folder that is.")
    return f"{settings.home} is writable"


def _sqlite(_: Settings) -> str:
    with sqlite3.connect(":memory:") as database:
        try:
            database.execute("CREATE VIRTUAL TABLE probe USING fts5(words)")
        except sqlite3.OperationalError:
            raise AdvisorError(
                "SQLite has no full-text search (FTS5).", "Use a Python build whose sqlite3 has it."
            ) from None
    return f"SQLite {sqlite3.sqlite_version} with full-text search"


def _knowledge(settings: Settings) -> str:
    tools = load_tools(settings.knowledge)
    counts = (len(tools.catalog.switches), len(tools.accelerators.by_id), len(tools.rules.rules))
    return "{} switches, {} GPUs, {} decision rules".format(*counts)


def _library(settings: Settings) -> str:
    library = Library.open(settings)
    library.ensure_notes()
    hits = library.search("How does InfiniBand stay lossless?", k=1, language="en")
    if not hits:
        raise AdvisorError("A search for a shipped note finds nothing.", "Run fabric-advisor ingest --reindex.")
    ready = [one for one in library.documents() if one.status == "ready"]
    return f"{len(ready)} documents, {sum(one.passages for one in ready)} passages, embeddings {settings.embeddings}"


def _failed(settings: Settings) -> str:
    failed = [one for one in Library.open(settings).documents() if one.status == "failed"]
    if failed:
        raise AdvisorError(
            f"{len(failed)} documents failed to ingest, first {failed[0].name}: {failed[0].error}",
            "Mend the file and ingest it again, or fabric-advisor documents remove NAME.",
        )
    return "none"


def _model(settings: Settings) -> str:
    model = make_model(settings)
    if model is None:
        return "builtin (no language model configured)"
    try:
        reply = model.invoke("Answer with the single word: ready")
    except Exception as error:  # noqa: BLE001  (each provider has its own types; all mean: it does not answer)
        raise AdvisorError(
            f"{settings.model} does not answer ({type(error).__name__}).",
            "Check FABRIC_ADVISOR_MODEL, FABRIC_ADVISOR_MODEL_BASE_URL, the key, and that the server runs.",
        ) from None
    return f"{settings.model} answers ({len(str(reply.text))} characters)"
