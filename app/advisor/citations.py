"""The numbered sources of one answer: a passage gets its number when it is first cited, and keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from app.advisor.answer import Citation
from app.advisor.markers import in_prose, prose_of
from app.library.passage import Passage

_MARKER = re.compile(r"\[(\d+)\]")


def renumber(text: str, numbers: Mapping[int, int]) -> str:
    """The text with its markers renumbered; a marker without a source is dropped."""

    def new(match: re.Match[str]) -> str:
        return f"[{numbers[int(match[1])]}]" if int(match[1]) in numbers else ""

    return in_prose(lambda prose: _MARKER.sub(new, prose), text)


class Numbering:
    """Renumbers markers in the order in which they first appear, in a text that comes piece by piece.

    The numbers are those that `Ledger.settle` gives for the whole text.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def __call__(self, piece: str) -> str:
        for number in _MARKER.findall(prose_of(piece)):
            self._numbers.setdefault(int(number), len(self._numbers) + 1)
        return renumber(piece, self._numbers)


class Ledger:
    """Hands out markers. Only what was cited becomes a Citation; what was merely retrieved does not."""

    def __init__(self, sources_of: Callable[[str], Mapping[str, Mapping[str, str]]]):
        self._sources_of = sources_of
        self._order: dict[str, Passage] = {}

    def number(self, passage: Passage) -> int:
        self._order.setdefault(passage.id, passage)
        return list(self._order).index(passage.id) + 1

    def cite(self, passage: Passage) -> str:
        """The marker to put behind a sentence, e.g. `[2]`."""
        return f"[{self.number(passage)}]"

    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._citation(number, passage) for number, passage in enumerate(self._order.values(), 1))

    def _citation(self, marker: int, passage: Passage) -> Citation:
        origins = self._sources_of(passage.document_id)
        named = [origins[ref] for ref in passage.source_refs if ref in origins]
        return Citation(
            marker=marker,
            document=passage.document,
            document_id=passage.document_id,
            passage_id=passage.id,
            title=passage.title,
            url=passage.url or (named[0]["url"] if named else ""),
            section=passage.section,
            passage=passage.text,
            start=passage.start,
            end=passage.end,
            page=passage.page,
            sources=tuple({key: str(value) for key, value in origin.items()} for origin in named),
        )

    def settle(self, text: str) -> dict[int, int]:
        """Number the sources in the order in which `text` cites them and forget the others; returns old -> new."""
        used = dict.fromkeys(int(number) for number in _MARKER.findall(prose_of(text)))
        passages = list(self._order.values())
        renumbered = {old: new for new, old in enumerate((one for one in used if 0 < one <= len(passages)), 1)}
        self._order = {passages[old - 1].id: passages[old - 1] for old in renumbered}
        return renumbered
