"""How much a model can read at once, and how much a text takes of that."""

from __future__ import annotations

import math
import re
from typing import Any

from langchain_core.language_models import BaseChatModel

ASSUMED_TOKENS = 8_192  # where neither the settings, the model's package nor its server say
ASKED_WITHIN_S = 2.0
_DENSE = re.compile(r"[^\x00-\u02ff]")  # Chinese, and all else that takes a token or more a character
_LETTER, _SPACE = re.compile(r"[A-Za-z\u00c0-\u02ff]"), re.compile(r"\s")
_TOLD_AS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx")  # vLLM, …, llama.cpp


def tokens_of(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    dense = len(_DENSE.findall(text))
    letters = len(_LETTER.findall(text))
    marks = len(text) - dense - letters - len(_SPACE.findall(text))  # digits, punctuation, lines of tables
    return math.ceil(1.2 * dense + letters / 3 + marks)


def window_tokens(model: BaseChatModel, stated: int | None = None) -> int:
    """The context window: as `stated`, as its package knows it (Ollama's as asked for), as its server lists it, else
    assumed."""
    return stated or _of_profile(model) or _of_server(model) or ASSUMED_TOKENS


def _of_profile(model: BaseChatModel) -> int | None:
    known = getattr(model, "num_ctx", None) or (getattr(model, "profile", None) or {}).get("max_input_tokens")
    return int(known) if known else None


def _of_server(model: BaseChatModel) -> int | None:
    """What an OpenAI-compatible server lists of the model; asked once a model, and by the client that has its key."""
    client = getattr(model, "root_client", None)
    if client is None:
        return None
    remembered = model.metadata or {}
    if "window_tokens" not in remembered:
        remembered = {**remembered, "window_tokens": _listed(client, str(getattr(model, "model_name", "")))}
        model.metadata = remembered
    found = remembered["window_tokens"]
    return int(found) if found else None


def _listed(client: Any, name: str) -> int | None:
    from openai import OpenAIError

    try:
        listed = list(client.with_options(timeout=ASKED_WITHIN_S, max_retries=0).models.list())
    except (OpenAIError, ValueError, TypeError):  # many servers list nothing, or something else: then it is assumed
        return None
    own = [one for one in listed if getattr(one, "id", "") == name] or (listed if len(listed) == 1 else [])
    for one in own:
        told = dict(getattr(one, "model_extra", None) or {})
        told |= told["meta"] if isinstance(told.get("meta"), dict) else {}
        for key in _TOLD_AS:
            if isinstance(told.get(key), int) and told[key] > 0:
                return int(told[key])
    return None
