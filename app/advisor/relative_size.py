"""Sizes said by the size before: "half that", "three times as many", "add 64 more", "三倍呢"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.advisor.numerals import number_value
from app.advisor.reading_notes import ReadingNote, note

_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten"
_OF_THAT = (
    r"(?:(?:of )?(?:that|it|this|as many|as much|as big|as large|larger|bigger|more)"
    r"|the (?:size|number|gpus|cards|scale))"
)
_NODES_MEANT = re.compile(  # the number before was of servers
    r"\b(?:meant?|said|those (?:are|were)|they are) (?:nodes|servers|boxes|machines)\b(?!\W*\d)"
    r"|^\W*(?:nodes|servers|boxes|machines),? not (?:gpus|cards)\b|^\D*是(?:台|服务器|机器|节点)数?(?:，"
    r"|,)?\s*不是(?:张|卡|gpu)\D*$"
)
_HALF = re.compile(
    r"\bhalf (?:of )?(?:that|it|this|as many|the (?:size|number|gpus|cards|scale))|\bhalve\b"
    r"|(?<![\d一二三])一半(?!的?(?:数据|任务|训练|人))|减半|減半|砍半"
)
_THIRD = re.compile(r"\ba (third|quarter) (?:of )?(?:that|it|this|the size)|([三四])分之一")
_TWICE = re.compile(
    rf"\b(?:double|twice) {_OF_THAT}|^\W*(?:and |so |if )?(?:we )?(?:double|doubled"
    rf"|twice)\b\s*(?:it)?\s*[?？]?\s*$|翻倍|翻一番|加倍"
)
_TRIPLE = re.compile(rf"\b(?:triple|thrice|treble)\b(?: {_OF_THAT})?")
_TIMES = re.compile(rf"(?<![\w.])(\d+|{_NUMBERS})\s*(?:times|x|×|fold)\s*(?:{_OF_THAT})", re.ASCII)
_TIMES_ALONE = re.compile(
    rf"^\W*(?:what about |and |for )?(\d+|{_NUMBERS})\s*(?:times|x"
    rf"|×)\s*[?？.。]?\s*$",
    re.ASCII,
)
_TIMES_ZH = re.compile(r"(\d+|[二两三四五六七八九十百]+)\s*倍(?!\s*(?:带宽|速度|价格|成本|钱))")
_MORE = re.compile(
    r"\b(?:add|adding|plus|another|with)\s+(\d+)(?:\s+(?:more|gpus|cards|extra|additional)\b)"
    r"|(?<![\w.])(\d+)\s+(?:more|extra|additional)\b|(?:再加|增加|多加|加)\s*(\d+)\s*(?:张|卡|块)?",
    re.ASCII,
)
_FEWER = re.compile(
    r"(?<![\w.])(\d+)\s+(?:fewer|less)\b|\b(?:minus|remove|drop)\s+(\d+)\b|(?:减少?"
    r"|少)\s*(\d+)\s*(?:张|卡|块)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class RelativeSize:
    gpus: int
    notes: tuple[ReadingNote, ...]


def relative_size(low: str, before: int, per_node: int = 8) -> RelativeSize | None:
    """The size that is said by that `before`, in GPUs; None where none is. `per_node`: GPUs, where "I meant nodes"."""
    gpus = before * per_node if _NODES_MEANT.search(low) else _scaled(low, before)
    if gpus is None:
        return None
    return RelativeSize(
        gpus,
        (note("gpus", f"From {before:,} GPUs before, now {gpus:,}.", f"由之前的 {before:,} 张改为 {gpus:,} 张 GPU。"),),
    )


def _scaled(low: str, before: int) -> int | None:
    if _HALF.search(low):
        return max(1, before // 2)
    if match := _THIRD.search(low):
        return max(1, before // (3 if match[1] == "third" or match[2] == "三" else 4))
    if match := _TIMES.search(low) or _TIMES_ALONE.search(low) or _TIMES_ZH.search(low):
        return before * number_value(match[1])
    if _TRIPLE.search(low):
        return before * 3
    if _TWICE.search(low):
        return before * 2
    if match := _MORE.search(low):
        return before + int(match[1] or match[2] or match[3])
    if match := _FEWER.search(low):
        return max(0, before - int(match[1] or match[2] or match[3]))
    return None
