"""A bill as rows and as CSV text, for a spreadsheet or a purchase request. Writing files is the caller's job."""

from __future__ import annotations

import csv
from io import StringIO

from app.fabric.bill import Bill
from app.fabric.calculation import Language, Scalar

COLUMNS = {
    "category": "类别",
    "role": "位置",
    "item": "编号",
    "name": "名称",
    "quantity": "数量",
    "unit_usd_low": "单价低（美元）",
    "unit_usd": "单价典型（美元）",
    "unit_usd_high": "单价高（美元）",
    "total_usd_low": "小计低（美元）",
    "total_usd": "小计典型（美元）",
    "total_usd_high": "小计高（美元）",
    "power_typical_w": "典型功耗（W）",
    "power_max_w": "最大功耗（W）",
    "serves": "用途",
    "price_note": "价格说明",
    "source": "来源",
    "date": "日期",
    "trust": "可信度",
}


def bill_rows(bill: Bill, language: Language = "en") -> list[dict[str, Scalar]]:
    """The lines of the bill with the columns of COLUMNS, sentences in the language asked for."""
    translated = {"serves": "serves_zh", "price_note": "price_note_zh"} if language == "zh" else {}
    rows = [line.row() for line in bill.lines]
    return [{column: row[translated.get(column, column)] for column in COLUMNS} for row in rows]


def bill_csv(bill: Bill, language: Language = "en") -> str:
    """The lines of the bill and a total, RFC 4180, with a heading in the language asked for."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS.values() if language == "zh" else COLUMNS)
    for row in bill_rows(bill, language):
        writer.writerow([_cell(value) for value in row.values()])
    total = bill.capex_usd
    sums = {"total_usd_low": total.low, "total_usd": total.typical, "total_usd_high": total.high}
    label = "合计" if language == "zh" else "total"
    writer.writerow([label if column == "category" else _cell(sums.get(column)) for column in COLUMNS])
    return text.getvalue()


def _cell(value: object) -> object:
    """Money to the cent; text that a spreadsheet would run as a formula is quoted."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return "" if value is None else value
