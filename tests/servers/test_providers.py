"""Anthropic, Ollama and Google through their LangChain packages: answers, tools, wrong keys and other failures."""

import importlib.util
import os
import sys

import pytest
from pydantic import SecretStr

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.model_setup import OLLAMA_TOKENS, ModelUnusable, make_model
from app.doctor import Check, model_checks
from app.settings import Settings

from .provider_server import ProviderServer

PACKAGES = {"anthropic": "langchain_anthropic", "ollama": "langchain_ollama", "google_genai": "langchain_google_genai"}
QUESTION = "How does InfiniBand stay lossless?"
KEY = "sk-wrong-key-778812"
CREDITS = "InfiniBand stays lossless by credits [1].\n"
INSTALLED = [
    pytest.param(
        provider,
        marks=pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"the extra of {provider}"),
    )
    for provider, package in PACKAGES.items()
]
every_provider = pytest.mark.parametrize("provider", INSTALLED)


@pytest.fixture(autouse=True)
def no_keys_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.endswith("API_KEY")]:
        monkeypatch.delenv(name)


def settings_of(advisor: Advisor, provider: str, url: str | None, key: str | None = KEY) -> Settings:
    update = {
        "model": f"{provider}:scripted",
        "model_base_url": url,
        "model_timeout_s": 5.0,
        "model_api_key": SecretStr(key) if key else None,
    }
    return advisor.settings.model_copy(update=update)


def asked(advisor: Advisor, settings: Settings) -> Answer:
    return Advisor(settings, advisor.library, advisor.tools, make_model(settings)).answer(QUESTION)


def checked(settings: Settings) -> dict[str, Check]:
    return {one.name: one for one in model_checks(settings)}


@every_provider
def test_an_answer_is_streamed_checked_and_counted(advisor: Advisor, provider: str) -> None:
    with ProviderServer(provider, CREDITS) as server:
        settings = settings_of(advisor, provider, server.url)
        answer = asked(advisor, settings)
        checks = checked(settings)
        assert all(KEY in key for key in server.keys)
    assert answer.text == CREDITS.strip() and not answer.notices
    assert (answer.usage["input_tokens"], answer.usage["output_tokens"]) == (900, 34)
    assert checks["model streaming"].message == "streams"
    assert checks["model tools"].message == "calls tools"


@every_provider
def test_a_calculator_is_called(advisor: Advisor, provider: str) -> None:
    call = ("size", {"gpus": 64, "fabric": "roce"})
    with ProviderServer(provider, "RoCE has {T1.leaf_switches} leaves.\n", call=call) as server:
        answer = asked(advisor, settings_of(advisor, provider, server.url))
    assert answer.text == "RoCE has 2 leaves." and answer.usage["tool_calls"] == 1


@pytest.mark.parametrize(
    ("status", "words", "remedy"),
    [
        (401, "did not accept the key", "FABRIC_ADVISOR_MODEL_API_KEY"),
        (403, "did not accept the key", "FABRIC_ADVISOR_MODEL_API_KEY"),
        (404, "is not known to its server", "behind the colon"),
        (429, "has no capacity or quota left", "quota"),
        (500, "failed (status 500)", "FABRIC_ADVISOR_MODEL"),
    ],
)
@every_provider
def test_each_failure_is_one_line_and_the_built_in_answer(
    advisor: Advisor, provider: str, status: int, words: str, remedy: str
) -> None:
    if provider == "google_genai" and status == 401:
        status = 400  # what Google says of a wrong key
    with ProviderServer(provider, status=status) as server:
        settings = settings_of(advisor, provider, server.url)
        answer = asked(advisor, settings)
        check = checked(settings)["model"]
    assert len(answer.notices) == 1 and words in answer.notices[0] and "\n" not in answer.notices[0]
    assert answer.text == advisor.answer(QUESTION).text
    assert KEY not in str(answer.to_json())
    assert not check.ok and words in check.message and remedy in check.remedy
    assert KEY not in check.message + check.remedy


@every_provider
def test_no_server_is_one_line_too(advisor: Advisor, provider: str) -> None:
    settings = settings_of(advisor, provider, "http://127.0.0.1:9")
    answer = asked(advisor, settings)
    assert "cannot be reached" in answer.notices[0] and len(answer.notices) == 1
    assert answer.text == advisor.answer(QUESTION).text
    assert "cannot be reached" in checked(settings)["model"].message


@pytest.mark.parametrize("provider", [INSTALLED[0], INSTALLED[2]])
def test_no_key_is_said_before_anything_is_asked(advisor: Advisor, provider: str) -> None:
    settings = settings_of(advisor, provider, None, key=None)
    check = checked(settings)["model"]
    assert not check.ok and "no key" in check.message and "FABRIC_ADVISOR_MODEL_API_KEY" in check.remedy


@pytest.mark.parametrize(
    ("provider", "extra"), [("anthropic", "anthropic"), ("ollama", "ollama"), ("google_genai", "google")]
)
def test_a_missing_package_names_what_to_run(
    advisor: Advisor, provider: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langchain.chat_models import base

    clear = getattr(getattr(base, "_get_chat_model_creator", None), "cache_clear", None)
    if clear:
        clear()
    monkeypatch.setitem(sys.modules, PACKAGES[provider], None)
    with pytest.raises(ModelUnusable) as refused:
        make_model(settings_of(advisor, provider, "http://127.0.0.1:9"))
    assert "is not installed" in refused.value.message
    assert f"pip install -e '.[{extra}]'" in refused.value.remedy
    if clear:
        clear()


@pytest.mark.parametrize("provider", [INSTALLED[1]])
def test_ollama_is_asked_for_room_for_the_evidence(advisor: Advisor, provider: str) -> None:
    with ProviderServer(provider, CREDITS) as server:
        settings = settings_of(advisor, provider, server.url)
        asked(advisor, settings)
        asked(advisor, settings.model_copy(update={"model_context_tokens": 40_000}))
        assert [one["options"]["num_ctx"] for one in server.asked] == [OLLAMA_TOKENS, 40_000]
