"""A bill as CSV text, for a spreadsheet or a purchase request. Writing the file is the caller's job."""

from __future__ import annotations

import csv
from io import StringIO

from app.fabric.bill import Bill
from app.fabric.calculation import Language

_COLUMNS = {
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


def bill_csv(bill: Bill, language: Language = "en") -> str:
    """The lines of the bill and a total, RFC 4180, with a heading in the language asked for."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS.values() if language == "zh" else _COLUMNS)
    translated = {"serves": "serves_zh", "price_note": "price_note_zh"} if language == "zh" else {}
    for line in bill.lines:
        row = line.row()
        writer.writerow([_cell(row[translated.get(column, column)]) for column in _COLUMNS])
    total = bill.capex_usd
    sums = {"total_usd_low": total.low, "total_usd": total.typical, "total_usd_high": total.high}
    label = "合计" if language == "zh" else "total"
    writer.writerow([label if column == "category" else _cell(sums.get(column)) for column in _COLUMNS])
    return text.getvalue()


def _cell(value: object) -> object:
    """Money to the cent; text that a spreadsheet would run as a formula is quoted."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return "" if value is None else value
