"""Serving on one server, failures as a share, and what an answer says when it is doubted: with the real notes."""

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer


def value(answer: Answer, tool: str, name: str, label: str = "") -> float:
    one = next(one for one in answer.calculations if one["tool"] == tool and one["label"] == label)
    return float(one["values"][name]["value"])


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("one 8xH100 node for Llama 70B, do I need InfiniBand?", "**On one server nothing crosses the network"),
        ("Serving Llama 3 70B on a single server of 8 H100s: which network?", "**On one server nothing crosses"),
        ("一台服务器8张H100跑70B推理要不要IB", "**单台服务器内没有任何流量跨网络，因此不需要 InfiniBand 或 RoCE"),
    ],
)
def test_a_model_that_fits_one_server_needs_no_fabric(advisor: Advisor, question: str, start: str) -> None:
    answer = advisor.answer(question)
    assert answer.text.startswith(start)
    assert value(answer, "inference", "weights_gbytes") < value(answer, "inference", "memory_usable_gbytes")
    assert not answer.grounding.unsupported
    assert not answer.grounding.contradictions


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Serve Llama 3 405B on one 8x H100 node: what network?", "**Llama 3 405B does not fit on one server"),
        ("单机8卡H100推理Llama 3 405B，要RDMA吗", "**Llama 3 405B 在一台服务器里放不下"),
    ],
)
def test_a_model_that_does_not_fit_is_said_not_to(advisor: Advisor, question: str, start: str) -> None:
    answer = advisor.answer(question)
    assert answer.text.startswith(start)
    assert value(answer, "inference", "weights_gbytes") > value(answer, "inference", "memory_usable_gbytes")
    assert not answer.grounding.unsupported


def test_two_servers_are_not_one(advisor: Advisor) -> None:
    answer = advisor.answer("two servers with 8 H100 each serving Llama 70B, is RoCE enough?")
    assert answer.spec["gpus"] == 16
    assert answer.text.startswith("**No, 400G RDMA on every NIC is not needed")


@pytest.mark.parametrize(
    "question",
    ["4096 H100s for Llama training. Share of the run lost to failures?", "4096张H100训练，故障会浪费多少时间"],
)
def test_time_lost_to_failures_is_the_goodput(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    assert [one["tool"] for one in answer.calculations] == ["goodput"]
    assert answer.calculations[0]["inputs"]["gpus"] == 4096


def test_being_doubted_changes_nothing_and_says_what_it_rests_on(advisor: Advisor) -> None:
    first = advisor.answer("RoCE or IB for 128 GPUs?")
    again = advisor.answer("are you sure?", [first])
    assert first.verdict and again.verdict
    assert (again.verdict.choice, again.verdict.reasons) == (first.verdict.choice, first.verdict.reasons)
    assert "the verdict stands, with medium confidence" in again.text
    assert first.verdict.reasons[0].text in again.text.split("#### Why")[0]
    assert "8 GPUs per node" in again.text
    assert not again.grounding.unsupported


def test_the_same_answer_in_the_other_language(advisor: Advisor) -> None:
    first = advisor.answer("RoCE or IB for 128 GPUs?")
    again = advisor.answer("and in Chinese?", [first])
    assert again.language == "zh"
    assert again.text.startswith("**RoCE（以太网）**（128 卡集群")
    assert [one["values"] for one in again.calculations if one["tool"] == "cost"] == [
        one["values"] for one in first.calculations if one["tool"] == "cost"
    ]


def test_why_not_the_other_names_what_weighs_against_it(advisor: Advisor) -> None:
    first = advisor.answer("RoCE or IB for 128 GPUs, performance first?")
    other = "RoCE" if first.verdict and first.verdict.choice == "infiniband" else "InfiniBand"
    again = advisor.answer(f"why not {other}?", [first])
    assert f"You asked why not {other}" in again.text
    assert again.verdict and first.verdict and again.verdict.choice == first.verdict.choice


@pytest.mark.parametrize(
    ("question", "name", "lead"),
    [
        ("what about the optics", "optics_and_cables_usd", "**Optics and cables: "),
        ("power?", "power_typical_kw", "**Typical power of the network: "),
        ("电费呢", "energy_usd", "**网络 5 年的电费：InfiniBand "),
    ],
)
def test_a_part_of_the_bill_leads_the_answer(advisor: Advisor, question: str, name: str, lead: str) -> None:
    first = advisor.answer("RoCE or IB for 128 GPUs?" if question.isascii() else "128卡用IB还是RoCE？")
    answer = advisor.answer(question, [first])
    assert answer.text.startswith(lead)
    shown = {one.value for one in answer.references if one.end < answer.text.index("\n")}
    assert shown == {name}


def test_a_range_is_told_in_the_assumptions(advisor: Advisor) -> None:
    answer = advisor.answer("200-300 GPUs, RoCE or IB?")
    assert answer.spec["gpus"] == 300
    assert any("200 to 300 was said" in one.text for one in answer.assumptions)
