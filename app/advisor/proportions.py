"""Proportions of the two fabrics in a sentence ("half as much", 50 % cheaper, 1.5x, 贵近四成), held against the values.

A proportion is true where some pair of values of its metric bears it out: in the direction that is said, of the fabric
that is spoken of, and as close as it is written. What it is a proportion of is told by its own clause first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.advisor.both_fabrics import FABRIC, Pairs, named_in, other
from app.advisor.figure_text import Figure
from app.advisor.metric_words import metric_of
from app.advisor.spelled import spelled_as_digits

SHARE_WITHIN = 0.025  # 25 % more may be said of 22.5 to 27.5 % more
ROUGH_SHARE_WITHIN = 0.04  # "about 40 %"
MULTIPLE_WITHIN = 0.08  # "twice" may be said of 1.84 to 2.16
BOUND_WITHIN = 0.3  # of what is said: "under 20 %" of 14 to 20 %

_MULTIPLE = re.compile(r"(\d+(?:\.\d+)?)\s*(times\b|x\b|×|-?fold\b|倍|[%％])", re.IGNORECASE)
_PART = re.compile(r"[,;，；：|。\n]|:\**\s|\b(?:but|while|whereas|although|and)\b|但|而(?!言)", re.IGNORECASE)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_UP = re.compile(
    r"\bmore\b|dearer|costlier|pricier|higher|greater|slower|longer|above|larger|\bextra\b|贵|高|多|慢|大|长",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\bless\b|cheaper|lower|fewer|faster|sooner|quicker|shorter|below|smaller|savings?\b|便宜|低|少|快|省|短|提速",
    re.IGNORECASE,
)
_NO_DIRECTION = re.compile(r"大约|大概|大致|高达|多达|至多|至少|不到|多于|少于|低于|高于|\b(?:more|less) (?:or|than)\b")
_GAP = re.compile(r"\b(?:gap|difference|margin|apart|differ(?:s|ed)?)\b|差距|相差|差异|差别", re.IGNORECASE)
_AHEAD = re.compile(r"\b(?:leads?|ahead|advantage|better|wins?)\b|领先|占优|优势|优于|胜出", re.IGNORECASE)
_BEHIND = re.compile(r"\b(?:trails?|behind|lags?|worse)\b|落后|逊于|不及", re.IGNORECASE)
_SPEEDS = re.compile(r"faster|quicker|\bspeed|快|提速", re.IGNORECASE)
_CUTS = re.compile(r"\b(?:cut|lower|reduc|sav|drop|shav|undercut)\w*\b", re.IGNORECASE)
_RAISES = re.compile(r"\b(?:rais|increas)\w*\b|\badds?\b", re.IGNORECASE)
_UNDER = re.compile(
    r"(?:\b(?:less than|under|below|just under|nearly|almost|close to|not quite)|不到|不足|接近|将近|近|少于|低于)\s*$",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?:\b(?:more than|over|above|at least|well over|just over)|超过|多于|高于|逾|至少|不止)\s*$", re.IGNORECASE
)
_OVER_BEHIND = re.compile(r"\s*(?:以上|出头|有余|多(?![少了花]))")
_ROUGHLY = re.compile(r"(?:\b(?:about|around|roughly|approximately|some|circa)|~|≈|约|大概)\s*$", re.IGNORECASE)
_HELD_AGAINST = re.compile(
    r"\b(?:against|versus|vs\.?|compared (?:to|with)|instead of|rather than|unlike|relative to|than)\b[^,;，；]{0,80}$"
    r"|(?:与|和|跟|较|比)\s*$",
    re.IGNORECASE,
)
_BASE_BEHIND = re.compile(r"[^,;，；]{0,60}?\b(?:than|of|as|what|compared (?:to|with))\b[^,;，；]{0,60}", re.IGNORECASE)
_BASE_BEFORE_ZH = re.compile(
    r"(?:(?:比|较)[^，；]{0,60}|(?:是|为|等于|相当于|只有|仅|约|到)\s*[^，；]{0,20}的[^，；]{0,10})$"
)
_NOT = re.compile(r"\b(?:not|never|no)\b|n't\b|不是|并非|没有|并不", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|unless|whether|would|could|might|may)\b|如果|若|假如|是否|可能", re.IGNORECASE)
_OF_A_PART = re.compile(  # the values are of whole networks
    r"\b(?:staff\w*|support|optics?|optical|transceivers?|cables?|cabling|nics?|adapters?|licen[cs]\w*|maintenance|spares?"
    r"|loss|throughput|failures?|latency)\b|人力|人员|维保|光模块|线缆|网卡|许可|备件|丢包|吞吐|故障|时延|延迟",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Proportion:
    """`number` as it stands (50 of "50 %"); `true` is None where there is nothing to hold it against."""

    number: float
    percent: bool
    true: bool | None

    def is_of(self, figures: Sequence[Figure]) -> bool:
        """Whether one of the figures is this number."""
        return any(_key(one) == (self.number, self.percent) for one in figures)


def _key(figure: Figure) -> tuple[float, bool]:
    return float(figure.digits or "nan"), figure.dimension == "fraction"


def proportions(sentence: str, pairs: Pairs) -> Iterator[Proportion]:
    """Every proportion of a sentence, number words read as digits; none where no fabric is named."""
    text = spelled_as_digits(sentence)
    if not named_in(text):
        return
    subject, told = "", 0  # of the last proportion, and up to where its clause goes
    for match in _MULTIPLE.finditer(text):
        before, behind = _clause(text, match)
        if not subject or named_in(text[told : match.end() + len(behind)]):
            subject = _subject(text, match, before, behind)
        told = match.end() + len(behind)
        percent = match[2] in "%％"
        yield Proportion(float(match[1]), percent, _true(text, match, subject, pairs, percent=percent))


def without_true(stray: Sequence[Figure], found: Sequence[Proportion]) -> list[Figure]:
    """The figures that are not those of a true proportion; each excuses one."""
    true = [(one.number, one.percent) for one in found if one.true]
    left = []
    for figure in stray:
        if _key(figure) in true:
            true.remove(_key(figure))
        else:
            left.append(figure)
    return left


def bears_out(sentence: str, pairs: Pairs) -> bool | None:
    """Whether all proportions of a sentence are true; None where it has none, or nothing to hold one against."""
    found = [one.true for one in proportions(sentence, pairs)]
    if not found or None in found:
        return None
    return all(found)


def _true(text: str, match: re.Match[str], subject: str, pairs: Pairs, *, percent: bool) -> bool | None:
    before, behind = _clause(text, match)
    clause = f"{before}{match[0]}{behind}"
    if _NOT.search(clause) or _SUPPOSED.search(clause) or _OF_A_PART.search(clause):
        return None
    metric = _metric(text, match, clause)
    values = pairs.of_metric(metric)
    if not subject or not values:
        return None
    over = _OVER.search(before) or _OVER_BEHIND.match(behind)
    bound = -1 if _UNDER.search(before) else 1 if over else 0
    rough = bool(_ROUGHLY.search(before)) or behind.lstrip().startswith("左右")
    for pair in values:
        ratio = pair[subject] / pair[other(subject)]
        readings = _readings(ratio, before, behind, percent=percent, metric=metric, once=float(match[1]) == 1)
        if any(_fits(match[1], reading, bound, percent=percent, rough=rough) for reading in readings):
            return True
    return False if len(named_in(text)) == len(FABRIC) else None


def _clause(text: str, match: re.Match[str]) -> tuple[str, str]:
    """What stands in the clause of a proportion, before and behind it."""
    return _PART.split(text[: match.start()])[-1], _PART.split(text[match.end() :])[0]


def _metric(text: str, match: re.Match[str], clause: str) -> str:
    """That of the clause, else of the nearest clause before, else of the whole."""
    for part in (clause, *reversed(_PART.split(text[: match.start()])[:-1])):
        if found := metric_of(part):
            return found
    return metric_of(text)


def _subject(text: str, match: re.Match[str], before: str, behind: str) -> str:
    """The fabric whose value is said to be so many times, or so much more than, the other's."""
    base = _base(before, behind)
    if base:
        return other(base)
    start = match.start()
    mentions = sorted((one.start(), name) for name, words in FABRIC.items() for one in words.finditer(text))
    leading = [
        name for place, name in mentions if place < start and not _HELD_AGAINST.search(_PART.split(text[:place])[-1])
    ]
    if leading:
        return leading[-1]
    held = [name for place, name in mentions if place < start]
    if held and len(set(held)) == 1 and len(named_in(text)) == 1:
        return other(held[-1])
    following = [name for place, name in mentions if place >= start]
    return following[0] if following else ""


