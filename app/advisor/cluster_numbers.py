"""What a question says of the cluster in numbers: GPUs, nodes, speeds, years, sizes. Words are question.py's job."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.advisor.approximate import growth, growth_note, settled
from app.advisor.gpu_count import GpuCount, count_gpus, without_denied, without_products
from app.advisor.mentions import gpu_names
from app.advisor.message_said import message_bytes
from app.advisor.money_said import KWH, MONEY
from app.advisor.network_speed import gbps_per_gpu, nics_per_gpu
from app.advisor.other_accelerators import named_in
from app.advisor.reading_notes import ReadingNote, note
from app.advisor.relative_size import relative_size
from app.advisor.spec import ClusterSpec

_NUMBER = r"((?<![\w.])-\d+(?:\.\d+)?|(?<![a-z0-9.])\d+(?:\.\d+)?)"
_OF_A_CLUSTER = r"gpu|card|卡|张|块|台|node|server|box|cluster|集群"
MOST_USD_PER_KWH = 2.0
_BYTES_A_SECOND = re.compile(r"\d+(?:\.\d+)?\s*[KMGT]i?B(?:/s|ps)")  # of storage or of a collective, not of a NIC
_ENERGY_OF_A_YEAR = re.compile(
    r"(?:一|1|每|全)年的?(?:电费|用电|耗电)|(?:电费|耗电|用电)[^，。,；;]{0,4}(?:一|1|每)年"
    r"|\b(?:annual|yearly) (?:electricity|energy|power)\b"
    r"|\b(?:electricity|energy|power)(?: bill| costs?)?\b[^.?!,;]{0,24}\b(?:per|a|each|every) year\b"
)

_search = functools.partial(re.search, flags=re.ASCII)  # \b and \w must not take Chinese characters for letters


@dataclass(frozen=True, slots=True)
class ClusterNumbers:
    """Spec fields that were said as numbers, and what had to be chosen to read them."""

    fields: dict[str, Any]
    notes: tuple[ReadingNote, ...] = ()


def cluster_numbers(words: str, gpu_models: Sequence[str], carried: ClusterSpec, follow_up: bool) -> ClusterNumbers:
    """What a question gives as numbers; `words` has number words as digits (numerals.py)."""
    low = words.lower()
    models = "|".join(sorted((re.escape(model) for model in gpu_models), key=len, reverse=True)) or r"(?!)"
    counted, rest = _size(without_products(low), models, carried, follow_up)
    network = _BYTES_A_SECOND.sub(" ", words).lower()
    found = _others(low, rest, models, counted, carried) | _network(network, counted.gpus_per_node, carried)
    if follow_up and "gpus" not in found and (number := _bare_number(without_denied(low), found)) is not None:
        found["gpus"] = number
    return ClusterNumbers(found, counted.notes + _other_gpu(low, models) + _unused_money(low, "usd_per_kwh" in found))


def _size(low: str, models: str, carried: ClusterSpec, follow_up: bool) -> tuple[GpuCount, str]:
    """GPUs and GPUs per node, and the text without the date of a later size."""
    if follow_up and carried.gpus and (scaled := relative_size(low, carried.gpus, carried.gpus_per_node)):
        return GpuCount(scaled.gpus, None, scaled.notes), low
    low, notes = settled(low, models)
    later = growth(low, models)
    counted = count_gpus(low if later is None else later.text_today, models, carried.gpus_per_node)
    if later is None:
        return replace(counted, notes=notes + counted.notes), low
    today = counted.gpus or (carried.gpus if follow_up else None)
    if today is None:  # only one size is spoken of, a later one
        counted = count_gpus(low, models, carried.gpus_per_node)
        return replace(counted, notes=notes + counted.notes), later.text_today
    per_node = counted.gpus_per_node or carried.gpus_per_node
    number = later.number * (per_node if later.servers else 1) if later.factor == 1 else today * later.factor
    if number <= today:
        return replace(counted, notes=notes + counted.notes), later.text_today
    return GpuCount(number, counted.gpus_per_node, (growth_note(today, number),)), later.text_today


def _other_gpu(low: str, models: str) -> tuple[ReadingNote, ...]:
    """A GPU that the catalog has no figures of is calculated as the one assumed, and that is said."""
    for match in re.finditer(rf"(?<![a-z0-9])(?:\d+\s*x\s*)?({gpu_names(models)})s?(?![a-z0-9])", low, re.ASCII):
        other = named_in(match[1])
        if re.fullmatch(models, match[1], re.ASCII) or not (other or _search(_OF_A_CLUSTER, low)):
            continue
        name = match[1].upper() if other is None or re.search(r"\d", match[1]) else other.name.en
        if other and other.network == "ethernet":
            return (
                note(
                    "gpu_model",
                    f"There are no figures of {name} here: speeds are those of the GPU assumed; and NICs are in the "
                    "price, though its own ports may need none.",
                    f"没有 {name} 的数据：速度按所假设的 GPU 型号计算；造价含网卡，而它自带的网口可能不需要网卡。",
                ),
            )
        return (
            note(
                "gpu_model",
                f"There are no figures of the {name} here: speeds are those of the GPU assumed, the network is "
                f"not affected.",
                f"没有 {name} 的数据：速度按所假设的 GPU 型号计算，组网与造价不受影响。",
            ),
        )
    return ()


def _unused_money(low: str, power_price_read: bool) -> tuple[ReadingNote, ...]:
    """Sums of money that are said but not calculated with: other currencies of a kWh, budgets, quotations."""
    per_kwh = rf"\s*(?:/|per|a|每|一)\s*{KWH}"
    for match in re.finditer(MONEY, low, re.ASCII):
        if re.match(per_kwh, low[match.end() :]) or re.search(rf"每?{KWH}(?:电)?\s*$", low[: match.start()]):
            if power_price_read:
                continue
            return (
                note(
                    "money",
                    f"“{match[0].strip()}” a kWh is not calculated with, as no exchange rate is known here: the price "
                    "in US dollars of the catalog is; give yours in US dollars.",
                    f"“{match[0].strip()}” 的电价未用于计算（此处没有汇率）：采用目录中以美元计的电价；请以美元给出。",
                ),
            )
        return (
            note(
                "money",
                f"“{match[0].strip()}” is not calculated with: it sets no limit, and no price of the catalog is "
                f"replaced.",
                f"“{match[0].strip()}” 未用于计算：它不作为上限，也不替换目录中的价格。",
            ),
        )
    return ()


def _bare_number(low: str, found: dict[str, Any]) -> int | None:
    """The number of GPUs of a follow-up that is hardly more than a number: "for 1024?", "not 128, 1024"."""
    taken = {str(value) for name, value in found.items() if name != "gpus_per_node"}
    for match in re.finditer(
        r"(?<![\w.$€£¥:=-])(-?\d+)(?![\w.%:]|\s*(?:g|[kmgt]i?b|年|years?|km|m|usd|%|x|times|weeks?|days?|months?)(?![a-z]))",
        low,
        re.ASCII,
    ):
        if match[1] not in taken:
            return int(match[1])
    return None


def _others(low: str, rest: str, models: str, counted: GpuCount, carried: ClusterSpec) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if match := _search(rf"(?<![a-z0-9])({models})(?:s|x)?(?![a-z0-9])", low):
        found["gpu_model"] = match[1]
    if "gpu_model" not in found and (other := named_in(low)):
        found["accelerator"] = other.id
    elif "gpu_model" in found and carried.accelerator:
        found["accelerator"] = None
    found |= {name: value for name in ("gpus", "gpus_per_node") if (value := getattr(counted, name)) is not None}
    years = [float(one) for one in re.findall(rf"{_NUMBER}\s*-?\s*(?:years?|yrs?|年)", rest, re.ASCII)]
    if years := [one for one in years if not 1900 <= one <= 2100]:
        found["years"] = int(years[-1])  # "5-year, no, 3-year": the last one counts
    elif _ENERGY_OF_A_YEAR.search(low):
        found["years"] = 1
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
    if (size := message_bytes(low, models)) is not None:
        found["message_bytes"] = size
    return found


def _network(low: str, per_node: int | None, carried: ClusterSpec) -> dict[str, Any]:
    """Speed of each GPU's network; where NICs of a server are counted, how many each GPU has of them."""
    per_node = per_node or carried.gpus_per_node
    gbps, nics = gbps_per_gpu(low, per_node), nics_per_gpu(low, per_node)
    if gbps is None:
        return {}
    shared = nics if nics is not None and nics < 1 else 1.0
    return {"gbps_per_gpu": gbps} | ({"nics_per_gpu": shared} if shared < 1 or carried.nics_per_gpu < 1 else {})


