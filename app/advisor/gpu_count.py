"""How many GPUs a question speaks of, and how many in a node: GPUs, servers, racks, corrections, "half of that".

Works on lower-case text with number words as digits (numerals.py) and without product names (`without_products`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

NVL72_GPUS = 72
NVL72_TRAY_GPUS = 4  # of one compute tray, which is the server with NICs

_GPU_WORD = (
    r"(?:gpus?|(?<!network )cards?|accelerators?|npus?|个gpu|個gpu|卡"
    r"|(?:张|張|块|塊|颗)(?!\s*(?:400g|200g|100g|800g)?\s*(?:网卡|網卡|nic|光模块|交换机|板)))"  # 一张网卡 is no GPU
)
_NODE_WORD = (
    r"(?:nodes?|servers?|hosts?|machines?|boxes|systems?|chassis|dgx\w*|hgx\w*"
    r"|台|臺|节点|節點|个节点|個節點|服务器|機器|机器)"
)
_RACK_WORD = r"(?:racks?|cabinets?|个?机柜|個?機櫃|个?机架|柜|櫃)"
_NUMBER = r"((?<![\w.])-\d+(?:\.\d+)?|(?<![a-z0-9.])\d+(?:\.\d+)?)"
_NO_SWITCH = r"(?!\s*(?:switch|交换机|交換機|光交换|核心交换|leaf|spine))"  # 一台交换机 is no node
_BELOW_BEFORE = r"(?:under|below|less than|fewer than|smaller than|小于|少于|不到|低于)\s*"
_BELOW_AFTER = r"\s*(?:以下|以内|之内)"
_PRODUCT = re.compile(
    r"(?<![a-z0-9])(?:qm|sn|q3|mqm|msn|z9|dcs-|qfx|n9k-?|as)\d{3,4}[a-z0-9-]*|(?<![a-z0-9])7\d{3}[a-z]\w*(?:-\w+)*"
    r"|(?<![a-z0-9])(?:connectx|cx|bluefield|bf|tomahawk|th|spectrum|quantum|jericho)[- ]?x?\d+\w*|quantum-x\d+",
    re.ASCII,
)
_TIMES = re.compile(r"(?<![a-z0-9-])[a-z]{1,6}-?\d{3,}[a-z0-9-]*\s*(?:×|\*|x(?=\s*\d))", re.ASCII)  # CE9860 × 256
_HALF = re.compile(r"\bhalf (?:of )?(?:that|it|this|as many|the (?:size|gpus|cards))|\bhalve\b|一半|减半|減半|砍半")
_DOUBLE = re.compile(
    r"\b(?:double|twice) (?:that|it|this|as many|the (?:size|gpus|cards))|\bdouble\b\s*[?？]?$|翻倍|翻一番|加倍"
)
_NOT_A_NUMBER = re.compile(  # "256, not 128"; "不是128卡，是256"
    rf"(?:\bnot|\binstead of|\brather than|不是|而不是|而非)\s*(?:the )?\d+(?:\.\d+)?\s*{_GPU_WORD}?(?![\w.])"
)

_search = functools.partial(re.search, flags=re.ASCII)  # \b and \w must not take Chinese characters for letters


@dataclass(frozen=True, slots=True)
class GpuCount:
    """None: not said."""

    gpus: int | None = None
    gpus_per_node: int | None = None


def without_products(low: str) -> str:
    """`qm9700 x 512 cards` -> `switch x 512 cards`: digits of product names count nothing."""
    return _TIMES.sub(" switch x ", _PRODUCT.sub(" switch ", low))


def count_gpus(low: str, models: str, carried_gpus: int | None, carried_per_node: int) -> GpuCount:
    """GPUs and GPUs per node. `models` is a regular expression of GPU names; carried: from earlier in the chat."""
    corrected = _NOT_A_NUMBER.sub(" ", low)
    if re.search(r"\d", corrected):  # "not 128" alone leaves nothing to count
        low = corrected
    if match := _search(rf"(?<![\w.])(\d+)?\s*(?:x|个|台|套)?\s*(?:{models}|nvidia)?\s*nvl-?72(?![0-9])", low):
        racks = match[1] or (more[1] if (more := _search(rf"(\d+)\s*{_RACK_WORD}", low.replace(match[0], " "))) else 1)
        return GpuCount(int(racks) * NVL72_GPUS, NVL72_TRAY_GPUS)
    per_node, low = _per_node(low, models)
    each = per_node or carried_per_node
    if (nodes := _nodes_in_racks(low)) is not None:
        each = per_node or _gpus_each(low) or carried_per_node
        return GpuCount(nodes * each, each)
    found = _counted(low, models, per_node, each)
    if found is not None:
        return found
    if carried_gpus and _HALF.search(low):
        return GpuCount(max(1, carried_gpus // 2), per_node)
    if carried_gpus and _DOUBLE.search(low):
        return GpuCount(carried_gpus * 2, per_node)
    return GpuCount(None, per_node)


def _per_node(low: str, models: str) -> tuple[int | None, str]:
    """GPUs of a node where they are said apart, and the text without them."""
    server = r"(?:nodes?|servers?|hosts?|boxes|machines?|服务器|節點|节点|机器|整机|机(?!群|房|柜|架))"
    patterns = (
        rf"(\d+)\s*-?\s*(?:gpus?|cards?|卡|张|way)\s*(?:/|per|a|each)?\s*-?\s*(?:的)?\s*(?:(?:{models})\s*)?{server}",
        r"(?:每(?:台|节点|机|个节点|服务器)(?:机器|服务器)?\s*(?:有|配|装|带|是|放|插)?\s*)(\d+)\s*(?:张|块|卡|个)?(?!\s*台)",
        r"(?<=[,，;；])\s*(?:1|一|单)(?:台|机|节点)(?:机器|服务器)?\s*(?:有|配|装|带|是|插)?\s*(\d+)\s*(?:张|块|卡)",
    )
    for at, pattern in enumerate(patterns):
        if match := _search(pattern, low):
            return int(match[1]), low.replace(match[0], " node " if at == 0 else " ", 1)
    return None, low


def _nodes_in_racks(low: str) -> int | None:
    """Servers of "4 racks of 8 boxes each", "两个机柜，每柜4台"."""
    match = _search(
        rf"(\d+)\s*{_RACK_WORD}\s*(?:of|with|x|×|\*|holding|having|each with)\s*(\d+)\s*(?:\w+\s+){{0,2}}?{_NODE_WORD}",
        low,
    )
    match = match or _search(
        rf"(\d+)\s*{_RACK_WORD}[^\d]{{0,10}}(?:每|each|per|a)?[^\d]{{0,10}}(\d+)\s*(?:\w+\s+){{0,2}}?{_NODE_WORD}{_NO_SWITCH}",
        low,
    )
    return int(match[1]) * int(match[2]) if match else None


def _gpus_each(low: str) -> int | None:
    """`8卡` beside a count of servers."""
    match = _search(rf"{_NODE_WORD}\s*(\d+)\s*(?:卡|张|-?gpu)", low)
    return int(match[1]) if match else None


def _counted(low: str, models: str, per_node: int | None, each: int) -> GpuCount | None:
    grid = _search(
        rf"(\d+)\s*{_NODE_WORD}?\s*(?:of|with|x|×|\*|各|每台)\s*(\d+)\s*-?\s*(?:x\s*)?(?:{models}|{_GPU_WORD})(?:s|-|\b|(?=[^a-z]))",
        low,
    ) or _search(r"(\d+)\s*(?:台|臺|个节点|节点)\s*(?:的)?\s*(\d+)\s*(?:卡|张)", low)
    count = _search(
        rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:(?:nvidia|amd|hgx|dgx)\s+)?(?:(?:{models})s?[\s-]*)?{_GPU_WORD}", low
    )
    named = _search(
        rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:nvidia\s+|张|块)?(?:{models})s?(?![a-z0-9])(?!\s*{_NODE_WORD})", low
    )
    nodes = _search(
        rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:\w+-?way\s+)?(?:(?:nvidia|gpu|hgx)\s+)?(?:(?:{models})s?\s*)?{_NODE_WORD}{_NO_SWITCH}",
        low,
    )
    one = _search(r"(?<![a-z0-9.])(\d+)-(?:gpu|way)\b", low)
    if nodes and one and not grid and one[1] != nodes[1]:
        return GpuCount(int(float(nodes[1])) * int(one[1]), int(one[1]))
    if nodes and count and not grid and _is_each(count[0], low):
        return GpuCount(int(float(nodes[1])) * int(float(count[1])), int(float(count[1])))
    if grid:
        return GpuCount(int(grid[1]) * int(grid[2]), int(grid[2]))
    if match := (count or named):
        gpus = int(float(match[1]))
        if _search(_BELOW_BEFORE + re.escape(match[1]), low) or _search(re.escape(match[0]) + _BELOW_AFTER, low):
            gpus = max(each, (gpus - 1) // each * each)  # "under 100" is sized at 96
        return GpuCount(gpus, per_node)
    if nodes:
        return GpuCount(int(float(nodes[1])) * each, per_node)
    return None


def _is_each(count: str, low: str) -> bool:
    """Whether a count of GPUs is that of one node: "eight GPUs each", "8 GPUs per node"."""
    node = r"(?:node|server|box|machine|host|system)"
    said = re.escape(count)
    return bool(
        _search(
            rf"{said}[^;,()]{{0,25}}(?:per|each|a|every) {node}|{said}\s+(?:each|apiece)"
            rf"|每(?:台|个?节点)[^，。,]{{0,4}}{said}",
            low,
        )
    )
