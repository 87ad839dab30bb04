"""Figures of a text and the calculation that each is from, so that a page can link them.

While a text is written, a figure carries its origin in characters that no text has (private use). They are taken out
before anybody sees the text, and their places are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from app.advisor.answer import Reference

_START, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"{_START}([^{_START}{_MIDDLE}{_END}]*){_MIDDLE}([^{_START}{_MIDDLE}{_END}]*){_END}")
_ANY = re.compile(f"[{_START}{_MIDDLE}{_END}]")


def marked(figure: str, calculation: str, value: str) -> str:
    """A figure with the id of its calculation and the name of the value, for `unmarked` and `references_in`."""
    return f"{_START}{calculation}.{value}{_MIDDLE}{figure}{_END}" if calculation else figure


def unmarked(text: str) -> str:
    """The text that people see."""
    return _ANY.sub("", _MARKED.sub(r"\2", text))


def without_stray(text: str) -> str:
    """A text of somebody else, which may not claim an origin."""
    return _ANY.sub("", text)


def references_in(text: str) -> tuple[Reference, ...]:
    """Where the figures stand in `unmarked(text)`, in order."""
    found, removed = [], 0
    for match in _MARKED.finditer(text):
        calculation, _, value = match[1].partition(".")
        start = match.start() - removed
        removed += len(match[0]) - len(match[2])
        found.append(Reference(start, start + len(match[2]), calculation, value))
    return tuple(found)


def marked_again(text: str, references: Iterable[Reference]) -> str:
    """The inverse of `unmarked` and `references_in`; references that do not fit the text are left out."""
    given, at = "", 0
    for one in sorted(references, key=lambda one: one.start):
        if at <= one.start < one.end <= len(text):
            given += text[at : one.start] + marked(text[one.start : one.end], one.calculation, one.value)
            at = one.end
    return given + text[at:]


def linked(text: str, link: Callable[[str, str, str], str]) -> str:
    """A text with marks, every figure as `link(calculation, value, figure)` has it."""

    def one(match: re.Match[str]) -> str:
        calculation, _, value = match[1].partition(".")
        return link(calculation, value, match[2])

    return _ANY.sub("", _MARKED.sub(one, text))
