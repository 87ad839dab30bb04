"""Finding the figures of a text, English or Chinese: value, unit, and how exact it is written.

`$1.2–1.5M` is two figures in USD; `120万美元` and `一百二十万美元` are the same one; `GB/s` is not `Gb/s`; `twice as`
and `三倍` are figures too. Names that contain digits (H100, RoCEv2, 802.1Qbb, T3) are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from app.advisor.numerals import chinese_value

_NUMBER = r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)"
_SCALES = (
    (r"\s*(?:k|K)(?![A-Za-z])|\s*thousand\b|\s*千(?!兆)", 1e3),
    (r"\s*M(?![A-Za-z])|\s*(?:mn|million)\b|\s*百万", 1e6),
    (r"\s*B(?![A-Za-z/])|\s*(?:bn|billion)\b|\s*十亿", 1e9),
    (r"\s*[万萬](?!兆)", 1e4),
    (r"\s*[亿億]", 1e8),
)
_UNITS: tuple[tuple[str, str, float], ...] = (
    # what stands behind the number, dimension, factor to its unit
    (r"\s*(?:美元|美金|刀|USD\b|US dollars?\b|dollars?\b)", "USD", 1),
    (r"\s*(?:µs|us\b|μs|微秒|microseconds?\b)", "us", 1),
    (r"\s*(?:ms\b|毫秒|milliseconds?\b)", "us", 1e3),
    (r"\s*(?:s(?![a-zA-Z0-9'])|秒|seconds?\b)", "us", 1e6),
    (r"\s*(?:TB/s|TBps)", "GB/s", 1e3),
    (r"\s*(?:GB/s|GBps|gigabytes? per second)", "GB/s", 1),
    (r"\s*(?:MB/s|MBps)", "GB/s", 1e-3),
    (r"\s*(?:Tb/s|Tbps|Tbit/s)", "Gb/s", 1e3),
    (r"\s*(?:Gb/s|Gbps|Gbit/s|gigabits? per second)", "Gb/s", 1),
    (r"\s*(?:Mb/s|Mbps|Mbit/s)", "Gb/s", 1e-3),
    (r"\s*(?:kWh|度电|千瓦时)", "kWh", 1),
    (r"\s*(?:MW(?!h)|兆瓦)", "W", 1e6),
    (r"\s*(?:kW(?!h)|千瓦(?!时))", "W", 1e3),
    (r"\s*W(?![a-zA-Z])", "W", 1),
    (r"\s*(?:[%％]|percent\b|per cent\b|个百分点)", "fraction", 0.01),
    (r"\s*TiB", "bytes", 2**40),
    (r"\s*GiB", "bytes", 2**30),
    (r"\s*MiB", "bytes", 2**20),
    (r"\s*KiB", "bytes", 2**10),
)
_DOLLAR_BEFORE = re.compile(r"(?:US)?\$\s?\Z|USD\s?\Z")
_PLAIN = re.compile(rf"(?<![A-Za-z0-9_./,])(?<![A-Za-z_]-){_NUMBER}(?![A-Za-z0-9_]*[A-Za-z_]{{2,}}\d)")
_NAME = re.compile(
    r"[A-Za-z][A-Za-z_\-]*\d[\w.\-]*|\d+[A-Za-z]+\d\w*|\bv\d+(?:\.\d+)*|\b802\.\d+\w*|\bRFC\s?\d+"
    r"|\bPCIe (?:Gen ?)?\d(?:\.\d)?|\b(?:[Ll]ayer|[Vv]ersion|[Gg]en|[Ss]tep|CUDA) \d+(?:\.\d+)*"
    r"|\b\d+(?:st|nd|rd|th)\b|第\s*\d+|\b24/7\b",
    re.ASCII,
)
_MARKER = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\b[Tt]\d+(?:\.[\w.]+)?")
_LIST_NUMBER = re.compile(r"^\s*(?:[-*>]\s*)?\d+[.)]\s", re.MULTILINE)
_BETWEEN = re.compile(r"\s*(?:美元|USD)?\s*(?:–|—|-|~|～|to|至|到)\s*(?:US)?\$?\s*")

_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_WORDS |= {"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_WORDS |= {"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
_COUNTED = r"(?:times|fold|percent|per cent|million|billion|thousand|dollars)\b"
_SPELLED = re.compile(
    rf"\b({'|'.join(_WORDS)})(?=[\s-]*{_COUNTED})",
    re.IGNORECASE,
)
_MULTIPLES = (
    (re.compile(r"\b(?:twice|double) (?=as\b|the\b|that\b|what\b)|\bdoubles\b(?! as)", re.IGNORECASE), "2 times "),
    (re.compile(r"\b(?:triple) (?=the\b|that\b)|\btriples\b", re.IGNORECASE), "3 times "),
    (re.compile(r"\ba (?=(?:million|billion|thousand|hundred thousand)\b)", re.IGNORECASE), "1 "),
    (re.compile(r"\bhalf a (?=million\b|billion\b)", re.IGNORECASE), "0.5 "),
    (re.compile(r"\btwo[- ]thirds (?=of\b|the\b)", re.IGNORECASE), "67 % "),
    (re.compile(r"\b(?:a|one)[- ]third (?=of\b|more\b|less\b|cheaper\b|dearer\b)", re.IGNORECASE), "33 % "),
    (re.compile(r"\b(?:a|one)[- ]quarter (?=of\b|more\b|less\b|cheaper\b|dearer\b)", re.IGNORECASE), "25 % "),
    (re.compile(r"三分之一"), "33%"),
    (re.compile(r"三分之二"), "67%"),
    (re.compile(r"四分之一"), "25%"),
    (re.compile(r"翻倍|翻番"), "2倍"),
    (re.compile(r"\bhalf (?=as\b|the (?:price|cost|time|power|money))", re.IGNORECASE), "50 % "),
)
_ZH = "零〇一二两兩三四五六七八九十百千万萬亿億"
_ZH_PERCENT = re.compile(rf"百分之([{_ZH}]+|\d+(?:\.\d+)?)")
_ZH_FIGURE = re.compile(
    rf"(?<![第之{_ZH}])([{_ZH}]*[一二两兩三四五六七八九十百千][{_ZH}]*)(?=\s*(?:美元|元|人民币|欧元|倍|毫秒|微秒|千瓦|[GT]B/s|[GT]b/s))"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as displayed: its value in the unit of `dimension` ("" for a bare number) and half its last digit."""

    text: str
    value: float
    tolerance: float
    dimension: str

    @property
    def digits(self) -> str:
        """As written, without separators, unit and scale."""
        match = re.search(r"\d[\d,]*(?:\.\d+)?", self.text)
        return match[0].replace(",", "") if match else ""


