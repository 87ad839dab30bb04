"""A configured model, over real HTTP on loopback: its prose is used, its figures are not."""

import socket

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.figures import with_range
from app.advisor.model_setup import make_model
from app.errors import AdvisorError
from app.settings import Settings

from .chat_server import ChatServer

EN = "RoCE vs IB for a 64-GPU cluster"


def ask(advisor: Advisor, url: str, question: str) -> Answer:
    settings = advisor.settings.model_copy(
        update={"model": "openai:scripted", "model_base_url": url, "model_timeout_s": 5.0}
    )
    return Advisor(settings, advisor.library, advisor.tools, make_model(settings)).answer(question)


def test_the_prose_is_the_models_the_verdict_and_the_figures_are_ours(advisor: Advisor) -> None:
    builtin = advisor.answer(EN)
    reply = "For two switches the RoCE network comes to {T4.capex_usd}. Prices follow the switches chosen."
    with ChatServer(reply) as server:
        answer = ask(advisor, server.url, EN)
    assert answer.model.startswith("openai:scripted#")
    assert answer.verdict is not None and builtin.verdict is not None
    assert answer.verdict.choice == builtin.verdict.choice
    assert answer.calculations == builtin.calculations
    shown = next(one for one in answer.calculations if one["id"] == "T4")["values"]["capex_usd"]
    assert f"For two switches the RoCE network comes to {with_range(shown, 'en')}. " in answer.text
    assert "{T4" not in answer.text
    assert answer.text.startswith("**RoCE (Ethernet)** for 64 GPUs")
    assert answer.grounding.unsupported == ()
    assert answer.notices == ()


def test_a_made_up_figure_is_not_shown_and_is_counted(advisor: Advisor) -> None:
    with ChatServer("RoCE costs $9.99M. It runs on Ethernet.") as server:
        answer = ask(advisor, server.url, EN)
    assert "9.99" not in answer.text
    assert "It runs on Ethernet." in answer.text
    assert answer.grounding.unsupported == ("$9.99M",)


def test_figures_on_the_wrong_fabric_fall_back_to_the_built_in_text(advisor: Advisor) -> None:
    builtin = advisor.answer(EN)
    with ChatServer("RoCE costs {T3.capex_usd}, which is less.") as server:  # T3 is InfiniBand's cost
        answer = ask(advisor, server.url, EN)
    assert answer.text == builtin.text
    assert answer.model == "builtin"
    assert "contradicted" in answer.notices[0]


def test_unknown_references_and_markers_are_dropped(advisor: Advisor) -> None:
    with ChatServer("The price is {T99.capex_usd}. InfiniBand uses credits [1][77].") as server:
        answer = ask(advisor, server.url, "How does InfiniBand stay lossless?")
    assert "T99" not in answer.text
    assert answer.text == "InfiniBand uses credits [1]."
    assert [citation.marker for citation in answer.citations] == [1]


@pytest.mark.parametrize("reply", [500, 429, 401, ""])
def test_a_failing_model_falls_back_with_a_notice(advisor: Advisor, reply: str | int) -> None:
    builtin = advisor.answer(EN)
    with ChatServer(reply) as server:
        answer = ask(advisor, server.url, EN)
    assert answer.text == builtin.text
    assert "built-in text" in answer.notices[0]


def test_an_unreachable_model_falls_back_with_a_notice_in_the_language(advisor: Advisor) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    answer = ask(advisor, f"http://127.0.0.1:{port}/v1", "64卡集群用RoCE还是InfiniBand？")
    assert "内置文本" in answer.notices[0]
    assert answer.verdict is not None


def test_the_model_sees_evidence_and_no_secret(advisor: Advisor) -> None:
    with ChatServer("InfiniBand uses credits [1].") as server:
        ask(advisor, server.url, "How does InfiniBand stay lossless?")
        sent = str(server.requests[0]["messages"])
    assert "How does InfiniBand stay lossless?" in sent
    assert "[1] How InfiniBand is lossless" in sent


def test_a_model_that_cannot_be_set_up_is_an_error_with_a_remedy(advisor: Advisor) -> None:
    for model in ("gpt", "nosuchprovider:x"):
        with pytest.raises(AdvisorError) as caught:
            make_model(Settings(model=model, _env_file=None))  # type: ignore[call-arg]
        assert caught.value.remedy
