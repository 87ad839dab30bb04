"""A configured model, over real HTTP on loopback: its prose is used, its figures are not."""

import socket
import time

import pytest
from pydantic import SecretStr

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer, Text
from app.advisor.figures import with_range
from app.advisor.model_setup import make_model
from app.errors import AdvisorError
from app.settings import Settings

from .chat_server import PROMPT_TOKENS, REPLY_TOKENS, ChatServer, Reply

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


def pieces(advisor: Advisor, url: str, question: str, **changes: object) -> tuple[list[tuple[float, str]], Answer]:
    """Every piece of text with its time since the question, and the answer."""
    settings = advisor.settings.model_copy(
        update={"model": "openai:scripted", "model_base_url": url, "model_timeout_s": 1.0, **changes}
    )
    asked = Advisor(settings, advisor.library, advisor.tools, make_model(settings)).ask(question)
    began, found, last = time.monotonic(), [], None
    for last in asked:
        if isinstance(last, Text):
            found.append((time.monotonic() - began, last.text))
    assert isinstance(last, Answer)
    assert "".join(text for _, text in found) == last.text
    return found, last


PFC_QUESTION = "How does InfiniBand stay lossless?"
CREDITS = "InfiniBand stays lossless by credits [1]. "


def test_sentences_come_one_by_one_while_the_model_still_writes(advisor: Advisor) -> None:
    reply = Reply(pieces=("InfiniBand stays lossless ", "by credits [1]. ", "Nothing ", "is dropped."), wait_s=0.4)
    with ChatServer(reply) as server:
        found, answer = pieces(advisor, server.url, PFC_QUESTION)
    first = next(at for at, text in found if "lossless" in text)
    last = next(at for at, text in found if "dropped" in text)
    assert last - first > 0.5  # the first sentence did not wait for the end
    assert answer.text == "InfiniBand stays lossless by credits [1]. Nothing is dropped."


def test_the_first_sentence_is_there_within_a_second_of_the_first_token(advisor: Advisor) -> None:
    reply = Reply(CREDITS * 2, wait_s=0.02)
    with ChatServer(reply) as server:
        pieces(advisor, server.url, PFC_QUESTION)  # imports and connections of the first time
        began = len(server.requests)
        found, _ = pieces(advisor, server.url, PFC_QUESTION)
        assert len(server.requests) == began + 1
    assert found[0][0] < 1.0


def test_reasoning_is_hidden(advisor: Advisor) -> None:
    with ChatServer(Reply("<think>RoCE is $9M?</think>" + CREDITS, reasoning="Let me think: $8M.")) as server:
        _, answer = pieces(advisor, server.url, PFC_QUESTION)
    assert answer.text == CREDITS.strip()
    assert answer.grounding.unsupported == ()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(first_wait_s=1.5, text=CREDITS), "took too long"),
        (Reply(text="a ", wait_s=0.5, endless=True), "took too long"),
        (Reply(text=""), "empty reply"),
        (Reply(text="<think>only thoughts"), "empty reply"),
        (Reply(status=401), "did not accept the key (status 401)"),
        (Reply(status=404), "not known to its server"),
        (Reply(status=429), "capacity or quota"),
        (Reply(status=500), "failed (status 500)"),
        (Reply(status=400, error="This model's maximum context length is 512 tokens"), "too small a context window"),
        (Reply(status=400, error="The response was filtered: content_filter"), "provider's filter"),
        (Reply(text="无损靠的是链路层的信用流控机制。"), "another language"),
        (Reply(text="RoCE costs $9M. It takes 77 ms."), "nothing that the evidence supports"),
        (Reply(text="and so on " * 400), "repeated itself without end"),
    ],
)
def test_each_fault_is_one_clear_notice_and_the_built_in_answer(advisor: Advisor, reply: Reply, words: str) -> None:
    builtin = advisor.answer(PFC_QUESTION)
    with ChatServer(reply) as server:
        _, answer = pieces(advisor, server.url, PFC_QUESTION)
    assert answer.text == builtin.text
    assert answer.model == "builtin"
    assert len(answer.notices) == 1 and words in answer.notices[0]
    assert "built-in text" in answer.notices[0]
    assert answer.citations == builtin.citations


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(CREDITS, breaks_off=True), ""),
        (Reply(pieces=(CREDITS, "And ", "then "), wait_s=0.2, endless=True), "repeated itself"),
        (Reply(pieces=(CREDITS, "x", "y", "z", "a", "b", "c"), wait_s=0.7), "took too long"),
    ],
)
def test_what_was_checked_before_a_fault_is_kept(advisor: Advisor, reply: Reply, words: str) -> None:
    with ChatServer(reply) as server:
        _, answer = pieces(advisor, server.url, PFC_QUESTION)
    assert answer.text.startswith(CREDITS.strip())
    if words:
        assert words in answer.notices[0]
        assert advisor.answer(PFC_QUESTION).text[:80] in answer.text


