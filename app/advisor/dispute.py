"""A user who says that a figure is wrong: it is computed again, and kept or corrected with the reason.

Being told otherwise is no evidence; other inputs are. So the answer names what the figure rests on and what would
change it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.advisor.answer import Answer
from app.advisor.both_fabrics import FABRIC
from app.advisor.figure_text import Figure, figures_in
from app.advisor.figures import with_range
from app.advisor.references import marked
from app.fabric.calculation import Calculation, Language

_DISPUTES = re.compile(
    r"^\W*(?:(?:no|nope|wrong|incorrect|nonsense|actually|sorry|but)\b|(?:that|this|it)(?:'s| is| isn't| is not)\b"
    r"|(?:you are|you're)\b|i (?:think|believe|know|heard|read|was told|insist)\b|(?:are you sure|come on)\b"
    r"|不对|不是|错|你(?:说|算)?错|应该是|明明|我(?:觉得|认为|听说|记得)|实际|才不|胡说)",
    re.IGNORECASE,
)
_VALUE = {  # dimension of the figure -> words that name a value, tool, and the value's name
    "USD": (
        (re.compile(r"\btco\b|total|own|over \d|总|年", re.IGNORECASE), "cost", "tco_usd"),
        (re.compile(""), "cost", "capex_usd"),
    ),
    "us": ((re.compile(""), "collective", "time_us"),),
    "GB/s": ((re.compile(""), "collective", "busbw_gbytes_per_s"),),
    "W": ((re.compile(""), "cost", "power_typical_kw"),),
}
_FACTOR = {"W": 1e-3}
AGREES_WITHIN = 0.02  # of our typical value
_NAMES = {
    "tco_usd": ("total cost of ownership", "总拥有成本"),
    "capex_usd": ("price to buy", "采购成本"),
    "time_us": ("time of the collective", "集合通信耗时"),
    "busbw_gbytes_per_s": ("bus bandwidth", "总线带宽"),
    "power_typical_kw": ("typical power", "典型功耗"),
}
_FABRIC_NAMES = {"infiniband": "InfiniBand", "roce": "RoCE"}


def disputed_figure(text: str, previous: Answer | None) -> str:
    """The figure that a user holds against the last answer's calculations, as written; "" where none is."""
    if previous is None or not previous.calculations or not _DISPUTES.search(text):
        return ""
    tools = {one["tool"] for one in previous.calculations}
    for figure in figures_in(text):
        if any(tool in tools for _, tool, _ in _VALUE.get(figure.dimension, ())):
            return figure.text
    return ""


def reply(said: str, question: str, calculations: Sequence[Calculation], language: Language) -> str:
    """The paragraph that keeps our figure, or says that both agree; "" where nothing comparable was calculated."""
    figure = figures_in(said)[0]
    name, tool = next(
        ((name, tool) for words, tool, name in _VALUE[figure.dimension] if words.search(question)), ("", "")
    )
    asked = [fabric for fabric, pattern in FABRIC.items() if pattern.search(question)] or list(FABRIC)
    found = {one.label: one for one in calculations if one.tool == tool and one.label in asked and name in one.values}
    if not found:
        return ""
    zh = language == "zh"
    shown = [
        f"{_FABRIC_NAMES[fabric]} {marked(with_range(one.values[name].to_json(), language), one.id, name)}"
        + (f"（{one.id}）" if zh else f" ({one.id})")
        for fabric, one in found.items()
    ]
    values = ("，" if zh else ", ").join(shown)
    what = _NAMES[name][zh]
    agrees = any(_same(figure, one, name) for one in found.values())
    inside = any(_inside(figure, one, name) for one in found.values())
    if zh:
        start = f"您提出 {said}。按同样的输入重新计算，{what}：{values}。"
        if agrees:
            return start + "两者一致。"
        ending = "您的数值在该区间之内，典型值保持不变" if inside else "该数值保持不变"
        return (
            f"{start}{ending}：它由表中列出的输入和单价得出，不因对话中的说法而改变。"
            "如有报价或不同的输入（GPU 数、年限、电价、交换机型号），请给出，结果会随之重算。"
        )
    start = f"You say {said}. Computed again from the same inputs, the {what} is: {values}. "
    if agrees:
        return start + "The two agree."
    ending = "Yours lies inside that range, and the typical value stays" if inside else "That figure stays"
    return (
        f"{start}{ending}: it follows from the inputs and unit prices listed there, not from what is said in a chat. "
        "If you have a quotation or other inputs (GPUs, years, price of power, switch), give them for a new result."
    )


def _same(figure: Figure, one: Calculation, name: str) -> bool:
    typical = float(one.values[name].value)
    return abs(figure.value * _FACTOR.get(figure.dimension, 1.0) - typical) <= AGREES_WITHIN * typical


def _inside(figure: Figure, one: Calculation, name: str) -> bool:
    value = one.values[name]
    if value.low is None or value.high is None:
        return False
    return value.low <= figure.value * _FACTOR.get(figure.dimension, 1.0) <= value.high
