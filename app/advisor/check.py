"""Tracing every number of an answer to a calculation, a cited passage or the question.

A displayed figure is traced if some value of the same dimension rounds to it: `$1.24M` is any USD value within half a
unit of its last digit. Names that contain digits (H100, RoCEv2, QM9700, T3) are not figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.advisor.answer import Citation, Grounding
from app.advisor.numerals import normalise_numbers

_NUMBER = r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)"
_UNITS: tuple[tuple[str, str, float], ...] = (
    # text after the number, dimension, factor to the unit that calculations use
    (r"[BM]?k?\s*美元", "USD", 1),
    (r"万美元", "USD", 1e4),
    (r"亿美元", "USD", 1e8),
    (r"\s*(?:µs|us|μs|微秒)", "us", 1),
    (r"\s*(?:ms|毫秒)", "us", 1e3),
    (r"\s*s(?![a-zA-Z0-9])", "us", 1e6),
    (r"\s*GB/s", "GB/s", 1),
    (r"\s*Gb/s|\s*Gbps", "Gb/s", 1),
    (r"\s*kW(?!h)", "kW", 1),
    (r"\s*W(?![a-zA-Z])", "W", 1),
    (r"\s*[%％]", "fraction", 0.01),
    (r"\s*TiB", "bytes", 2**40),
    (r"\s*GiB", "bytes", 2**30),
    (r"\s*MiB", "bytes", 2**20),
    (r"\s*KiB", "bytes", 2**10),
    (r"万", "", 1e4),
    (r"亿", "", 1e8),
)
_DOLLARS = re.compile(rf"\$\s?{_NUMBER}(?P<scale>[kMB])?(?![A-Za-z0-9])")
_PLAIN = re.compile(rf"(?<![A-Za-z0-9_./,])(?<![A-Za-z_]-){_NUMBER}(?![A-Za-z0-9_]*[A-Za-z_]{{2,}}\d)")
_NAME = re.compile(r"[A-Za-z][A-Za-z_\-]*\d[\w.\-]*|\d+[A-Za-z]+\d\w*|\bv\d+(?:\.\d+)*")
_MARKER = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\b[Tt]\d+(?:\.[\w.]+)?")
_LIST_NUMBER = re.compile(r"^\s*\d+\.\s", re.MULTILINE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SCALE = {"k": 1e3, "M": 1e6, "B": 1e9, None: 1.0, "": 1.0}
_FABRIC = {
    "infiniband": re.compile(r"infiniband|\bIB\b", re.IGNORECASE | re.ASCII),
    "roce": re.compile(r"\broce|ethernet|以太网", re.IGNORECASE | re.ASCII),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as displayed: its value in the unit of `dimension` ("" for a bare number) and half its last digit."""

    text: str
    value: float
    tolerance: float
    dimension: str


def figures_in(text: str) -> list[Figure]:
    """Every figure of a text, in order, without citation markers, list numbers and names that contain digits."""
    text = _LIST_NUMBER.sub("", _MARKER.sub(" ", text))
    text = _NAME.sub(lambda match: "·" * len(match[0]), text)
    found: list[tuple[int, Figure]] = []
    for match in _DOLLARS.finditer(text):
        found.append((match.start(), _figure(match[0], match["number"], "USD", _SCALE[match["scale"]])))
    rest = _DOLLARS.sub(lambda match: "·" * len(match[0]), text)
    for match in _PLAIN.finditer(rest):
        dimension, factor, shown = "", 1.0, match["number"]
        for pattern, name, scale in _UNITS:
            if unit := re.match(pattern, rest[match.end() :]):
                dimension, factor, shown = name, scale, match["number"] + unit[0]
                break
        found.append((match.start(), _figure(shown, match["number"], dimension, factor)))
    return [figure for _, figure in sorted(found, key=lambda pair: pair[0])]


