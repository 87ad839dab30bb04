"""The configured chat model, through LangChain's init_chat_model."""

from __future__ import annotations

import os
from typing import Any

from langchain_core.language_models import BaseChatModel

from app.errors import AdvisorError
from app.settings import Settings

OLLAMA_TOKENS = 16_384  # asked of an Ollama server, where the settings say nothing
_KEYS_FOUND_MISSING_LATE = {"anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")}  # with the first question
_EXTRAS = {"anthropic": "anthropic", "ollama": "ollama", "google_genai": "google"}


class ModelUnusable(AdvisorError):
    """The configured model cannot be set up; everything else works without it."""


def make_model(settings: Settings) -> BaseChatModel | None:
    """The configured chat model, None for the built-in writer. Raises ModelUnusable where that fails."""
    if settings.model == "builtin":
        return None
    if ":" not in settings.model:
        raise ModelUnusable(
            f"FABRIC_ADVISOR_MODEL={settings.model} names no provider.",
            "Use builtin or provider:name, for example openai:gpt-5.",
        )
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"timeout": settings.model_timeout_s, "max_retries": 1, "temperature": 0}
    if settings.model.startswith(("openai:", "azure_openai:")):
        options["stream_usage"] = True  # off by default where a base URL is set: tokens would not be counted
    if settings.model.startswith("ollama:"):  # its server cuts a prompt to its own default, unsaid
        options["num_ctx"] = settings.model_context_tokens or OLLAMA_TOKENS
        options["client_kwargs"] = {"timeout": settings.model_timeout_s}
        if settings.model_api_key:
            key = settings.model_api_key.get_secret_value()
            options["client_kwargs"]["headers"] = {"Authorization": f"Bearer {key}"}
    if settings.model_base_url:
        options["base_url"] = settings.model_base_url
        options["api_key"] = settings.model_api_key.get_secret_value() if settings.model_api_key else "not-needed"
    elif settings.model_api_key:
        options["api_key"] = settings.model_api_key.get_secret_value()
    try:
        model = init_chat_model(settings.model, **options)
    except ImportError as error:
        raise ModelUnusable(
            f"The package for {settings.model} is not installed ({error.name or error}).",
            f"{_install(settings.model.partition(':')[0])}, or use an OpenAI-compatible server.",
        ) from None
    except Exception as error:  # noqa: BLE001  (providers raise their own types for a missing key or unknown name)
        if "api_key" in str(error).lower() or "api key" in str(error).lower():
            raise _no_key(settings.model) from None
        raise ModelUnusable(
            f"The model {settings.model} cannot be set up: {type(error).__name__}",
            "Check FABRIC_ADVISOR_MODEL and the provider's key.",
        ) from None
    needed = _KEYS_FOUND_MISSING_LATE.get(settings.model.partition(":")[0])
    if needed and "api_key" not in options and not any(map(os.environ.get, needed)):
        raise _no_key(settings.model)
    if not isinstance(model, BaseChatModel):
        raise ModelUnusable(f"{settings.model} is not a chat model.", "Name one, for example openai:gpt-5.")
    return model


def _no_key(model: str) -> ModelUnusable:
    return ModelUnusable(
        f"There is no key for {model}.",
        "Set FABRIC_ADVISOR_MODEL_API_KEY in the environment or in .env, or the provider's own variable.",
    )


def _install(provider: str) -> str:
    if provider in _EXTRAS:
        return f"Run .venv/bin/pip install -e '.[{_EXTRAS[provider]}]'"
    return "Install the LangChain package of this provider"
