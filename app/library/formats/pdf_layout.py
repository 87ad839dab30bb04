"""Lines of PDF pages as text: sentences joined over line and page ends, running heads dropped, rows of figures kept
under the line that names them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from app.library.formats.content import table_text
from app.library.language import CJK

_ENDS_SENTENCE = re.compile(r"[。！？；：.!?;:][”’」』）)\"']*$")
_LONGEST_HEADING = 120
_FULL_LINE = 0.8  # of the widest line near by: such a line goes on in the next
_FEWEST_ROWS = 3
_FIGURE = re.compile(r"[~≈<>≤≥±+\-–—$€¥£]?\d[\d.,:/×x\-–]*(?:%|[A-Za-zµ°/]{1,6})?|[-–—]|N/?A", re.IGNORECASE)
_FEWEST_PAGES = 3  # on which a line stands at the same edge, for it to be a running head or foot


@dataclass(slots=True)
class _Pages:
    """What has been put together so far: page by page, since adding to one long text would copy it each time."""

    parts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    length: int = 0
    last: str = ""  # line of the page before
    last_full: bool = False
    header: str = ""  # of a table that the page before ended in
    figures: int = 0  # in each of its rows

    def add(self, page: str, joint: str) -> None:
        """A page, and how it goes on from the one before."""
        if self.parts:
            before = _joined(self.parts[-1], joint)
            self.length += len(before) - len(self.parts[-1])
            self.parts[-1] = before
        self.starts.append(self.length)
        self.parts.append(page)
        self.length += len(page)


def text_of_pages(pages: Sequence[str], headings: Mapping[str, int]) -> tuple[str, tuple[int, ...]]:
    """The text, and the offsets at which pages begin. `headings`: level by the heading's text without blanks."""
    every = [[line.strip() for line in re.split(r"\r\n|\r|\n", page)] for page in pages]
    running = _running(every)
    made = _Pages()
    for number, lines in enumerate(every):
        _add_page(made, _without(lines, number, running), headings)
    return "".join(made.parts).rstrip("\n") + "\n", tuple(made.starts)


def squeezed(text: str) -> str:
    return re.sub(r"[\s*_`\\]+", "", text)


