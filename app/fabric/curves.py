"""Curves for charts: bus bandwidth against message size, and scaling efficiency against GPUs.

Every point is one run of the calculator of a collective or of a training step; rows carry units in their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators
from app.fabric.calculation import Bilingual, Calculation, Scalar, Value
from app.fabric.collective import Collective, at_sizes
from app.fabric.job import check_job
from app.fabric.stack import Workloads
from app.fabric.training import Training, time_job

SIZES = tuple(2**power for power in range(16, 35))  # 64 KiB to 16 GiB, as sweeps of nccl-tests
MOST_GPUS = 1_000_000  # a curve goes on by factors of two, and ends here at the latest
DOUBLINGS = 3  # of the GPUs, below and above the job

_WEAK = Bilingual(
    "Weak scaling: the batch grows with the GPUs by data parallelism, the layout of a replica stays.",
    "弱扩展：批大小随 GPU 数（数据并行度）增长，单个副本的并行方式不变。",
)


def bandwidth_curve(collectives: Sequence[Collective], sizes: Sequence[int] = SIZES) -> Calculation:
    """Bus bandwidth of each collective, otherwise unchanged, at every message size.

    Rows: message_bytes, then for each fabric its busbw in GB/s with `_low` and `_high`.
    """
    rows: list[dict[str, Scalar]] = [{"message_bytes": size} for size in sizes]
    for one in collectives:
        name = f"{one.inputs.fabric}_busbw_gbytes_per_s"
        for row, point in zip(rows, at_sizes(one, sizes), strict=True):
            made = point.busbw_range_gbytes_per_s
            row |= {name: made.typical, f"{name}_low": made.low, f"{name}_high": made.high}
    first = collectives[0].inputs
    return Calculation(
        tool="bandwidth_curve",
        inputs={"op": first.op, "nodes": first.nodes, "gpus_per_node": first.gpus_per_node, "gpu": first.gpu},
        values={
            f"{one.inputs.fabric}_half_bandwidth_bytes": Value(_half_size(rows, one.inputs.fabric), "bytes")
            for one in collectives
        },
        rows=tuple(rows),
    )


def _half_size(rows: Sequence[dict[str, Scalar]], fabric: str) -> int:
    """The first size of the curve that reaches half of its highest bandwidth."""
    name = f"{fabric}_busbw_gbytes_per_s"
    best = max(float(row[name] or 0) for row in rows)
    return next(int(row["message_bytes"] or 0) for row in rows if float(row[name] or 0) >= best / 2)


def scaling_curve(
    accelerators: Accelerators, workloads: Workloads, steps: Sequence[Training], gpus: Sequence[int] | None = None
) -> Calculation:
    """Throughput per GPU against that of the smallest size, for each job on its own fabric, weak scaling.

    `gpus` default to powers of two around the job's, as far as one replica reaches down. Rows: gpus, then for each
    fabric `<label>_efficiency` (1: as many tokens a second per GPU as at the first size).
    """
    sizes = [one for one in (gpus or _around(steps[0])) if _divides(steps[0], one)]
    if not sizes:
        replica = _replica(steps[0])
        message = f"None of these GPU counts holds whole replicas of {replica} GPUs."
        raise AdvisorError(message, f"Give multiples of {replica}.", code="bad_job", values={"message": message})
    rows: list[dict[str, Scalar]] = [{"gpus": size} for size in sizes]
    for step in steps:
        rates = [_rate(accelerators, workloads, step, size) for size in sizes]
        for row, rate in zip(rows, rates, strict=True):
            row[f"{_name(step)}_efficiency"] = rate / rates[0]
    values = {
        f"{_name(step)}_efficiency": Value(float(rows[-1][f"{_name(step)}_efficiency"] or 0), "fraction")
        for step in steps
    }
    job = steps[0].job
    return Calculation(
        tool="scaling_curve",
        inputs={"model": job.model.id, "gpu": steps[0].gpu.id, "from_gpus": sizes[0], "to_gpus": sizes[-1]},
        values=values,
        assumptions=(_WEAK,),
        rows=tuple(rows),
    )


def _name(step: Training) -> str:
    job = step.job
    return job.fabric if job.tuning == "tuned" else f"{job.fabric}_{job.tuning.replace('-', '_')}"


def _replica(step: Training) -> int:
    return step.job.tp * step.job.pp * step.job.cp


def _around(step: Training) -> list[int]:
    gpus, replica = step.job.gpus, _replica(step)
    smallest = gpus
    for _ in range(DOUBLINGS):
        if smallest % 2 or smallest // 2 < max(replica, step.job.gpus_per_node):
            break
        smallest //= 2
    sizes = [smallest]
    while sizes[-1] < gpus * 2**DOUBLINGS and sizes[-1] * 2 <= MOST_GPUS:
        sizes.append(sizes[-1] * 2)
    return sizes


def _divides(step: Training, gpus: int) -> bool:
    """Whole replicas, and a whole batch for each that keeps the sequences of a replica."""
    return gpus % _replica(step) == 0 and (step.job.global_batch * gpus) % step.job.gpus == 0


def _rate(accelerators: Accelerators, workloads: Workloads, step: Training, gpus: int) -> float:
    """Tokens a second and GPU at another size of the cluster."""
    job = replace(step.job, gpus=gpus, global_batch=step.job.global_batch * gpus // step.job.gpus)
    check_job(job, step.gpu)
    return time_job(accelerators, workloads, step.gpu, job).tokens_per_s / gpus
