"""How many GPU hours a RoCE network loses against InfiniBand in training, from the model of a training step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.fabric.accelerator import Accelerators, Tuning
from app.fabric.calculation import Bilingual, Source
from app.fabric.estimate import Estimate
from app.fabric.layout_search import search_layouts
from app.fabric.stack import Workloads
from app.fabric.training import time_job

TUNINGS: tuple[Tuning, ...] = ("tuned", "default", "mis-tuned")


@dataclass(frozen=True, slots=True)
class NetworkLoss:
    """`percent` of GPU hours: low for a tuned RoCE network, typical for default settings, high mis-tuned.

    `step_s` holds the time of a step on InfiniBand ("infiniband") and on RoCE by tuning, seconds.
    """

    percent: Estimate
    step_s: Mapping[str, float]
    notes: tuple[Bilingual, ...]
    sources: tuple[Source, ...]


def network_loss(
    accelerators: Accelerators,
    workloads: Workloads,
    *,
    model: str,
    gpus: int,
    gpu: str = "h100",
    global_batch: int | None = None,
) -> NetworkLoss:
    """Time the layout that is fastest on InfiniBand again on RoCE, tuned, at default settings and mis-tuned.

    Lost share = 1 - step on InfiniBand / step on RoCE. `global_batch` is in sequences, one a GPU unless given.
    Raises AdvisorError for an unknown model or GPU, or where no layout fits.
    """
    batch = global_batch or gpus
    best = search_layouts(
        accelerators, workloads, model=model, gpus=gpus, gpu=gpu, global_batch=batch, fabric="infiniband", keep=1
    )[0]
    steps = {"infiniband": best.step_s.typical}
    for tuning in TUNINGS:
        job = replace(best.job, fabric="roce", tuning=tuning)
        steps[tuning] = time_job(accelerators, workloads, best.gpu, job).step_s.typical
    lost = sorted(100 * max(0.0, 1 - steps["infiniband"] / steps[tuning]) for tuning in TUNINGS)
    job = best.job
    note = Bilingual(
        f"GPU hours lost, from the training model ({job.model.name}, {gpus:,} GPUs, batch {batch:,}, tp {job.tp}, "
        f"pp {job.pp}): {steps['infiniband']:.3f} s a step on InfiniBand; on RoCE {steps['tuned']:.3f} s tuned, "
        f"{steps['default']:.3f} s at default settings, {steps['mis-tuned']:.3f} s mis-tuned.",
        f"损失的 GPU 小时取自训练模型（{job.model.name}，{gpus:,} 块 GPU，批 {batch:,}，tp {job.tp}，pp {job.pp}）："
        f"InfiniBand 每步 {steps['infiniband']:.3f} 秒；RoCE 调优 {steps['tuned']:.3f} 秒，"
        f"默认设置 {steps['default']:.3f} 秒，调优不当 {steps['mis-tuned']:.3f} 秒。",
    )
    return NetworkLoss(Estimate(*lost), steps, (note,), best.calculation().sources)
