"""The configured chat model, through LangChain's init_chat_model."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel

from app.errors import AdvisorError
from app.settings import Settings


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
            "Install it, or use an openai: compatible server.",
        ) from None
    except Exception as error:  # noqa: BLE001  (providers raise their own types for a missing key or unknown name)
        if "api_key" in str(error).lower() or "api key" in str(error).lower():
            raise ModelUnusable(
                f"There is no key for {settings.model}.",
                "Set FABRIC_ADVISOR_MODEL_API_KEY in the environment or in .env, or the provider's own variable.",
            ) from None
        raise ModelUnusable(
            f"The model {settings.model} cannot be set up: {type(error).__name__}",
            "Check FABRIC_ADVISOR_MODEL and the provider's key.",
        ) from None
    if not isinstance(model, BaseChatModel):
        raise ModelUnusable(f"{settings.model} is not a chat model.", "Name one, for example openai:gpt-5.")
    return model
