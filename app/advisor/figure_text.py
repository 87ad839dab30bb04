"""Finding the figures of a text, English or Chinese: value, unit, and how exact it is written.

`$1.2–1.5M` is two figures in USD; `120万美元` and `一百二十万美元` are the same one; `GB/s` is not `Gb/s`; `twice as`,
`三成` and `3:1` are figures too. Names that contain digits (H100, RoCEv2, 802.1Qbb, T3) are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from app.advisor.spelled import spelled_as_digits

_NUMBER = r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)"
_SCALES = (
    (r"\s*(?:k|K)(?![A-Za-z])|\s*thousand\b|\s*千(?![兆瓦字米])", 1e3),
    (r"\s*M(?![A-Za-z])|\s*(?:mn|million)\b|\s*百万", 1e6),
    (r"\s*B(?![A-Za-z/])|\s*(?:bn|billion)\b|\s*十亿", 1e9),
    (r"\s*[万萬](?![兆亿億])", 1e4),
    (r"\s*[万萬][亿億]", 1e12),
    (r"\s*[亿億]", 1e8),
)
_UNITS: tuple[tuple[str, str, float], ...] = (
    # what stands behind the number, dimension, factor to its unit
    (r"\s*(?:美元|美金|刀|USD\b|US dollars?\b|dollars?\b)", "USD", 1),
    (r"\s*(?:元|人民币|RMB\b|CNY\b|块钱)", "CNY", 1),
    (r"\s*(?:欧元|EUR\b|euros?\b)", "EUR", 1),
    (r"\s*(?:ns\b|纳秒|nanoseconds?\b)", "us", 1e-3),
    (r"\s*(?:µs|us\b|μs|微秒|microseconds?\b)", "us", 1),
    (r"\s*(?:ms\b|毫秒|milliseconds?\b)", "us", 1e3),
    (r"\s*(?:s(?![a-zA-Z0-9'])|秒|seconds?\b)", "us", 1e6),
    (r"\s*(?:min(?![a-zA-Z])|minutes?\b|分钟)", "h", 1 / 60),
    (r"\s*(?:h(?![a-zA-Z])|hours?\b|个?小时)", "h", 1),
    (r"\s*(?:TB/s|TBps)", "GB/s", 1e3),
    (r"\s*(?:GB/s|GBps|gigabytes? per second)", "GB/s", 1),
    (r"\s*(?:MB/s|MBps)", "GB/s", 1e-3),
    (r"\s*(?:Tb/s|Tbps|Tbit/s)", "Gb/s", 1e3),
    (r"\s*(?:Gb/s|Gbps|Gbit/s|gigabits? per second)", "Gb/s", 1),
    (r"\s*(?:Mb/s|Mbps|Mbit/s)", "Gb/s", 1e-3),
    (r"\s*(?:kWh|度电?(?![数角])|千瓦时)", "kWh", 1),
    (r"\s*(?:MW(?!h)|兆瓦)", "W", 1e6),
    (r"\s*(?:kW(?!h)|千瓦(?!时))", "W", 1e3),
    (r"\s*(?:W(?![a-zA-Z])|瓦(?!时)|watts?\b)", "W", 1),
    (r"\s*(?:[%％]|percent\b|per cent\b|个百分点)", "fraction", 0.01),
    (r"\s*[‰]", "fraction", 0.001),
    (r"\s*TiB", "bytes", 2**40),
    (r"\s*GiB", "bytes", 2**30),
    (r"\s*MiB", "bytes", 2**20),
    (r"\s*KiB", "bytes", 2**10),
    (r"\s*TB(?![a-zA-Z/])", "bytes", 1e12),
    (r"\s*GB(?![a-zA-Z/])", "bytes", 1e9),
    (r"\s*MB(?![a-zA-Z/])", "bytes", 1e6),
    (r"\s*[kK]B(?![a-zA-Z/])", "bytes", 1e3),
    (r"T(?![a-zA-Z/])", "Gb/s", 1e3),  # 1.6T, 400G
    (r"G(?![a-zA-Z/])(?!\s?(?:显存|内存|memory|HBM))", "Gb/s", 1),
    (r"\s*Tb(?![a-zA-Z/])", "Gb/s", 1e3),  # "400 Gb ports"
    (r"\s*Gb(?![a-zA-Z/])", "Gb/s", 1),
    (r"\s*Mb(?![a-zA-Z/])", "Gb/s", 1e-3),
)
_EURO_BEFORE = re.compile(r"(?:€|EUR)\s?\Z")
_YUAN_BEFORE = re.compile(r"(?:¥|￥|RMB|CNY)\s?\Z")
_DOLLAR_BEFORE = re.compile(r"(?:US)?\$\s?\Z|USD\s?\Z")
_PLAIN = re.compile(rf"(?<![A-Za-z0-9_./,])(?<![A-Za-z_]-){_NUMBER}(?![A-Za-z0-9_]*[A-Za-z_]{{2,}}\d)")
_NAME = re.compile(
    r"[A-Za-z][A-Za-z_\-]*\d[\w.\-]*|\d+[A-Za-z]+\d\w*|\bv\d+(?:\.\d+)*|\b802\.\d+\w*|\bRFC\s?\d+"
    r"|\bPCIe (?:Gen ?)?\d(?:\.\d)?|\b(?:[Ll]ayer|[Vv]ersion|[Gg]en|[Ss]tep|CUDA) \d+(?:\.\d+)*"
    r"|\b\d+(?:st|nd|rd|th)\b|第\s*\d+|\b24/7\b"
    r"|\b(?:NVLink|NVSwitch|ConnectX|BlueField|Quantum|Spectrum|Tomahawk|Trident|Jericho|Silicon One|Llama|PCIe Gen)"
    r"[ -]?\d+(?:\.\d+)?",
    re.ASCII,
)
_MARKER = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\b[Tt]\d+(?:\.[\w.]+)?")
_RATIO = re.compile(r"(?<![\w.:])(\d{1,3}(?:\.\d+)?)(?:[:：∶]|\s?比\s?)(\d{1,2}(?:\.\d+)?)(?![\w:])(?!\.\d)", re.ASCII)
_LIST_NUMBER = re.compile(r"^\s*(?:[-*>]\s*)?\d+[.)]\s", re.MULTILINE)
_BETWEEN_BEFORE = re.compile(r"\bbetween\s+\Z|介于\s*\Z", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and|和|与)\s*(?:US)?\$?\s*")
_BETWEEN = re.compile(r"\s*(?:美元|USD)?\s*(?:–|—|-|~|～|to|至|到)\s*(?:US)?\$?\s*")


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
    number: float
    scale: float
    start: int
    end: int


def figures_in(text: str) -> list[Figure]:
    """Every figure of a text, in order, without citation markers, list numbers and names that contain digits."""
    text = spelled_as_digits(_LIST_NUMBER.sub(" ", _MARKER.sub(" ", text)))
    text = _NAME.sub(lambda match: "·" * len(match[0]), text)
    found: list[_Found] = []
    ratios = [_ratio(match) for match in _RATIO.finditer(text)]
    text = _RATIO.sub(lambda match: "·" * len(match[0]), text)
    for match in _PLAIN.finditer(text):
        one = _read(text, match)
        between = text[found[-1].end : one.start] if found else ""
        if found and (
            _BETWEEN.fullmatch(between) or (_AND.fullmatch(between) and _BETWEEN_BEFORE.search(text[: found[-1].start]))
        ):
            found[-1], one = _as_range(found[-1], one)
        found.append(one)
    return [one.figure for one in sorted((*found, *ratios), key=lambda one: one.start)]


def _ratio(match: re.Match[str]) -> _Found:
    over, under = float(match[1]), float(match[2]) or 1.0
    figure = Figure(match[0], over / under, 0.001 * over / under, ":")
    return _Found(figure, over, 1.0, match.start(), match.end())


def _read(text: str, match: re.Match[str]) -> _Found:
    start, end = match.start(), match.end()
    scale, dimension, factor = 1.0, "", 1.0
    if before := _DOLLAR_BEFORE.search(text[max(0, start - 5) : start]):
        dimension = "USD"
        start -= len(before[0])
    for currency, sign in (("EUR", _EURO_BEFORE), ("CNY", _YUAN_BEFORE)):
        if before := sign.search(text[max(0, start - 5) : start]):
            dimension = currency
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
    figure = Figure(text[start:end].strip(), float(digits) * whole, half, dimension)
    return _Found(figure, float(digits), whole, start, end)


def _as_range(first: _Found, second: _Found) -> tuple[_Found, _Found]:
    """Both ends of `1.2–1.5 million` or `$1.2–1.5M` have the unit and scale that is written once."""
    low, high = first.figure, second.figure
    own = bool(low.dimension) and low.dimension != "USD"  # "900 µs to 1.2 ms"
    if high.dimension and not low.dimension:
        low = replace(low, dimension=high.dimension)
    elif low.dimension == "USD" and not high.dimension:
        high = replace(high, dimension="USD")
    shares = first.number < 100 * second.number  # "35000 to 5.5万" has its own scale, none
    if first.scale == 1.0 and second.scale != 1.0 and shares and not own and low.dimension == high.dimension:
        low = replace(low, value=low.value * second.scale, tolerance=low.tolerance * second.scale)
    return replace(first, figure=low), replace(second, figure=high)
