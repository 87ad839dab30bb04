"""Citation markers of a text that is still being written.

A model writes `[1]`, `[1,2]`, `[1-3]`, `[[1]]`, `【1】` or `［1］`, and the stream may cut them anywhere. Code is
left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_OPEN, _CLOSE = "[【［〔", "]】］〕"
_NUMBERS = r"\s*\^?\d{1,3}(?:\s*[,，、;；–—~～-]\s*\d{1,3})*\s*"
_RANGE = re.compile(r"(\d{1,3})\s*[–—~～-]\s*(\d{1,3})")
_LONGEST_RANGE = 20  # sources; a longer one is a slip
MARKER = re.compile(rf"[{re.escape(_OPEN)}]{{1,2}}({_NUMBERS})[{re.escape(_CLOSE)}]{{1,2}}(?!\()")
_PARTIAL = re.compile(rf"[{re.escape(_OPEN)}]{{1,2}}[\s\d,，、;；^–—~～-]*[{re.escape(_CLOSE)}]{{0,2}}\Z")
_FENCE = re.compile(r"```|`")
_LONGEST_MARKER = 40


_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)


def prose_of(text: str) -> str:
    """The text without what stands in code."""
    return _CODE.sub(" ", text)


def in_prose(change: Callable[[str], str], text: str) -> str:
    """The text with everything changed that does not stand in code."""
    return "".join(part if at % 2 else change(part) for at, part in enumerate(_CODE.split(text)))


def numbers_of(marker: str) -> list[int]:
    """The numbers in a marker, or in every marker of a text, each once."""
    found = [number for match in MARKER.finditer(marker) for number in _listed(match[1])]
    return list(dict.fromkeys(found))


def _listed(inside: str) -> list[int]:
    """`1,3-5` -> 1, 3, 4, 5."""

    def spread(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        return ",".join(map(str, range(first, last + 1))) if first <= last <= first + _LONGEST_RANGE else match[0]

    return [int(number) for number in re.findall(r"\d+", _RANGE.sub(spread, inside))]


class MarkerStream:
    """Feed it pieces; it gives back text whose markers are all written `[n]`, one number each, known ones only.

    A marker that is cut off is held back until it is whole; `finish` gives the rest. `dropped` has the numbers that
    `known` did not accept.
    """

    def __init__(self, known: Callable[[int], bool]):
        self.dropped: list[int] = []
        self._known = known
        self._held = ""
        self._fence = ""  # what closes the code that we are in

    def feed(self, piece: str) -> str:
        self._held += piece
        return self._taken(final=False)

    def finish(self) -> str:
        return self._taken(final=True)

    def _taken(self, *, final: bool) -> str:
        given = ""
        while self._held:
            if self._fence:
                end = self._held.find(self._fence)
                if end < 0:
                    keep = 0 if final else len(self._fence) - 1
                    cut = len(self._held) - keep
                    given += self._held[:cut]
                    self._held = self._held[cut:]
                    return given
                end += len(self._fence)
                given += self._held[:end]
                self._held, self._fence = self._held[end:], ""
                continue
            fence = _FENCE.search(self._held)
            prose = self._held[: fence.start()] if fence else self._held
            if fence and not final and fence[0] == "`" and len(self._held) - fence.start() < 3:
                given += self._canonical(prose)  # one or three backticks: not to be told yet
                self._held = self._held[fence.start() :]
                return given
            if fence:
                given += self._canonical(prose) + fence[0]
                self._held, self._fence = self._held[fence.end() :], fence[0]
                continue
            partial = None if final else _PARTIAL.search(prose)
            cut = partial.start() if partial and len(partial[0]) <= _LONGEST_MARKER else len(prose)
            given += self._canonical(prose[:cut])
            self._held = self._held[cut:]
            return given
        return given

    def _canonical(self, text: str) -> str:
        return MARKER.sub(self._one, text)

    def _one(self, match: re.Match[str]) -> str:
        numbers = _listed(match[1])
        self.dropped += [number for number in numbers if not self._known(number)]
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers) if self._known(number))