def ground(
    text: str, calculations: Sequence[Mapping[str, Any]], citations: Sequence[Citation], question: str
) -> Grounding:
    """Check an answer: which figures nothing supports, and which are said of the wrong fabric."""
    known = list(_known(calculations))
    quoted = _numbers(citation.passage + " " + citation.section + " " + citation.title for citation in citations)
    asked = _numbers([question, normalise_numbers(question)])
    figures = figures_in(text)
    unsupported = tuple(
        figure.text.strip()
        for figure in figures
        if not (
            _matches(figure, known)
            or _bare(figure) in quoted | asked
            or (not figure.dimension and _YEAR.fullmatch(figure.text))
        )
    )
    return Grounding(len(figures), unsupported, tuple(_contradictions(text, known)))


def _figure(text: str, number: str, dimension: str, factor: float) -> Figure:
    digits = number.replace(",", "")
    decimals = len(digits.partition(".")[2])
    return Figure(text, float(digits) * factor, 0.5 * 10**-decimals * factor * 1.0001, dimension)


def _known(calculations: Iterable[Mapping[str, Any]]) -> Iterable[tuple[float, str, str]]:
    """(magnitude, unit, fabric it belongs to or "") of everything that the calculations took in or gave out."""
    for calculation in calculations:
        label = calculation["label"]
        for name, value in calculation["values"].items():
            for part in ("value", "low", "high"):
                number = value.get(part)
                if isinstance(number, int | float):
                    yield abs(float(number)), value["unit"], _owner(name, label)
        for record in (calculation["inputs"], *calculation["rows"]):
            unit = str(record.get("unit") or "")
            for name, number in record.items():
                if isinstance(number, int | float) and not isinstance(number, bool):
                    yield abs(float(number)), unit or _unit_of(name), _owner(name, label)


def _owner(name: str, label: str) -> str:
    """The fabric that a value is of: that of its calculation, or the one that its name begins with."""
    return next((fabric for fabric in _FABRIC if name.startswith(fabric)), label)


def _unit_of(name: str) -> str:
    for ending, unit in (
        ("_usd", "USD"),
        ("_us", "us"),
        ("bytes", "bytes"),
        ("_kw", "kW"),
        ("_w", "W"),
        ("_gbytes_per_s", "GB/s"),
    ):
        if name.endswith(ending):
            return unit
    return ""


_SAME = {"fraction": {"fraction", "share"}, "": None, "Gb/s": {"Gb/s", ""}, "W": {"W", ""}}


def _matches(figure: Figure, known: Iterable[tuple[float, str, str]]) -> bool:
    return any(_is_value(figure, value, unit) for value, unit, _ in known)


def _is_value(figure: Figure, value: float, unit: str) -> bool:
    allowed = _SAME.get(figure.dimension, {figure.dimension})
    if allowed is None:
        allowed = {unit} if unit not in {"USD", "us"} else set()
    if figure.dimension == "fraction" and unit in {"percent", "%"}:
        return abs(figure.value * 100 - value) <= figure.tolerance * 100
    # three significant digits are shown of large amounts, so the last zeros of a text are not exact
    slack = max(figure.tolerance, abs(value) * 0.005 if figure.dimension in {"USD", "us"} else 0)
    return unit in allowed and abs(figure.value - value) <= slack


def _bare(figure: Figure) -> str:
    match = re.search(_NUMBER, figure.text)
    return match["number"].replace(",", "") if match else ""


def _numbers(texts: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in texts:
        for variant in (text, normalise_numbers(text)):
            found |= {number.replace(",", "") for number in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", variant)}
    return found | {number.rstrip("0").rstrip(".") for number in found if "." in number}


def _contradictions(text: str, known: Sequence[tuple[float, str, str]]) -> Iterable[str]:
    """Sentences that give a fabric a price or time which only the other fabric has."""
    prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("|"))
    for sentence in re.split(r"(?<=[.!?])\s+|(?<=[。！？；;])|\n+", prose):
        spoken_of = [fabric for fabric, pattern in _FABRIC.items() if pattern.search(sentence)]
        if len(spoken_of) != 1:
            continue
        for figure in figures_in(sentence):
            if figure.dimension not in {"USD", "us"}:
                continue
            owners = {label for value, unit, label in known if _is_value(figure, value, unit)}
            if owners and owners <= set(_FABRIC) - set(spoken_of):
                yield f"{figure.text.strip()} is a figure of {', '.join(sorted(owners))}: {sentence.strip()[:160]}"
