"""Switches that are there, as people speak of them, and the built-in answers on what becomes of them."""

from typing import Any

import pytest

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.numerals import normalise_numbers
from app.advisor.spec import ClusterSpec
from app.advisor.stock_question import stock_said
from app.advisor.tools import network_speeds, switch_names

EN = "Keep my 40 SN4700s, add 256 H200s, 3:1 to the spine, what breaks?"
ZH = "保留现有的 40 台 SN4700，新增 256 块 H200，脊层 3:1 收敛，会有什么问题？"


def said(advisor: Advisor, text: str, carried: ClusterSpec | None = None) -> dict[str, Any]:
    names, models = switch_names(advisor.tools.catalog), tuple(network_speeds(advisor.tools.accelerators))
    return stock_said(normalise_numbers(text), names, models, carried or ClusterSpec())


@pytest.mark.parametrize(
    ("text", "keep", "there", "gpus"),
    [
        (EN, "40x sn4700", None, 256),
        (ZH, "40x sn4700", None, 256),
        ("We have 512 H100s on 40 SN4700s. Can we add another 256 H200s?", "40x sn4700", 512, 768),
        ("I own 12 QM9700 with 128 H100; grow to 640 GPUs", "12x qm9700", 128, 640),
        ("已有 512 张 H100 接在 40 台 SN4700 上，再加 256 张 H200，要买几台交换机？", "40x sn4700", 512, 768),
        ("How many GPUs can my 40 SN4700 switches carry at 2:1?", "40x sn4700", None, None),
        ("现有 20 台 SN4700 和 4 台 SN5600，能带多少块 GPU？", "20x sn4700, 4x sn5600", None, None),
        ("SN4700 交换机有 40 台，扩到 1024 卡够不够？", "40x sn4700", None, 1024),
        ("We keep 8 Quantum-2 QM9790 and add 32 A100 nodes", "8x qm9790", None, 256),
        ("We have 2 SN5600. Add 64 more GPUs to our 64?", "2x sn5600", 64, 128),
        ("Can my 40 SN4700 carry 512 H100?", "40x sn4700", None, 512),
        ("Our 16 QM9700 run 512 GPUs. Can we double the cluster?", "16x qm9700", 512, 1024),
        ("I have forty SN4700 switches and want 4000 GPUs next year", "40x sn4700", None, 4000),
        ("四十台 SN4700 不换，增加 256 卡", "40x sn4700", None, 256),
        ("保留现有40台SN4700，新增256张H200，3:1收敛，会有什么问题？", "40x sn4700", None, 256),
        ("机房里有24台QM9700，已接了300张H100，再加128张会不会不够？", "24x qm9700", 300, 428),
        ("We run 32 SN5600s today with 512 H200 on them; a 256 GPU extension is coming at 2:1", "32x sn5600", 512, 768),
        ("We run 32 SN5600s with 512 H200 on them; then 256 GPUs at 2:1 - enough?", "32x sn5600", 512, 768),
        ("We run 32 SN5600s with 512 H200 on them. Do they carry 1,024 GPUs?", "32x sn5600", 512, 1024),
        ("We run 40 SN4700 with 320 A100 on them, 128 H100 arrive in march", "40x sn4700", 320, 448),
        ("We've got 32 QM8700 and 256 A100s and want to go to 512", "32x qm8700", 256, 512),
        (
            "We operate 24 Arista 7060X6-64PE carrying 1,024 H100s. An extension of 512 is planned",
            "24x 7060x6-64pe",
            1024,
            1536,
        ),
        ("机房里24台QM9700，挂着256张H100，再加256张够不够？", "24x qm9700", 256, 512),
        ("现网36台SN5600跑着1024张H200，计划扩容512张，收敛比2:1，盒子够吗", "36x sn5600", 1024, 1536),
        ("24台QM9700跑了256张H100，明年128张H200到货，要买什么？", "24x qm9700", 256, 384),
    ],
)
def test_what_is_there_and_what_is_planned(
    advisor: Advisor, text: str, keep: str, there: int | None, gpus: int | None
) -> None:
    found = said(advisor, text)
    assert (found["keep"], found.get("gpus_there"), found.get("gpus")) == (keep, there, gpus)


@pytest.mark.parametrize(
    "text",
    [
        "64 GPUs on 2 SN5600 switches: RoCE or IB?",
        "We have 256 GPUs and want to buy 20 SN5600",
        "How much do 40 SN4700 switches cost?",
        "Is the SN4700 any good for 256 GPUs?",
        "我们有 256 块 GPU，想买 20 台 SN5600",
        "新机房要24台QM9700，256张H100够不够？",
        "A design of 24 QM9700 that carries 256 GPUs",
    ],
)
def test_switches_of_a_design_are_not_there(advisor: Advisor, text: str) -> None:
    assert "keep" not in said(advisor, text)


def test_gpus_may_be_said_to_hang_on_them_later(advisor: Advisor) -> None:
    carried = ClusterSpec(keep="40x sn4700", gpus=256)
    assert said(advisor, "What if 512 GPUs hang on them already?", carried) == {"gpus_there": 512, "gpus": 768}
    assert said(advisor, "如果已经接了 512 块 GPU 呢？", carried) == {"gpus_there": 512, "gpus": 768}
    assert said(advisor, "And non-blocking?", carried) == {"oversubscription": 1.0}


