"""What-if questions through a model's tools: a scripted model calls calculators one after the other, over real HTTP.

The figures of the final text are references; what they come to is worked out by hand here or in tests/fabric.
"""

from typing import Any

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.figures import with_range

from .chat_server import ChatServer, Reply
from .test_model_writer import ask

WHAT_IF = "Keep my 40 SN4700s, add 256 H200s, 3:1 to the spine, what breaks?"
KEPT = {"keep": "40x sn4700", "add_gpus": 256, "oversubscription": 3.0}


def told(server: ChatServer, request: int) -> str:
    """What the tools answered to the calls of the reply before."""
    messages = server.requests[request]["messages"]
    return "\n".join(one["content"] for one in messages if one["role"] == "tool")


def value(answer: Answer, identity: str, name: str) -> Any:
    calculation = next(one for one in answer.calculations if one["id"] == identity)
    return with_range(calculation["values"][name], answer.language)


def test_the_what_if_of_kept_switches_in_two_calls(advisor: Advisor) -> None:
    """The planner has T1; the model asks what else may hang on them (T2) and what a new fabric costs (T3)."""
    grown = Reply(calls=(("grow", KEPT | {"gpus_there": 768}),))
    priced = Reply(calls=(("cost", {"gpus": 1024, "fabric": "roce", "switch": "sn5600", "oversubscription": 3.0}),))
    text = (
        "Nothing breaks while at most {T1.spare_gpus} hang on them, and {T1.idle_switches} switches stand idle. "
        "At {T2.planned_gpus} two tiers of SN4700 are at an end, {T2.two_tier_gpus}: buy {T2.to_buy}. "
        "A RoCE network of new switches alone comes to {T3.capex_usd}. It breaks at 9,999 GPUs."
    )
    with ChatServer(grown, priced, text) as server:
        answer = ask(advisor, server.url, WHAT_IF)
        first, second = told(server, 1), told(server, 2)
    assert "T2 breaks: Two tiers of {T2.kept_model} end at {T2.two_tier_gpus}" in first
    assert "{T2.to_buy} = 8 × NVIDIA Spectrum-3 SN4700, 4 × NVIDIA Spectrum-4 SN5600" in first
    assert "{T3.capex_usd}" in second
    assert [(one["id"], one["tool"]) for one in answer.calculations] == [("T1", "grow"), ("T2", "grow"), ("T3", "cost")]
    assert "while at most 512 GPUs hang on them, and 21 switches stand idle." in answer.text
    assert "At 1,024 GPUs two tiers of SN4700 are at an end, 768 GPUs: buy 8 × NVIDIA Spectrum-3 SN4700" in answer.text
    assert f"comes to {value(answer, 'T3', 'capex_usd')}." in answer.text
    assert answer.text.startswith("**No switch has to be bought: 19 of the 40")  # the headline is ours
    assert "9,999" not in answer.text and answer.grounding.unsupported == ("9,999",)
    assert answer.usage["tool_calls"] == 2 and answer.notices == ()
    linked = {(one.calculation, one.value) for one in answer.references}
    assert {("T1", "spare_gpus"), ("T2", "to_buy"), ("T3", "capex_usd")} <= linked


def test_half_speed_nics_and_the_step_that_they_cost(advisor: Advisor) -> None:
    """Not foreseen: cheaper NICs against a slower step. (Calls of one turn run side by side, so their numbers may
    change places; the model reads which is which.)"""
    job = {"model": "llama3-70b", "gpus": 256, "gpu": "h100"}
    fast, slow = (Reply(calls=(("training", job | {"nic_gbps": gbps}),)) for gbps in (400, 200))
    text = "At full speed a step takes {T1.step_time_s}, with NICs of half the speed {T2.step_time_s}."
    with ChatServer(fast, slow, text) as server:
        answer = ask(advisor, server.url, "Would our training notice NICs of half the speed?")
        assert told(server, 2).count("step_time_s} =") == 2
    full, half = (one for one in answer.calculations if one["tool"] == "training")
    assert half["values"]["step_time_s"]["value"] > full["values"]["step_time_s"]["value"]
    assert value(answer, full["id"], "step_time_s") in answer.text
    assert value(answer, half["id"], "step_time_s") in answer.text


