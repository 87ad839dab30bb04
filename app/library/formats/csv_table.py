"""CSV and TSV: one table, its first row the header."""

from __future__ import annotations

import csv
import io

from app.library.formats.content import Content, UnreadableError, titled_table
from app.library.formats.plain import decode


def read_csv(data: bytes) -> Content:
    text = decode(data)
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(text[:8192], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), dialect) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise UnreadableError(f"it is not a table ({error})") from None
    return Content(titled_table(rows) + "\n")
