"""Numbers as people write them, in English and Chinese, turned into digits before a question is read.

`sixty-four GPUs` and `六十四卡` become `64 GPUs` and `64卡`; `千卡` becomes `1000卡`; full-width digits become ASCII.
Only number words in front of something countable are touched, so that "one fabric" and "一个问题" stay.
"""

from __future__ import annotations

import re
import unicodedata

_UNITS = {
    word: value
    for value, word in enumerate(
        re.findall(
            r"\w+",
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen",
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000}
_COUNTABLE_EN = (
    r"(?:gpus?|cards?|nodes?|servers?|hosts?|accelerators?|machines?|boxes|systems?|racks?|cabinets?|dgx|hgx|nvidia|nvl72s?"
    r"|[abhl]\d{2,3}s?|gb[23]00|rtx|mi3\d\dx?|years?|yrs?|cents?|switches"
    r"|(?:\d+g )?ports?|[1-8]00g|sites?|clusters?|rows?|pods?|islands?|data ?cent(?:er|re)s?|locations?|campuses"
    r"|trays?|(?:\d+|[a-z]+)-(?:way|gpu|card)"
    r"|(?:bare|big|new|identical|gpu|ai)\s+(?:\w+\s+)?(?:nodes?|servers?|boxes|machines?))"
)
_WORD = "|".join((*_UNITS, *_TENS, *_SCALES))
_QUANTITIES = (  # in front of countable things
    (
        re.compile(rf"\bhalf a (thousand|hundred|dozen)(?=[\s-]+{_COUNTABLE_EN})", re.IGNORECASE),
        {"thousand": "500", "hundred": "50", "dozen": "6"},
    ),
    (
        re.compile(rf"\ba (thousand|hundred|dozen)(?=[\s-]+(?:or so )?{_COUNTABLE_EN})", re.IGNORECASE),
        {"thousand": "1000", "hundred": "100", "dozen": "12"},
    ),
    (
        re.compile(rf"\b(?:a )?couple (?:of )?(thousand|hundred|dozen)(?=[\s-]+{_COUNTABLE_EN})", re.IGNORECASE),
        {"thousand": "2000", "hundred": "200", "dozen": "24"},
    ),
    (re.compile(rf"\ba (?:couple|pair) of()(?=[\s-]+{_COUNTABLE_EN})", re.IGNORECASE), {"": "2"}),
)
_ENGLISH = re.compile(rf"\b((?:{_WORD})(?:[\s-]+(?:and[\s-]+)?(?:{_WORD}))*)(?=[\s-]+{_COUNTABLE_EN}\b)", re.IGNORECASE)

_ZH_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_ZH_SCALES = {"十": 10, "百": 100, "千": 1_000}
ZH_DIGITS = "".join(_ZH_DIGITS)
ZH_NUMERAL = ZH_DIGITS + "十百千万萬亿億"
_ZH_COUNTABLE = (
    r"(?:卡|张|張|块|塊|台|臺|节点|節點|个节点|個節點|个GPU|個GPU|颗|顆|年|GPU|柜|櫃|个机柜|個機櫃|个机架|套"
    r"|个?pod(?![a-z])|个集群|个机房|个站点|个数据中心|个园区|个校区|排|机(?=互联|互连|组|训练|并行|一共|总共|共|[一二三四五六七八九十百\d]+卡))"
)
_ABOUT_ZH = r"(?:来|來|多|余|餘|几)?"  # 五百来张, 五百多张: about 500
_CHINESE = re.compile(
    rf"(?<![几数幾數上{ZH_NUMERAL}])([{ZH_NUMERAL}]+){_ABOUT_ZH}(?=\s*{_ZH_COUNTABLE})", re.IGNORECASE
)
_FROM_ZH = re.compile(rf"上([百千万萬])(?=\s*{_ZH_COUNTABLE})")  # 上千卡: a thousand or more
_DIGITS_ABOUT_ZH = re.compile(rf"(\d+){_ABOUT_ZH}(?=\s*{_ZH_COUNTABLE})")
_MIXED = re.compile(r"(\d+(?:\.\d+)?)\s*(千|万|萬|亿|億)(?!\s*(?:美元|元|人民币|块钱|億|亿))")
_MIXED_SCALE = {"千": 1_000, "万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_DIGITS_AND_WORD = re.compile(
    rf"\b(\d+(?:\.\d+)?)[\s-]*(hundred|thousand|million)(?=[\s-]+{_COUNTABLE_EN}\b)", re.IGNORECASE
)
_KILO = re.compile(rf"\b(\d+(?:\.\d+)?)\s*k(?=[\s-]*(?:{_COUNTABLE_EN}|卡|张|GPU)|\s*[?？]|\s*$)", re.IGNORECASE)

_SPACED = re.compile(
    rf"(?<![\w.,-])\d{{1,3}}(?: \d{{3}})+(?=\s(?:{_COUNTABLE_EN}))", re.IGNORECASE | re.ASCII
)  # 12 800 GPUs


def normalise_numbers(text: str) -> str:
    """The same text with NFKC forms and with number words in front of countable things as digits."""
    text = re.sub(r"(?<![\w.,])(\d+),(\d{1,2})(?=\s?k\b)", r"\1.\2", text)  # 1,5k is 1.5k
    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    text = re.sub(r"(?<![\w.])2\^(\d{1,2})(?!\d)", lambda match: str(2 ** int(match[1])), text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)  # before NFKC: a full-width comma separates no thousands
    text = unicodedata.normalize("NFKC", text)
    for pattern, values in _QUANTITIES:
        text = pattern.sub(lambda match, values=values: values[match[1].lower()], text)  # type: ignore[misc]
    text = _DIGITS_AND_WORD.sub(lambda match: _whole(float(match[1]) * _SCALES[match[2].lower()]), text)
    text = _ENGLISH.sub(lambda match: str(english_value(match[1])), text)
    text = _MIXED.sub(lambda match: _whole(float(match[1]) * _MIXED_SCALE[match[2]]), text)
    text = _KILO.sub(lambda match: _whole(float(match[1]) * 1_000), text)
    text = _FROM_ZH.sub(lambda match: str(chinese_value(match[1])), text)
    text = _CHINESE.sub(_apart, text)
    return _DIGITS_ABOUT_ZH.sub(lambda match: match[1], text)


def _apart(match: re.Match[str]) -> str:
    """A numeral as digits, with a space behind a Latin word: `RoCE三年` is no `RoCE3年`."""
    before = match.string[match.start() - 1] if match.start() else ""
    return (" " if before.isascii() and before.isalpha() else "") + str(chinese_value(match[1]))


def number_value(text: str) -> int:
    """Of one number, in digits or in words of either language."""
    if text.isdigit():
        return int(text)
    return english_value(text) if text.isascii() else chinese_value(text)


def chinese_value(numeral: str) -> int:
    """The value of a Chinese numeral; a bare scale counts as one of it (`千` is 1000)."""
    total = section = digit = 0
    seen_digit = False
    for char in numeral:
        if char in _ZH_DIGITS:
            digit = digit * 10 + _ZH_DIGITS[char] if seen_digit else _ZH_DIGITS[char]  # 二〇二六 reads digit by digit
            seen_digit = True
            continue
        if char in _ZH_SCALES:
            section += (digit if seen_digit else 1) * _ZH_SCALES[char]
        else:
            scale = _MIXED_SCALE[char]
            total = (total + section + digit or 1) * scale
            section = 0
        digit, seen_digit = 0, False
    return total + section + digit


def english_value(words: str) -> int:
    total = current = 0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in _UNITS:
            current += _UNITS[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word in {"dozen", "hundred"}:
            current = (current or 1) * _SCALES[word]
        elif word in _SCALES:
            total += (current or 1) * _SCALES[word]
            current = 0
    return total + current


def _whole(value: float) -> str:
    return str(round(value)) if abs(value - round(value)) < 1e-6 else str(value)
