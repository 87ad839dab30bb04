"""Cuts a document into passages that follow its headings and keep tables, code and sentences whole.

Always `text[passage.start:passage.end]` is the passage: nothing is rewritten. What a passage needs to be
understood alone (title, headings, the header row of a table that had to be cut) is kept beside it, in
`context`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.fabric.calculation import Language
from app.library.language import detect_language, estimated_tokens

SPLITTER_VERSION = "3"
TARGET_TOKENS = 240
_WHOLE_TOKENS = 340  # a section up to this size stays one passage
_HARD_TOKENS = 460  # the model reads 512; title and headings need some of them

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_LIST_ITEM = re.compile(r"[ \t]*([-*+]|\d+[.)])[ \t]+")
_SENTENCE_END = re.compile(r"[。！？]+[”’」』）)]*|[.!?]+[\"')\]]*(?=\s)")
_CLAUSE_END = re.compile(r"[，、：；,;:]+|\s+")
FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage before it belongs to a document. `section_number` counts headings, `part` passages."""

    start: int
    end: int
    section: str
    section_number: int
    part: int
    language: Language
    page: int | None
    source_refs: tuple[str, ...]
    context: str  # header row of a cut table, or ""


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: str  # text | table | code
    header: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    number: int
    blocks: tuple[_Block, ...]


def split(text: str, *, title: str = "", page_starts: Sequence[int] = ()) -> list[Piece]:
    """Passages of a Markdown or plain text, in order. `page_starts` are the offsets at which pages begin."""
    pieces = []
    for section in _sections(text):
        path = section.path[1:] if section.path and section.path[0] == title else section.path
        groups = _groups(text, section.blocks)
        for part, group in enumerate(groups):
            start, end = group[0].start, group[-1].end
            body = text[start:end]
            pieces.append(
                Piece(
                    start=start,
                    end=end,
                    section=" › ".join(path),
                    section_number=section.number,
                    part=part,
                    language=detect_language(f"{' '.join(path)} {body}"),
                    page=bisect_right(page_starts, start) or 1 if page_starts else None,
                    source_refs=tuple(dict.fromkeys(FOOTNOTE.findall(body))),
                    context=group[0].header,
                )
            )
    return pieces


def without_footnotes(text: str) -> str:
    return FOOTNOTE.sub("", text)


def _sections(text: str) -> Iterator[_Section]:
    path: list[tuple[int, str]] = []
    number = 0
    blocks: list[_Block] = []
    for item in _blocks(text):
        if isinstance(item, _Block):
            blocks.append(item)
            continue
        if blocks:
            yield _Section(tuple(name for _, name in path), number, tuple(blocks))
            blocks = []
        level, name = item
        path = [outer for outer in path if outer[0] < level] + [(level, name)]
        number += 1
    if blocks:
        yield _Section(tuple(name for _, name in path), number, tuple(blocks))


def _blocks(text: str) -> Iterator[_Block | tuple[int, str]]:
    """Blocks and (level, heading) in order."""
    lines = _lines(text)
    at = 0
    while at < len(lines):
        start, end = lines[at]
        line = text[start:end]
        if not line.strip():
            at += 1
            continue
        heading = _HEADING.match(line)
        if heading:
            yield len(heading[1]), without_footnotes(heading[2]).strip()
            at += 1
            continue
        first = at
        fence = _FENCE.match(line)
        if fence:
            at += 1
            while at < len(lines) and not text[lines[at][0] : lines[at][1]].strip().startswith(fence[1]):
                at += 1
            at = min(at + 1, len(lines))
            yield _trimmed(text, lines[first][0], lines[at - 1][1], "code")
        elif _is_table(text, lines, at):
            while at < len(lines) and "|" in text[lines[at][0] : lines[at][1]]:
                at += 1
            yield replace(_trimmed(text, start, lines[at - 1][1], "table"), header="")
        else:
            at += 1
            while at < len(lines) and _continues(text, lines, at):
                at += 1
            yield _trimmed(text, start, lines[at - 1][1], "text")


