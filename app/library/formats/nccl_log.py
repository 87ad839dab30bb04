"""Logs of nccl-tests: what was said before the table, then the table with its header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import repeat

from app.library.formats.content import Content, table_text
from app.library.formats.plain import read_text

_HEADER = re.compile(r"^#\s+size\s+count\s+type\b.*\bbusbw\b", re.IGNORECASE)
_ROW = re.compile(r"^\s*\d+\s+\d+\s+\w+\s+\S+")
_COMMAND = re.compile(r"\b(\w+)_perf\b")
_COMMENT = re.compile(r"^#{1,6}\s+")  # a line of a log that begins so is no heading
_LABEL = re.compile(r"^\s*\d+:\s")  # of the task, as srun and mpirun put before each line
_UNITS = {"size": "size (B)", "count": "count (elements)", "time": "time (us)", "algbw": "algbw (GB/s)",
          "busbw": "busbw (GB/s)"}  # fmt: skip
_TWICE = ("time", "algbw", "busbw", "#wrong")


def read_log(data: bytes) -> Content:
    """A log as text; one of nccl-tests with its rows as a table, so that each passage names the columns."""
    content = read_text(data)
    lines = [_LABEL.sub("", line) for line in content.text.split("\n")]
    if not any(map(_HEADER.match, lines)):
        return Content("\n".join(map(_COMMENT.sub, repeat(""), content.text.split("\n"))))
    command = _COMMAND.search(content.text)
    title = f"nccl-tests {command[1]}_perf" if command else "nccl-tests"
    blocks: list[str] = [f"# {title}"]
    rows: list[list[str]] = []
    said: list[str] = []
    for line in lines:
        if _HEADER.match(line):
            blocks += ["\n".join(said)]
            said, rows = [], [_columns(line)]
        elif rows and _ROW.match(line):
            rows.append(line.split())
        elif rows and len(rows) > 1 and line.strip():
            blocks.append(table_text(_even(rows)))
            rows, said = [], [_COMMENT.sub("", line)]
        elif not rows:
            said.append(_COMMENT.sub("", line))
    blocks += [table_text(_even(rows)) if len(rows) > 1 else "", "\n".join(said)]
    return Content("\n\n".join(block.strip("\n") for block in blocks if block.strip()) + "\n", title=title)


def _columns(header: str) -> list[str]:
    """Names of columns; those that come twice are of the out-of-place and the in-place run."""
    names = header.lstrip("# ").split()
    named = []
    for number, name in enumerate(names):
        twice = name in _TWICE and names.count(name) > 1
        where = "in-place" if name in names[:number] else "out-of-place"
        shown = _UNITS.get(name, name)
        named.append(f"{where} {shown}" if twice else shown)
    return named


def _even(rows: Sequence[list[str]]) -> list[list[str]]:
    width = len(rows[0])
    return [row[:width] for row in rows]