def test_stopping_the_answer_lets_the_server_go(advisor: Advisor) -> None:
    with ChatServer(
        Reply(pieces=(CREDITS, *(f"Then {at}. " for at in "abcdefgh")), wait_s=0.05, endless=True)
    ) as server:
        settings = advisor.settings.model_copy(update={"model": "openai:scripted", "model_base_url": server.url})
        asked = Advisor(settings, advisor.library, advisor.tools, make_model(settings)).ask(PFC_QUESTION)
        kept = ""
        for event in asked:
            if isinstance(event, Text):
                kept += event.text
                if "lossless" in kept:
                    break
        asked.close()  # type: ignore[attr-defined]
        deadline = time.monotonic() + 5
        while not server.gave_up and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.gave_up == 1
    assert kept.startswith("InfiniBand stays")


def test_one_repair_names_the_fault(advisor: Advisor) -> None:
    with ChatServer("RoCE costs {T3.capex_usd}.", "RoCE costs {T4.capex_usd}.") as server:
        answer = ask(advisor, server.url, EN)
        asked_again = server.requests[1]["messages"]
    assert "is of infiniband, not of roce" in asked_again[-1]["content"]
    assert answer.notices == ()
    assert answer.usage["repairs"] == 1
    assert "RoCE costs $427k" in answer.text


def test_a_comparison_the_wrong_way_round_falls_back(advisor: Advisor) -> None:
    builtin = advisor.answer(EN)
    with ChatServer("RoCE at {T4.capex_usd} is cheaper than InfiniBand at {T3.capex_usd}.") as server:
        answer = ask(advisor, server.url, EN)  # 427k is not less than 412k
    assert answer.text == builtin.text
    assert "contradicted" in answer.notices[0]


def test_a_calculator_may_be_called_and_its_result_is_a_calculation_of_the_answer(advisor: Advisor) -> None:
    call = Reply(calls=(("cost", {"gpus": 256, "fabric": "roce", "oversubscription": 3.0}),))
    with ChatServer(call, "With three to one at the spine RoCE costs {T9.capex_usd}.") as server:
        answer = ask(advisor, server.url, EN)
        told = server.requests[1]["messages"][-1]
    assert told["role"] == "tool" and told["content"].startswith("T9 cost roce (") and "gpus=256" in told["content"]
    made = answer.calculations[-1]
    assert (made["id"], made["inputs"]["gpus"], made["inputs"]["oversubscription"]) == ("T9", 256, 3.0)
    assert f"RoCE costs {with_range(made['values']['capex_usd'], 'en')}." in answer.text
    assert answer.usage["tool_calls"] == 1


@pytest.mark.parametrize(
    "printed",
    [
        '{"name": "size", "arguments": {"gpus": 256, "fabric": "roce"}}',
        '```json\n{"name": "size", "parameters": {"gpus": 256, "fabric": "roce"}}\n```',
        '<tool_call>\n{"name": "size", "arguments": {"gpus": 256, "fabric": "roce"}}\n</tool_call>',
        '[{"function": {"name": "size", "arguments": "{\\"gpus\\": 256, \\"fabric\\": \\"roce\\"}"}}]',
    ],
)
def test_a_tool_call_printed_as_text_is_run_and_not_shown(advisor: Advisor, printed: str) -> None:
    with ChatServer(printed, "It has {T1.leaf_switches} leaf switches.") as server:
        answer = ask(advisor, server.url, PFC_QUESTION)
    assert "gpus" not in answer.text
    size = answer.calculations[0]
    assert size["inputs"]["gpus"] == 256
    assert answer.text == f"It has {size['values']['leaf_switches']['value']} leaf switches."