def _lines(text: str) -> list[tuple[int, int]]:
    spans = []
    at = 0
    for line in text.splitlines(keepends=True):
        spans.append((at, at + len(line.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"))))
        at += len(line)
    return spans


def _continues(text: str, lines: list[tuple[int, int]], at: int) -> bool:
    line = text[lines[at][0] : lines[at][1]]
    if not line.strip() or _HEADING.match(line) or _FENCE.match(line) or _LIST_ITEM.match(line):
        return False
    return not _is_table(text, lines, at)


def _is_table(text: str, lines: list[tuple[int, int]], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in text[lines[at][0] : lines[at][1]]:
        return False
    rule = text[lines[at + 1][0] : lines[at + 1][1]]
    return "|" in rule and _TABLE_RULE.match(rule) is not None


def _trimmed(text: str, start: int, end: int, kind: str) -> _Block:
    body = text[start:end]
    return _Block(start + len(body) - len(body.lstrip()), start + len(body.rstrip()), kind)


def _groups(text: str, blocks: Sequence[_Block]) -> list[list[_Block]]:
    """Blocks packed into passages of about equal size, near the target."""
    total = _size(text, blocks[0].start, blocks[-1].end)
    if total <= _WHOLE_TOKENS:
        return [list(blocks)]
    target = total / max(1, round(total / TARGET_TOKENS))
    small = [part for block in blocks for part in _fitting(text, block)]
    groups: list[list[_Block]] = []
    for block in small:
        if groups and not block.header:
            grown = _size(text, groups[-1][0].start, block.end)
            if grown <= min(target * 1.15, _HARD_TOKENS):
                groups[-1].append(block)
                continue
        groups.append([block])
    return groups


def _fitting(text: str, block: _Block) -> list[_Block]:
    """The block, or where it is too long for one passage its parts: rows, lines or sentences."""
    if _size(text, block.start, block.end) <= _WHOLE_TOKENS:
        return [block]
    if block.kind == "table":
        return _table_parts(text, block)
    if block.kind == "code":
        return _joined(text, block, _cut(text, block.start, block.end, re.compile(r"\n")))
    spans = []
    for start, end in _cut(text, block.start, block.end, _SENTENCE_END):
        if _size(text, start, end) > _HARD_TOKENS:
            spans += _joined_spans(text, _cut(text, start, end, _CLAUSE_END))
        else:
            spans.append((start, end))
    return _joined(text, block, spans)


def _table_parts(text: str, block: _Block) -> list[_Block]:
    rows = _cut(text, block.start, block.end, re.compile(r"\n"))
    header = text[rows[0][0] : rows[0][1]].strip()
    parts = _joined(text, block, rows)
    return [parts[0], *(replace(part, header=header) for part in parts[1:])]


def _cut(text: str, start: int, end: int, after: re.Pattern[str]) -> list[tuple[int, int]]:
    spans = []
    at = start
    for match in after.finditer(text, start, end):
        if match.end() > at:
            spans.append((at, match.end()))
            at = match.end()
    if at < end:
        spans.append((at, end))
    return spans


def _joined_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for start, end in _short_enough(spans):
        if result and _size(text, result[-1][0], end) <= TARGET_TOKENS:
            result[-1] = (result[-1][0], end)
        else:
            result.append((start, end))
    return result


def _short_enough(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Text without any place to cut (a base64 blob) is cut anywhere."""
    longest = 1200
    for start, end in spans:
        for at in range(start, end, longest):
            yield at, min(end, at + longest)


def _joined(text: str, block: _Block, spans: Sequence[tuple[int, int]]) -> list[_Block]:
    parts = (_trimmed(text, start, end, block.kind) for start, end in _joined_spans(text, spans))
    return [part for part in parts if part.end > part.start]


def _size(text: str, start: int, end: int) -> float:
    return estimated_tokens(text[start:end])
