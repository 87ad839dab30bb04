"""Tracing every number of an answer to a calculation, a cited passage or the question.

A displayed figure is traced if some value of the same dimension rounds to it: `$1.24M` is any USD value within half a
unit of its last digit. What counts as a figure is figure_text.py's job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.advisor.answer import Citation, Grounding
from app.advisor.both_fabrics import FABRIC, Pairs
from app.advisor.figure_text import Figure, figures_in
from app.advisor.figures import ROUNDED_UNITS
from app.advisor.proportions import Proportion, proportions, without_true
from app.advisor.spoken_of import SpokenOf

__all__ = ["Quoted", "figures_in", "ground"]

CURVES = frozenset({"bandwidth_curve", "scaling_curve"})
_OFTEN_BARE = frozenset({"Gb/s", "GB/s", "W", "bytes"})
MOST_ROUNDED = 0.05  # of a value
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CANONICAL: Mapping[str, tuple[str, float]] = {  # units of calculations -> dimension, factor
    "kW": ("W", 1e3),
    "share": ("fraction", 1),
    "percent": ("fraction", 0.01),
    "%": ("fraction", 0.01),
    "Gbit/s": ("Gb/s", 1),
    "Gbps": ("Gb/s", 1),
    "s": ("us", 1e6),
    "ms": ("us", 1e3),
    "min": ("h", 1 / 60),
    "GB": ("bytes", 1e9),
    "B": ("bytes", 1),
}


def ground(
    text: str, calculations: Sequence[Mapping[str, Any]], citations: Sequence[Citation], question: str
) -> Grounding:
    """Check an answer: which figures nothing supports, and which are said of the wrong fabric."""
    known = list(_known(calculations))
    quotable = [f"{one.passage} {one.section} {one.title}" for one in citations]
    named = [value for one in calculations for value in one["inputs"].values() if isinstance(value, str)]  # Llama 3 70B
    supported = Quoted([*quotable, *named, question])
    figures = figures_in(text)
    stray = [one for one in figures if not (_matches(one, known) or supported(one) or is_year(one))]
    if stray:
        stray = without_true(stray, _proportions(text, Pairs.of_json(calculations)))
    unsupported = tuple(one.text for one in stray)
    return Grounding(len(figures), unsupported, tuple(_contradictions(text, known, citations)))


def _proportions(text: str, pairs: Pairs) -> list[Proportion]:
    """Of all sentences, each with the fabric that it goes on to speak of."""
    spoken_of = SpokenOf()
    return [
        one
        for line in text.splitlines()
        for at, sentence in enumerate(_SENTENCE_END.split(line))
        for one in proportions(spoken_of(sentence if at else f"\n{sentence}"), pairs)
    ]


class Quoted:
    """Whether a figure is quoted from one of the texts: the same number, in the same unit where one is written."""

    def __init__(self, texts: Iterable[str]):
        texts = list(texts)
        self._figures = [figure for text in texts for figure in figures_in(text)]
        with_unit = {figure.digits for figure in self._figures if figure.dimension}
        self._bare = {figure.digits for figure in self._figures if not figure.dimension}
        digits = {number.replace(",", "") for text in texts for number in _DIGITS.findall(text)}
        digits |= {one.rstrip("0").rstrip(".") for one in digits if "." in one}
        self._in_names = digits - with_unit - self._bare  # 400G

    def __call__(self, figure: Figure) -> bool:
        if any(
            one.dimension == figure.dimension and abs(one.value - figure.value) <= _rounding(figure, one.value)
            for one in self._figures
        ):
            return True
        if not figure.dimension:
            return figure.value == _number(figure) and figure.digits in self._in_names
        # a speed or size that the text glues to a name (400G) or writes without its unit
        return figure.dimension in _OFTEN_BARE and figure.digits in self._bare | self._in_names


def _rounding(figure: Figure, value: float) -> float:
    """How far a figure may lie from what it rounds: half of its last digit, but `$1M` is no rounding of 1.4 million."""
    return max(min(figure.tolerance, MOST_ROUNDED * abs(value)), abs(value) * 1e-9)


def _number(figure: Figure) -> float:
    return float(figure.digits or "nan")


def is_year(figure: Figure) -> bool:
    return not figure.dimension and bool(_YEAR.fullmatch(figure.text))


def _known(calculations: Iterable[Mapping[str, Any]]) -> Iterable[tuple[float, str, str]]:
    """(magnitude, unit, fabric it belongs to or "") of everything that the calculations took in or gave out."""
    for calculation in calculations:
        label = calculation["label"]
        for name, value in calculation["values"].items():
            for part in ("value", "low", "high"):
                number = value.get(part)
                if isinstance(number, int | float):
                    yield _canonical(float(number), value["unit"], _owner(name, label))
        # points of a curve are drawn, not said: they would make almost any figure known
        rows = () if calculation["tool"] in CURVES else calculation["rows"]
        for record in (calculation["inputs"], *rows):
            unit = str(record.get("unit") or "")
            for name, number in record.items():
                if isinstance(number, int | float) and not isinstance(number, bool):
                    yield _canonical(float(number), unit or _unit_of(name), _owner(name, label))


def _canonical(number: float, unit: str, owner: str) -> tuple[float, str, str]:
    dimension, factor = _CANONICAL.get(unit, (unit, 1))
    return abs(number) * factor, dimension, owner


def _owner(name: str, label: str) -> str:
    """The fabric that a value is of: that of its calculation, or the one that its name begins with."""
    return next((fabric for fabric in FABRIC if name.startswith(fabric)), label)


def _unit_of(name: str) -> str:
    """The unit that a column's name carries: `transfer_ms_low` is in ms, `percent_of_prefill` in percent."""
    name = name.removesuffix("_low").removesuffix("_high")
    if name.startswith("percent_"):
        return "percent"
    for ending, unit in (
        ("_usd", "USD"),
        ("_us", "us"),
        ("_ms", "ms"),
        ("_percent", "percent"),
        ("bytes", "bytes"),
        ("_kw", "kW"),
        ("_w", "W"),
        ("_gbytes_per_s", "GB/s"),
        ("share", "fraction"),
    ):
        if name.endswith(ending):
            return unit
    return ""