def grown(answer: Answer) -> dict[str, Any]:
    assert [one["tool"] for one in answer.calculations] == ["grow"]
    return {name: value["value"] for name, value in answer.calculations[0]["values"].items()}


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (EN, ("No switch has to be bought", "19 of the 40", "at most 512 GPUs are there now", "carry 256 GPUs at 1:1")),
        (ZH, ("无需购买交换机", "40 台中 19 台", "已有的不超过 512 卡", "按 1:1 容纳 256 卡")),
    ],
)
def test_what_breaks_without_a_model(advisor: Advisor, question: str, words: tuple[str, ...]) -> None:
    answer = advisor.answer(question)
    assert answer.kind == "sizing" and all(one in answer.text for one in words), answer.text
    assert answer.grounding.unsupported == () and answer.grounding.contradictions == ()
    assert {one.value for one in answer.references} >= {"kept_switches", "idle_switches", "spare_gpus", "used_ports"}
    assert "gpus_there" in {one.field for one in answer.assumptions}
    assert grown(answer)["idle_switches"] == 21


def test_a_conversation_goes_on_with_the_switches(advisor: Advisor) -> None:
    history: list[Answer] = []
    for question, expected in (
        (EN, (256, 0)),
        ("What if 768 GPUs hang on them already?", (1024, 12)),  # 8 SN4700 and 4 SN5600
        ("And without oversubscription?", (1024, 16)),  # 16 SN5600 spare the leaves' shortfall
        ("What about 256?", (256, 0)),
    ):
        history.append(advisor.answer(question, history))
        found = grown(history[-1])
        assert (found["planned_gpus"], found["bought_switches"]) == expected, question
    assert advisor.answer("RoCE or InfiniBand for 256 GPUs?", history).verdict is not None


def test_the_same_in_chinese(advisor: Advisor) -> None:
    first = advisor.answer(ZH)
    second = advisor.answer("如果已经接了 768 块 GPU 呢？", [first])
    assert "还需购买 8 × NVIDIA Spectrum-3 SN4700, 4 × NVIDIA Spectrum-4 SN5600" in second.text
    assert "两层最多容纳 768 卡" in second.text and second.language == "zh"


def test_a_choice_of_fabric_stays_one(advisor: Advisor) -> None:
    answer = advisor.answer("64 GPUs on our 2 SN5600 switches: RoCE or IB?")
    assert answer.verdict is not None


def test_switches_that_cannot_be_kept(advisor: Advisor) -> None:
    other = advisor.answer("We own 12 QM9700 and want to reuse them as RoCE for 64 GPUs")
    assert other.text.startswith("**None of the 12 switches there can be kept for 64 GPUs")
    dear = advisor.answer("Keep my 40 SN4700s and grow to 2048 GPUs")
    assert "keeps none of the 40 switches there" in dear.text and "To keep 40 of those there, buy" in dear.text


def test_a_wish_for_more_gpus_is_growth(advisor: Advisor) -> None:
    answer = advisor.answer("I have forty SN4700 switches and want 4,000 GPUs next year")
    assert grown(answer)["planned_gpus"] == 4000


def test_without_a_number_the_most_that_they_carry(advisor: Advisor) -> None:
    answer = advisor.answer("How many GPUs can my 40 SN4700 switches carry at 3:1?")
    assert answer.text.startswith("**The 40 switches there carry at most 768 GPUs at 3:1")


def test_the_ratio_that_is_gone_to_counts(advisor: Advisor) -> None:
    assert said(advisor, "From 1:1 to 4:1 on 512 H100s with my existing 24 SN5600s?")["oversubscription"] == 4.0
    assert "oversubscription" not in said(advisor, EN)  # "3:1 to the spine" is read with the cluster


def test_a_ratio_of_ours_is_traced(advisor: Advisor) -> None:
    answer = advisor.answer("手上有 64 台 SN3700，想接 128 台 A100 节点，200G 网卡，够用吗？")
    assert ":1 时，现有交换机就够" in answer.text
    assert answer.grounding.unsupported == ()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "We run 40 SN4700 with 320 A100 on them, 128 H100 arrive in March - what has to be bought?",
            ("GPUs there (A100) have 200 Gb/s each", "those added (H100) 400 Gb/s", "| 320 / 128 |"),
        ),
        ("现网40台SN4700挂着320张A100，再加128张H100，够不够？", ("（A100）的标准服务器每卡 200", "| 320 / 128 |")),
    ],
)
def test_gpus_of_two_speeds_are_said_to_be_calculated_at_the_faster(
    advisor: Advisor, question: str, said: tuple[str, ...]
) -> None:
    answer = advisor.answer(question)
    assert all(one in answer.text for one in said), answer.text
    assert answer.calculations[0]["inputs"]["gbps_per_gpu"] == 400 and answer.spec["gpu_model"] == "h100"
    assert answer.grounding.unsupported == () and answer.grounding.contradictions == ()


@pytest.mark.parametrize(
    "question",
    [
        "We run 40 SN4700 with 320 A100 on them, another 128 A100 arrive in March - what has to be bought?",
        "We run 40 SN4700 with 320 H100 on them, 128 H200 arrive in March - what has to be bought?",
    ],
)
def test_gpus_of_one_speed_are_not(advisor: Advisor, question: str) -> None:
    answer = advisor.answer(question)
    assert grown(answer)["planned_gpus"] == 448 and "faster of the two" not in answer.text


def test_an_extension_is_computed_as_growth(advisor: Advisor) -> None:
    answer = advisor.answer(
        "We run 32 SN5600s today with 512 H200 on them; a 256 GPU extension is coming at 2:1 - do we have enough boxes?"
    )
    assert answer.text.startswith("**No switch has to be bought") and grown(answer)["planned_gpus"] == 768
