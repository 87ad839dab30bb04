"""Cuts a text that is still being written into sentences, so that each can be checked and shown when it is whole.

Markers written behind a full stop belong to the sentence before them. A table or a block of code is one piece.
"""

from __future__ import annotations

import re

_MARKERS_AFTER_END = re.compile(r"([.!?。！？])[ \t]*((?:\[\d+\][ \t]*)+)")
_END = re.compile(r"(?:[.!?][\"')*_]*(?=\s|\[\d)|[。！？][”’）*_]*)(?P<space>\s*)|\n+")
_NO_END = re.compile(r"(?:\b(?i:e\.g|i\.e|vs|approx|cf|etc|no|fig|mr|dr|st)|(?:^|\n)\s*\d{1,2}|\b[A-Z])\.$")
_FENCED = re.compile(r"```.*?```", re.DOTALL)
LONGEST = 1500  # characters without an end: no sentence any more


class SentenceStream:
    """Feed it text; it gives back whole sentences, each with the space that stood before it."""

    def __init__(self) -> None:
        self._held = ""

    @property
    def held(self) -> str:
        return self._held

    def feed(self, text: str) -> list[str]:
        self._held += text
        return self._cut(final=False)

    def finish(self) -> list[str]:
        return self._cut(final=True)

    def _cut(self, *, final: bool) -> list[str]:
        found: list[str] = []
        while (end := self._end(final)) is not None:
            sentence, self._held = self._held[:end], self._held[end:]
            found.append(_MARKERS_AFTER_END.sub(lambda match: f" {match[2].strip()}{match[1]}", sentence))
        if final and self._held.strip():
            found.append(self._held.rstrip())
            self._held = ""
        return found

    def _end(self, final: bool) -> int | None:
        """Where the first sentence ends, None while that cannot be told."""
        start = len(self._held) - len(self._held.lstrip())
        body = self._held[start:]
        if not body:
            return None
        if body.startswith("```"):
            fenced = _FENCED.match(body)
            return start + fenced.end() if fenced else None
        for match in _END.finditer(body):
            if match[0].startswith("\n"):
                return start + match.start()
            if _NO_END.search(body[: match.start() + 1]):
                continue
            end = match.start() + len(match[0].rstrip())
            behind = re.match(r"[ \t]*(?:\[\d+\][ \t]*)*", body[end:])
            after = end + (len(behind[0].rstrip()) if behind else 0)
            rest = body[end + (behind.end() if behind else 0) :]
            if not final and (not rest or rest[0] == "["):
                return None  # a marker may follow
            return start + after
        return None
