"""Citation markers of a text that is still being written.

A model writes `[1]`, `[1,2]`, `[[1]]`, `【1】` or `［1］`, and the stream may cut them anywhere. Code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_OPEN, _CLOSE = "[【［〔", "]】］〕"
_NUMBERS = r"\s*\^?\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*\s*"
MARKER = re.compile(rf"[{re.escape(_OPEN)}]{{1,2}}({_NUMBERS})[{re.escape(_CLOSE)}]{{1,2}}(?!\()")
_PARTIAL = re.compile(rf"[{re.escape(_OPEN)}]{{1,2}}[\s\d,，、;；^]*[{re.escape(_CLOSE)}]{{0,2}}\Z")
_FENCE = re.compile(r"```|`")
_LONGEST_MARKER = 40


def numbers_of(marker: str) -> list[int]:
    """The numbers in a marker, or in every marker of a text, each once."""
    found = [int(number) for match in MARKER.finditer(marker) for number in re.findall(r"\d+", match[1])]
    return list(dict.fromkeys(found))


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
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        self.dropped += [number for number in numbers if not self._known(number)]
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers) if self._known(number))
