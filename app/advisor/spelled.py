"""Quantities in words, turned into digits with a unit: `a third of` -> `33 % of`, `三成` -> `30%`, `twice as` ->
`2 times as`.

Only what measures or counts something of a network is touched: "one fabric", "for three reasons" and 一半天 stay as
they are. One and two of a thing are words of ordinary prose ("two fabrics", 两台) and no figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from app.advisor.numerals import ZH_DIGITS, ZH_NUMERAL, chinese_value, english_value, number_value

_ONES = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
_WORD = rf"(?:{_ONES}|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_LARGE = r"(?:hundred|thousand|million|billion|dozen)"
_ENGLISH = rf"{_WORD}(?:[\s-]+(?:and[\s-]+)?(?:{_WORD}|hundred|thousand|dozen)\b)*"
_MEASURED = (
    r"(?:times|fold|percent|per cent|million|billion|thousand|dollars?|euros?|(?:milli|micro|nano)?seconds?|minutes?"
    r"|hours?|(?:kilo|mega)?watts?|(?:giga|mega)?b(?:its|ytes)\b|[GMT]B(?:/s)?|[GMT]b(?:/s|ps)|[kM]?W|ms|µs|us|ns)"
)
_COUNTED = (
    r"(?:(?:leaf|spine|core|more|extra) )?(?:switches|gpus|cards|nodes|servers|hosts|racks|links|ports|cables|optics"
    r"|transceivers)"
)
_FRACTION = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9}
_FRACTION |= {"tenth": 10, "hundredth": 100, "thousandth": 1000}
_OF = r"(?=[\s,]+(?:of\b|the\b|as\b|more\b|less\b|lower\b|higher\b|cheaper\b|dearer\b|slower\b|faster\b)|[.;,]|\s*$)"

_ZH = ZH_NUMERAL
_ZH_MEASURED = (
    r"(?:美元|美金|元|人民币|欧元|倍|毫秒|微秒|纳秒|秒|分钟|小时|千瓦|兆瓦|瓦|度电|[KMGT]i?B(?:/s)?|[GMT]b(?:/s|ps))"
)
_ZH_COUNTED = r"(?:台|张|張|块|塊|卡|颗|个(?:GPU|节点|端口|交换机|机柜)|節點|节点|根|条链路)"


def spelled_as_digits(text: str) -> str:
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _english(match: re.Match[str]) -> str:
    return str(english_value(match[1]))


def _counted(match: re.Match[str]) -> str:
    value = english_value(match[1])
    return match[0] if value <= 2 else str(value)


def _fraction(match: re.Match[str]) -> str:
    over = 1 if match[1].lower() in {"a", "an", "one"} else english_value(match[1])
    return _percent(over / _FRACTION[match[2].lower().removesuffix("s")])


def _of_ten(match: re.Match[str]) -> str:
    return _percent(english_value(match[1]) / english_value(match[2]))


def _zh_fraction(match: re.Match[str]) -> str:
    return _percent(_number_zh(match[2]) / _number_zh(match[1]))


def _zh_tenths(match: re.Match[str]) -> str:
    return _percent((number_value(match[1]) + (chinese_value(match[2]) / 10 if match[2] else 0)) / 10)


def _zh_off(match: re.Match[str]) -> str:
    digits = match[1]
    return _percent(float(f"0.{int(digits)}") if digits.isdigit() else float("0." + _digit_by_digit(digits)))


def _digit_by_digit(numeral: str) -> str:
    return "".join(str(chinese_value(one)) for one in numeral)


def _zh_counted(match: re.Match[str]) -> str:
    """千卡 and 万卡 name a size of clusters, not a number of cards."""
    value = chinese_value(match[1])
    return match[0] if value <= 2 or match[1] in "百千万萬" else str(value)


def _number_zh(text: str) -> float:
    return float(text) if text[0].isdigit() else chinese_value(text)


def _percent(share: float) -> str:
    """Two digits of thirds and the like, exact otherwise: a third is 33 %, an eighth 12.5 %."""
    return f"{round(share * 100, 3):g} %" if round(share * 1000, 6).is_integer() else f"{share * 100:.0f} %"


_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b(?:twice|double|thrice) (?=as\b|the\b|that\b|what\b)", re.IGNORECASE),
     lambda match: "3 times " if match[0].lower().startswith("thrice") else "2 times "),
    (re.compile(r"\bdoubles\b(?! as)", re.IGNORECASE), "2 times "),
    (re.compile(r"\b(?:triple (?=the\b|that\b)|triples\b)", re.IGNORECASE), "3 times "),
    (re.compile(r"\b(?:an?|one) order of magnitude", re.IGNORECASE), "10 times"),
    (re.compile(r"\ba (?=(?:million|billion|thousand|hundred thousand)\b)", re.IGNORECASE), "1 "),
    (re.compile(r"\b(?:a few|several|some) (?=(?:million|billion|thousand)s?\b)", re.IGNORECASE), "3 "),
    (re.compile(r"\bhalf a (?=million\b|billion\b)", re.IGNORECASE), "0.5 "),
    (re.compile(r"\ba dozen(?= )", re.IGNORECASE), "12"),
    (re.compile(r"\b(?:halves|halved)\b", re.IGNORECASE), "50 %"),
    (re.compile(r"\bhalf(?=[\s,]+(?:of\b|as\b|that\b|the (?:price|cost|time|power|money|failures))|-price\b)",
                re.IGNORECASE), "50 %"),
    (re.compile(rf"\b({_ONES}|an?)[\s-](third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth)s?\b"
                rf"{_OF}", re.IGNORECASE), _fraction),
    (re.compile(r"\b(one|two|three|four|five|six|seven|eight|nine) (?:in|out of) (ten|hundred|five|four|three)\b",
                re.IGNORECASE), _of_ten),
    (re.compile(rf"\b({_ENGLISH})(?=[\s-]*{_MEASURED}(?![A-Za-z]))", re.IGNORECASE), _english),
    (re.compile(rf"\b({_ENGLISH}|{_WORD}[\s-]{_LARGE})(?=[\s-]+{_COUNTED}\b)", re.IGNORECASE), _counted),
    (re.compile(rf"\b({_ONES})(?= to 3 times| to \d+ (?:times|%))", re.IGNORECASE), _english),
    (re.compile(r"十有八九"), "80 %–90 %"),
    (re.compile(r"翻倍|翻一?番"), "2倍"),
    (re.compile(r"翻两番"), "4倍"),
    (re.compile(r"一个数量级"), "10倍"),
    (re.compile(r"减半|減半|一半"), "50 %"),
    (re.compile(rf"百分之([{_ZH}]+|\d+(?:\.\d+)?)"), lambda match: f"{_number_zh(match[1]):g} %"),
    (re.compile(rf"([{_ZH}]+|\d+)分之([{_ZH}]+|\d+(?:\.\d+)?)"), _zh_fraction),
    (re.compile(r"(?<![完达构组造养形合第])(\d|[一二两三四五六七八九])成([一二三四五六七八九半])?"
                r"(?![为本功员熟立绩果长分型都像交就不])"), _zh_tenths),
    (re.compile(r"(\d{1,2}|[一二三四五六七八九]{1,2})折(?![叠扣合返])"), _zh_off),
    (re.compile(r"(?:数|几|上|好几)(?=[百千]?[万萬亿億](?:美元|元))"), "3"),
    (re.compile(r"(?:数|几|上|好几)(?=百万美元)"), "3"),
    (re.compile(rf"(?<![第之{_ZH}])([{ZH_DIGITS}十])(?=[到至–-][{_ZH}]+{_ZH_MEASURED})"),
     lambda match: str(chinese_value(match[1]))),
    (re.compile(rf"(?<![第之{_ZH}])((?:(?!千[瓦米字])[{_ZH}])*(?!千[瓦米字])[一二两兩三四五六七八九十百千](?:(?!千[瓦米字])[{_ZH}])*)(?=\s*(?:至|到)?\s*[{_ZH}]*\s*{_ZH_MEASURED})"),
     lambda match: str(chinese_value(match[1]))),
    (re.compile(rf"(?<![第之\d{_ZH}])([{_ZH}]+)(?=\s*{_ZH_COUNTED})"), _zh_counted),
)  # fmt: skip
