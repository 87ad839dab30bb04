"""Shows a document, or a stretch of it, as HTML with one passage marked.

The text is untrusted: every character of it is escaped, and only tags written here are added. Headings,
tables and bold stretches of Markdown are drawn as such, so that a note reads well; offsets are the text's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

CONTEXT_CHARS = 700
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_HEADING = re.compile(r"#{1,6}\s+")
_FOOTNOTE = re.compile(r"\[\^([A-Za-z0-9_-]+)\]")
_TABLE_RULE = re.compile(r"[\s|:-]+")


@dataclass(frozen=True, slots=True)
class Extract:
    """A stretch of a document around a passage: what lies before and after it is not shown at first."""

    start: int
    end: int


def around(text: str, start: int, end: int, context: int = CONTEXT_CHARS) -> Extract:
    """The passage with about `context` characters on each side, cut at lines."""
    left, right = max(0, start - context), min(len(text), end + context)
    if left:
        left = text.rfind("\n", 0, left) + 1
    if right < len(text):
        newline = text.find("\n", right)
        right = len(text) if newline < 0 else newline
    return Extract(left, right)


def document_html(text: str, extract: Extract, mark: tuple[int, int] | None = None) -> str:
    """HTML of `text[extract.start:extract.end]`, with `mark` (offsets into `text`) highlighted."""
    blocks = "".join(_blocks(text, extract, mark or (0, 0)))
    return f'<div class="reader">{blocks}</div>'


def _blocks(text: str, extract: Extract, mark: tuple[int, int]) -> Iterator[str]:
    rows: list[str] = []
    for start, end in _lines(text, extract):
        line = text[start:end]
        if line.lstrip().startswith("|"):
            if not _TABLE_RULE.fullmatch(line):
                rows.append(_row(line, _overlap(start, end, mark) is not None))
            continue
        if rows:
            yield f"<table>{''.join(rows)}</table>"
            rows = []
        heading = _HEADING.match(line)
        if heading:
            yield f'<div class="heading">{_marked(text, start + heading.end(), end, mark)}</div>'
        elif line.strip():
            yield f'<div class="line">{_marked(text, start, end, mark)}</div>'
        else:
            yield '<div class="gap"></div>'
    if rows:
        yield f"<table>{''.join(rows)}</table>"


def _lines(text: str, extract: Extract) -> Iterator[tuple[int, int]]:
    start = extract.start
    while start < extract.end:
        newline = text.find("\n", start, extract.end)
        end = extract.end if newline < 0 else newline
        yield start, end
        start = end + 1


def _row(line: str, marked: bool) -> str:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    inner = "".join(f"<td>{_inline(cell.strip())}</td>" for cell in cells)
    return f'<tr class="marked">{inner}</tr>' if marked else f"<tr>{inner}</tr>"


def _marked(text: str, start: int, end: int, mark: tuple[int, int]) -> str:
    inside = _overlap(start, end, mark)
    if inside is None:
        return _inline(text[start:end])
    left, right = inside
    middle = text[left:right]
    return f"{_inline(text[start:left])}<mark>{_inline(middle)}</mark>{_inline(text[right:end])}"


def _inline(text: str) -> str:
    html = escape(text)
    html = _BOLD.sub(r"<strong>\1</strong>", html)
    return _FOOTNOTE.sub(r"<sup>\1</sup>", html)


def _overlap(start: int, end: int, mark: tuple[int, int]) -> tuple[int, int] | None:
    left, right = max(start, mark[0]), min(end, mark[1])
    return (left, right) if left < right else None
