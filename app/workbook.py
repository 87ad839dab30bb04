"""A bill as an Excel workbook: its lines with live totals, its assumptions, its sources."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell

from app.fabric.bill import Bill
from app.fabric.calculation import Language, Source
from app.fabric.export import COLUMNS, bill_rows

_PRODUCTS = {f"total_usd{end}": ("quantity", f"unit_usd{end}") for end in ("_low", "", "_high")}
_TITLES = {
    "bill": ("Bill", "清单"),
    "assumptions": ("Assumptions", "假设"),
    "sources": ("Sources", "来源"),
    "total": ("total", "合计"),
}


def bill_workbook(bill: Bill, language: Language = "en") -> bytes:
    """An XLSX file of one bill. Totals are formulas over quantity and unit price, so that both may be edited."""
    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True, "strings_to_formulas": False}) as book:
        _lines(book, bill, language)
        notes = (*bill.topology.assumptions, *bill.assumptions)
        sheet = book.add_worksheet(_title("assumptions", language))
        sheet.set_column(0, 0, 120)
        sheet.write_column(0, 0, [note.in_language(language) for note in notes])
        _sources(book, tuple(dict.fromkeys((*bill.topology.sources, *bill.sources))), language)
    return buffer.getvalue()


def _lines(book: xlsxwriter.Workbook, bill: Bill, language: Language) -> None:
    sheet = book.add_worksheet(_title("bill", language))
    bold = book.add_format({"bold": True})
    money = book.add_format({"num_format": "#,##0.00"})
    names = list(COLUMNS)
    sheet.write_row(0, 0, COLUMNS.values() if language == "zh" else names, bold)
    sheet.freeze_panes(1, 0)
    rows = bill_rows(bill, language)
    for at, row in enumerate(rows, 1):
        for column, name in enumerate(names):
            if name in _PRODUCTS:
                factors = [xl_rowcol_to_cell(at, names.index(factor)) for factor in _PRODUCTS[name]]
                sheet.write_formula(at, column, "=" + "*".join(factors), money, row[name])
            else:
                sheet.write(at, column, row[name], money if name.startswith("unit_usd") else None)
    end = len(rows) + 1
    sheet.write(end, 0, _title("total", language), bold)
    for name in _PRODUCTS:
        column = names.index(name)
        cells = f"{xl_rowcol_to_cell(1, column)}:{xl_rowcol_to_cell(end - 1, column)}"
        total = sum(float(row[name] or 0) for row in rows)
        sheet.write_formula(end, column, f"=SUM({cells})", money, total)
    for name, width in (("name", 44), ("serves", 44), ("price_note", 60), ("source", 60)):
        sheet.set_column(names.index(name), names.index(name), width)


def _sources(book: xlsxwriter.Workbook, sources: Sequence[Source], language: Language) -> None:
    sheet = book.add_worksheet(_title("sources", language))
    for at, source in enumerate(sources):
        for column, text in enumerate(source.to_json().values()):
            sheet.write_string(at, column, text)
    sheet.set_column(0, 1, 70)


def _title(name: str, language: Language) -> str:
    return _TITLES[name][1 if language == "zh" else 0]