def _usd_per_kwh(low: str) -> float | None:
    """US dollars or cents; other currencies are not converted, as no rate is known here."""
    if re.search(
        rf"[€£¥￥]|\b(?:eur|euros?|gbp|pounds?|pence|cny|rmb|yuan|yen|jpy)\b|(?<!美)元\s*(?:/|每)?\s*{KWH}|(?<!美)分\s*(?:/|每)?\s*{KWH}",
        low,
    ):
        return None
    cents = _search(rf"(\d+(?:\.\d+)?)\s*(?:us )?(?:cents?|¢|美分)\s*(?:/|per|a|每|一)?\s*(?:1\s*)?{KWH}", low)
    cents = cents or _search(rf"(?:每|1|一){KWH}(?:电|電)?\s*(?:是|为|按)?\s*(\d+(?:\.\d+)?)\s*(?:美分|cents?)", low)
    if cents:
        return float(cents[1]) / 100
    dollars = _search(rf"\$?(\d+(?:\.\d+)?)\s*(?:usd|dollars?|美元)?\s*(?:/|per|a|每|一|1)\s*{KWH}", low)
    dollars = dollars or _search(
        rf"(?:每|1|一){KWH}(?:电|電)?\s*(?:是|为|按)?\s*\$?(\d+(?:\.\d+)?)\s*(?:美元|usd|刀)", low
    )
    if dollars:
        return float(dollars[1])
    priced = _search(  # "electricity at $0.08", "电价 7 美分": a price of power whose unit goes without saying
        r"(?:电价|电费单价|electricity|power|energy)(?: price| cost| rate)?\s*(?:is|at|of|costs|=|:|为|是|按|约)?\s*"
        r"(\$)?\s*(\d+(?:\.\d+)?)\s*(usd|dollars?|美元|cents?|¢|美分)?(?![\w.])",
        low,
    )
    if priced is None or not (priced[1] or priced[3]):
        return None
    usd = float(priced[2]) / (100 if priced[3] in ("cent", "cents", "¢", "美分") else 1)
    return usd if usd < MOST_USD_PER_KWH else None  # "electricity of $40,000" is a bill, not a price
