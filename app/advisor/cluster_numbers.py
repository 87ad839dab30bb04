"""What a question says of the cluster in numbers: GPUs, nodes, speeds, years, sizes. Words are question.py's job."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from app.advisor.spec import ClusterSpec

_GPU_WORD = r"(?:gpus?|cards?|accelerators?|npus?|卡|张|張|块|塊|颗|個gpu|个gpu)"
_NODE_WORD = r"(?:nodes?|servers?|hosts?|machines?|boxes|dgx\w*|hgx\w*|台|臺|节点|節點|个节点|個節點)"
_NUMBER = r"((?<![\w.])-\d+(?:\.\d+)?|(?<![a-z0-9.])\d+(?:\.\d+)?)"
_NO_SWITCH = r"(?!\s*(?:qm|sn|quantum|spectrum|交换机|交換機|switch))"  # 一台QM9700 is no node
_BELOW_BEFORE = r"(?:under|below|less than|fewer than|smaller than|小于|少于|不到|低于)\s*"
_BELOW_AFTER = r"\s*(?:以下|以内|之内)"

_search = functools.partial(re.search, flags=re.ASCII)  # \b and \w must not take Chinese characters for letters


def cluster_numbers(words: str, gpu_models: Sequence[str], carried: ClusterSpec, follow_up: bool) -> dict[str, Any]:
    """Spec fields that a question gives as numbers; `words` has number words as digits (numerals.py)."""
    low = words.lower()
    found: dict[str, Any] = {}
    models = "|".join(sorted((re.escape(model) for model in gpu_models), key=len, reverse=True)) or r"(?!)"
    if match := _search(rf"(?<![a-z0-9])({models})(?:s|x)?(?![a-z0-9])", low):
        found["gpu_model"] = match[1]
    if match := _search(
        r"(\d+)\s*-?\s*(?:gpus?|cards?|卡|张)\s*(?:/|per|a|each)?\s*-?\s*(?:nodes?|servers?|hosts?|服务器|節點|节点|机器|机(?!群|房|柜))",
        low,
    ):
        found["gpus_per_node"] = int(match[1])
        low = low.replace(match[0], " node ", 1)
    elif match := _search(r"(?:每(?:台|节点|机|个节点)\s*)(\d+)\s*(?:张|块|卡|个)?", low):
        found["gpus_per_node"] = int(match[1])
        low = low.replace(match[0], " ", 1)
    per_node = found.get("gpus_per_node", carried.gpus_per_node)

    grid = _search(
        rf"(\d+)\s*{_NODE_WORD}?\s*(?:of|with|x|×|\*|各|每台)\s*(\d+)\s*-?\s*(?:x\s*)?(?:{models}|{_GPU_WORD})(?:s|-|\b|(?=[^a-z]))",
        low,
    )
    count = _search(
        rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:(?:nvidia|amd|hgx|dgx)\s+)?(?:(?:{models})s?[\s-]*)?{_GPU_WORD}", low
    )
    named = _search(rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:nvidia\s+|张|块)?(?:{models})s?(?![a-z0-9])", low)
    nodes = _search(rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:(?:{models})\s*)?{_NODE_WORD}{_NO_SWITCH}", low)
    each = _search(r"(?<![a-z0-9.])(\d+)-gpu\b", low)
    if nodes and each and not grid and each[1] != nodes[1]:
        found["gpus"], found["gpus_per_node"] = int(float(nodes[1])) * int(each[1]), int(each[1])
    elif (
        nodes
        and count
        and not grid
        and _search(re.escape(count[0]) + r"[^;,()]{0,25}(?:per|each|a) node|" + re.escape(count[0]) + r"\s+each", low)
    ):
        found["gpus"], found["gpus_per_node"] = int(float(nodes[1])) * int(float(count[1])), int(float(count[1]))
    elif grid:
        found["gpus"], found["gpus_per_node"] = int(grid[1]) * int(grid[2]), int(grid[2])
    elif count or named:
        match = count or named
        assert match
        found["gpus"] = _count(match[1])
        if _search(_BELOW_BEFORE + re.escape(match[1]), low) or _search(re.escape(match[0]) + _BELOW_AFTER, low):
            found["gpus"] = max(per_node, (found["gpus"] - 1) // per_node * per_node)  # "under 100" is sized at 96
    elif nodes:
        found["gpus"] = _count(nodes[1]) * per_node

    per_gpu = _search(
        r"(\d+)\s*(?:x|×|个|個)?\s*(100|200|400|800)\s*g\w*\s*(?:ports?|口|端口)?\s*(?:per|each|a|/)\s*gpu", low
    ) or _search(r"每\s*(?:个|張|张|块)?\s*(?:gpu|卡)[^，。,]{0,6}?(\d+)\s*(?:x|×|个|個)\s*(100|200|400|800)\s*g", low)
    each_node = _search(r"(?<![\d.:])(\d+)\s*x\s*(100|200|400|800)\s*g", low)
    if per_gpu:
        found["gbps_per_gpu"] = int(per_gpu[1]) * int(per_gpu[2])
    elif each_node:
        found["gbps_per_gpu"] = int(each_node[1]) * int(each_node[2]) // max(1, per_node)
    elif match := _search(r"(\d+(?:\.\d+)?)\s*t(?:b/s|bps|bit/s)?\s*(?:per|a|each|/)\s*(?:node|server|host)", low):
        found["gbps_per_gpu"] = round(float(match[1]) * 1000 / max(1, per_node))
    elif match := _search(r"(?<![\d.x])(100|200|400|800|1600)\s*(?:g|gb|gbit|gbps|gb/s|gbe)(?![a-z0-9]|/s)", low):
        found["gbps_per_gpu"] = int(match[1])
    elif match := _search(r"(?<![a-z0-9])(hdr|ndr|xdr)(?![a-z0-9])", low):
        found["gbps_per_gpu"] = {"hdr": 200, "ndr": 400, "xdr": 800}[match[1]]
    years = [float(one) for one in re.findall(rf"{_NUMBER}\s*-?\s*(?:years?|yrs?|年)", low, re.ASCII)]
    if years := [one for one in years if not 1900 <= one <= 2100]:
        found["years"] = int(years[-1])  # "5-year, no, 3-year": the last one counts
    if match := _search(r"(?<![\d.:])(\d+(?:\.\d+)?)\s*[:：]\s*1(?![\d.:])", low):
        found["oversubscription"] = float(match[1])
    if match := _search(r"pue\s*(?:of|is|=|:|为|是)?\s*(\d+(?:\.\d+)?)", low):
        found["pue"] = float(match[1])
    if match := _search(r"(\d+(?:\.\d+)?)\s*(?:usd|dollars?|美元)?\s*(?:/|per|a|每)\s*(?:kwh|度|千瓦时)", low):
        found["usd_per_kwh"] = float(match[1])
    if _search(r"\b(dual|twin|two)[- ]plane|双平面|雙平面", low):
        found["planes"] = 2
    elif match := _search(r"(\d)[\s-]*(?:planes|平面)", low):
        found["planes"] = int(match[1])
    if match := _search(r"(\d+(?:\.\d+)?)\s*(ki?b|mi?b|gi?b|ti?b)(?![a-z/])", low):
        found["message_bytes"] = _bytes(float(match[1]), match[2])
    if (
        follow_up
        and "gpus" not in found
        and (match := _search(r"(?<![\w.$:=-])(-?\d+)(?![\w.%:]|\s*(?:g|gb|年|years?|km|m|usd|%|tb))", low))
    ):
        taken = {str(value) for name, value in found.items() if name != "gpus_per_node"}
        if match[1] not in taken:
            found["gpus"] = int(match[1])
    return found


def _count(text: str) -> int:
    value = float(text)
    return int(value)


def _bytes(number: float, unit: str) -> int:
    power = {"k": 1, "m": 2, "g": 3, "t": 4}[unit[0]]
    return int(number * (1024 if "i" in unit else 1000) ** power)