def _base(before: str, behind: str) -> str:
    """The fabric that a proportion is of: "half of InfiniBand's", 比 InfiniBand 低三成, 是 InfiniBand 的一半."""
    if _CHINESE.search(before + behind):
        found = _BASE_BEFORE_ZH.search(before)
        names = named_in(found[0]) if found else []
    else:
        found = _BASE_BEHIND.match(behind)
        names = named_in(found[0]) if found else []
    return names[-1] if names else ""


def _direction(before: str, behind: str) -> int:
    chinese = bool(_CHINESE.search(before + behind))
    near = _NO_DIRECTION.sub(" ", before[-10:] if chinese else behind[:28])
    if chinese and not (_UP.search(near) or _DOWN.search(near)):
        near = behind[:8]
    up, down = bool(_UP.search(near)), bool(_DOWN.search(near))
    if not up and not down and not chinese:
        led = re.search(r"(\w+) by\W+(?:about |roughly |around |nearly |some |over |almost )?\Z", before, re.IGNORECASE)
        near = led[1] if led else ""
        up = bool(_UP.search(near) or _RAISES.search(before))
        down = bool(_DOWN.search(near) or _CUTS.search(before))
    return 0 if up == down else 1 if up else -1


def _readings(ratio: float, before: str, behind: str, *, percent: bool, metric: str, once: bool) -> Sequence[float]:
    """The numbers that would be true of a ratio (subject over other) in these words, as shares or multiples."""
    way, whole = _direction(before, behind), before + behind
    around = before[-16:] + behind[:28]
    if metric == "bandwidth" and _SPEEDS.search(around):
        way = -way
    if percent:
        if not way and _GAP.search(whole):
            return [abs(1 - ratio), abs(1 - 1 / ratio)]
        if not way and (_AHEAD.search(whole) or _BEHIND.search(whole)):
            leads = bool(_AHEAD.search(whole)) != (metric == "bandwidth")  # whose value is the smaller one
            return [1 - ratio, 1 / ratio - 1] if leads else [ratio - 1, 1 - 1 / ratio]
        found = [1 - ratio] if way < 0 else [ratio - 1] if way > 0 else [ratio]
        return [*found, 1 / ratio - 1] if way < 0 and _SPEEDS.search(around) else found
    if not way and (_AHEAD.search(whole) or _BEHIND.search(whole)):
        return []
    if way < 0:
        return [1 / ratio]
    if way > 0:
        return [ratio - 1] if once and _CHINESE.search(before + behind) else [ratio - 1, ratio]
    return [ratio]


def _fits(written: str, actual: float, bound: int, *, percent: bool, rough: bool) -> bool:
    said = float(written) / 100 if percent else float(written)
    if actual <= 0 or said <= 0:
        return False
    if bound:
        away = (actual - said) * bound
        return -0.005 * said <= away <= BOUND_WITHIN * said
    if percent:
        return abs(said - actual) <= (ROUGH_SHARE_WITHIN if rough else SHARE_WITHIN) + 1e-9
    exact = "." in written and not rough
    within = 0.5 * 10 ** -len(written.partition(".")[2]) if exact else MULTIPLE_WITHIN * said
    return abs(said - actual) <= within + 1e-9
