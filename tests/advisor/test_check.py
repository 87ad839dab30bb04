"""Every number traced: what counts as support and what does not."""

import pytest

from app.advisor.answer import Citation
from app.advisor.check import figures_in, ground

COST = {
    "id": "T1",
    "tool": "cost",
    "label": "infiniband",
    "inputs": {"gpus": 64, "usd_per_kwh": 0.078},
    "values": {"capex_usd": {"value": 1_243_567.0, "unit": "USD", "low": 900_000.0, "high": 2_000_000.0}},
    "rows": [{"item": "switch", "quantity": 2, "unit_price_usd": 38_000.0}],
}
TIME = {
    "id": "T2",
    "tool": "collective",
    "label": "roce",
    "inputs": {"bytes": 2**30},
    "values": {"time_us": {"value": 5234.0, "unit": "us", "low": None, "high": None}},
    "rows": [],
}


def cited(passage: str) -> Citation:
    return Citation(1, "d", "d", "p", "t", "", "s", passage, 0, len(passage))


@pytest.mark.parametrize(
    "text",
    [
        "It costs $1.24M ($900k to $2M).",
        "采购成本 124万美元（90万美元 至 200万美元）。",
        "A 1 GiB all-reduce on 64 GPUs takes 5.23 ms (T2).",
        "A switch is $38k, 2 of them, at 0.078 per kWh.",
        "An H100 with QM9700 and RoCEv2 [1], see T1.",
    ],
)
def test_figures_of_calculations_are_supported(text: str) -> None:
    result = ground(text, [COST, TIME], [], "")
    assert result.unsupported == ()


@pytest.mark.parametrize(
    ("text", "stray"),
    [
        ("It costs $1.34M.", "$1.34M"),
        ("It costs $1.24k.", "$1.24k"),  # a factor of a thousand is not rounding
        ("It takes 5.23 s.", "5.23 s"),
        ("It takes 5.9 ms.", "5.9 ms"),
        ("成本是124亿美元。", "124亿美元"),
        ("Expect 93 % of line rate.", "93 %"),
        ("You need 65 GPUs.", "65"),
        ("At 1243567 GB/s.", "1243567 GB/s"),  # the right digits with another unit
    ],
)
def test_other_figures_are_not(text: str, stray: str) -> None:
    assert ground(text, [COST, TIME], [], "").unsupported == (stray,)


def test_a_figure_of_a_cited_passage_or_the_question_is_supported() -> None:
    assert ground("PFC fires after 200 ms [1].", [], [cited("The watchdog waits 200 ms.")], "").unsupported == ()
    assert ground("You asked about 48 GPUs.", [], [], "四十八卡 GPU").unsupported == ()
    assert ground("In 2026 it is so.", [], [], "").unsupported == ()


def test_the_wrong_fabrics_figure_is_a_contradiction() -> None:
    assert ground("RoCE costs $1.24M.", [COST, TIME], [], "").contradictions
    assert not ground("InfiniBand costs $1.24M.", [COST, TIME], [], "").contradictions
    assert ground("InfiniBand needs 5.23 ms.", [COST, TIME], [], "").contradictions


def test_figures_are_counted_once_each() -> None:
    assert [one.text for one in figures_in("1. two of 8x400G, $5 [3] and 2–3 times, T4")] == ["$5", "2", "3"]


def test_a_product_name_speaks_of_its_fabric_unless_a_cited_passage_has_the_figure() -> None:
    costs = [
        {"tool": "cost", "label": fabric, "inputs": {}, "rows": [], "assumptions": [], "sources": [],
         "values": {"capex_usd": {"value": usd, "unit": "USD", "low": None, "high": None}}}
        for fabric, usd in (("infiniband", 410_000.0), ("roce", 390_000.0))
    ]  # fmt: skip
    assert ground("Twelve QM9700 come to $390k.", costs, [], "").contradictions
    assert not ground("Twelve QM9700 come to $410k.", costs, [], "").contradictions
    passage = Citation(1, "n.md", "d", "p", "N", "", "", "Twelve QM9700 cost $390k in 2024.", 0, 33)
    assert not ground("Twelve QM9700 come to $390k. That was in 2024. [1]", costs, [passage], "").contradictions