_SAME = {
    "Gb/s": {"Gb/s", ""},
    "W": {"W", ""},
    "kWh": {"kWh", ""},
    "h": {"h", ""},
    ":": {"", "ratio"},
    "fraction": {"fraction", "ratio"},
}


def _matches(figure: Figure, known: Iterable[tuple[float, str, str]]) -> bool:
    return any(_is_value(figure, value, unit) for value, unit, _ in known)


def _is_value(figure: Figure, value: float, unit: str) -> bool:
    if figure.dimension:
        if unit not in _SAME.get(figure.dimension, {figure.dimension}):
            return False
    elif unit in {"USD", "us"}:
        return False
    elif unit == "fraction" and abs(figure.value - value * 100) <= figure.tolerance:
        return True  # "45.5" in a column of percentages
    elif unit == "W" and abs(figure.value - value / 1e3) <= figure.tolerance:
        return True
    # three significant digits are shown of large amounts, so the last zeros of a text are not exact
    rounded = figure.dimension in {"USD", "us"} or unit in ROUNDED_UNITS
    written = _rounding(figure, value) if figure.dimension == "USD" else figure.tolerance
    slack = max(written, abs(value) * 0.005 if rounded else 0)
    return abs(figure.value - value) <= slack


def _contradictions(text: str, known: Sequence[tuple[float, str, str]], citations: Sequence[Citation]) -> Iterable[str]:
    """Sentences that give a fabric a price or time which only the other fabric has, and no passage cited there."""
    passages = {str(one.marker): one.passage for one in citations}
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            continue
        # one marker at the end of a paragraph stands for all its sentences
        cited = Quoted(passages.get(marker, "") for marker in re.findall(r"\[(\d+)\]", line))
        for sentence in _SENTENCE_END.split(line):
            spoken_of = [fabric for fabric, pattern in FABRIC.items() if pattern.search(sentence)]
            if len(spoken_of) != 1:
                continue
            for figure in figures_in(sentence):
                if figure.dimension not in {"USD", "us"} or cited(figure):
                    continue
                owners = {label for value, unit, label in known if _is_value(figure, value, unit)}
                if owners and owners <= set(FABRIC) - set(spoken_of):
                    yield f"{figure.text.strip()} is a figure of {', '.join(sorted(owners))}: {sentence.strip()[:160]}"
