"""A figure must be said of what it is a figure of."""

import pytest

from app.advisor.subjects import misnamed
from app.fabric.calculation import Calculation, Value

VALUES = {
    "capex_usd": Value(1e6, "USD"),
    "tco_usd": Value(3e6, "USD"),
    "capex_usd_per_gpu": Value(1e6 / 256, "USD"),
}
CALCULATIONS = {"T9": Calculation("cost", {"gpus": 256}, VALUES, id="T9", label="roce")}


@pytest.mark.parametrize(
    "sentence",
    [
        "For 256 GPUs RoCE costs {T9.capex_usd}.",
        "The TCO is {T9.tco_usd}, of which capex is {T9.capex_usd}.",
        "RoCE costs {T9.capex_usd_per_gpu} per GPU.",
        "256 卡的采购成本为 {T9.capex_usd}，总拥有成本为 {T9.tco_usd}。",
        "Going from 64 to 256 GPUs costs {T9.capex_usd}.",
    ],
)
def test_rightly_named(sentence: str) -> None:
    assert misnamed(sentence, CALCULATIONS) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "For 64 GPUs RoCE costs {T9.capex_usd}.",
        "64 卡集群的采购成本为 {T9.capex_usd}。",
        "The total cost of ownership is {T9.capex_usd}.",
        "采购成本为 {T9.tco_usd}。",
        "RoCE costs {T9.capex_usd} per GPU.",
        "RoCE costs {T9.tco_usd} a year.",
    ],
)
def test_wrongly_named(sentence: str) -> None:
    assert misnamed(sentence, CALCULATIONS)
