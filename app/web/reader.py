"""Shows a document, or a stretch of it, as HTML with one passage marked.

The text is untrusted: every character of it is escaped, and only tags written here are added. Headings,
tables and bold stretches of Markdown are drawn as such, so that a note reads well; offsets are the text's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

Footnotes = Mapping[str, Mapping[str, str]]  # id -> its source: title, url, date, trust
CONTEXT_CHARS = 700
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_CODE = re.compile(r"`([^`]+)`")
_HEADING = re.compile(r"#{1,6}\s+")
_FOOTNOTE = re.compile(r"\[\^([A-Za-z0-9_-]+)\]")
NO_FOOTNOTES: Footnotes = MappingProxyType({})
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


def document_html(
    text: str, extract: Extract, mark: tuple[int, int] | None = None, footnotes: Footnotes = NO_FOOTNOTES
) -> str:
    """HTML of `text[extract.start:extract.end]`, with `mark` (offsets into `text`) highlighted.

    A footnote mark `[^id]` shows the title of its source, where it is known, when pointed at.
    """
    blocks = "".join(_blocks(_Text(text, mark or (0, 0), footnotes), extract))
    return f'<div class="reader">{blocks}</div>'


@dataclass(frozen=True, slots=True)
class _Text:
    """A text with its mark, as HTML piece by piece."""

    text: str
    mark: tuple[int, int]
    footnotes: Footnotes

    def html(self, start: int, end: int) -> str:
        inside = self.overlap(start, end)
        if inside is None:
            return self.inline(self.text[start:end])
        left, right = inside
        return (
            self.inline(self.text[start:left])
            + f"<mark>{self.inline(self.text[left:right])}</mark>"
            + self.inline(self.text[right:end])
        )

    def row(self, start: int, end: int) -> str:
        cells = re.split(r"(?<!\\)\|", self.text[start:end].strip().strip("|"))
        inner = "".join(f"<td>{self.inline(cell.strip())}</td>" for cell in cells)
        return f'<tr class="marked">{inner}</tr>' if self.overlap(start, end) else f"<tr>{inner}</tr>"

    def inline(self, text: str) -> str:
        html = _CODE.sub(r"<code>\1</code>", escape(text))
        html = _BOLD.sub(r"<strong>\1</strong>", html)
        return _FOOTNOTE.sub(self._footnote, html)

    def overlap(self, start: int, end: int) -> tuple[int, int] | None:
        left, right = max(start, self.mark[0]), min(end, self.mark[1])
        return (left, right) if left < right else None

    def _footnote(self, match: re.Match[str]) -> str:
        title = self.footnotes.get(match[1], {}).get("title", "")
        return f'<sup title="{escape(title)}">{match[1]}</sup>' if title else f"<sup>{match[1]}</sup>"


def _blocks(text: _Text, extract: Extract) -> Iterator[str]:
    rows: list[str] = []
    for start, end in _lines(text.text, extract):
        line = text.text[start:end]
        if line.lstrip().startswith("|"):
            if not _TABLE_RULE.fullmatch(line):
                rows.append(text.row(start, end))
            continue
        if rows:
            yield f"<table>{''.join(rows)}</table>"
            rows = []
        heading = _HEADING.match(line)
        if heading:
            yield f'<div class="heading">{text.html(start + heading.end(), end)}</div>'
        elif line.strip():
            yield f'<div class="line">{text.html(start, end)}</div>'
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
