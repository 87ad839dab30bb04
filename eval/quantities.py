"""Find the quantities in English or Chinese text and compare them without unit mistakes.

GB/s and Gb/s share the dimension bit/s with factors 8e9 and 1e9, so 50 GB/s equals 400 Gb/s and nothing else;
a factor of 1000 never passes. Words ("two tiers", 两台) are not read: only digits can be wrong by a digit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

# unit as written -> (dimension, factor to the SI unit of that dimension)
UNITS: dict[str, tuple[str, float]] = {
    **{f"{p}B/s": ("bit/s", 8 * f) for p, f in {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.items()},
    **{
        f"{p}{name}": ("bit/s", f)
        for p, f in {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.items()
        for name in ("b/s", "bps", "bit/s")
    },
    **{f"{p}iB/s": ("bit/s", 8 * f) for p, f in {"M": 2**20, "G": 2**30, "T": 2**40}.items()},
    "GbE": ("bit/s", 1e9), "G": ("bit/s", 1e9), "T": ("bit/s", 1e12),
    **{f"{p}B": ("byte", f) for p, f in {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.items()},
    **{f"{p}iB": ("byte", f) for p, f in {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}.items()},
    "bytes": ("byte", 1), "byte": ("byte", 1), "B": ("byte", 1), "字节": ("byte", 1),
    "W": ("W", 1), "kW": ("W", 1e3), "MW": ("W", 1e6), "GW": ("W", 1e9), "瓦": ("W", 1), "千瓦": ("W", 1e3),
    "兆瓦": ("W", 1e6),
    "kWh": ("Wh", 1e3), "MWh": ("Wh", 1e6), "GWh": ("Wh", 1e9), "千瓦时": ("Wh", 1e3), "度": ("Wh", 1e3),
    "ns": ("s", 1e-9), "us": ("s", 1e-6), "µs": ("s", 1e-6), "μs": ("s", 1e-6), "ms": ("s", 1e-3),
    "s": ("s", 1),
    "纳秒": ("s", 1e-9), "微秒": ("s", 1e-6), "毫秒": ("s", 1e-3), "秒": ("s", 1), "seconds": ("s", 1),
    "second": ("s", 1), "sec": ("s", 1), "min": ("s", 60), "minutes": ("s", 60), "分钟": ("s", 60),
    "h": ("s", 3600), "hours": ("s", 3600), "hour": ("s", 3600), "小时": ("s", 3600),
    "days": ("s", 86400), "day": ("s", 86400), "天": ("s", 86400),
    "years": ("year", 1), "year": ("year", 1), "年": ("year", 1),
    "%": ("ratio", 0.01), "percent": ("ratio", 0.01), "x": ("ratio", 1), "×": ("ratio", 1),
    "倍": ("ratio", 1),
    "fraction": ("ratio", 1), "ratio": ("ratio", 1),
    "m": ("m", 1), "km": ("m", 1e3), "米": ("m", 1), "公里": ("m", 1e3),
    "USD": ("usd", 1), "dollars": ("usd", 1), "美元": ("usd", 1), "美金": ("usd", 1),
    "CNY": ("cny", 1), "RMB": ("cny", 1), "元": ("cny", 1),
}  # fmt: skip
MULTIPLIERS = {
    "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip
_CURRENCY = {"$": "usd", "US$": "usd", "USD": "usd", "¥": "cny", "RMB": "cny", "CNY": "cny"}

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+"


def _unit_pattern(unit: str) -> str:
    """`x` is a unit only where no factor follows (8x400G); a Latin unit ends at a word's end."""
    if unit in ("x", "×"):
        return re.escape(unit) + r"(?![\dA-Za-z]|\s\d)"
    return re.escape(unit) + (r"(?![A-Za-z])" if unit[-1].isascii() and unit[-1].isalpha() else "")


