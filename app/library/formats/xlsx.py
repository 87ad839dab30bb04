"""XLSX: each sheet a section with its rows as a table; cells as stored, formulas by their last result."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from app.library.formats.content import Content, UnreadableError, table_text
from app.library.formats.package import open_package, part, related

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_COLUMN = re.compile(r"[A-Z]+")


def read_xlsx(path: Path) -> Content:
    with open_package(path) as package:
        book = part(package, "xl/workbook.xml")
        if book is None:
            raise UnreadableError("it is not an Excel workbook (no xl/workbook.xml inside)")
        shared = _shared_strings(package)
        targets = related(package, "xl/workbook.xml")
        blocks = []
        for sheet in book.iter(f"{_S}sheet"):
            content = part(package, targets.get(sheet.get(f"{_R}id", ""), ""))
            rows = list(_rows(content, shared)) if content is not None else []
            if rows:
                blocks += [f"## {sheet.get('name', 'Sheet')}", table_text(rows)]
    return Content("\n\n".join(blocks) + "\n")


def _shared_strings(package: zipfile.ZipFile) -> list[str]:
    strings = part(package, "xl/sharedStrings.xml")
    if strings is None:
        return []
    return ["".join(text.text or "" for text in item.iter(f"{_S}t")) for item in strings.iter(f"{_S}si")]


def _rows(sheet: ElementTree.Element, shared: list[str]) -> Iterator[list[str]]:
    for row in sheet.iter(f"{_S}row"):
        cells: list[str] = []
        for cell in row.iter(f"{_S}c"):
            match = _COLUMN.match(cell.get("r", ""))
            column = _number(match[0]) if match else len(cells)
            if column > 16_384:
                raise UnreadableError("it is damaged (a cell beyond the last column)")
            cells += [""] * (column - len(cells))
            cells.append(_value(cell, shared))
        if any(cell.strip() for cell in cells):
            yield cells


def _number(letters: str) -> int:
    """Column A is 0, Z 25, AA 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(f"{_S}t"))
    value = cell.findtext(f"{_S}v") or ""
    if kind == "s":
        return shared[int(value)] if value.isdigit() and int(value) < len(shared) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    return value
