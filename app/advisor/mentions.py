"""Counts of things in a question, with what each is counted in: "8 GPUs" of a node, "4 racks" of a row.

A mention is a number with its thing. Whether it is a total or that of one larger thing is said by the words around
it ("each", "per server", "每台") or by standing right behind the larger thing ("64 nodes of 8", "16台8卡").
Works on lower-case text with number words as digits (numerals.py) and without product names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from app.advisor.other_accelerators import names_pattern

Thing = Literal["gpu", "node", "rack", "row", "group", "cluster"]
LEVELS: tuple[Thing, ...] = ("gpu", "node", "rack", "row", "group", "cluster")  # each holds what stands before it

GPU_WORD = (
    r"(?:(?:gpus?|(?<!network )cards?|accelerators?|npus?|(?<=-)way)(?![a-z])|个gpu|個gpu|(?:张|張|块|塊)?(?:gpu)?卡"
    r"|(?:张|張|块|塊|颗|顆)(?!\s*(?:\d+g)?\s*(?:网卡|網卡|nic|光模块|交换机|板|钱)))"  # 一张网卡 is no GPU
)
NODE_WORD = (
    r"(?:(?:nodes?|servers?|hosts?|machines?|boxes|systems?|chassis|trays?|blades?|dgx(?:es)?|hgx(?:es)?)(?![a-z])"
    r"|台|臺|节点|節點|个节点|個節點|服务器|伺服器|機器|机器)"
)
RACK_WORD = r"(?:(?:racks?|cabinets?)(?![a-z])|个?机柜|個?機櫃|个?机架|柜|櫃)"
_WORDS: dict[Thing, str] = {
    "gpu": GPU_WORD,
    "node": NODE_WORD,
    "rack": RACK_WORD,
    "row": r"(?:rows?(?![a-z])|排|列)",
    "group": r"(?:pods?|islands?|scalable units?)(?![a-z])",
    "cluster": r"(?:(?:clusters?|sites?|data ?cent(?:er|re)s?|regions?|campus(?:es)?|locations?)(?![a-z])"
    r"|个?集群|個?叢集|个?机房|个?站点|个?数据中心|个?园区|个?校区)",
}
MOST_IN_A_NODE = 16  # a count of GPUs above that, beside a count of servers, is a total
_UNKNOWN_GPU = (  # names that the catalog may not have
    rf"[abhl]\d{{2,3}}s?|gb\d{{3}}|mi\d{{3}}x?|rtx[\s-]?(?:pro\s)?\d{{4}}|[45]090|{names_pattern()}"
)
_NUMBER = r"(?<![\w.$€£¥/-])(?<!\d:)(?P<number>-?\d+(?:\.\d+)?)\s*(?:x(?![a-z])|×|\*)?\s*"
_NO_SWITCH = r"(?!\s*(?:switch|交换机|交換機|光交换|核心交换|leaf|spine))"  # 一台交换机 is no node
_JOINING = r"(?:gpus?|cards?|accelerators?|in|on|per|across|of|with|and|or|each|an?|to|for|the|over|into|years?|x|vs)"
_ADJECTIVE = rf"(?:(?!(?:{_JOINING}|u|ru|switch\w*|lea\w+|spines?|ports?|racks?|rows?|that|is|are)\b)[a-z][a-z-]*\s+)"
_HOLDS = (
    r"(?:has|have|with|of|having|hold(?:s|ing)?|pack(?:s|ing)?|carr(?:y|ies|ying)|contain(?:s|ing)?|hous(?:es|ing)"
    r"|gets?|fitted with|equipped with|takes?|配备?|装|裝|带|帶|有|是|放|插|塞|含|上|:|=)"
)
_LARGER = rf"(?:{'|'.join(_WORDS[thing] for thing in LEVELS[1:])}|box|机(?!群|房|柜|架))"
_EACH = r"(?:in |inside |for |to |on )?(?:each|every|per)\b|/|每"
_EACH_BEHIND = re.compile(  # "8 gpus a server", "8 apiece", "8卡/台"
    rf"\s*(?:(?!and\b|or\b)\w+\s+){{0,2}}?(?:(?:{_EACH})\s*(?:of (?:the|them)\s*|个|個)?(?P<larger>{_LARGER})?"
    rf"|(?:apiece|a piece)\b"
    rf"|an?\s(?P<a>{_LARGER}))",
    re.ASCII,
)
_EACH_BEFORE = re.compile(  # "each server has 8", "每台配8", "a box holds 8", "各8"
    rf"(?:(?:\beach|\bevery|\bper|(?<!\w)an?(?=\s+{_LARGER})|每(?:一)?(?:个|個|条)?|(?:^|(?<=[,;；、]))\s*(?:1|一|单))\s*"
    rf"(?:one\s+)?(?P<larger>{_LARGER})?(?:机器|服务器)?(?:都|均|各|也|上)?\s*(?:{_HOLDS}|[a-z]+ing)?\s*|[各均]自?(?:配|装|有|带|是|放)?\s*)$",
    re.ASCII,
)
_LINK = re.compile(rf"\s*(?:x|×|\*|@|(?:each\s+)?{_HOLDS}|的)?\s*", re.ASCII)
_TIMES = re.compile(r"\s*(?:x|×|\*|乘以?)\s*")
_TOTAL = re.compile(r"(?:(?:total|altogether)(?: of)?|总共|一共|合计|总计|共计|共|总数|加起来)\s*(?:是|有|为|:|=)?\s*$")
_TOTAL_BEHIND = re.compile(
    r"\s*(?:\w+\s+)??(?:in total|in all|total|altogether|overall|all told|split|spread|across|over\s|distributed"
    r"|总共|一共|合计|分布|分在|分散)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """`number` of a thing; `each_of`: the larger thing that holds so many, "any" where it is not named."""

    number: float
    thing: Thing
    start: int
    end: int
    each_of: Thing | Literal["any", ""] = ""
    total: bool = False
    model: str = ""


def mentions_in(low: str, models: str) -> list[Mention]:
    """Every count of a text in its order. `models` is a regular expression of known GPU names."""
    found = _of_thing(low, "node", models)
    several = len(found) > 1
    counts = _of_thing(low, "gpu", models)
    inside = [one for one in counts if one.each_of != "node" or not _kind_of_node(low, one, several)]
    starts = {one.start for one in inside if one.each_of == "node"}
    found = [one for one in found if one.start not in starts] + inside
    found += [one for thing in LEVELS[2:] for one in _of_thing(low, thing, models)]
    found.sort(key=lambda one: (one.start, -one.end))
    placed: list[Mention] = []
    for one in found:
        before = placed[-1] if placed else None
        if before and before.start <= one.start < before.end and before.thing == "node":
            one = replace(one, each_of="node")  # "8 4-gpu boxes": the 4 is inside
        elif before and not one.each_of and not one.total:
            between = low[before.end : one.start]
            total = one.thing == "gpu" and one.number > MOST_IN_A_NODE and not between.strip()  # 4机32卡
            if _larger(before, one) and _LINK.fullmatch(between) and not total:
                one = replace(one, each_of=before.thing)
            elif _larger(one, before) and _TIMES.fullmatch(between) and not before.each_of:  # 8卡×16台
                placed[-1] = replace(before, each_of=one.thing)
        placed.append(one)
    return placed


@lru_cache(maxsize=64)
def unit_of(models: str) -> str:
    """Regular expression of what stands behind a number of GPUs or of servers."""
    names = gpu_names(models)
    whole = rf"(?:(?:nvidia|amd|hgx|dgx|of|{names}s?)[\s-]*)*(?:{GPU_WORD}|{NODE_WORD})"
    return rf"(?:{whole}|(?:nvidia\s*)?{names}s?(?![a-z0-9]))"


def gpu_names(models: str) -> str:
    """Regular expression of the names of GPUs, known to the catalog or not."""
    return rf"(?:{models}|{_UNKNOWN_GPU})"


def _kind_of_node(low: str, one: Mention, several: bool) -> bool:
    """Whether "64 GPU servers" counts servers: no hyphen, a plural, and no other count of servers beside it."""
    written = low[one.start : one.end]
    return not several and bool(
        re.fullmatch(
            r"\d+\s+gpu\s+(?:servers|nodes|boxes|machines|hosts|systems)"
            r"|1\s+gpu\s+\w+",
            written,
        )
    )


def _larger(one: Mention, other: Mention) -> bool:
    return LEVELS.index(one.thing) > LEVELS.index(other.thing)


def _of_thing(low: str, thing: Thing, models: str) -> list[Mention]:
    found = []
    for match in _pattern(thing, models).finditer(low):
        each: Thing | Literal["any", ""] = ""
        end = match.end()
        if thing == "gpu" and (node := _of_node(models).match(low, end)):  # "8-gpu servers" are nodes of 8
            each, end = "node", node.end()
        before, behind = low[max(0, match.start() - 34) : match.start()], low[end : end + 34]
        if not each and thing != "cluster":
            near = _EACH_BEHIND.match(re.split(r"[,;.。，；(]|\d", behind)[0]) or _EACH_BEFORE.search(before)
            each = _named(near, thing) if near else ""
        total = bool(_TOTAL.search(before) or _TOTAL_BEHIND.match(behind))
        model = match["model"] if thing == "gpu" else ""
        found.append(Mention(float(match["number"]), thing, match.start(), end, each, total, model or ""))
    return found


def _named(match: re.Match[str], of: Thing) -> Thing | Literal["any", ""]:
    """The larger thing that an "each" names."""
    word = match["larger"] or match.groupdict().get("a")
    if not word:
        return "any"
    for thing in LEVELS[1:]:
        if re.fullmatch(_WORDS[thing], word):
            return thing if LEVELS.index(thing) > LEVELS.index(of) else ""
    return "node" if of == "gpu" else ""


@lru_cache(maxsize=64)
def _pattern(thing: Thing, models: str) -> re.Pattern[str]:
    names = gpu_names(models)
    if thing == "gpu":
        maker = r"(?:(?:nvidia|amd|huawei|华为|英伟达|of|more|new|张|張|块|塊|颗)[\s-]*)*"
        named = rf"(?<![a-z0-9])(?P<model>{names})s?(?![a-z0-9])[\s-]*(?:sxm\d?\s*)?(?:的)?{GPU_WORD}?"
        return re.compile(
            rf"{_NUMBER}-?(?:{maker}{named}(?![\s-]*(?:的)?{NODE_WORD})|(?:hgx |dgx )?{maker}{GPU_WORD})", re.ASCII
        )
    if thing == "node":
        size = r"\d+[\s-]*(?:way|gpu|card|卡)s?(?:的)?"
        adjective = (
            rf"(?:{size}|of (?:those|these|the|our)(?=\s)|nvidia|gpu|hgx|dgx|ai|套|个|個"
            rf"|{names}s?(?![a-z0-9])|{_ADJECTIVE})"
        )
        machine = r"机(?=互联|互连|组|训练|并行|一共|总共|共|\d+卡)"  # 4机互联
        node = rf"(?:{NODE_WORD}|{machine})(?:\s+{names}s?(?![a-z0-9]))?"  # "4 HGX H100"
        return re.compile(rf"{_NUMBER}(?:{adjective}[\s-]*){{0,4}}?-?{node}{_NO_SWITCH}", re.ASCII)
    return re.compile(rf"{_NUMBER}(?:个|個)?\s*{_ADJECTIVE}{{0,2}}?-?{_WORDS[thing]}", re.ASCII)


@lru_cache(maxsize=64)
def _of_node(models: str) -> re.Pattern[str]:
    """What makes "8 GPUs" those of one node: "8-gpu server", "8卡机", "8卡/节点"."""
    node = NODE_WORD.replace("|台|臺", "")
    return re.compile(
        rf"[\s-]*(?:/|per|a|each)?[\s-]*(?:的)?\s*(?:{gpu_names(models)}s?\s*)?(?:gpu\s+)?"
        rf"(?:{node}|box(?![a-z])|整机|机(?!群|房|柜|架))",
        re.ASCII,
    )
