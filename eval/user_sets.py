"""Other people's questions: a CSV table with one question a row, read into the same cases as the YAML files.

Columns: question (required); id, language, kind, verdict, gold, must, must_not, tags, source (optional).
Several items in a cell are separated by ";", and alternatives of a `must` item by "|".
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.errors import AdvisorError
from eval.cases import Case, checked, load_cases, parse_case
from eval.located_yaml import Located

_COLUMNS = frozenset(["id", "language", "question", "kind", "verdict", "gold", "must", "must_not", "tags", "source"])


def load_sets(paths: Sequence[Path]) -> list[Case]:
    """Cases of YAML files and folders and of CSV files, in the order given; ids unique over all of them."""
    cases: list[Case] = []
    for path in paths:
        cases += read_csv(path) if path.suffix.lower() == ".csv" else load_cases([path])
    return checked(cases)


def read_csv(path: Path) -> list[Case]:
    """Raises AdvisorError that names the file, the line and the column."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = set(reader.fieldnames or ())
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AdvisorError(f"Cannot read {path.name}: {error}.", "Give a CSV file in UTF-8.") from None
    if "question" not in columns or columns - _COLUMNS:
        stray = ", ".join(sorted(columns - _COLUMNS))
        problem = f"unknown column {stray}" if stray else "there is no column 'question'"
        raise AdvisorError(f"{path.name}, line 1: {problem}.", f"Columns: {', '.join(sorted(_COLUMNS))}.")
    if not rows:
        raise AdvisorError(f"{path.name} has no questions.", "Add a row for each question.")
    return [parse_case(_located(row, line, path), path.name) for line, row in rows]


def _located(row: dict[str, str], line: int, path: Path) -> Located:
    if None in row:
        raise AdvisorError(f"{path.name}, line {line}: more cells than columns.", 'Quote cells with ",".')
    item = Located()
    cells = {name: (text or "").strip() for name, text in row.items()}
    content: dict[str, Any] = {
        "id": cells.get("id") or f"{path.stem}-{line}",
        "language": cells.get("language") or _language_of(cells["question"]),
        "question": cells["question"],
        "tags": [*_split(cells.get("tags", "")), "user-set"],
        "source": cells.get("source") or f"{path.name}, line {line}",
    }
    for name in ("kind", "verdict", "gold", "must_not"):
        if cells.get(name):
            content[name] = _split(cells[name])
    if cells.get("must"):
        content["must"] = [[part.strip() for part in group.split("|")] for group in _split(cells["must"])]
    item.update(content)
    item.line, item.lines = line, dict.fromkeys(content, line)
    return item


def _split(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


def _language_of(question: str) -> str:
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in question) else "en"
