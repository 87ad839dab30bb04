"""XLSX: each sheet a section with its rows as a table; dates as dates, formulas by their last result."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

from app.library.formats.content import Content, UnreadableError, titled_table
from app.library.formats.package import open_package, part, related

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_COLUMN = re.compile(r"[A-Z]+")
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")
_LONGEST_MERGE = 10_000  # rows
_BUILT_IN_DATES = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h|m|s)[^\]]*\]', re.IGNORECASE)
_EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}  # day 0; the first with Excel's day of 1900
_LAST_DAY = 2_958_465  # 9999-12-31


def read_xlsx(path: Path) -> Content:
    with open_package(path) as package:
        book = part(package, "xl/workbook.xml")
        if book is None:
            raise UnreadableError("it is not an Excel workbook (no xl/workbook.xml inside)")
        shared = _shared_strings(package)
        dates = _date_styles(package)
        properties = book.find(f"{_S}workbookPr")
        epoch = _EPOCHS[properties is not None and properties.get("date1904", "0") in ("1", "true")]
        targets = related(package, "xl/workbook.xml")
        blocks = []
        for sheet in book.iter(f"{_S}sheet"):
            content = part(package, targets.get(sheet.get(f"{_R}id", ""), ""))
            rows = _rows(content, shared, dates, epoch) if content is not None else []
            if rows:
                blocks += [f"## {sheet.get('name', 'Sheet')}", titled_table(rows)]
    return Content("\n\n".join(blocks) + "\n")


def _shared_strings(package: zipfile.ZipFile) -> list[str]:
    strings = part(package, "xl/sharedStrings.xml")
    if strings is None:
        return []
    return ["".join(text.text or "" for text in item.iter(f"{_S}t")) for item in strings.iter(f"{_S}si")]


def _date_styles(package: zipfile.ZipFile) -> frozenset[str]:
    """Numbers of the cell styles that show a number as a date or time."""
    styles = part(package, "xl/styles.xml")
    if styles is None:
        return frozenset()
    own = {
        one.get("numFmtId", ""): bool(re.search(r"[ymdhs]", _LITERAL.sub("", one.get("formatCode", "")).lower()))
        for one in styles.iter(f"{_S}numFmt")
    }
    found = []
    for number, style in enumerate(styles.iterfind(f"{_S}cellXfs/{_S}xf")):
        format_ = style.get("numFmtId", "0")
        if own.get(format_, format_.isdigit() and int(format_) in _BUILT_IN_DATES):
            found.append(str(number))
    return frozenset(found)


def _rows(sheet: ElementTree.Element, shared: list[str], dates: frozenset[str], epoch: datetime) -> list[list[str]]:
    """Rows with text; a merged cell says its text in each of its rows, so that every row can be read alone."""
    rows = dict(_numbered_rows(sheet, shared, dates, epoch))
    for merged in sheet.iter(f"{_S}mergeCell"):
        match = _RANGE.fullmatch(merged.get("ref", ""))
        if not match:
            continue
        column, first, last = _number(match[1]), int(match[2]), min(int(match[4]), int(match[2]) + _LONGEST_MERGE)
        text = rows[first][column] if column < len(rows.get(first, ())) else ""
        for number in range(first + 1, last + 1):
            cells = rows.get(number)
            if text and cells is not None:
                cells += [""] * (column + 1 - len(cells))
                cells[column] = cells[column] or text
    return [cells for _, cells in sorted(rows.items()) if any(cell.strip() for cell in cells)]


def _numbered_rows(
    sheet: ElementTree.Element, shared: list[str], dates: frozenset[str], epoch: datetime
) -> Iterator[tuple[int, list[str]]]:
    before = 0
    for row in sheet.iter(f"{_S}row"):
        number = int(row.get("r", "")) if row.get("r", "").isdigit() else before + 1
        before = number
        cells: list[str] = []
        for cell in row.iter(f"{_S}c"):
            match = _COLUMN.match(cell.get("r", ""))
            column = _number(match[0]) if match else len(cells)
            if column > 16_384:
                raise UnreadableError("it is damaged (a cell beyond the last column)")
            cells += [""] * (column - len(cells))
            value = _value(cell, shared)
            cells.append(_date(value, epoch) if cell.get("s", "") in dates and cell.get("t", "n") == "n" else value)
        yield number, cells


def _date(value: str, epoch: datetime) -> str:
    """A day number as a date, with the time if there is one; below one day only the time."""
    try:
        days = float(value)
    except ValueError:
        return value
    if not 0 <= days <= _LAST_DAY:
        return value
    moment = epoch + timedelta(seconds=round(days * 86_400))
    clock = f"{moment:%H:%M}" if moment.second == 0 else f"{moment:%H:%M:%S}"
    if days < 1:
        return clock
    return f"{moment:%Y-%m-%d}" if days == int(days) else f"{moment:%Y-%m-%d} {clock}"


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
