"""Long chats with a model: its window is kept, the evidence is whole, the newest turn is there."""

from dataclasses import replace

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.model_history import HEAD, earlier
from app.advisor.model_setup import make_model
from app.advisor.model_window import ASSUMED_TOKENS, tokens_of, window_tokens
from app.doctor import model_checks

from .chat_server import ChatServer, Reply

CREDITS = "InfiniBand stays lossless by credits [1].\n"
ASKED = "How does InfiniBand stay lossless?"
LAST = "Does a 2,048-GPU cluster need three tiers?"


@pytest.fixture(scope="module")
def long_chat(advisor: Advisor) -> list[Answer]:
    """Forty turns in both languages, each different, the last one of 2,048 GPUs."""
    english = advisor.answer("RoCE vs IB for a 64-GPU cluster")
    chinese = advisor.answer("256张H100选RoCE还是InfiniBand？")
    turns = [
        replace(one, question=f"{one.question} ({number})") for number in range(20) for one in (english, chinese)
    ]
    return [*turns[:-1], advisor.answer(LAST)]


def sent(advisor: Advisor, history: list[Answer], *replies: str | Reply, **changes: object) -> tuple[list[str], Answer]:
    """The human messages that the server was sent, one of each request, and the answer."""
    listed = changes.pop("listed", None)
    with ChatServer(*(replies or (CREDITS,)), listed=listed) as server:  # type: ignore[arg-type]
        update = {"model": "openai:scripted", "model_base_url": server.url, "model_tool_calls": 0, **changes}
        settings = advisor.settings.model_copy(update=update)
        answer = Advisor(settings, advisor.library, advisor.tools, make_model(settings)).answer(ASKED, history)
        return [one["messages"][1]["content"] for one in server.requests], answer


@pytest.mark.parametrize(("window", "told"), [(6_000, 1), (8_192, 2), (16_000, 25), (128_000, 40)])
def test_forty_turns_fit_whatever_the_window(
    advisor: Advisor, long_chat: list[Answer], window: int, told: int
) -> None:
    alone = sent(advisor, [])[0][0]
    prompt, answer = sent(advisor, long_chat, model_context_tokens=window)
    assert prompt[0].endswith(alone)  # the evidence, whole
    assert tokens_of(prompt[0]) < 0.8 * window
    assert LAST in prompt[0]
    assert prompt[0].count("- asked: ") >= told
    assert answer.text == CREDITS.strip() and not answer.notices


def test_what_is_too_old_is_told_in_one_line(long_chat: list[Answer]) -> None:
    lines = earlier(long_chat, 900)
    assert lines[0] == HEAD and LAST in lines[-2]
    assert lines[1].startswith("- before that, ") and "clusters of 64, 256 GPUs" in lines[1]
    assert sum(one.startswith("- asked") for one in lines) + int(lines[1].split()[3]) == len(long_chat)
    assert sum(map(tokens_of, lines)) <= 900


def test_no_room_is_no_history(long_chat: list[Answer]) -> None:
    assert earlier(long_chat, 40) == [] == earlier([], 100_000)


def test_of_the_newest_more_is_told_than_of_the_others(long_chat: list[Answer]) -> None:
    turns = [one for one in earlier(long_chat, 100_000) if one.startswith("- asked")]
    assert len(turns) == 40
    assert len(turns[-2]) > 1.5 * len(turns[0])


def test_a_window_smaller_than_believed_costs_the_history_not_the_answer(
    advisor: Advisor, long_chat: list[Answer]
) -> None:
    refused = Reply(status=400, error="This model's maximum context length is 4096 tokens.")
    prompts, answer = sent(advisor, long_chat, refused, CREDITS)
    assert HEAD in prompts[0] and HEAD not in prompts[-1]
    assert answer.text == CREDITS.strip() and not answer.notices


def test_where_the_evidence_alone_is_too_long_that_is_one_line(advisor: Advisor, long_chat: list[Answer]) -> None:
    refused = Reply(status=400, error="This model's maximum context length is 512 tokens.")
    _, answer = sent(advisor, long_chat, refused)
    assert len(answer.notices) == 1 and "context" in answer.notices[0]
    assert answer.text == advisor.answer(ASKED, long_chat).text


@pytest.mark.parametrize(
    ("listed", "tokens"),
    [
        ({"max_model_len": 32768}, 32768),  # vLLM
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 131072}}, 4096),  # llama.cpp
        ({"context_length": 65536}, 65536),
        ({"owned_by": "somebody"}, ASSUMED_TOKENS),
        ({"max_model_len": "many"}, ASSUMED_TOKENS),
        (None, ASSUMED_TOKENS),
    ],
)
def test_the_window_is_what_the_server_lists(
    advisor: Advisor, listed: dict[str, object] | None, tokens: int
) -> None:
    with ChatServer("Ready.", listed=listed) as server:
        settings = advisor.settings.model_copy(update={"model": "openai:scripted", "model_base_url": server.url})
        model = make_model(settings)
        assert model is not None
        assert window_tokens(model) == tokens
        assert window_tokens(model, 5000) == 5000
        told = {one.name: one.message for one in model_checks(settings)}
    assert f"{tokens:,} tokens" in told["model window"]


def test_tokens_of_a_passage_are_about_right(advisor: Advisor) -> None:
    """Against the tokenizer of the embedding model, whose vocabulary is for both languages."""
    embeddings = advisor.library._parts.embeddings
    topics = ["infiniband-lossless", "roce-configuration", "nccl-settings", "managed-gpu-clouds", "ascend-fabric"]
    texts = [
        passage.text
        for topic in topics
        for language in ("en", "zh")
        for passage in advisor.library.note_passages(topic, language)  # type: ignore[arg-type]
    ]
    assert len(texts) > 20
    for text in texts:
        count = embeddings.count_tokens(text)  # type: ignore[attr-defined]
        assert 0.8 * count <= tokens_of(text) <= 2 * count, text  # a quarter of the window is kept free
