"""Numbers that are no numbers yet: ranges, "several hundred", "about 500", "64 now, 512 next year".

Each is turned into the one number that is calculated with, and a note says which: the upper end of a range, five of
what "several" counts, the later of two sizes. A fabric that is built once has to carry the larger cluster.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from app.advisor.mentions import NODE_WORD, gpu_names, unit_of
from app.advisor.numerals import chinese_value, english_value, number_value
from app.advisor.reading_notes import ReadingNote, note

SEVERAL = 5  # of "several hundred"; the verdict names the sizes at which it would change
_COUNTED_EN = (
    r"(?:[a-z0-9-]+\s+){0,2}?"
    r"(?:gpus?|cards?|nodes?|servers?|boxes|machines?|accelerators?|hosts?|[abh]\d{2,3}s?|b[23]00s?)\b"
)
_COUNTED_ZH = r"(?:张|張|块|塊|卡|台|颗|个节点|节点|个gpu|gpu)"
_SEVERAL_EN = re.compile(
    r"\b(?:(?:a\s+)?(?:few|several|handful of)\s+(dozen|hundred|thousand)s?"
    r"|(?:(hundred|ten)s\s+of\s+)?(ten|dozen|hundred|thousand)s)"
    rf"(?:\s+of)?(?=\s+{_COUNTED_EN})",
    re.IGNORECASE | re.ASCII,
)
_SEVERAL_ZH = re.compile(rf"(?:好几|几|幾|数|數|若干)([十百千万])(?=[多来]?{_COUNTED_ZH})", re.IGNORECASE)
_PAIR_ZH = re.compile(
    rf"([一二两三四五六七八九])([二三四五六七八九])([十百千万])(?=[多来]?{_COUNTED_ZH})", re.IGNORECASE
)
_MORE_ZH = re.compile(
    rf"([\d一二两三四五六七八九十百千万]+)(?:多|来|余)(?={_COUNTED_ZH})|(?:上|过)([百千万])(?={_COUNTED_ZH})"
)
_PAIR_EN = re.compile(  # "one or two hundred", "two to three thousand"
    r"\b(one|two|three|four|five|six|seven|eight|\d)\s*(?:or|to|-|–)\s*"
    rf"(two|three|four|five|six|seven|eight|nine|\d)\s*(dozen|hundred|thousand|k)(?=[\s-]+{_COUNTED_EN})",
    re.IGNORECASE | re.ASCII,
)
_KILO_PAIR = re.compile(  # "between 1k and 2k GPUs"
    rf"(?<![\w.])(\d+(?:\.\d+)?)k\s*(to|and|or|-|–|到|至)\s*(\d+(?:\.\d+)?)k(?=[\s-]*(?:{_COUNTED_EN}|{_COUNTED_ZH}))",
    re.IGNORECASE | re.ASCII,
)
_ABOUT = r"about|around|roughly|approximately|approx\.?|some|circa|nearly|almost|~|≈|大约|大概|差不多|将近|接近|约|近"
_AT_LEAST = r"at least|more than|over|no fewer than|upwards of|至少|超过|不少于|大于|多于"
_AT_MOST = r"up to|at most|no more than|a maximum of|maximum|max\.?|最多|不超过|至多|上限"
_AFTER_ABOUT = r"左右|上下|or so\b|ish\b|-ish\b"
_SOON = (
    r"(?:next (?:year|quarter|phase|summer|spring|autumn|fall|winter|month)|this time next year|(?:in"
    r"|within) (?:the next )?(?:\d+|a|two|three|six|twelve"
    r"|a few|few|couple of)"
    r" (?:months?|quarters?|years?)|by (?:the )?(?:end of )?(?:the )?(?:20\d\d|next \w+|year|summer|spring"
    r"|autumn|fall|winter|q[1-4]|christmas|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)"
    r"|later(?: on)?|eventually"
    r"|in (?:phase|stage) (?:2|two|ii)|down the road|in (?:the )?future|after that)"
)
_SOON_ZH = r"(?:明年|后年|未来|将来|以后|后续|二期|下一期|最终|远期|之后|后面)"
_DOUBLING = re.compile(
    rf"\b(?:doubl(?:e|es|ing)|twice that)\b[^.?!]{{0,12}}?{_SOON}"
    rf"|{_SOON_ZH}[^,，。]{{0,4}}?翻(?:一)?(?:倍|番)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Growth:
    """A later size: `number` in GPUs or servers (None where the unit is today's), or today's times `factor`."""

    number: int
    servers: bool | None
    factor: int
    text_today: str  # the question without the later size and its date


def spelled_out(text: str) -> tuple[str, tuple[ReadingNote, ...]]:
    """Vague number words as numbers: `several hundred GPUs`, `几百张`, `两三百张` (a range)."""
    notes: list[ReadingNote] = []

    def several(match: re.Match[str], scale: int) -> str:
        value = SEVERAL * scale
        notes.append(_taken(match[0].strip(), value))
        return str(value)

    def english(match: re.Match[str]) -> str:
        scale = english_value(match[1] or match[3])
        return several(match, scale * (english_value(match[2]) if match[2] else 1))

    def pair(match: re.Match[str]) -> str:
        low, high = (chinese_value(match[at] + match[3]) for at in (1, 2))
        return f"{low}到{high}" if high > low else match[0]

    def either(match: re.Match[str]) -> str:
        scale = 1_000 if match[3].lower() == "k" else english_value(match[3])
        low, high = (scale * number_value(match[at]) for at in (1, 2))
        return f"{low} to {high}" if high > low else match[0]

    text = _KILO_PAIR.sub(lambda match: f"{float(match[1]) * 1e3:.0f} {match[2]} {float(match[3]) * 1e3:.0f}", text)
    text = _PAIR_EN.sub(either, text)
    text = _SEVERAL_EN.sub(english, text)
    text = _PAIR_ZH.sub(pair, text)
    text = _SEVERAL_ZH.sub(lambda match: several(match, chinese_value(match[1])), text)
    if match := _MORE_ZH.search(text):
        notes.append(
            note(
                "gpus",
                f"“{match[0]}” (more or less) is taken at the number said.",
                f"“{match[0]}”为约数，按所说的整数计算。",
            )
        )
    return text, tuple(notes)


def settled(low: str, models: str) -> tuple[str, tuple[ReadingNote, ...]]:
    """Ranges as their upper end, and what else is only nearly said ("about", "at least", "up to")."""
    notes: list[ReadingNote] = []
    patterns = _patterns(models)

    def upper(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        if last <= first:
            return match[0]
        notes.append(
            note(
                "gpus",
                f"{first:,} to {last:,} was said: calculated for the upper end, {last:,}; ask for {first:,} to "
                f"see the other.",
                f"文中给出 {first:,} 到 {last:,}：按上限 {last:,} 计算；如需下限，可改问 {first:,}。",
            )
        )
        return f"{last}"

    def largest(match: re.Match[str]) -> str:
        sizes = [int(one) for one in re.findall(r"\d+", match[0])]
        named = ", ".join(f"{one:,}" for one in sizes)
        notes.append(
            note(
                "gpus",
                f"Several sizes were named ({named}): calculated for {max(sizes):,}; ask for the others one by one.",
                f"给出了多个规模（{named}）：按 {max(sizes):,} 计算；其余请逐一提问。",
            )
        )
        return str(max(sizes))

    low = patterns["turned"].sub(lambda match: f"{match[2]} x {match[1]}", low)
    low = patterns["list"].sub(largest, low)
    low = patterns["range"].sub(upper, low)
    low = patterns["plain"].sub(lambda match: f"{match[2]} gpus", low)
    for name in ("about", "about_behind", "at_least", "plus", "at_most"):
        if not notes and (match := patterns[name].search(low)):
            notes.append(_hedged(match[0].strip(), int(match["number"]), name))
    for name in ("plus", "nearly"):
        low = patterns[name].sub(lambda match: match["number"], low)
    return low, tuple(notes)


def growth(low: str, models: str) -> Growth | None:
    """The later size of "64 now, 512 next year", None where only one size is spoken of."""
    for name in ("grows_to", "soon", "grows_zh", "soon_zh"):
        for match in _patterns(models)[name].finditer(low):
            today = low[: match.start()] + " " + low[match.end() :]
            unit = match["unit"] or ""
            servers = bool(re.search(NODE_WORD, unit, re.ASCII)) if unit else None
            return Growth(int(match["number"]), servers, 1, today)
    if doubling := _DOUBLING.search(low):
        return Growth(0, None, 2, low[: doubling.start()] + " " + low[doubling.end() :])
    return None


def growth_note(today: int, later: int) -> ReadingNote:
    return note(
        "gpus",
        f"{today:,} GPUs today and {later:,} later: sized for {later:,}, since the fabric has to carry both; "
        f"ask for {today:,} to see today's alone.",
        f"目前 {today:,} 张、以后 {later:,} 张 GPU：网络需同时满足两者，按 {later:,} 张计算；如只看目前，可改问 "
        f"{today:,}。",
    )


def _taken(phrase: str, value: int) -> ReadingNote:
    return note(
        "gpus",
        f"“{phrase}” is taken as {value:,}; give the number for a closer answer.",
        f"“{phrase}”按 {value:,} 计算；给出具体数字，结果会更准确。",
    )


def _hedged(phrase: str, value: int, name: str) -> ReadingNote:
    if name in ("at_least", "plus"):
        return note(
            "gpus",
            f"“{phrase}”: calculated for {value:,}, the least of it; a larger cluster may get another answer.",
            f"“{phrase}”：按下限 {value:,} 计算；规模更大时结论可能不同。",
        )
    if name == "at_most":
        return note("gpus", f"“{phrase}”: sized for all {value:,}.", f"“{phrase}”：按 {value:,} 计算。")
    return note("gpus", f"“{phrase}” is taken as {value:,}.", f"“{phrase}”按 {value:,} 计算。")


@functools.lru_cache(maxsize=64)
def _patterns(models: str) -> dict[str, re.Pattern[str]]:
    unit = unit_of(models)
    number = r"(?<![\w.$€£¥-])(?<!\d:)(?P<number>\d+)"
    counted = rf"(?=\s*-?\s*{unit})"
    texts = {
        "range": rf"(?<![\w.$€£¥])(?<!\d:)(?:between\s+|from\s+|从)?(\d+)\s*(?:{unit})?\s*(?:-|–|—|~|to|or|到|至|或者?"
        rf"|(?<=\d)\s?and)\s*(\d+){counted}",
        "turned": rf"(?<![a-z0-9])((?:(?:dgx|hgx)\s*)?{gpu_names(models)}s?|dgx|hgx)\s*(?:x|×"
        rf"|\*)\s*(\d+)(?!\s*(?:\d|[gx×*]|{unit}))",
        "list": rf"(?<![\w.])\d+(?:\s*[,、/]\s*\d+)+(?:\s*,?\s*(?:and|or|和|或)\s*\d+)?{counted}",
        "plain": r"\b(gpus|gpu count|number of gpus|cards|卡数|gpu\s?数量?)\s*[:=]\s*(\d+)",
        "about": rf"(?:(?<![a-z])(?:{_ABOUT}))\s*{number}\s*{unit}",
        "about_behind": rf"{number}\s*(?:{unit})?\s*(?:{_AFTER_ABOUT})",
        "at_least": rf"(?:(?<![a-z])(?:{_AT_LEAST}))\s*{number}\s*{unit}",
        "plus": rf"{number}\+{counted}",
        "nearly": rf"{number}\s*-?(?:or so|ish|odd)\b",
        "at_most": rf"(?:(?<![a-z])(?:{_AT_MOST}))\s*{number}\s*{unit}",
        "grows_to": rf"\b(?:grow\w*|scal\w+|expand\w*|ramp\w*|increas\w+|going|rising)\s+(?:it\s+|that\s+|out\s+"
        rf"|up\s+)*to\s+"
        rf"(?:about\s+|some\s+)?(?P<number>\d+)(?:\s*-?(?P<unit>{unit}))?(?:\s*,?\s*{_SOON})?",
        "soon": rf"{number}(?:\s*-?(?P<unit>{unit}))?\s*,?\s*{_SOON}",
        "grows_zh": rf"(?:{_SOON_ZH}[^\d,，。;；]{{0,8}}?)?(?:扩(?:展|容|充|建)?(?:到|至|成)|增(?:长|加)?(?:到"
        rf"|至)|长到|升到|加到)\s*(?P<number>\d+)(?:\s*(?P<unit>{unit}))?",
        "soon_zh": rf"{_SOON_ZH}[^\d,，。;；年]{{0,8}}?(?P<number>\d+)(?!\s*(?:年|月|周|个月))(?:\s*(?P<unit>{unit}))?",
    }
    return {name: re.compile(text, re.ASCII) for name, text in texts.items()}
