"""A budget or a quotation in a question: read as a sum for the network, and held against both prices."""

import pytest

from app.advisor.advisor import Advisor
from app.advisor.money_said import budget_said


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("our budget is $3m for 256 h100s", 3e6),
        ("the network may cost 1.5 million dollars", 1.5e6),
        ("he wants $9m for it", 9e6),
        ("we were quoted us$750k", 750_000),
        ("预算300万美元", 3e6),
        ("预算三百万美元", 3e6),
        ("不超过1.2亿美元", 1.2e8),
        ("报价2千万美元", 2e7),
        ("at most 2 billion dollars", 2e9),
    ],
)
def test_a_sum_for_the_network(text: str, usd: float) -> None:
    said = budget_said(text)
    assert said is not None and said.usd == pytest.approx(usd)


@pytest.mark.parametrize("text", ["预算八百万人民币", "budget of €4 million", "预算2000万元"])
def test_another_currency_is_kept_and_not_converted(text: str) -> None:
    said = budget_said(text)
    assert said is not None and said.usd is None


@pytest.mark.parametrize(
    "text",
    [
        "power at $0.08 per kwh, tight budget",
        "we pay $38,000 each for qm9700",
        "an optic at $900 is within budget",
        "meta spent money on roce",
        "64 h100s on a tight budget",
        "电价每度 0.5 元，预算紧张",
        "nvidia earned $30 billion last quarter",
    ],
)
def test_other_sums_are_none(text: str) -> None:
    assert budget_said(text) is None


@pytest.mark.parametrize(
    ("sum_said", "places"),
    [
        ("$50M", ("within it, also at the high end", "within it, also at the high end")),
        ("$2.3M", ("within it at typical prices", "above it at typical prices")),
        ("$0.9M", ("above it, even at the low end", "above it, even at the low end")),
    ],
)
def test_both_fabrics_are_held_against_it(advisor: Advisor, sum_said: str, places: tuple[str, str]) -> None:
    answer = advisor.answer(f"Our budget for the network is {sum_said}. RoCE or InfiniBand for 256 H100s?")
    line = next(one for one in answer.text.splitlines() if "against the network" in one)
    infiniband, roce = line.split(";")[:2]
    assert line.startswith(f"**{sum_said} ") and places[0] in infiniband and places[1] in roce
    assert answer.grounding.unsupported == () and answer.grounding.contradictions == ()
    assert not any("not calculated with" in one.text for one in answer.assumptions)


def test_in_chinese_and_of_yuan(advisor: Advisor) -> None:
    answer = advisor.answer("预算300万美元，256张H100，选RoCE还是IB？")
    assert "300万美元，仅与网络采购成本相比" in answer.text
    yuan = advisor.answer("预算八百万人民币，256张H100，选RoCE还是IB？")
    assert "未作换算" in yuan.text and yuan.grounding.unsupported == ()


def test_without_a_sum_nothing_is_said_of_one(advisor: Advisor) -> None:
    assert "against the network" not in advisor.answer("RoCE or InfiniBand for 256 H100s?").text
