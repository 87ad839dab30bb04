"""What can be said of a plan with kept switches, in sentences over the names of its values.

`{name}` in a sentence is a value of the calculation: filled in for people, a reference such as `{T3.name}` for a model,
so that every figure of it is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.fabric.calculation import Bilingual

Level = Literal["breaks", "check", "fine"]
LEVELS: Mapping[Level, Bilingual] = {
    "breaks": Bilingual("breaks", "不成立"),
    "check": Bilingual("check", "需核对"),
    "fine": Bilingual("fine", "成立"),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    level: Level
    text: Bilingual


SENTENCES: Mapping[str, Sentence] = {
    "other-fabric": Sentence(
        "breaks",
        Bilingual(
            "{other_fabric_switches} switches cannot be kept: {other_fabric_models} are of another kind of network.",
            "{other_fabric_switches} 台交换机不能保留：{other_fabric_models} 属于另一种网络。",
        ),
    ),
    "too-slow": Sentence(
        "breaks",
        Bilingual(
            "{too_slow_switches} switches cannot be kept: {too_slow_models} have no port of {link_gbps}, the fastest "
            "has {fastest_gbps}. They would serve NICs set to that speed, or two planes at half the speed.",
            "{too_slow_switches} 台交换机不能保留：{too_slow_models} 没有 {link_gbps} 端口，最快为 {fastest_gbps}。"
            "网卡降到该速率，或改用两个半速平面时才可用。",
        ),
    ),
    "third-tier": Sentence(
        "breaks",
        Bilingual(
            "Two tiers of {kept_model} end at {two_tier_gpus} with this oversubscription, and {planned_gpus} are "
            "planned: that takes a third tier, or spines with more ports.",
            "按此收敛比，{kept_model} 两层最多容纳 {two_tier_gpus}，而计划为 {planned_gpus}：需要第三层，"
            "或端口更多的脊交换机。",
        ),
    ),
    "short": Sentence(
        "breaks",
        Bilingual(
            "{kept_model} alone would take {alone_switches} switches in {alone_tiers} tiers: {short_switches} more "
            "than there are.",
            "只用 {kept_model} 需要 {alone_switches} 台、{alone_tiers} 层，比现有多 {short_switches} 台。",
        ),
    ),
    "alone-never": Sentence(
        "breaks",
        Bilingual(
            "{kept_model} alone does not carry {planned_gpus} even in three tiers.",
            "只用 {kept_model}，三层也容纳不下 {planned_gpus}。",
        ),
    ),
    "buy": Sentence(
        "breaks",
        Bilingual(
            "To buy: {to_buy}. The plan has {leaf_switches} leaves ({leaf_model}) and {upper_switches} switches above "
            "them ({spine_model}), and keeps {kept_switches} of the {stock_switches} there.",
            "需购买：{to_buy}。方案为叶交换机 {leaf_switches} 台（{leaf_model}），其上 {upper_switches} 台"
            "（{spine_model}），保留现有 {stock_switches} 台中的 {kept_switches} 台。",
        ),
    ),
    "keep-anyway": Sentence(
        "check",
        Bilingual(
            "New switches alone are fewer. To keep {keeping_kept} of those there, buy {keeping_to_buy}.",
            "全部新购的台数更少。若要保留其中 {keeping_kept} 台，则需购买 {keeping_to_buy}。",
        ),
    ),
    "price": Sentence(
        "check", Bilingual("The switches to buy cost {bought_usd}.", "所购交换机的价格为 {bought_usd}。")
    ),
    "price-of-some": Sentence(
        "check",
        Bilingual(
            "Of the switches to buy, those with a known price cost {priced_part_usd}; for {unpriced_models} no price "
            "is known.",
            "所购交换机中有已知价格的部分为 {priced_part_usd}；{unpriced_models} 没有已知价格。",
        ),
    ),
    "no-price": Sentence(
        "check",
        Bilingual("No price is known for {unpriced_models}.", "{unpriced_models} 没有已知价格。"),
    ),
    "looser": Sentence(
        "check",
        Bilingual(
            "At an oversubscription of {stock_oversubscription}:1 the switches there suffice and none is bought.",
            "收敛比放宽到 {stock_oversubscription}:1 时，现有交换机就够，无需购买。",
        ),
    ),
    "gpus-there": Sentence(
        "check",
        Bilingual(
            "Nothing was said of GPUs that hang on these switches already. With this oversubscription they carry "
            "{stock_max_gpus} in all, so it holds while at most {spare_gpus} are there now.",
            "没有说明这些交换机上已接有多少 GPU。按此收敛比它们总共容纳 {stock_max_gpus}，"
            "因此已有的不超过 {spare_gpus} 时才成立。",
        ),
    ),
    "tighter": Sentence(
        "check",
        Bilingual(
            "The oversubscription is not needed: the switches there carry {planned_gpus} at "
            "{stock_oversubscription}:1, for more links but no more switches.",
            "不必收敛这么多：现有交换机可按 {stock_oversubscription}:1 容纳 {planned_gpus}，只多链路，不多交换机。",
        ),
    ),
    "two-speeds": Sentence(
        "check",
        Bilingual(
            "The GPUs there ({there_gpu}) have {there_gbps} each in their standard server, those added ({added_gpu}) "
            "{added_gbps}. All are calculated at the faster of the two, an upper bound: leaves with ports of both "
            "speeds are not computed.",
            "原有 GPU（{there_gpu}）的标准服务器每卡 {there_gbps}，新增的（{added_gpu}）每卡 {added_gbps}。"
            "全部按两者中较快的计算，属于上限；同一叶上混用两种速率的端口未作计算。",
        ),
    ),
    "across": Sentence(
        "check",
        Bilingual(
            "When all GPUs of the fullest leaf send across the spine at once, each NIC port has {across_gbps}; traffic "
            "that stays on one leaf keeps the full {link_gbps}.",
            "最满的叶交换机上所有 GPU 同时跨脊通信时，每个网卡端口只有 {across_gbps}；"
            "不出同一叶的流量仍有 {link_gbps}。",
        ),
    ),
    "recable": Sentence(
        "check",
        Bilingual(
            "The NICs of a node go to {rails} leaves, one a rail. Nodes that are cabled to one leaf have to be "
            "moved, and the uplinks of every kept leaf laid anew ({leaf_spine_links} in all).",
            "一个节点的网卡分接 {rails} 台叶交换机，每轨一台。原来接在同一台叶上的节点要改线，"
            "保留的叶交换机上联也要重布（共 {leaf_spine_links} 条）。",
        ),
    ),
    "breakout": Sentence(
        "check",
        Bilingual(
            "Cages of {breakout_model} carry {links_per_cage} links each, by splitter cable or twin-port module.",
            "{breakout_model} 的每个笼位承载 {links_per_cage} 条链路，需用分支线缆或双口模块。",
        ),
    ),
    "idle": Sentence(
        "check",
        Bilingual(
            "{idle_switches} of the switches there stand idle, with {idle_ports} ports that fit.",
            "现有交换机中 {idle_switches} 台闲置，可用端口共 {idle_ports} 个。",
        ),
    ),
    "fits": Sentence(
        "fine",
        Bilingual(
            "No switch has to be bought: {leaf_switches} leaves and {upper_switches} switches above them, "
            "{kept_switches} of the {stock_switches} there.",
            "无需购买交换机：叶 {leaf_switches} 台，其上 {upper_switches} 台，共用现有 {stock_switches} 台中的 "
            "{kept_switches} 台。",
        ),
    ),
    "speed": Sentence(
        "fine",
        Bilingual(
            "The speeds match: {kept_model} has {radix} ports of {link_gbps}, the speed of a NIC port.",
            "速率匹配：{kept_model} 有 {radix} 个 {link_gbps} 端口，与网卡端口相同。",
        ),
    ),
}


def said(code: str, shown: Callable[[str], str]) -> Bilingual:
    """The sentence with every value as `shown(name)` has it."""
    text = SENTENCES[code].text
    filled = _Filled(shown)
    return Bilingual(text.en.format_map(filled), text.zh.format_map(filled))


class _Filled(dict[str, str]):
    def __init__(self, shown: Callable[[str], str]):
        super().__init__()
        self._shown = shown

    def __missing__(self, name: str) -> str:
        return self._shown(name)
