"""Switches of a question that are there already: "keep my 40 SN4700s, add 256 H200s", "现有 40 台 SN4700，再加 256 卡".

A switch counts as there only if it is counted and a word of having or keeping stands before it: "2 SN5600 for 64 GPUs"
speaks of a design. Numbers of GPUs are told apart by the words in front of them: added, in all, or there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from app.advisor.answer import Answer
from app.advisor.numerals import english_value
from app.advisor.spec import ClusterSpec

Role = Literal["added", "total", "there"]
_NEAR = 45  # characters in front of a count in which a word says what is with it
_HAVE = re.compile(
    r"\b(?:keep(?:ing)?|kept|re-?us(?:e|es|ing|ed)|retain(?:ing)?|existing|already|have|has|having|own|owns|my|our"
    r"|their|these|current(?:ly)?|in stock|installed|left over|got|runs?|running|operat(?:e|es|ing)|carrying|hosting)\b"
    r"|机房(?:里|内|中)?(?!要|需|新)|现网|在用|在跑|(?:挂|跑|接|带)(?:着|了)|保留|沿用|利旧|利用|复用|继续用|继续使用|现有|已有|原有|手上|手里|手头|我们有|我有|旧的|老的|库存|已经有|接在|接到|接了|已接|不换|(?<!没)有\s*$",
    re.IGNORECASE,
)
_HAVE_AFTER = re.compile(
    r"^\W*(?:switches\W*)?(?:already|in stock|left over|we (?:have|own)|that we|there)\b"
    r"|^\W*(?:交换机)?(?:不换|保留|继续用|利旧)|^\W*(?:交换机)?上?面?(?:已经?|现在|目前)?(?:挂|跑|接|带)(?:着|了)"
)
_BUY = re.compile(
    r"\b(?:buy(?:ing)?|purchas\w+|order(?:ing)?|quot\w+|price of|need|replace|with new)\b"
    r"|购买|采购|新购|买|报价|需要|换成",
    re.IGNORECASE,
)
_BRANDS = (
    r"(?:(?:of|nvidia|mellanox|arista|cisco|juniper|nexus|old|existing|used|spectrum(?:-\d)?|quantum(?:-(?:\d|x800))?"
    r"|infiniband|ethernet|roce|英伟达|旧|老)\s*){0,4}"
)
_GLUE = re.compile(
    r"\s*(?:switch(?:es)?|交换机)?\s*(?:,|，|、|;|；|&|\+|and|plus|和|与|及|以及|加)*\s*(?:my|our)?\s*", re.IGNORECASE
)
_ADDED = re.compile(
    r"\b(?:add(?:ing|ed)?|another|extra|additional|more|new|bring(?:ing)? in|extend(?:ing)? by|expand(?:ing)? by|plus"
    r"|grow(?:ing)? by|buy(?:ing)?|order(?:ed)?|(?:extension|expansion|increase) (?:of|by))\b"
    r"|新增|增加|再加|追加|新买|新购|扩容(?!到|至)|再上|再接|加(?!速)",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:(?:grow|expand|scale|extend|go|get|move|growing|expanding|scaling)(?:\s+\w+){0,3}?\s+to|up to|in all"
    r"|total(?: of)?|altogether|reach)\b|扩(?:容|展|大)?(?:到|至)|增(?:加)?到|达到|总共|总计|合计|一共",
    re.IGNORECASE,
)
_MORE_AFTER = re.compile(r"^\s*(?:more|extra|additional|new)\b", re.IGNORECASE)
_COMING_AFTER = re.compile(  # behind "128 H100s": "arrive in March", "extension", "即将到货"
    r"^[-\s]*(?:(?:will|are|is|to|be|have|been|being|about|now)\s+)*"
    r"(?:extension|expansion|arriv\w+|com(?:e|es|ing)\b|land(?:s|ing)?\b|follow\w*|join\w*|on order|ordered"
    r"|planned|added|deliver\w*|on top)|^(?:即将|马上|下个?月|明年|快)?(?:要)?(?:到货|上架|进场|入场|交付)",
    re.IGNORECASE,
)
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (("there", _HAVE), ("added", _ADDED), ("total", _TOTAL))
_NO_NOUN = (  # behind a number that stands alone
    r"(?![\d\w:])(?![.,]\d)(?!\s*(?:gpus?|cards?|nodes?|servers?|x|台|tiers?|planes?|racks?|switch\w*|leaf|leaves|spines?|years?|%|\$))"
)
_NODES_AFTER = r"(?:(?P<per>\d+)[- ]?(?:gpu|卡)\s*)?(?P<node>nodes?|servers?|台服务器|台机器|个节点|节点)"
_THERE_AFTER = re.compile(
    r"\s*(?:(?:hang|are|is|sit|run|running|connected|attached)\s+)*(?:on (?:them|it|these)|there|already|today|now)\b"
)
_TIMES = ((2, re.compile(r"\bdoubl\w+|翻倍|翻一番|加倍")), (3, re.compile(r"\btripl\w+|三倍")))
_RATIO_TO = re.compile(r"(?:\bto|到|至|改为|改成)\s*(\d+(?:\.\d+)?)\s*[:：]\s*1(?![\d.:])")
_SPELLED = "two|four|six|eight|ten|twelve|sixteen|twenty|thirty|forty|fifty|sixty|eighty|hundred"
_EVEN = re.compile(
    r"\b(?:non-?\s?blocking|full bisection|(?:without|no)(?: any)? oversubscription)\b|[不无]收敛|无阻塞|非阻塞|零收敛",
    re.IGNORECASE,
)
_ENOUGH = re.compile(r"\b(?:enough|suffic\w+)\b|够", re.IGNORECASE)
_WHAT_BECOMES = re.compile(
    r"\b(?:keep\w*|kept|re-?us\w+|retain\w*|add\w*|grow\w*|expan\w+|exten\w+|scal\w+|enough|suffic\w+|carr(?:y|ies)|doubl\w+|tripl\w+"
    r"|support|handle|fit|breaks?|how many|another|more|buy|bought|up to|go to|what if|idle|want|arriv\w+|coming)\b"
    r"|保留|利旧|沿用|复用|新增|增加|再加|追加|扩|够|带得动|能带|能接|支持|承载|多少|几台|还要|还需|不换|闲置|再上|翻|加倍|想接|计划|打算",
    re.IGNORECASE,
)
_DESIGN = frozenset({"gpus", "gpu_model", "gpus_per_node", "gbps_per_gpu", "oversubscription", "planes", "topology"})
_CLAUSE = re.compile(r"[,;.:?!](?!\d)|[，；。：？！]")


def stock_said(
    words: str, switches: Mapping[str, tuple[str, str]], gpu_models: Sequence[str], carried: ClusterSpec
) -> dict[str, Any]:
    """Fields of ClusterSpec: `keep`, and where they are said `gpus_there` and `gpus`, which is all that are planned.

    Empty where the question speaks of no switches that are there. `words`: number words as digits. `carried` is the
    cluster so far: once switches are kept, GPUs may be said to hang on them.
    """
    keep, rest = _kept(words.lower(), switches) if switches else ({}, words.lower())
    if not keep and not carried.keep:
        return {}
    counts: dict[Role | None, int] = {}
    models: dict[Role | None, str] = {}
    for role, count, model in _gpus(rest, tuple(gpu_models), carried.gpus_per_node):
        counts[role] = counts.get(role, 0) + count
        models.setdefault(role, model)
    there, added, total, plain = (counts.get(role) for role in ("there", "added", "total", None))
    even = {"oversubscription": 1.0} if _EVEN.search(rest) else {}
    if match := _RATIO_TO.search(rest):  # "from 1:1 to 4:1"
        even = {"oversubscription": float(match[1])}
    if not keep:
        if there is None or added or total:
            return even
        return even | {"gpus_there": there, "gpus": (carried.gpus or 0) - (carried.gpus_there or 0) + there}
    found: dict[str, Any] = even | {"keep": ", ".join(f"{count}x {id}" for id, count in keep.items())}
    times = next((factor for factor, pattern in _TIMES if pattern.search(rest)), 0)
    if times and added is None and total is None and (running := plain or there):
        return found | {"gpus_there": running, "gpus": times * running}
    if there and plain and added is None and total is None:
        meant: Role = "added" if plain <= there else "total"  # fewer than hang on them cannot be all of them
        added, total, plain = (plain, None, None) if meant == "added" else (None, plain, None)
        models[meant] = models.pop(None, "")
    if added is None and total is None:  # "can my 40 SN4700 carry 512 GPUs?": nothing is said to be there
        planned = plain if plain is not None else there
        return found | ({} if planned is None else {"gpus": planned})
    there = (there or 0) + (plain or 0)
    old = models.get("there") or models.get(None, "")
    new = models.get("added") or models.get("total", "")
    if there and old and new and old != new:
        found |= {"gpu_model": new, "gpu_model_there": old}
    return found | ({"gpus_there": there} if there else {}) | {"gpus": total if total else there + (added or 0)}


def asks_growth(
    words: str,
    kind: str,
    intents: frozenset[str],
    changes: Mapping[str, Any],
    previous: Answer | None,
    follow_up: bool,
) -> bool:
    """Whether the question is what becomes of switches that are there; not which fabric to choose, or how to run it."""
    if intents & {"pick", "alternative", "configuration"} or ("decision" in intents and not _ENOUGH.search(words)):
        return False
    grew = previous is not None and any(one["tool"] == "grow" for one in previous.calculations)
    if grew and "gpus_there" in changes:
        return True
    if "diagnosis" in intents:
        return False
    if "keep" in changes:
        return bool(_WHAT_BECOMES.search(words)) and kind in {"decision", "sizing", "cost", "unknown", "explanation"}
    return grew and (kind == "sizing" or (kind != "cost" and bool(_DESIGN & set(changes))))


def _kept(low: str, switches: Mapping[str, tuple[str, str]]) -> tuple[dict[str, int], str]:
    """Switches that are there, and the text without them."""
    keep: dict[str, int] = {}
    names = tuple(sorted(switches, key=len, reverse=True))
    spelled = re.compile(rf"\b({_SPELLED})(?=\s+{_BRANDS}(?:{'|'.join(map(re.escape, names))}))")
    low = spelled.sub(lambda match: str(english_value(match[1])), low)
    rest, last = low, -1
    for match in _counted(names).finditer(low):
        before = _CLAUSE.split(low[max(0, match.start() - _NEAR) : match.start()])[-1]
        having = [one.end() for one in _HAVE.finditer(before)]
        buying = [one.end() for one in _BUY.finditer(before)]
        there = max(having, default=-1) > max(buying, default=-1) or "有" in match[0]
        there = there or _HAVE_AFTER.search(low[match.end() :]) is not None
        listed = last >= 0 and _GLUE.fullmatch(low[last : match.start()])
        if there or listed:
            id, _ = switches[match["name"] or match["name2"]]
            keep[id] = keep.get(id, 0) + int((match["count"] or match["count2"]).replace(",", ""))
            rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
            last = match.end()
    return keep, rest


@lru_cache(maxsize=8)
def _counted(names: tuple[str, ...]) -> re.Pattern[str]:
    """`40 SN4700s`, `40x Spectrum-3 SN4700`, `40 台 SN4700`, `SN4700 交换机 40 台`."""
    name = "|".join(re.escape(one) for one in names)
    return re.compile(
        rf"(?<![\w.])(?P<count>\d[\d,]*)\s*(?:[x×*]|台|个|只)?\s*{_BRANDS}(?P<name>{name})(?:['’]?s)?(?![\w-])"
        rf"|(?<![\w-])(?P<name2>{name})s?(?![\w-])\s*(?:switches|交换机)?\s*(?:[x×*]|有|共)?\s*(?P<count2>\d[\d,]*)\s*台",
        re.ASCII,  # \w but for Chinese, which has no spaces: 保留40台
    )


def _gpus(text: str, models: tuple[str, ...], per_node: int) -> Sequence[tuple[Role | None, int, str]]:
    """Numbers of GPUs with what is said of each, None where nothing is; and the GPU, "" where it is not named."""
    found: list[tuple[Role | None, int, str]] = []
    last = 0
    for match in _gpu_counts(models).finditer(text):
        count = int((match["count"] or match["bare"] or match["goal"] or match["more"]).replace(",", ""))
        if not match["count"]:
            found.append(("there" if match["bare"] else "total" if match["goal"] else "added", count, ""))
            last = match.end()
            continue
        if match["node"]:
            count *= int(match["per"] or per_node)
        before = text[max(last, match.start() - _NEAR) : match.start()]
        roles: list[tuple[int, Role]] = [
            (one.end(), role) for role, pattern in _ROLES for one in pattern.finditer(before)
        ]
        role: Role | None = max(roles)[1] if roles else None
        if _MORE_AFTER.match(text[match.start("after") :]) or _COMING_AFTER.match(text[match.end() :]):
            role = "added"
        elif role is None and _THERE_AFTER.match(text[match.end() :]):
            role = "there"
        found.append((role, count, match["model"] or match["model2"] or ""))
        last = match.end()
    return found


@lru_cache(maxsize=8)
def _gpu_counts(models: tuple[str, ...]) -> re.Pattern[str]:
    """`256 H200s`, `256 more GPUs`, `256 张卡`, `32 nodes`, `32 8-GPU servers`."""
    model = "|".join(re.escape(one) for one in sorted(models, key=len, reverse=True))
    noun = (
        rf"(?:nvidia\s+)?(?:[张块片]\s*)?(?:(?P<model>{model})(?:s\b|(?![\w-]))|gpus?\b|cards?\b|accelerators?\b"
        r"|张|卡|块|片)"
    )
    return re.compile(
        rf"(?<![\w.])(?<!\d:)(?P<count>\d[\d,]*)(?![\d.:])(?P<after>\s*)(?:x\s*)?(?:(?:more|extra|additional|new|existing|old)\s+)?"
        rf"(?:(?:(?P<model2>{model})\s+)?{_NODES_AFTER}|{noun})"
        rf"|\b(?:to|on top of) (?:my|our|the) (?P<bare>\d[\d,]*){_NO_NOUN}"
        rf"|\b(?:go(?:ing)?|grow(?:ing)?|expand(?:ing)?|scal(?:e|ing)|extend(?:ing)?|get|move)(?: up| out)? to "
        rf"(?P<goal>\d[\d,]*){_NO_NOUN}"
        rf"|\b(?:extension|expansion|increase) (?:of|by) (?P<more>\d[\d,]*){_NO_NOUN}",
        re.ASCII,
    )
