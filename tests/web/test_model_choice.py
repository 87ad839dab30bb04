"""Which model a chat is answered by: offered, chosen, kept, and never by the page alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.advisor.answer import Answer
from app.advisor.chats import ChatStore
from app.settings import Settings
from app.web import resources
from tests.web.conftest import ScriptedAdvisor

FIRST, SECOND = "openai:first", "anthropic:second"
LABEL = "Model that writes"
Open = Callable[..., AppTest]


@pytest.fixture
def writers(scripted: ScriptedAdvisor, decision: Answer, monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedAdvisor]:
    """An advisor for each model; each says its name. Takes the page's advisor for the first."""
    every = {FIRST: scripted} | {
        name: ScriptedAdvisor(scripted.library, scripted.tools) for name in (SECOND, "builtin")
    }
    monkeypatch.setattr(resources, "advisor_for", every.__getitem__)
    for name, one in every.items():
        one.replies = [replace(decision, text=f"Written by {name}.") for _ in range(3)]
    return every


def offering(monkeypatch: pytest.MonkeyPatch, settings: Settings, **changes: Any) -> None:
    changed = settings.model_copy(update={"model": FIRST, "models": SECOND, **changes})
    monkeypatch.setattr(resources, "settings", lambda: changed)


def ask(app: AppTest, question: str = "RoCE or IB?") -> AppTest:
    app.chat_input[0].set_value(question).run()
    return app


def shown(app: AppTest) -> str:
    return "\n".join(str(one.value) for one in app.markdown)


def test_a_chat_is_answered_by_its_model_and_keeps_it(
    open_page: Open,
    writers: dict[str, ScriptedAdvisor],
    chats: ChatStore,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    app = open_page()
    offering(monkeypatch, settings)
    app.run()
    assert app.selectbox[0].label == LABEL
    assert app.selectbox[0].options == [FIRST, SECOND, "Built-in text (no model)"]
    app.selectbox[0].set_value(SECOND).run()
    ask(app)
    assert f"Written by {SECOND}." in shown(app)
    chat = app.query_params["chat"][0] if isinstance(app.query_params["chat"], list) else app.query_params["chat"]
    assert chats.model(chat) == SECOND
    again = open_page(chat=chat)
    offering(monkeypatch, settings)
    again.run()
    assert again.selectbox[0].value == SECOND
    again.selectbox[0].set_value("builtin").run()
    ask(again, "And for 512?")
    assert "Written by builtin." in shown(again)
    new = open_page()
    offering(monkeypatch, settings)
    ask(new.run())
    assert f"Written by {FIRST}." in shown(new)  # another chat keeps the first model
    assert [len(one.asked) for one in writers.values()] == [1, 1, 1]
    chats.delete(chat)
    assert chats.model(chat) is None


def test_without_further_models_there_is_no_choice(open_page: Open, writers: dict[str, ScriptedAdvisor]) -> None:
    assert [one.label for one in open_page().selectbox] == []


@pytest.mark.parametrize("changes", [{"model_choice": False}, {"models": "openai:third"}], ids=["forbidden", "gone"])
def test_what_may_not_be_chosen_is_not_used_whatever_the_chat_says(
    open_page: Open,
    writers: dict[str, ScriptedAdvisor],
    chats: ChatStore,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    decision: Answer,
    changes: dict[str, Any],
) -> None:
    chat = chats.new()
    chats.append(chat, decision)
    chats.choose_model(chat, SECOND)
    app = open_page(chat=chat)
    offering(monkeypatch, settings, **changes)
    ask(app.run())
    assert f"Written by {FIRST}." in shown(app)
    assert writers[SECOND].asked == []