def test_more_gpus_and_the_failures_that_come_with_them_in_chinese(advisor: Advisor) -> None:
    """Not foreseen: growth of the cluster against its goodput, in Chinese, sizes first and then failures."""
    size = Reply(calls=(("size", {"gpus": 2048, "fabric": "infiniband", "switch": "qm9700"}),))
    goodput = Reply(calls=(("goodput", {"gpus": 2048}),))
    text = (
        "扩大后需要 {T1.leaf_switches} 台叶交换机和 {T1.spine_switches} 台脊交换机。届时平均每 {T2.mtbf_h} 中断一次。"
    )
    with ChatServer(size, goodput, text) as server:
        answer = ask(advisor, server.url, "机房腾出两排，规模翻番以后运维会不会吃不消？")
    assert "扩大后需要 64 台叶交换机和 32 台脊交换机。" in answer.text  # 2N/r and N/r of 2,048 GPUs, radix 64
    assert f"平均每 {value(answer, 'T2', 'mtbf_h')} 中断一次" in answer.text
    assert answer.language == "zh" and answer.grounding.unsupported == ()


def test_an_error_says_how_to_mend_the_call_and_the_mended_call_is_used(advisor: Advisor) -> None:
    wrong = Reply(calls=(("grow", KEPT | {"keep": "forty sn4700"}),))
    mended = Reply(calls=(("grow", KEPT | {"gpus_there": 512}),))
    with ChatServer(wrong, mended, "With those there {T2.kept_switches} switches are in use.") as server:
        answer = ask(advisor, server.url, WHAT_IF)
        error = told(server, 1)
    assert error.startswith("Error: ") and "for example 40x sn4700, 4x sn5600" in error
    assert "With those there 40 switches are in use." in answer.text
    assert [one["inputs"]["gpus_there"] for one in answer.calculations] == [0, 512]


@pytest.mark.parametrize(
    "printed",
    [
        '{"name": "grow", "arguments": {"keep": "40x sn4700", "add_gpus": 256, "gpus_there": 512}}',
        '```json\n{"tool": "grow", "args": {"keep": "40x sn4700", "add_gpus": "256", "gpus_there": "512"}}\n```',
    ],
)
def test_a_call_printed_as_text_is_run_and_not_shown(advisor: Advisor, printed: str) -> None:
    with ChatServer(printed, "Even so {T2.bought_switches} have to be bought.") as server:
        answer = ask(advisor, server.url, WHAT_IF)
    # 768 GPUs at 1:1 are 96 nodes, 6 leaves of 16 a rail: 48 leaves, over the 32 ports of an SN4700 spine
    bought = next(one for one in answer.calculations if one["id"] == "T2")["values"]["bought_switches"]["value"]
    assert bought > 0 and f"Even so {bought} have to be bought." in answer.text
    assert "gpus_there" not in answer.text and "{" not in answer.text


def test_calls_beyond_the_limit_are_not_run_and_the_text_is_still_written(advisor: Advisor) -> None:
    limit = advisor.settings.model_tool_calls
    many = Reply(calls=tuple(("size", {"gpus": 64 - at, "fabric": "roce"}) for at in range(limit + 3)))
    with ChatServer(many, "One of them has {T2.leaf_switches} leaves.") as server:
        answer = ask(advisor, server.url, WHAT_IF)
        answers = [one["content"] for one in server.requests[1]["messages"] if one["role"] == "tool"]
    assert len(answers) == limit + 3
    assert sum("limit" in one.lower() for one in answers) >= 3
    assert answer.usage["tool_calls"] <= limit
    assert len(answer.calculations) <= 1 + limit
    assert "One of them has 2 leaves." in answer.text  # the calls run side by side: any of them may be T2


def test_a_wrong_figure_about_the_kept_switches_never_shows(advisor: Advisor) -> None:
    with ChatServer("All 37 switches have to go. Only {T1.idle_switches} stand idle.") as server:
        answer = ask(advisor, server.url, WHAT_IF)
    assert "37" not in answer.text and answer.grounding.unsupported == ("37",)
    assert "Only 21 stand idle." in answer.text


def test_the_same_call_again_is_the_same_calculation(advisor: Advisor) -> None:
    again = Reply(calls=(("grow", KEPT),))
    with ChatServer(again, "{T1.kept_switches} are kept.") as server:
        answer = ask(advisor, server.url, WHAT_IF)
        assert told(server, 1).startswith("T1 grow roce (")
    assert [one["id"] for one in answer.calculations] == ["T1"]