def test_errors_of_tools_reach_the_model_as_text(advisor: Advisor) -> None:
    call = Reply(calls=(("cost", {"gpus": -5, "fabric": "roce"}), ("size", {"gpus": "many"}), ("nothing", {})))
    with ChatServer(call, CREDITS) as server:
        answer = ask(advisor, server.url, PFC_QUESTION)
        told = [one["content"] for one in server.requests[1]["messages"] if one["role"] == "tool"]
    assert len(told) == 3 and all("rror" in one for one in told)
    assert answer.text == CREDITS.strip()


def test_a_search_by_the_model_gives_passages_to_cite(advisor: Advisor) -> None:
    with ChatServer(Reply(calls=(("search", {"query": "PFC deadlock"}),)), CREDITS) as server:
        answer = ask(advisor, server.url, PFC_QUESTION)
        told = server.requests[1]["messages"][-1]["content"]
    assert told.startswith("[") and "PFC" in told
    assert answer.usage["tool_calls"] == 1


def test_endless_tool_calls_end(advisor: Advisor) -> None:
    with ChatServer(Reply(calls=(("size", {"gpus": 64, "fabric": "roce"}),))) as server:
        answer = ask(advisor, server.url, PFC_QUESTION)
        assert len(server.requests) <= 9
    assert "kept calling tools" in answer.notices[0]
    assert answer.text == advisor.answer(PFC_QUESTION).text


def test_a_server_without_tools_is_asked_again_without_them(advisor: Advisor) -> None:
    refusal = Reply(status=500, error="tools param requires --jinja flag")
    with ChatServer(refusal, refusal, CREDITS) as server:  # the client tries once more by itself
        answer = ask(advisor, server.url, PFC_QUESTION)
        assert "tools" not in server.requests[-1]
    assert answer.text == CREDITS.strip()


def test_the_key_goes_to_the_provider_and_nowhere_else(advisor: Advisor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    key = "sk-very-secret-7731"
    with ChatServer(401) as server:
        settings = advisor.settings.model_copy(
            update={"model": "openai:scripted", "model_base_url": server.url, "model_api_key": SecretStr(key)}
        )
        answer = Advisor(settings, advisor.library, advisor.tools, make_model(settings)).answer(EN)
        assert server.authorizations[0] == f"Bearer {key}"
        assert key not in str(server.requests)
    assert key not in str(answer.to_json())
    assert key not in repr(settings)
    assert key not in caplog.text


def test_told_that_it_is_otherwise_the_figure_stays_with_the_reason(advisor: Advisor) -> None:
    before = advisor.answer(EN)
    after = advisor.answer("No, RoCE costs $5M.", [before])
    assert after.calculations == before.calculations
    assert after.verdict is not None and before.verdict is not None
    assert after.verdict.choice == before.verdict.choice
    assert after.text.startswith("You say $5M. Computed again from the same inputs, the price to buy is: RoCE $427k")
    assert "stays" in after.text.split("\n")[0]
    assert advisor.answer("不对，RoCE 是 500万美元", [before]).text.startswith("您提出 500万美元。")
    with ChatServer("You are right, RoCE costs $5M.") as server:  # the user's own figure, said of RoCE
        settings = advisor.settings.model_copy(update={"model": "openai:scripted", "model_base_url": server.url})
        model = Advisor(settings, advisor.library, advisor.tools, make_model(settings))
        answer = model.answer("No, RoCE costs $5M.", [before])
    assert "You are right" not in answer.text


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("openai:gpt-5", "There is no key for openai:gpt-5"),
        ("nosuchprovider:x", "cannot be set up"),
        ("gpt", "names no provider"),
    ],
)
def test_without_a_usable_model_the_built_in_answer_comes_with_a_notice(
    advisor: Advisor, monkeypatch: pytest.MonkeyPatch, model: str, words: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    opened = Advisor.open(advisor.settings.model_copy(update={"model": model}))
    answer = opened.answer(EN)
    assert answer.text == advisor.answer(EN).text
    assert len(answer.notices) == 1
    assert words in answer.notices[0] and "built-in text" in answer.notices[0]
    opened.library.close()


def test_tokens_are_counted_also_at_servers_with_a_base_url(advisor: Advisor) -> None:
    call = Reply(calls=(("size", {"gpus": 64, "fabric": "roce"}),))
    with ChatServer(call, CREDITS) as server:
        answer = ask(advisor, server.url, PFC_QUESTION)
    assert answer.usage["model_calls"] == 2
    assert answer.usage["input_tokens"] == 2 * PROMPT_TOKENS
    assert answer.usage["output_tokens"] == 2 * REPLY_TOKENS
