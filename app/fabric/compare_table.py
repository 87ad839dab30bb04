"""The table and the sentences of a comparison: one row a quantity, InfiniBand and RoCE side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from app.fabric.calculation import Bilingual, Scalar
from app.fabric.cost import Cost
from app.fabric.estimate import Estimate

if TYPE_CHECKING:
    from app.fabric.compare import Comparison

PARTS = {
    "switches": "交换机",
    "nics": "网卡",
    "optics and cables": "光模块与线缆",
    "management": "管理",
    "spares": "备件",
}
Pick = Callable[[Cost], "Estimate | Scalar"]


def part_usd(cost: Cost, part: str) -> Estimate:
    """Price of one of PARTS, US dollars."""
    return cost.bill.category_usd(*(("optics", "cables") if part == "optics and cables" else (part,)))


def rows(ib: Cost, roce: Cost) -> tuple[dict[str, Scalar], ...]:
    """Quantity, unit, and for each fabric a value, with its low and high end where it is a range."""
    picks: list[tuple[str, str, str, Pick]] = [
        ("switch", "交换机型号", "", lambda cost: cost.bill.topology.switch.name),
        ("tiers", "层数", "tiers", lambda cost: cost.bill.topology.tiers),
        ("number of switches", "交换机数量", "switches", lambda cost: cost.bill.topology.switches),
        ("node-leaf links", "节点—叶链路", "links", lambda cost: cost.bill.topology.node_leaf_links),
        ("links between switches", "交换机间链路", "links", lambda cost: cost.bill.topology.switch_links),
        *((part, zh, "USD", partial(part_usd, part=part)) for part, zh in PARTS.items()),
        ("capex", "采购成本", "USD", lambda cost: cost.capex_usd),
        ("power, typical", "典型功耗", "kW", lambda cost: cost.power.typical_w / 1000),
        ("power, maximum", "最大功耗", "kW", lambda cost: cost.power.max_w / 1000),
        ("energy", "电费", "USD", lambda cost: cost.energy_usd),
        ("support", "支持费", "USD", lambda cost: cost.support_usd),
        ("staff", "人力", "USD", lambda cost: cost.staff_usd),
        *([("NaaS ports and data", "NaaS 端口与流量", "USD", _naas_usd)] if ib.naas_usd.high else []),
        ("TCO", "总拥有成本", "USD", lambda cost: cost.tco_usd),
    ]
    return tuple(
        {"quantity": en, "quantity_zh": zh, "unit": unit}
        | _cells("infiniband", pick(ib))
        | _cells("roce", pick(roce))
        for en, zh, unit, pick in picks
    )


def _naas_usd(cost: Cost) -> Estimate:
    return cost.naas_usd


def _cells(name: str, value: Estimate | Scalar) -> dict[str, Scalar]:
    if isinstance(value, Estimate):
        return {f"{name}_low": value.low, name: value.typical, f"{name}_high": value.high}
    return {name: value}


def notes(comparison: Comparison) -> list[Bilingual]:
    """The article's claim beside our ratio, what makes the difference, and how the figures are to be read."""
    ratio = comparison.capex_ratio
    parts = [(part, usd) for part, usd in comparison.differences().items() if abs(usd) >= 1]
    en = ", ".join(f"{part} {usd:+,.0f} USD" for part, usd in parts) or "none"
    zh = "，".join(f"{PARTS[part]} {usd:+,.0f} 美元" for part, usd in parts) or "无"
    hour = comparison.gpu_hour_usd.typical
    fits = {fabric: cost.bill.topology for fabric, cost in comparison.fitting.items()}
    named = [f"{t.switches} x {t.switch.name}" for t in (fits["infiniband"], fits["roce"])]
    whole, exact, best = (
        f"{one.typical:.2f}" for one in (ratio, comparison.exact_ratio, comparison.best_fit_ratio)
    )
    return [
        Bilingual(
            "The source article says InfiniBand hardware costs 2-3 times RoCE; that is its claim. Our bills "
            f"give {ratio.typical:.2f} ({ratio.low:.2f}-{ratio.high:.2f}).",
            f"原文称 InfiniBand 硬件成本为 RoCE 的 2–3 倍，这是原文的说法；按我们的清单为 "
            f"{ratio.typical:.2f}（{ratio.low:.2f}–{ratio.high:.2f}）。",
        ),
        Bilingual(
            f"The parts that make the difference (InfiniBand less RoCE, typical): {en}.",
            f"差额来自（InfiniBand 减 RoCE，典型值）：{zh}。",
        ),
        Bilingual(
            f"Whole scalable units make small clusters jump in price: the ratio of capex is {whole} in whole units, "
            f"{exact} with exact counts, and {best} with exact counts and the least dear switch of the catalog on "
            f"either side ({named[0]} against {named[1]}).",
            f"按整单元建设时，小规模的价格会跳变：采购成本之比按整单元为 {whole}，按精确数量为 {exact}，"
            f"按精确数量并各取目录中最便宜的交换机为 {best}（{named[0]} 对 {named[1]}）。",
        ),
        Bilingual(
            "A part that both bills hold has one price in both when the range of the ratio is formed.",
            "计算比值范围时，两份清单共有的部件取同一价格。",
        ),
        Bilingual(
            "P10, P50 and P90: 4,000 seeded draws, each price and term independent, triangular in its range.",
            "P10、P50、P90：固定种子的 4,000 次抽样，各价格与参数独立，在其范围内服从三角分布。",
        ),
        Bilingual(
            "Break-even: the slowdown of all GPUs at which the cheaper network's saving is spent on GPU "
            f"hours ({hour:g} USD each).",
            "盈亏平衡：较便宜的网络使全部 GPU 变慢到该比例时，省下的钱恰好耗在 GPU 小时上"
            f"（每小时 {hour:g} 美元）。",
        ),
    ]
