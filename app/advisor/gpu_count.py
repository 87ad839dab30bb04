"""How many GPUs a question speaks of, and how many in a node: GPUs, servers, racks, corrections, "half of that".

Works on lower-case text with number words as digits (numerals.py) and without product names (`without_products`).
What had to be chosen (each or total, which of two sizes) is told in notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.advisor.mentions import (
    GPU_WORD,
    LEVELS,
    MOST_IN_A_NODE,
    NODE_WORD,
    RACK_WORD,
    Mention,
    Thing,
    gpu_names,
    mentions_in,
)
from app.advisor.reading_notes import ReadingNote, note

NVL72_GPUS = 72
NVL72_TRAY_GPUS = 4  # of one compute tray, which is the server with NICs

_BELOW_BEFORE = r"(?:under|below|less than|fewer than|smaller than|小于|少于|不到|低于)\s*"
_BELOW_AFTER = r"\s*(?:以下|以内|之内)"
_PRODUCT = re.compile(
    r"(?<![a-z0-9])(?:qm|sn|q3|mqm|msn|z9|dcs-|qfx|n9k-?|as)\d{3,4}[a-z0-9-]*|(?<![a-z0-9])7\d{3}[a-z]\w*(?:-\w+)*"
    r"|(?<![a-z0-9])(?:connectx|cx|bluefield|bf|tomahawk|th|spectrum|quantum|jericho)[- ]?x?\d+\w*|quantum-x\d+",
    re.ASCII,
)
_TIMES = re.compile(  # "CE9860 × 256", but not "H100 × 256"
    rf"(?<![a-z0-9-])(?!{gpu_names('(?!)')}s?(?![a-z0-9]))[a-z]{{1,6}}-?\d{{3,}}[a-z0-9-]*\s*(?:×|\*"
    rf"|x(?=\s*\d))",
    re.ASCII,
)
_NOT_A_NUMBER = re.compile(  # "256, not 128"; "不是128卡，是256"
    rf"(?:\bnot|\binstead of|\brather than|不是|而不是|而非)\s*(?:the )?\d+(?:\.\d+)?\s*{GPU_WORD}?(?![\w.])", re.ASCII
)
_GRID = re.compile(  # "16x8 h100", "128 nodes × 8"
    rf"(?<![\w.])(\d+)\s*{NODE_WORD}?\s*(?:x|×|\*)\s*(\d+)(?!\s*[\d.x]|\s*[kmgt]i?b|\s*g(?![a-z]*pu)|\s*{NODE_WORD})",
    re.ASCII,
)
_BARE_EACH = re.compile(  # "each packing 8", "8 apiece": a number without a thing
    rf"(?:\b(?:each|every one)\s+(?:[a-z]+\s+){{0,2}}|{NODE_WORD}\s+of\s+|每(?:台|节点|个节点|机)(?:配|装|带|有"
    rf"|是|插)?)(\d+)(?=\s*(?:$|[,.;:?!，。；？)]))"
    r"|(?<![\w.])(\d+)\s+(?:each|apiece)\b",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class GpuCount:
    """None: not said."""

    gpus: int | None = None
    gpus_per_node: int | None = None
    notes: tuple[ReadingNote, ...] = ()


def without_products(low: str) -> str:
    """`qm9700 x 512 cards` -> `switch x 512 cards`: digits of product names count nothing."""
    return _TIMES.sub(" switch x ", _PRODUCT.sub(" switch ", low))


def count_gpus(low: str, models: str, carried_per_node: int) -> GpuCount:
    """GPUs and GPUs per node. `models` is a regular expression of GPU names; carried: from earlier in the chat."""
    low = without_denied(low)
    low = re.sub(
        rf"(?<=\d)\s*\(\s*\d+\s*[x×*]\s*\d+\s*\)(?=\s*(?:{gpu_names(models)}"
        rf"|{GPU_WORD}))",
        "",
        low,
    )  # 64 (8x8) h100s
    if re.search(NODE_WORD, low, re.ASCII):  # "4U servers, 8 GPUs, 16 of them"
        low = re.sub(r"(?<![\w.])(\d+) of (?:them|these|those)(?=\s*(?:$|[,.;:?!]))", r"\1 servers each", low)
    packed = rf"(?<![\w.])(2|4|8|10|16)x\s?{gpu_names(models)}(?=[\s-]+{NODE_WORD})"  # "one 8xh100 node"
    low = re.sub(packed, r"\1-gpu", low, flags=re.ASCII)
    if match := re.search(
        rf"(?<![\w.])(\d+)?\s*(?:x|个|台|套)?\s*(?:{models}|nvidia)?\s*nvl-?72(?![0-9])", low, re.ASCII
    ):
        more = re.search(rf"(\d+)\s*{RACK_WORD}", low.replace(match[0], " "), re.ASCII)
        racks = match[1] or (more[1] if more else 1)
        return GpuCount(int(racks) * NVL72_GPUS, NVL72_TRAY_GPUS)
    mentions = mentions_in(low, models)
    per_node = _said_per_node(mentions)
    if grid := _grid(low, mentions, models):
        return grid
    first: dict[Thing, Mention] = {}
    for one in mentions:
        first.setdefault(one.thing, one)
    gpus, nodes = _gpu_mention(mentions), first.get("node")
    each = per_node or (_bare_each(low) if nodes else None)
    if nodes and gpus and each is None and _must_be_each(gpus, nodes):
        each = round(gpus.number)
    held = each or carried_per_node
    if nodes and (gpus is None or gpus.each_of in ("node", "any") or round(gpus.number) == each) and nodes.number >= 0:
        total = round(_multiplied(nodes, mentions)) * held
        return GpuCount(total, each, _parts(nodes, mentions, total, held))
    if gpus is None:
        return GpuCount(None, each, _racks_alone(low, first))
    if gpus.each_of == "node":  # of a node, and nobody says how many nodes, but for "one 8-gpu node"
        before = low[max(0, gpus.start - 8) : gpus.start]
        single = re.search(r"(?:\b(?:one|1|single)\s+|单(?:台|机|节点)?|[1一](?:台|机))$", before, re.ASCII)
        return GpuCount(round(gpus.number) if single else None, each)
    return _of_gpus(low, gpus, nodes, mentions, each, held)


def without_denied(low: str) -> str:
    """The text without numbers that it corrects: "256, not 128". "Not 128" alone stays, as nothing else is left."""
    corrected = _NOT_A_NUMBER.sub(" ", low)
    return corrected if re.search(r"\d", corrected) else low


def _gpu_mention(mentions: Sequence[Mention]) -> Mention | None:
    """The count of GPUs that is meant: a total before the first, the first before those of a node."""
    counts = [one for one in mentions if one.thing == "gpu"]
    ranked = sorted(counts, key=lambda one: (not one.total, one.each_of == "node", one.each_of == "any"))
    return ranked[0] if ranked else None


def _said_per_node(mentions: Sequence[Mention]) -> int | None:
    nodes = any(one.thing == "node" for one in mentions)
    for one in mentions:
        inside = one.each_of == "node" or (one.each_of == "any" and nodes)
        if one.thing == "gpu" and inside and 1 <= one.number <= NVL72_GPUS and not one.total:
            larger = [other for other in mentions if other.thing not in ("gpu", "node") and other.number > 1]
            if one.each_of == "any" and any(other.start > _first(mentions, "node") for other in larger):
                continue
            return round(one.number)
    return None


def _first(mentions: Sequence[Mention], thing: Thing) -> int:
    return next(one.start for one in mentions if one.thing == thing)


def _must_be_each(gpus: Mention, nodes: Mention) -> bool:
    """Whether a count of GPUs beside one of servers can only be that of each: "16 servers, 8 GPUs"."""
    return not gpus.total and 1 <= gpus.number <= MOST_IN_A_NODE and nodes.number > 1 and gpus.number < 2 * nodes.number


def _multiplied(one: Mention, mentions: Sequence[Mention]) -> float:
    """A count times what holds it, where it is said of each: "4 rows of 8 racks, 4 servers a rack" are 128."""
    larger = [other for other in mentions if LEVELS.index(other.thing) > LEVELS.index(one.thing)]
    larger = [other for other in larger if other.thing != "cluster"]
    if one.each_of in ("", "cluster") or not larger:
        return one.number
    named = [other for other in larger if other.thing == one.each_of]
    if one.each_of != "any" and not named:
        return one.number
    holder = (named or sorted(larger, key=lambda other: (LEVELS.index(other.thing), other.start)))[0]
    return one.number * _multiplied(holder, mentions)


def _grid(low: str, mentions: Sequence[Mention], models: str) -> GpuCount | None:
    """`16x8 h100` and `128 nodes × 8`."""
    block = re.search(
        rf"(?<![\w.])(\d+)\s*[x×*]\s*(\d+)\s*[x×*]\s*(\d+)\s*(?:{gpu_names(models)}|{GPU_WORD})", low, re.ASCII
    )
    if block:  # "10*4*8 h100s": racks, nodes, GPUs
        total = int(block[1]) * int(block[2]) * int(block[3])
        return GpuCount(total, int(block[3]), (_product(total),))
    match = _GRID.search(low)
    if not match or any(one.each_of for one in mentions if one.thing == "gpu"):
        return None
    behind = re.match(rf"\s*-?\s*(?:(?:张|块)?\s*{gpu_names(models)}|{GPU_WORD})", low[match.end() :], re.ASCII)
    nodes = re.match(rf"\d+\s*{NODE_WORD}", match[0], re.ASCII)
    if not behind and not nodes:
        return None
    count, each = int(match[1]), int(match[2])
    if not nodes and count in (4, 8) and each not in (4, 8):  # "8x16 h100"
        count, each = each, count
    return GpuCount(count * each, each)


def _bare_each(low: str) -> int | None:
    match = _BARE_EACH.search(low)
    return int(match[1] or match[2]) if match else None


def _of_gpus(
    low: str, gpus: Mention, nodes: Mention | None, mentions: Sequence[Mention], each: int | None, held: int
) -> GpuCount:
    """Where GPUs themselves are counted, and not those of one server."""
    total = round(_multiplied(gpus, mentions))
    said = str(round(gpus.number))
    if re.search(_BELOW_BEFORE + said, low) or re.search(
        re.escape(low[gpus.start : gpus.end].strip()) + _BELOW_AFTER, low
    ):
        total = max(held, (total - 1) // held * held)  # "under 100" is sized at 96
    notes = list(_parts(gpus, mentions, total, held))
    if nodes and nodes.number > 1 and each is None:
        spread, rest = divmod(total, round(_multiplied(nodes, mentions)))
        if not rest and 1 <= spread <= MOST_IN_A_NODE:
            each = spread
            if not gpus.total and gpus.number <= MOST_IN_A_NODE:
                notes.append(
                    note(
                        "gpus",
                        f"{total} GPUs are taken as all of them, {spread} a server.",
                        f"{total} 张 GPU 按总数理解，即每台 {spread} 张。",
                    )
                )
    elif nodes and each and (servers := round(_multiplied(nodes, mentions))) > 1 and servers * each != total:
        notes.append(
            note(
                "gpus",
                f"{total:,} GPUs were said, while {servers:,} servers of {each} hold {servers * each:,}: "
                f"{total:,} is taken.",
                f"文中给出 {total:,} 张 GPU，而 {servers:,} 台、每台 {each} 张为 {servers * each:,} 张：按 "
                f"{total:,} 张计算。",
            )
        )
    other = _second_model(low, gpus, mentions)
    if other:
        total += round(other.number)
        notes.append(
            note(
                "gpus",
                f"The two kinds of GPU are added up, {total:,} in all, and calculated as one kind.",
                f"两种 GPU 合计 {total:,} 张，按同一型号计算。",
            )
        )
    elif not notes:
        notes += _other_sizes(gpus, mentions, total)
    return GpuCount(total, each, tuple(notes))


def _second_model(low: str, gpus: Mention, mentions: Sequence[Mention]) -> Mention | None:
    """`128 H100s and 64 A100s`: the second count, where it is one of another kind of GPU."""
    for one in mentions:
        between = low[gpus.end : one.start]
        if one.thing == "gpu" and gpus.model and one.model not in ("", gpus.model) and one.start > gpus.end:
            joined = re.fullmatch(r"\s*(?:,?\s*and|plus|\+|&|和|加|加上|以及|,|、)\s*(?:another\s*)?", between)
            return one if joined else None
    return None


def _parts(one: Mention, mentions: Sequence[Mention], total: int, held: int) -> tuple[ReadingNote, ...]:
    """Says what was taken where there are several clusters, and where a count was multiplied."""
    clusters = next((other for other in mentions if other.thing == "cluster" and other.number > 1), None)
    if clusters and (one.each_of in ("cluster", "any")):
        number = round(clusters.number)
        return (
            note(
                "gpus",
                f"{number} clusters of {total:,} GPUs, each with a network of its own: the answer is for one of them. "
                f"For one network over all, ask for {number * total:,} GPUs.",
                f"{number} 个集群、每个 {total:,} 张 GPU，各有自己的网络：以下按其中一个计算。"
                f"若要连成一张网，请按 {number * total:,} 张提问。",
            ),
        )
    if one.each_of in ("", "cluster", "node") or _multiplied(one, mentions) == one.number:
        return ()
    return (_product(total),)


def _product(total: int) -> ReadingNote:
    return note("gpus", f"The counts multiply to {total:,} GPUs in all.", f"各级数量相乘，共 {total:,} 张 GPU。")


def _other_sizes(gpus: Mention, mentions: Sequence[Mention], total: int) -> tuple[ReadingNote, ...]:
    """Says so where other numbers of GPUs are named beside the one that is calculated with."""
    others = dict.fromkeys(
        round(one.number)
        for one in mentions
        if one.thing == "gpu" and not one.each_of and one.number > MOST_IN_A_NODE and one.number != gpus.number
    )
    if not others or gpus.total:
        return ()
    named = ", ".join(f"{one:,}" for one in others)
    return (
        note(
            "gpus",
            f"Other sizes were named too ({named}): calculated for {total:,}; ask for the others one by one.",
            f"还给出了其他规模（{named}）：按 {total:,} 计算；其余请逐一提问。",
        ),
    )


def _racks_alone(low: str, first: dict[Thing, Mention]) -> tuple[ReadingNote, ...]:
    if "rack" not in first and not re.search(r"\bhalf a (?:rack|cabinet)|半(?:个)?机?柜", low):
        return ()
    return (
        note(
            "gpus",
            "Racks were counted, but not the servers in one: no number of GPUs follows from that.",
            "只给出了机柜数，没有说明每柜几台服务器，因此无法得出 GPU 数。",
        ),
    )
