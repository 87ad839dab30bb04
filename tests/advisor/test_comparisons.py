"""What a sentence says of the two fabrics, against values that are easy to see: RoCE 1, InfiniBand 2 million."""

import pytest

from app.advisor.comparisons import faults
from app.fabric.calculation import Calculation, Value


def cost(id: str, label: str, capex: float, tco: float) -> Calculation:
    return Calculation("cost", {}, {"capex_usd": Value(capex, "USD"), "tco_usd": Value(tco, "USD")}, id=id, label=label)


CALCULATIONS = {
    "T3": cost("T3", "infiniband", 2e6, 4e6),
    "T4": cost("T4", "roce", 1e6, 3e6),
    "T5": Calculation("compare", {}, {"capex_difference_usd": Value(1e6, "USD")}, id="T5"),
    "T6": Calculation("collective", {}, {"time_us": Value(5.0, "us")}, id="T6", label="infiniband"),
    "T7": Calculation("collective", {}, {"time_us": Value(6.0, "us")}, id="T7", label="roce"),
}
IB, ROCE = "{T3.capex_usd}", "{T4.capex_usd}"


@pytest.mark.parametrize(
    "sentence",
    [
        f"RoCE costs {ROCE}.",
        f"InfiniBand costs {IB} and RoCE costs {ROCE}.",
        f"RoCE is cheaper at {ROCE} than InfiniBand at {IB}.",
        f"RoCE and InfiniBand cost {ROCE} and {IB}, respectively.",
        f"InfiniBand is dearer: {IB} against {ROCE} for RoCE.",
        f"Compared with InfiniBand at {IB}, RoCE costs {ROCE}.",
        "RoCE saves {T5.capex_difference_usd} over InfiniBand.",
        "InfiniBand is faster, RoCE is cheaper.",
        "If RoCE were dearer, choose InfiniBand.",
        "InfiniBand is not cheaper than RoCE.",
        f"RoCE 比 InfiniBand 更便宜：{ROCE} 对 {IB}。",
        "与 InfiniBand 相比，RoCE 更便宜。",
        f"InfiniBand 的采购成本为 {IB}，RoCE 为 {ROCE}。",
        "InfiniBand takes {T6.time_us}, RoCE {T7.time_us}.",
    ],
)
def test_true_sentences_pass(sentence: str) -> None:
    assert faults(sentence, CALCULATIONS, "roce") == []


@pytest.mark.parametrize(
    "sentence",
    [
        f"RoCE costs {IB}.",
        f"InfiniBand costs {ROCE} and RoCE costs {IB}.",
        f"RoCE is dearer at {ROCE} than InfiniBand at {IB}.",
        f"InfiniBand at {IB} is cheaper than RoCE at {ROCE}.",
        f"RoCE and InfiniBand cost {IB} and {ROCE}, respectively.",
        f"{IB} is less than {ROCE}.",
        "InfiniBand is cheaper.",
        "RoCE is more expensive than InfiniBand.",
        "RoCE is faster than InfiniBand.",
        "You should choose InfiniBand here.",
        f"RoCE 的采购成本为 {IB}。",
        "RoCE 比 InfiniBand 贵。",
        "与 RoCE 相比，InfiniBand 更便宜。",
        "建议选 InfiniBand。",
    ],
)
def test_sentences_that_can_only_be_wrong_are_faults(sentence: str) -> None:
    assert faults(sentence, CALCULATIONS, "roce")
