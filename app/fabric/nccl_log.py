"""Reads the table that nccl-tests and rccl-tests print, also inside an mpirun or Slurm log."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.errors import AdvisorError
from app.fabric.bound import Operation, busbw_factor

_TYPES = frozenset(
    (
        "float",
        "double",
        "half",
        "bfloat16",
        "int8",
        "uint8",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "f8e4m3",
        "f8e5m2",
    )
)
_PERFS: dict[str, Operation] = {
    "all_reduce_perf": "all-reduce",
    "all_gather_perf": "all-gather",
    "reduce_scatter_perf": "reduce-scatter",
    "alltoall_perf": "all-to-all",
    "broadcast_perf": "broadcast",
    "sendrecv_perf": "send-recv",
}
_PERF = re.compile("|".join(_PERFS))
_RANK = re.compile(r"Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+ on\s+(\S+)\s+device\s+\d+\s+\[\S+\]\s*(.*)")
_PREFIX = re.compile(r"^\s*(?:\[[\d,]+\]<\w+>:|\d+:)")  # mpirun --tag-output, srun -l
MAX_CHARACTERS = 20_000_000


@dataclass(frozen=True, slots=True)
class LogRow:
    """One line of the table, out-of-place: bytes, microseconds, GB/s. `wrong` counts wrong elements."""

    bytes: int
    time_us: float
    algbw_gbytes_per_s: float
    busbw_gbytes_per_s: float
    wrong: int


@dataclass(frozen=True, slots=True)
class NcclLog:
    """One table. `op`, `gpus`, `hosts` and `gpu_name` are None or empty where the log does not tell."""

    rows: tuple[LogRow, ...]
    op: Operation | None
    gpus: int | None
    hosts: int | None
    gpu_name: str


def parse_nccl_log(text: str, *, op: Operation | None = None) -> NcclLog:
    """The table in `text`; of several tables, the last one. `op` overrides what the log says.

    Raises AdvisorError if there is no table, or the text is far beyond any log.
    """
    if len(text) > MAX_CHARACTERS:
        raise AdvisorError("This log is too long to be one nccl-tests run.", "Give the part with the table.")
    lines = [_PREFIX.sub("", line) for line in text.splitlines()]
    rows = _last_table([row for line in lines if (row := _row(line)) is not None])
    if not rows:
        raise AdvisorError(
            "No nccl-tests table was found in this text.",
            "Give the output of all_reduce_perf (or another *_perf), with its size, time, algbw and busbw "
            "columns.",
            code="no_nccl_table",
        )
    ranks = [match for line in lines if (match := _RANK.search(line))]
    op = op or _operation(text, rows)
    gpus = _gpus(rows, op, max((int(match[1]) for match in ranks), default=-1) + 1)
    complete = len({match[1] for match in ranks}) == gpus  # a shortened list cannot tell the number of nodes
    return NcclLog(
        rows=rows,
        op=op,
        gpus=gpus,
        hosts=len({match[2] for match in ranks}) if complete else None,
        gpu_name=ranks[0][3].strip() if ranks else "",
    )


def _row(line: str) -> LogRow | None:
    """size count type [redop] [root] time algbw busbw wrong, then the same four in place (or cut off)."""
    words = line.split()
    if len(words) < 6 or words[2] not in _TYPES or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    rest = words[3:]
    if not _is_number(rest[0]):
        rest = rest[1:]  # the reduction
    if len(rest) in (5, 9, 10):
        rest = rest[1:]  # the root
    try:
        time, algbw, busbw = (float(word) for word in rest[:3])
    except ValueError:
        return None
    wrong = rest[3] if len(rest) > 3 else "N/A"
    return LogRow(int(words[0]), time, algbw, busbw, int(float(wrong)) if _is_count(wrong) else 0)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_count(word: str) -> bool:
    return word.isdecimal()  # older versions print the largest error here, as 2e-07


def _last_table(rows: list[LogRow]) -> tuple[LogRow, ...]:
    """Sizes grow within a table; one that does not starts another. Empty messages are left out."""
    start = 0
    for index in range(1, len(rows)):
        if rows[index].bytes <= rows[index - 1].bytes:
            start = index
    return tuple(row for row in rows[start:] if row.bytes > 0 and row.time_us > 0)


def _operation(text: str, rows: tuple[LogRow, ...]) -> Operation | None:
    named = _PERF.findall(text)
    if named:
        return _PERFS[named[-1]]
    ratio = _ratio(rows)
    return "all-reduce" if ratio is not None and ratio > 1.01 else None


def _ratio(rows: tuple[LogRow, ...]) -> float | None:
    """busbw / algbw of the row with the most digits."""
    best = max(rows, key=lambda row: row.algbw_gbytes_per_s)
    algbw = best.bytes / best.time_us / 1000  # more digits than its own column
    return best.busbw_gbytes_per_s / algbw if algbw >= 1 else None


def _gpus(rows: tuple[LogRow, ...], op: Operation | None, listed: int) -> int | None:
    """The GPUs that the log lists, unless busbw / algbw says otherwise (a shortened list, another table's
    list).

    The ratio alone tells the number up to a few hundred GPUs; beyond, its rounding leaves too many
    candidates.
    """
    ratio = _ratio(rows)
    if op is None or ratio is None or op in ("broadcast", "send-recv"):
        return listed or None
    if listed > 1 and abs(busbw_factor(op, listed) - ratio) < 0.0015:
        return listed
    passes = 2 if op == "all-reduce" else 1
    if not 0.49 * passes < ratio < 0.998 * passes:
        return listed or None
    exact = passes / (passes - ratio)
    return round(exact) if exact < 12 else 4 * round(exact / 4)  # nodes have four or eight GPUs