@dataclass(frozen=True, slots=True)
class _Found:
    figure: Figure
    scale: float
    start: int
    end: int


def figures_in(text: str) -> list[Figure]:
    """Every figure of a text, in order, without citation markers, list numbers and names that contain digits."""
    text = spelled_as_digits(_LIST_NUMBER.sub(" ", _MARKER.sub(" ", text)))
    text = _NAME.sub(lambda match: "·" * len(match[0]), text)
    found: list[_Found] = []
    for match in _PLAIN.finditer(text):
        one = _read(text, match)
        if found and _BETWEEN.fullmatch(text[found[-1].end : one.start]):
            found[-1], one = _as_range(found[-1], one)
        found.append(one)
    return [one.figure for one in found]


def spelled_as_digits(text: str) -> str:
    """`three times` -> `3 times`, `twice as` -> `2 times as`, `百分之五` -> `5%`, `三倍` -> `3倍`."""
    for pattern, digits in _MULTIPLES:
        text = pattern.sub(digits, text)
    text = _SPELLED.sub(lambda match: str(_WORDS[match[1].lower()]), text)
    text = _ZH_PERCENT.sub(lambda match: f"{match[1] if match[1][0].isdigit() else chinese_value(match[1])}%", text)
    return _ZH_FIGURE.sub(lambda match: str(chinese_value(match[1])), text)


def _read(text: str, match: re.Match[str]) -> _Found:
    start, end = match.start(), match.end()
    scale, dimension, factor = 1.0, "", 1.0
    if before := _DOLLAR_BEFORE.search(text[max(0, start - 5) : start]):
        dimension = "USD"
        start -= len(before[0])
    for pattern, size in _SCALES:
        if scaled := re.match(pattern, text[end:]):
            scale, end = size, end + scaled.end()
            break
    if not dimension:
        for pattern, name, size in _UNITS:
            if unit := re.match(pattern, text[end:]):
                dimension, factor, end = name, size, end + unit.end()
                break
    digits = match["number"].replace(",", "")
    whole = factor * scale
    half = 0.5 * 10 ** -len(digits.partition(".")[2]) * whole * 1.0001
    return _Found(Figure(text[start:end].strip(), float(digits) * whole, half, dimension), whole, start, end)


def _as_range(first: _Found, second: _Found) -> tuple[_Found, _Found]:
    """Both ends of `1.2–1.5 million` or `$1.2–1.5M` have the unit and scale that is written once."""
    low, high = first.figure, second.figure
    if high.dimension and not low.dimension:
        low = replace(low, dimension=high.dimension)
    elif low.dimension == "USD" and not high.dimension:
        high = replace(high, dimension="USD")
    if first.scale == 1.0 and second.scale != 1.0 and low.dimension == high.dimension:
        low = replace(low, value=low.value * second.scale, tolerance=low.tolerance * second.scale)
    return replace(first, figure=low), replace(second, figure=high)
