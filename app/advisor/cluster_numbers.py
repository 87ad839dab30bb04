"""What a question says of the cluster in numbers: GPUs, nodes, speeds, years, sizes. Words are question.py's job."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from app.advisor.gpu_count import count_gpus, without_products
from app.advisor.spec import ClusterSpec

_NUMBER = r"((?<![\w.])-\d+(?:\.\d+)?|(?<![a-z0-9.])\d+(?:\.\d+)?)"
_KWH = r"(?:kwh|kilowatt-?\s?hours?|度|千瓦时)"

_search = functools.partial(re.search, flags=re.ASCII)  # \b and \w must not take Chinese characters for letters


def cluster_numbers(words: str, gpu_models: Sequence[str], carried: ClusterSpec, follow_up: bool) -> dict[str, Any]:
    """Spec fields that a question gives as numbers; `words` has number words as digits (numerals.py)."""
    low = words.lower()
    found: dict[str, Any] = {}
    models = "|".join(sorted((re.escape(model) for model in gpu_models), key=len, reverse=True)) or r"(?!)"
    if match := _search(rf"(?<![a-z0-9])({models})(?:s|x)?(?![a-z0-9])", low):
        found["gpu_model"] = match[1]
    counted = count_gpus(without_products(low), models, carried.gpus if follow_up else None, carried.gpus_per_node)
    found |= {name: value for name in ("gpus", "gpus_per_node") if (value := getattr(counted, name)) is not None}
    per_node = found.get("gpus_per_node", carried.gpus_per_node)

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
    if match := _search(r"pue\s*(?:of|is|at|=|:|：|为|是|按|取|算)?\s*(\d+(?:\.\d+)?)", low):
        found["pue"] = float(match[1])
    if (usd := _usd_per_kwh(low)) is not None:
        found["usd_per_kwh"] = usd
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


def _usd_per_kwh(low: str) -> float | None:
    """US dollars or cents; other currencies are not converted, as no rate is known here."""
    if re.search(
        rf"[€£¥￥]|\b(?:eur|euros?|gbp|pounds?|pence|cny|rmb|yuan|yen|jpy)\b|(?<!美)元\s*(?:/|每)?\s*{_KWH}|(?<!美)分\s*(?:/|每)?\s*{_KWH}",
        low,
    ):
        return None
    cents = _search(rf"(\d+(?:\.\d+)?)\s*(?:us )?(?:cents?|¢|美分)\s*(?:/|per|a|每)?\s*(?:1\s*)?{_KWH}", low)
    cents = cents or _search(rf"(?:每|1|一){_KWH}(?:电|電)?\s*(?:是|为|按)?\s*(\d+(?:\.\d+)?)\s*(?:美分|cents?)", low)
    if cents:
        return float(cents[1]) / 100
    dollars = _search(rf"\$?(\d+(?:\.\d+)?)\s*(?:usd|dollars?|美元)?\s*(?:/|per|a|每)\s*{_KWH}", low)
    dollars = dollars or _search(
        rf"(?:每|1|一){_KWH}(?:电|電)?\s*(?:是|为|按)?\s*\$?(\d+(?:\.\d+)?)\s*(?:美元|usd|刀)", low
    )
    return float(dollars[1]) if dollars else None


def _bytes(number: float, unit: str) -> int:
    power = {"k": 1, "m": 2, "g": 3, "t": 4}[unit[0]]
    return int(number * (1024 if "i" in unit else 1000) ** power)
