"""What reading a file gives: text with Markdown headings and tables, and what the file says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Content:
    """`page_starts`: offsets in `text` at which pages begin, empty where the format has no pages."""

    text: str
    title: str = ""
    url: str = ""
    language: str = ""
    topic: str = ""
    page_starts: tuple[int, ...] = ()
    sources: Mapping[str, dict[str, str]] = field(default_factory=dict)  # of a note, by footnote id


class UnreadableError(Exception):
    """This file cannot be read; the message is one clause without a final full stop, for the list of
    failures.
    """


def titled_table(rows: list[list[str]]) -> str:
    """A sheet as text: lines of a single cell before the table are its title and notes, not its header."""
    said = []
    while len(rows) > 1 and sum(bool(cell.strip()) for cell in rows[0]) == 1 and max(map(len, rows)) > 1:
        said.append(" ".join("".join(rows[0]).split()))
        rows = rows[1:]
    return "\n\n".join([*said, table_text(rows)])


def table_text(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is the header."""
    if not rows:
        return ""
    width = max(map(len, rows))
    cells = [[cell.replace("|", "\\|").replace("\n", " ").strip() for cell in row] for row in rows]
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cells]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)
