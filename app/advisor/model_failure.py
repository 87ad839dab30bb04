"""Why a model's text is not shown, in words for people. Provider messages may carry addresses or keys: never told."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from app.fabric.calculation import Language


class ModelFailed(Exception):
    """`cause` is a key of model_notices.yaml; `detail` goes into its sentence and is safe to show."""

    def __init__(self, cause: str, detail: str = ""):
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause
        self.detail = detail


@cache
def _notices() -> Mapping[str, Any]:
    path = Path(__file__).parent / "model_notices.yaml"
    data: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def notice(failure: ModelFailed, model: str, language: Language, *, partly: bool) -> str:
    """One line: what happened, and what is shown instead. `partly`: some of the model's checked text was shown."""
    words = _notices()
    reason = words["causes"][failure.cause][language].format(detail=failure.detail)
    ending = words["partly" if partly else "instead"][language]
    return f"{words['model'][language].format(model=model)}{reason}{ending}"


def cause_of(error: BaseException) -> ModelFailed:
    """Whatever a provider's package raised, as one of the causes that people are told."""
    if isinstance(error, ModelFailed):
        return error
    status = _status(error)
    name, said = type(error).__name__, str(error).lower()
    if "ContextLengthExceeded" in name or "context_overflow" in name.lower() or _speaks_of_context(said):
        return ModelFailed("context")
    if "contentfilter" in name.lower() or "content_filter" in said or "content management policy" in said:
        return ModelFailed("refused")
    if status in (401, 403) or (status == 400 and "api key not valid" in said):  # Google answers 400
        return ModelFailed("key", f"status {status}")
    if status == 404:
        return ModelFailed("unknown_model", f"status {status}")
    if status == 429:
        return ModelFailed("busy", f"status {status}")
    if status in (400, 422, 500, 501) and ("tool" in said or "jinja" in said):
        return ModelFailed("no_tools", f"status {status}")
    if isinstance(status, int) and status >= 400:
        return ModelFailed("server", f"status {status}")
    if "timeout" in name.lower() or isinstance(error, TimeoutError):
        return ModelFailed("slow")
    if "recursion" in name.lower() or "CallLimit" in name:
        return ModelFailed("endless_calls")
    if "connect" in name.lower() or isinstance(error, OSError):
        return ModelFailed("unreachable")
    if "protocol" in name.lower() or "remote" in name.lower() or "read" in name.lower():
        return ModelFailed("broken_off")
    return ModelFailed("other", name)


def _status(error: BaseException) -> int | None:
    """HTTP status that an error, or the one it was raised from, carries; packages differ in where."""
    seen: BaseException | None = error
    while seen is not None:
        for holder, name in ((seen, "status_code"), (getattr(seen, "response", None), "status_code"), (seen, "code")):
            found = getattr(holder, name, None)
            if isinstance(found, int) and found >= 400:
                return found
        seen = seen.__cause__
    return None


def _speaks_of_context(said: str) -> bool:
    return any(
        words in said
        for words in (
            *("context_length_exceeded", "maximum context length", "context size", "exceed_context", "too long"),
            *("context window", "input token count", "maximum number of tokens"),
        )
    )
