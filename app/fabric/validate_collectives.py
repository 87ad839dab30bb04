"""Measured collectives against the model: published, computed, error.

Rows come from eval/reference/collectives.csv. `split` says what a row is for: `calibrate` rows set the
constants of knowledge/catalog/collectives.yaml; `report` rows were not used for that, but were known when the
model was written; `blind` rows were looked up after its constants were frozen (their note names the commit)
and are never labelled, so that their error stands as it came out. `label` names what the model does not cover
(TCP, TCPX, a mis-tuned or unknown fabric); such rows are printed with their reason and left out of the
medians. Left out of the file altogether, because they name no message size: Tolly's averages over a sweep,
DeepEP's dispatch and combine, and the NVLink plateaus that are catalog data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, cast

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators, Tuning
from app.fabric.bound import Operation
from app.fabric.collective import estimate_collective

MEDIAN_LIMIT_PERCENT = 10.0  # of the large messages that set no constants
LARGE_BYTES = 256 * 2**20
SMALL_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class CheckedCollective:
    """One row. `published` and `computed` are busbw in GB/s, or microseconds for a small message."""

    id: str
    op: str
    gpu: str
    nodes: int
    fabric: str
    bytes: int
    unit: str  # GB/s | us
    published: float
    computed: float
    low: float
    high: float
    error_percent: float
    split: str
    label: str
    note: str
    source: str
    trust: str

    @property
    def size_class(self) -> str:
        if self.bytes >= LARGE_BYTES:
            return "large"
        return "small" if self.bytes < SMALL_BYTES else "middle"

    @property
    def in_range(self) -> bool:
        return self.low <= self.published <= self.high

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """The row as one line of a report."""
        why = f" ({self.label}: {self.note})" if self.label else ""
        return (
            f"{self.id}: published {self.published:,.1f} {self.unit}, computed {self.computed:,.1f} "
            f"({self.low:,.1f} to {self.high:,.1f}), {self.error_percent:+.1f} %, {self.split}{why}"
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """Errors of one group of rows, labelled rows left out."""

    group: str
    rows: int
    median_percent: float
    worst_percent: float
    in_range: int


def validate_collectives(
    rows: Iterable[Mapping[str, str]], accelerators: Accelerators
) -> tuple[CheckedCollective, ...]:
    """Each published collective beside the computed one.

    A fabric that is neither InfiniBand nor RoCE (EFA, TCPXO, unstated) is computed as tuned RoCE at the
    same line rate. Raises AdvisorError that names the row that cannot be read.
    """
    return tuple(_check(row, accelerators) for row in rows)


def _check(row: Mapping[str, str], accelerators: Accelerators) -> CheckedCollective:
    try:
        made = estimate_collective(
            accelerators,
            op=cast(Operation, row["op"]),
            nodes=int(row["nodes"]),
            gpus_per_node=int(row["gpus_per_node"]),
            gpu=row["gpu"],
            fabric="infiniband" if row["fabric"] in ("infiniband", "nvlink") else "roce",
            nics_per_node=int(row["nics_per_node"]),
            nic_gbps=int(row["nic_gbps"]),
            bytes=int(row["bytes"]),
            tuning=cast(Tuning, row["tuning"]),
            sharp=row["sharp"] == "1",
        )
        by_busbw = bool(row["busbw_gbytes_per_s"])
        published = float(row["busbw_gbytes_per_s"] or row["time_us"])
    except (KeyError, ValueError) as error:
        raise AdvisorError(
            f"Row {row.get('id', '?')} of the collectives cannot be read: {error}.", "Correct that row."
        ) from None
    computed = made.busbw_gbytes_per_s if by_busbw else made.time_us
    range = made.busbw_range_gbytes_per_s if by_busbw else made.time_range_us
    return CheckedCollective(
        id=row["id"],
        op=row["op"],
        gpu=row["gpu"],
        nodes=int(row["nodes"]),
        fabric=row["fabric"],
        bytes=int(row["bytes"]),
        unit="GB/s" if by_busbw else "us",
        published=published,
        computed=computed,
        low=range.low,
        high=range.high,
        error_percent=100 * (computed - published) / published,
        split=row["split"],
        label=row["label"],
        note=row["note"],
        source=row["source"],
        trust=row["trust"],
    )


def summarise(checked: Iterable[CheckedCollective]) -> dict[str, float]:
    """The groups as one flat report, numbers rounded for reading."""
    found: dict[str, float] = {}
    for one in groups_of(checked):
        found[f"{one.group} messages"] = one.rows
        found[f"{one.group} messages, median error %"] = round(one.median_percent, 1)
        found[f"{one.group} messages, worst error %"] = round(one.worst_percent, 1)
    return found


def groups_of(checked: Iterable[CheckedCollective]) -> tuple[Summary, ...]:
    """Median and worst absolute error by split and size: large is 256 MiB and more, small is below 1 MiB."""
    groups: dict[str, list[CheckedCollective]] = {}
    for row in checked:
        if not row.label:
            groups.setdefault(f"{row.split} {row.size_class}", []).append(row)
    return tuple(_summary(name, groups[name]) for name in sorted(groups))


def _summary(group: str, rows: list[CheckedCollective]) -> Summary:
    errors = [abs(row.error_percent) for row in rows]
    return Summary(group, len(rows), median(errors), max(errors), sum(row.in_range for row in rows))


def missed_targets(checked: Iterable[CheckedCollective]) -> list[str]:
    """In words, where the median error of the large messages that set no constants is above the limit."""
    errors = [
        abs(row.error_percent)
        for row in checked
        if not row.label and row.split != "calibrate" and row.size_class == "large"
    ]
    if not errors or median(errors) <= MEDIAN_LIMIT_PERCENT:
        return []
    return [f"Large messages: median error {median(errors):.1f} % is above {MEDIAN_LIMIT_PERCENT:g} %"]
