"""Going on from an answer: what is kept, what changes, and what only asks for the answer again."""

import pytest

from app.advisor.answer import Answer, Verdict
from app.advisor.question import Question, read_question
from app.advisor.spec import ClusterSpec

MODELS = ("a100", "h100", "h200", "b200", "b300")
VERDICT = Verdict("roce", "medium", (), ())
FIRST = "RoCE or IB for 128 GPUs over 4 years, strong network team?"


def earlier(kind: str = "decision", question: str = FIRST, language: str = "en") -> Answer:
    spec = ClusterSpec().changed({"gpus": 128, "years": 4, "network_team": "strong"})
    return Answer(question, language, kind, spec.to_json(), VERDICT if kind == "decision" else None, "t")  # type: ignore[arg-type]


def read(text: str, *history: Answer) -> Question:
    return read_question(text, history or (earlier(),), gpu_models=MODELS)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("not 128, 1024", {"gpus": 1024}),
        ("不是128，是1024", {"gpus": 1024}),
        ("three times that", {"gpus": 384}),
        ("twice the size", {"gpus": 256}),
        ("four times that size?", {"gpus": 512}),
        ("三倍呢", {"gpus": 384}),
        ("for 1024?", {"gpus": 1024}),
        ("add 64 more", {"gpus": 192}),
        ("over 3 years?", {"years": 3}),
        ("3年呢", {"years": 3}),
        ("with H200?", {"gpu_model": "h200"}),
        ("换成H200呢", {"gpu_model": "h200"}),
        ("at 200G?", {"gbps_per_gpu": 200}),
        ("cheaper option?", {"priority": "cost"}),
        ("is there a faster one?", {"priority": "performance"}),
        ("the budget is tight though", {"budget": "tight"}),
        ("we are not hybrid", {"hybrid": False}),
        ("what if we only have 100G links?", {"gbps_per_gpu": 100}),
        ("I meant nodes, not GPUs", {"gpus": 1024}),
    ],
)
def test_only_what_is_asked_changes(text: str, changed: dict[str, object]) -> None:
    question = read(text)
    assert question.spec == ClusterSpec().changed({"gpus": 128, "years": 4, "network_team": "strong"} | changed)
    assert (question.kind, question.in_domain) == ("decision", True)
    assert {"years", "network_team"} <= question.said


def test_the_network_of_a_gpu_that_is_named_comes_with_it() -> None:
    assert read("800G instead").spec.gbps_per_gpu == 800


@pytest.mark.parametrize(
    ("text", "before", "kind", "parts"),
    [
        ("what about the optics", "decision", "cost", ("optics",)),
        ("光模块呢", "decision", "cost", ("optics",)),
        ("电费呢", "decision", "cost", ("energy",)),
        ("power?", "decision", "cost", ("power",)),
        ("功耗呢？", "decision", "cost", ("power",)),
        ("and the staff?", "cost", "cost", ("staff",)),
        ("其中光模块占多少", "cost", "cost", ("optics",)),
        ("and the electricity, over 4 years at $0.10 per kWh?", "decision", "cost", ("energy",)),
        ("and the optics?", "sizing", "sizing", ("optics",)),
        ("and the latency?", "decision", "performance", ()),
        ("交换机要几台", "decision", "sizing", ("switches",)),
    ],
)
def test_a_part_of_the_bill_is_asked_of_the_same_cluster(
    text: str, before: str, kind: str, parts: tuple[str, ...]
) -> None:
    question = read(text, earlier(before))
    assert (question.kind, question.parts, question.spec.gpus, question.in_domain) == (kind, parts, 128, True)


@pytest.mark.parametrize(
    ("text", "again", "language"),
    [
        ("are you sure?", "sure", "en"),
        ("hm. are you sure?", "sure", "en"),
        ("ok but is that right?", "sure", "en"),
        ("嗯，你确定吗", "sure", "zh"),
        ("Really? Why?", "sure", "en"),
        ("so which one?", "sure", "en"),
        ("为什么", "sure", "zh"),
        ("is that right?", "sure", "en"),
        ("你确定？", "sure", "zh"),
        ("真的吗", "sure", "zh"),
        ("and in Chinese?", "zh", "zh"),
        ("用中文说一遍", "zh", "zh"),
        ("in English please", "en", "en"),
        ("why not InfiniBand?", "why_not", "en"),
        ("为什么不用IB", "why_not", "zh"),
    ],
)
def test_the_answer_is_asked_for_again(text: str, again: str, language: str) -> None:
    question = read(text)
    assert (question.again, question.language, question.kind) == (again, language, "decision")
    assert question.spec == ClusterSpec().changed({"gpus": 128, "years": 4, "network_team": "strong"})
    assert question.text == FIRST


def test_asked_twice_it_is_still_the_first_question() -> None:
    sure = Answer("are you sure?", "en", "decision", earlier().spec, VERDICT, "t")
    assert read("and in Chinese?", earlier(), sure).text == FIRST


def test_what_was_edited_stays_when_asked_again() -> None:
    edited = Answer(FIRST, "en", "decision", ClusterSpec().changed({"gpus": 96}).to_json(), VERDICT, "t")
    assert read("are you sure?", edited).spec.gpus == 96


@pytest.mark.parametrize("text", ["What is PFC?", "How do I reach 512 ports?", "Are you sure PFC is needed for RoCE?"])
def test_a_question_of_its_own_is_no_repetition(text: str) -> None:
    assert read(text).again is None


@pytest.mark.parametrize(
    ("text", "language"), [("H200?", "zh"), ("512?", "zh"), ("and for 512 GPUs?", "en"), ("thanks", "en")]
)
def test_a_question_without_words_stays_in_the_language(text: str, language: str) -> None:
    assert read(text, earlier(language="zh")).language == language


def test_nothing_goes_on_where_nothing_was_asked() -> None:
    question = read_question("for 1024?", (), gpu_models=MODELS)
    assert (question.follow_up, question.spec.gpus) == (False, None)
