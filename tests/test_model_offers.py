"""Which models are offered, and that a key goes to no provider but its own."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.advisor.advisor import Advisor
from app.advisor.model_setup import ModelUnusable, make_model
from app.advisor.tools import load_tools
from app.errors import AdvisorError
from app.library.library import Library
from app.settings import Settings

KEY = "sk-canary-of-the-first-provider"


def settings(**changes: object) -> Settings:
    return Settings(_env_file=None, **changes)  # type: ignore[call-arg,arg-type]


@pytest.mark.parametrize(
    ("changes", "offered"),
    [
        ({}, ("builtin",)),
        ({"model": "openai:a"}, ("openai:a",)),
        ({"model": "openai:a", "model_choice": True}, ("openai:a", "builtin")),
        ({"model": "openai:a", "models": " openai:b, ollama:c,"}, ("openai:a", "openai:b", "ollama:c", "builtin")),
        ({"models": "openai:b"}, ("builtin", "openai:b")),
        ({"model": "openai:a", "models": "openai:b", "model_choice": False}, ("openai:a",)),
    ],
)
def test_offered(changes: dict[str, object], offered: tuple[str, ...]) -> None:
    assert settings(**changes).offered_models == offered


def test_address_and_key_go_to_the_provider_they_were_set_for() -> None:
    base = settings(model="openai:a", model_base_url="http://127.0.0.1:9/v1", model_api_key=SecretStr(KEY))
    same = base.for_model("openai:b")
    assert (same.model, same.model_base_url, same.model_api_key) == ("openai:b", base.model_base_url, SecretStr(KEY))
    other = base.for_model("anthropic:b")
    assert (other.model, other.model_base_url, other.model_api_key) == ("anthropic:b", None, None)


def test_a_second_provider_without_a_key_of_its_own_is_unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    base = settings(model="ollama:a", models="openai:b", model_api_key=SecretStr(KEY))
    with pytest.raises(ModelUnusable, match="no key for openai:b") as caught:
        make_model(base.for_model("openai:b"))
    assert KEY not in str(caught.value)


def test_another_model_shares_library_and_calculators(home: Path) -> None:
    own = settings(home=home, model="builtin", models="openai:b", model_api_key=None)
    library = Library.open(own)
    advisor = Advisor(own, library, load_tools(own.knowledge))
    assert advisor.with_model("builtin") is advisor
    second = advisor.with_model("openai:b")
    assert (second.library, second.tools, second.settings.model) == (library, advisor.tools, "openai:b")
    assert second.model is not None or second.model_fault is not None
    with pytest.raises(AdvisorError, match=r"openai:c is not offered.*Choose among: builtin, openai:b"):
        advisor.with_model("openai:c")
    library.close()
