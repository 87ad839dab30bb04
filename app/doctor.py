"""Is everything in place? Each check says what it found and, where it fails, the remedy."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.advisor.model_failure import ModelFailed, notice
from app.advisor.model_setup import make_model
from app.advisor.model_stream import watched
from app.advisor.model_tools import calls_in_text
from app.advisor.model_window import window_tokens
from app.advisor.tools import load_tools
from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


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
    )
    ran = [_run(name, check, settings) for name, check in checks]
    further = [name for name in settings.offered_models[1:] if name != "builtin"]
    return ran + model_checks(settings) + [one for name in further for one in model_checks(settings.for_model(name))]


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


def model_checks(settings: Settings) -> list[Check]:
    """Whether the model answers, streams and calls tools. Only the first must: the advisor works without the others."""
    try:
        model = make_model(settings)
    except AdvisorError as error:
        return [Check("model", False, error.message, error.remedy)]
    if model is None:
        return [Check("model", True, "builtin (no language model configured)")]
    began, pieces = time.monotonic(), 0
    first = 0.0
    try:
        for chunk in watched(
            lambda _: (str(one.text) for one in model.stream(_READY)),
            silence_s=settings.model_timeout_s,
            total_s=2 * settings.model_timeout_s,
        ):
            first = first or time.monotonic() - began
            pieces += bool(chunk)
    except ModelFailed as failure:
        message = notice(failure, settings.model, "en", partly=False).split(";")[0]
        return [Check("model", False, f"{message}.", _REMEDIES.get(failure.cause, _REMEDIES["other"]))]
    took = f"{settings.model} answers, first words after {first:.1f} s"
    streams = "streams" if pieces > 1 else "sends the answer in one piece; it is shown when it is whole"
    window = f"reads {window_tokens(model, settings.model_context_tokens):,} tokens at once, as far as is known"
    return [
        Check("model", True, took),
        Check("model streaming", True, streams),
        _tools_check(model, settings),
        Check("model window", True, window),
    ]


def _tools_check(model: BaseChatModel, settings: Settings) -> Check:
    if not settings.model_tool_calls:
        return Check("model tools", True, "not offered (FABRIC_ADVISOR_MODEL_TOOL_CALLS=0)")
    try:
        bound = model.bind_tools([_add])
        question = "Call the tool add with a=2 and b=3. Do not answer yourself."
        reply = "".join(
            watched(
                lambda _: iter([_called(bound.invoke(question))]),
                silence_s=settings.model_timeout_s,
                total_s=2 * settings.model_timeout_s,
            )  # one piece, but timed
        )
    except (ModelFailed, NotImplementedError, AttributeError):
        return Check("model tools", True, "takes no tools; the planned calculations and passages are enough")
    told = {
        "tool": "calls tools",
        "text": "prints tool calls as text; they are found and run",
        "": "was offered a tool and did not call it; the planned calculations and passages are enough",
    }
    return Check("model tools", True, told[reply])


def _add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def _called(message: Any) -> str:
    if getattr(message, "tool_calls", None):
        return "tool"
    return "text" if calls_in_text(str(message.text), ["_add", "add"]) else ""


_READY = "Answer in one short sentence: are you ready?"
_REMEDIES = {
    "unreachable": "Start the server, or correct FABRIC_ADVISOR_MODEL_BASE_URL.",
    "key": "Set FABRIC_ADVISOR_MODEL_API_KEY, or the provider's own variable, to a valid key.",
    "unknown_model": "Correct the name behind the colon in FABRIC_ADVISOR_MODEL.",
    "busy": "Wait, or raise the quota with the provider.",
    "slow": "Raise FABRIC_ADVISOR_MODEL_TIMEOUT_S, or choose a smaller model.",
    "other": "Check FABRIC_ADVISOR_MODEL, FABRIC_ADVISOR_MODEL_BASE_URL, the key, and that the server runs.",
}
