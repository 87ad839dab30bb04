"""Published training steps against the model: published, computed, error.

Rows come from eval/reference/training.csv; `split` and `label` mean what they mean for collectives
(app/fabric/validate_collectives.py): labelled rows are explained and left out of the medians.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any, cast

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators, Fabric
from app.fabric.job import Precision, Recompute, Sharding
from app.fabric.stack import Workloads
from app.fabric.training import Training, estimate_training

MEDIAN_LIMIT_PERCENT = 10.0  # over the rows that set no constants
ROW_LIMIT_PERCENT = 25.0  # of any row without an explanation
MEGATRON_LIMIT_PERCENT = 5.0  # mean over the eight A100 runs of arXiv 2205.05198, table 5; calculon has 3.65
MEGATRON_ROWS = "megatron-"


@dataclass(frozen=True, slots=True)
class CheckedTraining:
    """One row; `published` and `computed` are seconds a step."""

    id: str
    model: str
    gpu: str
    gpus: int
    stack: str
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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """The row as one line of a report."""
        why = f" ({self.label}: {self.note})" if self.label else ""
        return (
            f"{self.id}: published {self.published:,.2f} s, computed {self.computed:,.2f} s "
            f"({self.low:,.2f} to {self.high:,.2f}), {self.error_percent:+.1f} %, {self.split}{why}"
        )


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """Errors of one group of rows, labelled rows left out."""

    group: str
    rows: int
    median_percent: float
    mean_percent: float
    worst_percent: float


def validate_training(
    rows: Iterable[Mapping[str, str]], accelerators: Accelerators, workloads: Workloads
) -> tuple[CheckedTraining, ...]:
    """Each published step beside the computed one. Raises AdvisorError that names the row that cannot be read."""
    return tuple(_check(row, accelerators, workloads) for row in rows)


def _check(row: Mapping[str, str], accelerators: Accelerators, workloads: Workloads) -> CheckedTraining:
    try:
        made, published = estimate_row(row, accelerators, workloads), float(row["step_s"])
    except (KeyError, ValueError) as error:
        raise AdvisorError(
            f"Row {row.get('id', '?')} of the trainings cannot be read: {error}.", "Correct that row."
        ) from None
    step = made.step_s
    return CheckedTraining(
        id=row["id"],
        model=row["model"],
        gpu=row["gpu"],
        gpus=int(row["gpus"]),
        stack=row["stack"],
        published=published,
        computed=step.typical,
        low=step.low,
        high=step.high,
        error_percent=100 * (step.typical - published) / published,
        split=row["split"],
        label=row["label"],
        note=row["note"],
        source=row["source"],
        trust=row["trust"],
    )


def estimate_row(row: Mapping[str, str], accelerators: Accelerators, workloads: Workloads) -> Training:
    """The estimate for one row of the reference file."""

    def whole(name: str) -> int:
        return int(row[name])

    return estimate_training(
        accelerators,
        workloads,
        model=row["model"],
        gpus=whole("gpus"),
        gpu=row["gpu"],
        tp=whole("tp"),
        pp=whole("pp"),
        cp=whole("cp"),
        ep=whole("ep"),
        vp=whole("vp"),
        micro_batch=whole("micro_batch"),
        global_batch=whole("global_batch"),
        sequence=whole("sequence"),
        precision=cast(Precision, row["precision"]),
        recompute=cast(Recompute, row["recompute"]),
        sharding=cast(Sharding, row["sharding"]),
        sequence_parallel=row["sequence_parallel"] == "1",
        stack=row["stack"],
        fabric=cast(Fabric, row["fabric"]),
        gpus_per_node=whole("gpus_per_node"),
        nics_per_node=whole("nics_per_node"),
        nic_gbps=whole("nic_gbps"),
    )


def summarise(checked: Iterable[CheckedTraining]) -> dict[str, float]:
    """The groups as one flat report, numbers rounded for reading."""
    found: dict[str, float] = {}
    for one in groups_of(checked):
        found[f"{one.group} steps"] = one.rows
        found[f"{one.group} steps, median error %"] = round(one.median_percent, 1)
        found[f"{one.group} steps, mean error %"] = round(one.mean_percent, 1)
        found[f"{one.group} steps, worst error %"] = round(one.worst_percent, 1)
    return found


def groups_of(checked: Iterable[CheckedTraining]) -> tuple[TrainingSummary, ...]:
    """Errors by split, and by split and software stack."""
    groups: dict[str, list[float]] = {}
    for row in checked:
        if not row.label:
            for group in (row.split, f"{row.split} {row.stack}"):
                groups.setdefault(group, []).append(abs(row.error_percent))
    return tuple(
        TrainingSummary(group, len(errors), median(errors), mean(errors), max(errors))
        for group, errors in sorted(groups.items())
    )


def missed_targets(checked: Iterable[CheckedTraining]) -> list[str]:
    """What of the targets does not hold, in words; nothing where all do. The median is of rows that set nothing."""
    rows = list(checked)
    missed = []
    fresh = [abs(row.error_percent) for row in rows if not row.label and row.split != "calibrate"]
    if fresh and median(fresh) > MEDIAN_LIMIT_PERCENT:
        missed.append(f"Steps: median error {median(fresh):.1f} % is above {MEDIAN_LIMIT_PERCENT:g} %")
    missed += [
        f"{row.id}: {row.error_percent:+.1f} % without an explanation"
        for row in rows
        if not row.label and abs(row.error_percent) > ROW_LIMIT_PERCENT
    ]
    megatron = [abs(row.error_percent) for row in rows if row.id.startswith(MEGATRON_ROWS) and row.gpu == "a100"]
    if megatron and mean(megatron) > MEGATRON_LIMIT_PERCENT:
        missed.append(f"Megatron's runs: mean error {mean(megatron):.1f} % is above {MEGATRON_LIMIT_PERCENT:g} %")
    return missed
