"""The parallel layouts that fit a model on so many GPUs, fastest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerator, Accelerators, Fabric, Tuning
from app.fabric.calculation import Bilingual, Calculation
from app.fabric.job import Job, Precision, Recompute, Sharding, check_counts, check_job, unknown_model
from app.fabric.stack import Workloads
from app.fabric.training import Training, time_job
from app.fabric.transformer import Transformer


@dataclass(frozen=True, slots=True)
class _Shape:
    tp: int
    pp: int
    cp: int
    ep: int


def search_layouts(
    accelerators: Accelerators,
    workloads: Workloads,
    *,
    model: str | Transformer,
    gpus: int,
    gpu: str = "h100",
    global_batch: int,
    sequence: int | None = None,
    precision: Precision = "bf16",
    stack: str = "megatron-core",
    fabric: Fabric = "infiniband",
    tuning: Tuning = "tuned",
    keep: int = 5,
) -> tuple[Training, ...]:
    """The `keep` fastest layouts that fit in memory, on nodes of the GPU's standard server.

    Tensor parallelism stays inside a node; recomputation is tried only where the layout does not fit
    without it. Raises AdvisorError where nothing fits or nothing divides.
    """
    accelerator = accelerators.find(gpu)
    if isinstance(model, str):
        if model not in workloads.models:
            raise unknown_model(model, tuple(workloads.models))
        model = workloads.models[model]
    length = sequence or model.sequence
    check_counts(gpus=gpus, global_batch=global_batch, sequence=length)
    found: list[Training] = []
    tight = 0
    for shape in _shapes(model, gpus, accelerator, length):
        for micro_batch in (1, 2, 4, 8):
            made = None
            recomputations: tuple[Recompute, ...] = ("none", "full")
            for recompute in recomputations:
                job = _job(
                    model, gpus, accelerator, shape, micro_batch, global_batch, length, precision, recompute,
                    stack, fabric, tuning,
                )  # fmt: skip
                if not _valid(job, accelerator):
                    break
                made = time_job(accelerators, workloads, accelerator, job)
                if made.fits == "yes":
                    found.append(made)
                    break
            tight += made is not None and made.fits != "yes"
    if not found:
        reason = "does not fit in memory" if tight else "does not divide"
        raise AdvisorError(
            f"No layout of {model.name} on {gpus} x {accelerator.name} works: it {reason}.",
            "Use more GPUs." if tight else "Use a global batch and a GPU count with more divisors.",
            code="no_layout",
        )
    return tuple(sorted(found, key=lambda made: made.step_s.typical)[:keep])


def search_calculation(found: Sequence[Training]) -> Calculation:
    """The layouts found as rows, fastest first; the values are those of the fastest."""
    best = found[0].calculation()
    rows = [
        {
            **{
                name: getattr(one.job, name)
                for name in ("tp", "pp", "cp", "ep", "vp", "dp", "micro_batch", "recompute")
            },
            "step_time_s": one.step_s.typical,
            "mfu_share": one.mfu,
            "memory_gbytes": one.memory.total_gbytes,
        }
        for one in found
    ]
    return replace(best, rows=tuple(rows), assumptions=(_SEARCHED, *best.assumptions))


_SEARCHED = Bilingual(
    "The layout was searched: tensor parallelism inside a node, recomputation only where nothing fits without it.",
    "并行方式由搜索得出：张量并行限于单节点内，只有不重算就放不下时才重算。",
)


def _shapes(model: Transformer, gpus: int, gpu: Accelerator, sequence: int) -> Iterator[_Shape]:
    node = min(gpus, gpu.gpus_per_node)
    contexts = [cp for cp in (1, 2, 4, 8, 16) if cp == 1 or sequence // cp >= 4096]
    experts = model.experts.experts if model.experts else 1
    for tp in _powers(node):
        for pp in _stages(model.layers, gpus // tp):
            for cp in contexts:
                for ep in _powers(min(experts, gpus // pp)):
                    yield _Shape(tp, pp, cp, ep)


def _powers(limit: int) -> list[int]:
    return [1 << bit for bit in range(limit.bit_length()) if 1 << bit <= limit]


def _stages(layers: int, limit: int) -> list[int]:
    powers = _powers(min(layers, limit))
    return sorted({*powers, *(pp for pp in range(1, min(layers, limit) + 1) if layers % pp == 0 and pp <= 64)})


def _job(
    model: Transformer,
    gpus: int,
    gpu: Accelerator,
    shape: _Shape,
    micro_batch: int,
    global_batch: int,
    sequence: int,
    precision: Precision,
    recompute: Recompute,
    stack: str,
    fabric: Fabric,
    tuning: Tuning,
) -> Job:
    per_stage = model.layers // shape.pp
    vp = max((v for v in (1, 2, 4, 8) if per_stage % v == 0), default=1) if shape.pp > 1 else 1
    sharding: Sharding = "full" if shape.tp == shape.pp == 1 and model.experts is None else "optimizer"
    return Job(
        model, gpus, min(gpus, gpu.gpus_per_node), shape.tp, shape.pp, shape.cp, shape.ep, vp, micro_batch,
        global_batch, sequence, precision, recompute, sharding, shape.tp > 1, stack, fabric, tuning,
        gpu.nics_per_node, gpu.nic_gbps,
    )  # fmt: skip


def _valid(job: Job, gpu: Accelerator) -> bool:
    try:
        check_job(job, gpu)
    except AdvisorError:
        return False
    return True