def _running(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    """Marks of the lines that stand at the edges of most pages: running heads and feet, page numbers."""
    if len(pages) < _FEWEST_PAGES:
        return frozenset()
    seen: Counter[str] = Counter()
    for number, lines in enumerate(pages):
        seen.update({mark for at in _edges(lines) for mark in _marks(lines[at], number)})
    return frozenset(mark for mark, count in seen.items() if count >= max(_FEWEST_PAGES, len(pages) / 2))


def _edges(lines: Sequence[str]) -> list[int]:
    """The first two and the last two lines with text; not the header of a table."""
    there = [at for at, line in enumerate(lines) if line]
    if len(there) <= 4:
        return []
    after = dict(pairwise(there))
    edges = sorted({*there[:2], *there[-2:]})
    return [at for at in edges if not (at in after and _names_columns(lines[at]) and _figures(lines[after[at]]))]


def _marks(line: str, page: int) -> set[str]:
    """The line itself, and the line with each of its numbers taken for the page's: rows of a table differ in more."""
    marks = {line}
    for match in re.finditer(r"\d{1,6}", line):
        marks.add(f"{line[: match.start()]}\0{int(match[0]) - page}\0{line[match.end() :]}")
    return marks


def _without(lines: Sequence[str], page: int, running: frozenset[str]) -> list[str]:
    dropped = {at for at in _edges(lines) if _marks(lines[at], page) & running} if running else set()
    return [line for at, line in enumerate(lines) if at not in dropped]


def _add_page(made: _Pages, lines: list[str], headings: Mapping[str, int]) -> None:
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        made.add("", "\n\n")
        return
    widths = [_width(line) for line in lines]
    tables = _tables(lines, made)
    alone = 0 in tables or _level(lines[0], headings)
    joint = "\n" if alone else _joint(made.last, lines[0], made.last_full)
    text = ""
    at, fresh = 0, True  # fresh: nothing yet that a line could go on from
    while at < len(lines):
        line = lines[at]
        level = _level(line, headings)
        if at in tables:
            at, block = tables[at]
            text, fresh = _joined(text, "\n\n") + block + "\n\n", True
            continue
        if level:
            text, fresh = _joined(text, "\n\n") + f"{'#' * level} {line}\n\n", True
        else:
            if not fresh:
                near = max(widths[max(0, at - 6) : at + 5])
                text = _joined(text, _joint(lines[at - 1], line, widths[at - 1] >= _FULL_LINE * near))
            text += (_plain_line(line) if text[-1:] in ("", "\n") else line) + "\n"
            fresh = not line
        at += 1
    made.add(text, "\n\n" if joint == "\n" else joint)
    made.last = "" if fresh else lines[-1]
    made.last_full = not fresh and widths[-1] >= _FULL_LINE * max(widths[-6:])
    if all(end < len(lines) for end, _ in tables.values()):
        made.header, made.figures = "", 0


def _joined(text: str, joint: str) -> str:
    """The text, ready for what follows: "\n" leaves its line end, "-" takes a hyphen away with it."""
    if joint == "\n" or not text:
        return text
    stripped = text.rstrip("\n")
    if joint == "\n\n":
        return stripped + "\n\n"
    return stripped[:-1] if joint == "-" else stripped


def _level(line: str, headings: Mapping[str, int]) -> int:
    return headings.get(squeezed(line), 0) if line and len(line) <= _LONGEST_HEADING else 0


def _joint(before: str, after: str, full: bool) -> str:
    """How a line goes on in the next: "" for Chinese, "-" for a hyphenated word, a line end otherwise."""
    if not before or not after or not full or _ENDS_SENTENCE.search(before):
        return "\n"
    ends, begins = re.search(f"[{CJK}，、（]$", before), re.match(f"[{CJK}，、）]", after)
    if (ends and re.match(rf"[\w{CJK}（]", after)) or (begins and re.search(r"[\w）%]$", before)):
        return ""
    if re.search(r"[a-z]{2}[-\u00ad\u2010]$", before) and re.match(r"[a-z]{2}", after):
        return "-"
    return "\n"


def _tables(lines: Sequence[str], made: _Pages) -> dict[int, tuple[int, str]]:
    """Where rows of figures stand: first line -> (line after the last, the rows as a Markdown table).

    The text of a PDF does not say where its columns are. They are told apart where the header has as many names as
    the rows have cells; else each row is one cell, which keeps it under its header all the same.
    """
    found = {}
    at = 0
    while at < len(lines):
        figures = _figures(lines[at])
        end = at
        while end < len(lines) and figures and _figures(lines[end]) == figures:
            end += 1
        if end - at < _FEWEST_ROWS:
            at += 1
            continue
        begins = at
        if at and _names_columns(lines[at - 1]):
            begins = at - 1
            made.header, made.figures = lines[begins], figures
        elif at or made.figures != figures:
            made.header, made.figures = "", 0
        if made.header:
            found[begins] = end, _table(made.header, lines[at:end], figures)
        at = end
    return found


def _figures(line: str) -> int:
    """How many figures stand at the end of a row, after at least one word."""
    tokens = line.split()
    count = 0
    while count < len(tokens) and _FIGURE.fullmatch(tokens[-1 - count]):
        count += 1
    return count if count < len(tokens) else 0


def _names_columns(line: str) -> bool:
    return bool(line) and not _ENDS_SENTENCE.search(line) and not _figures(line) and len(line.split()) > 1


def _table(header: str, rows: Sequence[str], figures: int) -> str:
    names = re.split(r"\s+(?![(（])", header)
    if len(names) != figures + 1:
        return table_text([[header], *([row] for row in rows)])
    return table_text([names, *(row.rsplit(maxsplit=figures) for row in rows)])


def _plain_line(line: str) -> str:
    """A line of text that only looks like a Markdown heading is no heading."""
    return "\\" + line if re.match(r"#{1,6}\s", line) else line


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)
