"""The chat page, driven without a browser."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.advisor.answer import Answer, Grounding
from app.advisor.chats import ChatStore
from app.errors import AdvisorError
from tests.web.conftest import ScriptedAdvisor

Open = Callable[..., AppTest]
QUESTION = "RoCE vs IB for a 64-GPU cluster"


def ask(app: AppTest, question: str = QUESTION) -> AppTest:
    return app.chat_input[0].set_value(question).run()


def texts(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown]


def button(app: AppTest, label: str) -> Any:
    return next(one for one in app.button if one.label == label)


def opened(app: AppTest, panel: str, turn: int = 1) -> AppTest:
    """The page with a panel of a turn open."""
    app.session_state[f"{panel}-{app.query_params['chat']}-{turn}"] = True
    return app.run()


def test_an_empty_page_says_what_it_does_and_offers_questions_in_both_languages(open_page: Open) -> None:
    app = open_page()
    assert app.title[0].value == "Fabric Advisor"
    labels = [one.label for one in app.button]
    assert QUESTION in labels
    assert "512卡集群用RoCE还是InfiniBand？" in labels
    assert "chat" not in app.query_params


def test_an_example_is_asked_by_a_click(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    scripted.replies = [decision]
    app = open_page()
    button(app, QUESTION).click().run()
    assert scripted.asked == [(QUESTION, (), None)]
    assert not app.title
    assert not app.exception


def test_an_answer_shows_its_text_with_links_to_its_sources(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer
) -> None:
    scripted.replies = [decision]
    app = ask(open_page())
    cited = decision.citations[0]
    address = f"documents?document={cited.document_id}&start={cited.start}&end={cited.end}&cite=1.1"
    assert [message.name for message in app.chat_message] == ["user", "assistant"]
    shown, sources = texts(app)[1:3]
    assert shown.startswith("**RoCE** for 64 GPUs, at \\$412k rather than \\$427k [\\[1\\]](" + address)
    assert sources.startswith("**Sources:** [\\[1\\] Small clusters](" + address)
    assert [one.label for one in app.expander] == ["Calculations (7)", "Assumptions (4): change them"]


def test_a_chat_survives_a_reload_by_its_id(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    scripted.replies = [decision]
    first = ask(open_page())
    chat = first.query_params["chat"]
    again = open_page(chat=chat)
    assert texts(again) == texts(first)
    assert len(scripted.asked) == 1


def test_a_follow_up_is_asked_with_the_history(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    scripted.replies = [decision, replace(decision, text="For 512.")]
    app = ask(open_page())
    button(app, "What about 512?").click().run()
    question, history, changes = scripted.asked[1]
    assert (question, [one.question for one in history], changes) == ("What about 512?", [QUESTION], None)
    assert "For 512." in texts(app)
    labels = [one.label for one in app.button]
    assert labels.count("What about 512?") == 1  # offered for the last turn only


def test_a_new_chat_starts_empty_and_the_old_one_is_listed(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer
) -> None:
    scripted.replies = [decision, decision]
    app = ask(open_page())
    first = app.query_params["chat"]
    button(app, "New chat").click().run()
    assert app.title[0].value == "Fabric Advisor"
    ask(app)
    assert app.query_params["chat"] != first
    assert scripted.asked[1][1] == ()
    app.button(key=f"chat-{first}").click().run()
    assert app.query_params["chat"] == first


def test_an_unknown_chat_is_said_once_and_a_new_one_can_start(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer
) -> None:
    scripted.replies = [decision]
    app = open_page(chat="gone")
    assert "no such chat" in app.info[0].value
    ask(app)
    assert not app.info
    assert app.query_params["chat"] != "gone"


def test_chinese_answers_have_chinese_labels_around_them(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer
) -> None:
    scripted.replies = [replace(decision, language="zh", text="**RoCE**（64 卡）。[1]")]
    app = ask(open_page(), "64卡集群用RoCE还是InfiniBand？")
    assert [one.label for one in app.expander] == ["计算过程（7）", "假设（4）：可修改"]
    assert any(text.startswith("**来源:**") or text.startswith("**来源") for text in texts(app))
    assert app.sidebar.button[0].label == "New chat"  # the interface stays in the browser's language


def test_the_language_can_be_chosen_and_is_kept_in_the_address(open_page: Open) -> None:
    app = open_page()
    app.sidebar.segmented_control(key="language").set_value("zh").run()
    assert app.title[0].value == "GPU 网络选型顾问"
    assert app.query_params["language"] == "zh"
    assert open_page(language="zh").title[0].value == "GPU 网络选型顾问"
    assert open_page(language="klingon").title[0].value == "Fabric Advisor"


def test_a_question_that_cannot_be_answered_gets_one_message(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer, chats: ChatStore
) -> None:
    scripted.replies = [
        AdvisorError("A cluster of 0 GPUs needs no network.", "Name a number of at least 1."),
        decision,
    ]
    app = ask(open_page(), "RoCE or IB for 0 GPUs?")
    assert [one.value for one in app.error] == [
        "A cluster of 0 GPUs needs no network\\. Name a number of at least 1\\."
    ]
    assert chats.chats() == []
    ask(app)
    assert not app.error
    assert [one.turns for one in chats.chats()] == [1]


def test_an_unexpected_failure_is_one_line_in_the_page_and_a_trace_in_the_log(
    open_page: Open, scripted: ScriptedAdvisor, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.replies = [ZeroDivisionError("secret detail")]
    with caplog.at_level(logging.ERROR):
        app = ask(open_page())
    assert len(app.error) == 1
    assert "secret" not in app.error[0].value
    assert "secret detail" in caplog.text
    assert not app.exception


def test_a_fault_anywhere_in_the_page_is_one_line_and_logged(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from app.web import shell

    def fail() -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(shell, "draw", fail)
    app = open_page()
    assert len(app.error) == 1
    assert "secret" not in app.error[0].value
    assert "secret detail" in caplog.text
    assert not app.exception


def test_an_advisor_that_cannot_be_opened_is_one_message(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.web import resources

    def fail() -> None:
        raise AdvisorError("The home folder cannot be written.", "Set FABRIC_ADVISOR_HOME.")

    app = open_page()
    monkeypatch.setattr(resources, "chats", fail)
    app.run()
    assert [one.value for one in app.error] == ["The home folder cannot be written. Set FABRIC_ADVISOR_HOME."]
    assert not app.exception


def test_changed_assumptions_ask_the_same_question_again_with_the_earlier_history(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer, chats: ChatStore
) -> None:
    changed = replace(decision, spec={**decision.spec, "years": 3}, assumptions=decision.assumptions[1:])
    scripted.replies = [decision, changed, changed]
    app = opened(ask(open_page()), "assumed")
    assert "InfiniBand software is included" in "".join(texts(app))
    app.number_input[1].set_value(3)
    button(app, "Recalculate").click().run()
    assert scripted.asked[1] == (QUESTION, (), {"years": 3})
    assert "Recalculated with Years of operation = 3" in [one.value for one in app.caption]
    opened(app, "assumed", turn=2)
    chat = app.query_params["chat"]
    app.selectbox(key=f"{chat}-2-tuning").set_value("mis-tuned")
    app.button(key=f"FormSubmitter:assumptions-{chat}-2-Recalculate").click().run()
    assert scripted.asked[2] == (QUESTION, (chats.history(chat)[0],), {"years": 3, "tuning": "mis-tuned"})


def test_recalculating_without_a_change_asks_nothing(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer
) -> None:
    scripted.replies = [decision]
    app = opened(ask(open_page()), "assumed")
    button(app, "Recalculate").click().run()
    assert [one.value for one in app.info] == ["Nothing was changed."]
    assert len(scripted.asked) == 1


def test_calculations_open_with_figures_assumptions_sources_and_the_bill(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer
) -> None:
    scripted.replies = [decision]
    app = opened(ask(open_page()), "calculations")
    assert [tab.label.split()[0] for tab in app.tabs] == ["T1", "T2", "T3", "T4", "T5", "T6", "T7"]
    roce = app.tabs[3]
    values = decision.calculations[3]["values"]
    results = roce.markdown[0].value
    assert "| Network capex | \\$427k" in results
    assert f"| Power, typical | {values['power_typical_kw']['value']:.2f}".replace(".", "\\.") in results
    bill = roce.dataframe[0].value
    assert bill["Total (USD)"].sum() == pytest.approx(values["capex_usd"]["value"])
    assert any("](<https://" in one.value for one in roce.markdown)
    assert app.tabs[4].label.replace("\\", "") == "T5 Comparison · 64 GPUs"
    sides = app.tabs[4].dataframe[0].value.set_index("Quantity")
    assert sides.loc["capex", "RoCE"] == "$427k"
    assert sides.loc["tiers", "RoCE, low"] == ""


def test_the_bill_can_be_saved_as_csv(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    scripted.replies = [decision]
    app = opened(ask(open_page()), "calculations")
    saved = [one for one in app.get("download_button") if "csv" in one.proto.id]
    assert len(saved) == sum(bool(one["rows"]) for one in decision.calculations)


def test_ratings_are_kept_and_shown_again(
    open_page: Open, scripted: ScriptedAdvisor, decision: Answer, chats: ChatStore
) -> None:
    scripted.replies = [decision]
    app = ask(open_page())
    chat = app.query_params["chat"]
    app.feedback(key=f"rate-{chat}-1").set_value(0).run()
    app.text_input(key=f"why-{chat}-1").set_value("too dear").run()
    turn = chats.turns(chat)[0]
    assert (turn.rating, turn.comment) == (0, "too dear")
    again = open_page(chat=chat)
    assert again.feedback(key=f"rate-{chat}-1").value == 0
    assert again.text_input(key=f"why-{chat}-1").value == "too dear"


def test_notices_and_untraced_figures_are_visible(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    notice = "The model openai:m did not answer; this is the built-in text."
    grounding = Grounding(12, ("$9M",), ())
    scripted.replies = [replace(decision, notices=(notice,), grounding=grounding, model="openai:m#abc")]
    app = ask(open_page())
    shown = [one.value.replace("\\", "") for one in app.warning]
    assert shown == [notice, "Not traced to a source or a calculation: $9M"]
    assert "12 figures checked · openai:m · 0.12 s" in [one.value.replace("\\", "") for one in app.caption]


def test_hostile_text_stays_text(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    question = "<script>alert(1)</script> ![x](https://evil.example/p.png) $x$"
    text = "Quoted: <img src=x> ![x](https://evil.example/p.png) :red[x]"
    scripted.replies = [replace(decision, text=text)]
    app = ask(open_page(), question)
    assert not any(one.proto.allow_html for one in app.markdown)
    assert not any("![" in one.value.replace("\\![", "") for one in app.markdown)
    assert not any(":red[" in one.value.replace("\\:red[", "") for one in app.markdown)


def test_a_chat_can_be_deleted(open_page: Open, scripted: ScriptedAdvisor, decision: Answer, chats: ChatStore) -> None:
    scripted.replies = [decision]
    app = ask(open_page())
    chat = app.query_params["chat"]
    button(app, "Delete chat").click().run()
    assert not chats.exists(chat)
    assert app.title[0].value == "Fabric Advisor"
    assert "chat" not in app.query_params


def test_the_chosen_language_is_asked_for(open_page: Open, scripted: ScriptedAdvisor, decision: Answer) -> None:
    scripted.replies = [decision, decision]
    app = ask(open_page(), "RoCE or InfiniBand for 64 GPUs?")
    app.sidebar.segmented_control(key="language").set_value("zh").run()
    ask(app, "RoCE or InfiniBand for 64 GPUs?")
    assert scripted.languages == ["auto", "zh"]
