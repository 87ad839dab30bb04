"""DOCX: paragraphs, headings by style, lists and tables.

Read here and not through kreuzberg 4.10, which loses `<` and `&` in a document's text: "<50 %" became "50 %".
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from app.library.formats.content import Content, UnreadableError, table_text
from app.library.formats.package import open_package, part

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_WIDEST = 200  # columns
_DC = "{http://purl.org/dc/elements/1.1/}"
_HEADING_STYLE = re.compile(r"(?:heading|标题|überschrift|titre)\s*([1-6])$", re.IGNORECASE)


def read_docx(path: Path) -> Content:
    with open_package(path) as package:
        document = part(package, "word/document.xml")
        if document is None:
            raise UnreadableError("it is not a Word document (no word/document.xml inside)")
        levels = _heading_levels(package)
        _drop_fallbacks(document)
        body = document.find(f"{_W}body")
        blocks = list(_blocks(body, levels)) if body is not None else []
        core = part(package, "docProps/core.xml")
    title = core.findtext(f"{_DC}title") if core is not None else ""
    first = next((block.lstrip("# ") for block in blocks if block.startswith("#")), "")
    return Content("\n\n".join(blocks) + "\n", title=(title or "").strip() or first)


def _heading_levels(package: zipfile.ZipFile) -> dict[str, int]:
    """Style id -> heading level."""
    levels = {f"Heading{level}": level for level in range(1, 7)} | {"Title": 1}
    styles = part(package, "word/styles.xml")
    for style in styles.iter(f"{_W}style") if styles is not None else ():
        name = style.find(f"{_W}name")
        match = _HEADING_STYLE.match(name.get(f"{_W}val", "")) if name is not None else None
        if match:
            levels[style.get(f"{_W}styleId", "")] = int(match[1])
    return levels


def _blocks(parent: ElementTree.Element, levels: dict[str, int]) -> Iterator[str]:
    for child in parent:
        if child.tag == f"{_W}p":
            block = _paragraph(child, levels)
            if block:
                yield block
        elif child.tag == f"{_W}tbl":
            rows = [row for row in _rows(child) if any(cell.strip() for cell in row)]
            if rows:
                yield table_text(rows)
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent"):
            yield from _blocks(child, levels)


def _drop_fallbacks(document: ElementTree.Element) -> None:
    """Of what is stored twice, for new and for old programs, the old version goes."""
    for parent in document.iter(f"{_MC}AlternateContent"):
        for child in parent.findall(f"{_MC}Fallback"):
            parent.remove(child)


def _rows(table: ElementTree.Element) -> list[list[str]]:
    """Cells by column: one over several columns or rows says its text in each, so that figures stay in theirs."""
    rows: list[list[str]] = []
    for row in table.findall(f"{_W}tr"):
        cells: list[str] = []
        for cell in row.findall(f"{_W}tc"):
            text = " ".join(_text(p) for p in cell.iter(f"{_W}p"))
            span, merge = cell.find(f"{_W}tcPr/{_W}gridSpan"), cell.find(f"{_W}tcPr/{_W}vMerge")
            if merge is not None and merge.get(f"{_W}val", "continue") == "continue" and rows:
                text = text.strip() or (rows[-1][len(cells)] if len(cells) < len(rows[-1]) else "")
            width = span.get(f"{_W}val", "1") if span is not None else "1"
            cells += [text] * (min(int(width), _WIDEST) if width.isdigit() else 1)
        rows.append(cells)
    return rows


def _paragraph(paragraph: ElementTree.Element, levels: dict[str, int]) -> str:
    text = _text(paragraph).strip()
    if not text:
        return ""
    properties = paragraph.find(f"{_W}pPr")
    if properties is not None:
        style = properties.find(f"{_W}pStyle")
        level = levels.get(style.get(f"{_W}val", "")) if style is not None else None
        if level:
            return f"{'#' * level} {' '.join(text.split())}"
        if properties.find(f"{_W}numPr") is not None:
            return f"- {text}"
    return "\\" + text if re.match(r"#{1,6}\s", text) else text


def _text(paragraph: ElementTree.Element) -> str:
    parts = []
    for node in paragraph.iter():
        if node.tag == f"{_W}t":
            parts.append(node.text or "")
        elif node.tag == f"{_W}tab":
            parts.append("\t")
        elif node.tag in (f"{_W}br", f"{_W}cr"):
            parts.append("\n")
    return "".join(parts)