_UNIT = "|".join(_unit_pattern(unit) for unit in sorted(UNITS, key=len, reverse=True))
_TIMES = (
    r"\s?(?:million|billion|thousand|bn)(?![A-Za-z])|\s?(?:百万|千万|万亿|千(?!瓦)|万|亿)"
    r"|[kKMB](?![A-Za-z/])|\s[kM](?![A-Za-z/])"
)
_QUANTITY = re.compile(
    rf"(?P<currency>US\$|\\?\$|USD\s?|¥|RMB\s?|CNY\s?)?(?P<number>{_NUMBER})"
    rf"(?P<times>{_TIMES})?(?:\s?(?P<unit>{_UNIT}))?"
)
_RANGE = re.compile(r"\s*(?:-|–|—|~|～|to|至|到|/)\s*\\?\$?")
# part numbers, versions, standards, dates, addresses: digits that state no quantity
_NAMES = re.compile(
    r"https?://\S+|\d+(?:\.\d+){2,}|\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b|\b80[0-9]\.\d+\w*"
    r"|[A-Za-z_][A-Za-z0-9_]*[-–/.]?\d[A-Za-z0-9.\-/]*"
)
_TIMES_SIGN = re.compile(r"(?<=\d)(\s?)[x×*](\s?)(?=\d)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text. `value` is in the SI unit of `dimension` ("": a count); `face` ignores the unit."""

    text: str
    value: float
    face: float
    dimension: str
    half_unit: float  # half of the last printed place, in the same unit as `value`
    scale: float  # value / the digits as printed
    start: int
    end: int


def find_quantities(text: str) -> list[Quantity]:
    """Every quantity of the text, in order; both ends of a range ("10–20 %") have the unit of the last."""
    spaced = _TIMES_SIGN.sub(lambda m: m[1] + "×" + m[2], text)  # 8x400G: two numbers, not a name
    hidden = _NAMES.sub(lambda m: " " * len(m[0]) if _is_name(m, spaced) else m[0], spaced)
    found = [_quantity(match) for match in _QUANTITY.finditer(hidden)]
    for index in range(len(found) - 2, -1, -1):
        first, second = found[index], found[index + 1]
        if _RANGE.fullmatch(hidden[first.end : second.start]) and first.face == first.value != 0:
            found[index], found[index + 1] = _as_one_range(first, second)
    return found


def _is_name(match: re.Match[str], text: str) -> bool:
    word = match[0]
    if word[0].isalpha() and len(word) > 1:
        before = text[match.start() - 1 : match.start()]
        if re.match(r"(?:US\$|USD|RMB|CNY)\s?\d", word):
            return False
        return not before.isdigit()
    return True


def _quantity(match: re.Match[str]) -> Quantity:
    digits = match["number"].replace(",", "")
    times = MULTIPLIERS[match["times"].strip()] if match["times"] else 1.0
    currency = (match["currency"] or "").strip().lstrip("\\")
    dimension, factor = ("", 1.0)
    if match["unit"]:
        dimension, factor = UNITS[match["unit"]]
    if currency:
        dimension, factor = _CURRENCY[currency], 1.0
    face = float(digits) * times
    half_unit = 0.5 * 10.0 ** -_places(digits) * times * factor
    return Quantity(
        match[0].strip(),
        face * factor,
        face,
        dimension,
        half_unit,
        times * factor,
        match.start(),
        match.end(),
    )


def _as_one_range(first: Quantity, second: Quantity) -> tuple[Quantity, Quantity]:
    """The unit of the last end and the currency of the first hold for both ends ("$1.2–1.8 M")."""
    money = first.dimension in ("usd", "cny")
    if money and second.dimension == "":
        second = replace(second, dimension=first.dimension)
    if first.dimension not in ("", second.dimension) or second.value == 0:
        return first, second
    if money and first.value > second.value / 1e3:
        return first, second  # each end has its own: $900k–1.2M is not read as 900k million
    scale = second.scale
    restated = replace(
        first,
        value=first.face * scale,
        dimension=second.dimension,
        half_unit=first.half_unit * scale,
        scale=scale,
    )
    return restated, second


def _places(printed: str) -> int:
    mantissa, _, exponent = printed.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def in_si(value: float, unit: str) -> tuple[float, str]:
    """A value with a unit as the calculators write it, in SI; an unknown unit is a count of that thing."""
    unit = unit.strip()
    if unit in UNITS:
        dimension, factor = UNITS[unit]
        return value * factor, dimension
    return value, ""


def close(left: float, right: float, rel_tol: float) -> bool:
    """Equal within a tolerance relative to the expected, `right`; rel_tol 0 forgives rounding of floats."""
    return abs(left - right) <= (max(rel_tol, 1e-9) * abs(right) or 1e-12)


def says(quantity: Quantity, value: float) -> bool:
    """Is `quantity` a fair rounding of `value` (SI)?"""
    return abs(quantity.value - value) <= reach_of(quantity)


def reach_of(quantity: Quantity) -> float:
    """How far off a value may be that `quantity` is a fair rounding of.

    Half the last printed place; zeros at the end of a whole number may be rounding too, but within 0.5 %.
    """
    zeros = "." not in quantity.text and re.search(r"\d0(?:\D|$)", quantity.text)
    return max(quantity.half_unit * (1 + 1e-9), 0.005 * abs(quantity.value) if zeros else 0.0)
