"""Figures as people read them, in English and Chinese: `$1.24M` is `124 万美元`. Rounds for display, never computes.

Amounts have three significant digits, so that a price of low trust does not look exact; counts are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.fabric.calculation import Language

ROUNDED_UNITS = frozenset({"tokens/s", "GPU-hours"})  # large estimates: three digits say all that is known
_TIME_STEPS = ((1e6, "s"), (1e3, "ms"), (0.0, "µs"))
_BYTE_STEPS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def significant(value: float, digits: int = 3) -> float:
    """`value` rounded to `digits` significant digits; whole numbers of up to that many digits stay as they are."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def plain(value: float | int | str, digits: int = 3) -> str:
    """A bare number with thousands separators; counts (ints) are exact, other numbers have `digits` significant."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else _trim(significant(value, digits))


def money(usd: float, language: Language) -> str:
    """US dollars to three significant digits."""
    if usd < 0:
        return "-" + money(-usd, language)
    value = significant(usd)
    if language == "zh":
        if abs(value) >= 1e8:
            return f"{_trim(significant(value / 1e8))}亿美元"
        if abs(value) >= 1e4:
            return f"{_trim(significant(value / 1e4))}万美元"
        return f"{_trim(value)}美元"
    for step, suffix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= step:
            return f"${_trim(significant(value / step))}{suffix}"
    return f"${_trim(value)}"


def duration(time_us: float) -> str:
    for step, unit in _TIME_STEPS:
        if time_us >= step:
            return f"{_trim(significant(time_us / (step or 1)))} {unit}"
    return f"{_trim(significant(time_us))} µs"


def size(byte_count: int) -> str:
    for step, unit in _BYTE_STEPS:
        if byte_count >= step:
            return f"{_trim(significant(byte_count / step, 4))} {unit}"
    return f"{byte_count} B"


_UNIT_NAMES: Mapping[str, tuple[str, str]] = {
    "GB/s": (" GB/s", " GB/s"),
    "Gb/s": (" Gb/s", " Gb/s"),
    "Gbit/s": (" Gb/s", " Gb/s"),
    "B": (" bytes", " 字节"),
    "s": (" s", " s"),
    "m": (" m", " m"),
    "h": (" h", " h"),
    "min": (" min", " 分钟"),
    "GB": (" GB", " GB"),
    "tokens/s": (" tokens/s", " tokens/s"),
    "TFLOP/s": (" TFLOP/s", " TFLOP/s"),
    "kW": (" kW", " kW"),
    "W": (" W", " W"),
    "ratio": ("×", " 倍"),
    "infiniband/roce": ("×", " 倍"),
    "GPUs": (" GPUs", " 卡"),
    "years": (" years", " 年"),
    "days": (" days", " 天"),
    "GPU-hours": (" GPU-hours", " GPU 小时"),
}


def figure(value: float | int | str, unit: str, language: Language) -> str:
    """One value with its unit, e.g. (1240000, "USD") -> `$1.24M`."""
    if isinstance(value, str):
        return value
    if unit.upper() == "USD":
        return money(value, language)
    if unit == "us":
        return duration(value)
    if unit == "s" and 0 < value < 1:
        return duration(value * 1e6)
    if unit in {"fraction", "share"}:
        return f"{_trim(significant(value * 100))} %"
    if unit in {"%", "percent"}:
        return f"{_trim(significant(value))} %"
    if unit == "bytes":
        return size(int(value))
    if unit in {"ratio", "infiniband/roce"}:
        return f"{value:.2f}" + _UNIT_NAMES[unit][1 if language == "zh" else 0]
    text = plain(significant(value) if unit in ROUNDED_UNITS else value)
    return text + _UNIT_NAMES[unit][1 if language == "zh" else 0] if unit in _UNIT_NAMES else text


def with_range(value: Mapping[str, Any], language: Language) -> str:
    """A value of a calculation (its JSON form): `typical (low–high)`, or just the value where there is no range."""
    unit = value["unit"]
    shown = figure(value["value"], unit, language)
    low, high = value.get("low"), value.get("high")
    if low is None or high is None:
        return shown
    ends = figure(low, unit, language), figure(high, unit, language)
    if ends[0] == ends[1] == shown:
        return shown
    return f"{shown}（{ends[0]} 至 {ends[1]}）" if language == "zh" else f"{shown} ({ends[0]} to {ends[1]})"


def _trim(value: float) -> str:
    return f"{value:,.10g}" if abs(value) < 1e10 else f"{value:,.0f}"
