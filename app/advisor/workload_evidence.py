"""Which calculations of a job a question calls for: a training step on each fabric, the whole run, goodput.

Chooses inputs and calls the calculators; what nobody said becomes a noted assumption. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from app.advisor.spec import ClusterSpec
from app.advisor.workload_question import DEFAULT_MODEL, degrees
from app.fabric.accelerator import Accelerators, Tuning
from app.fabric.calculation import Bilingual, Calculation
from app.fabric.catalog import Catalog
from app.fabric.curves import scaling_curve
from app.fabric.goodput import FailureData, estimate_goodput
from app.fabric.inference import estimate_inference
from app.fabric.inference_data import ServingData
from app.fabric.job import Precision, unknown_model, usual_batch
from app.fabric.layout_search import search_layouts
from app.fabric.stack import Workloads
from app.fabric.training import Training, compare_fabrics, estimate_training, time_job
from app.fabric.training_compare import compare_steps
from app.fabric.training_run import estimate_run

GOODPUT_MATTERS_GPUS = 1024  # from here on, failures take a share of the time that a plan should know


def training_steps(
    spec: ClusterSpec, said: frozenset[str], accelerators: Accelerators, workloads: Workloads
) -> tuple[Training, ...]:
    """One step on InfiniBand, on tuned RoCE and on RoCE with defaults. Raises AdvisorError where nothing fits."""
    best = _layout(spec, accelerators, workloads)
    if "gbps_per_gpu" in said:
        job = replace(best.job, nics_per_node=spec.nics_per_node, nic_gbps=spec.nic_gbps)
        best = time_job(accelerators, workloads, best.gpu, job)
    return compare_fabrics(accelerators, workloads, best)


def training_calculations(
    spec: ClusterSpec,
    steps: tuple[Training, ...],
    accelerators: Accelerators,
    workloads: Workloads,
    failures: FailureData,
    catalog: Catalog,
) -> tuple[Calculation, ...]:
    """The steps, and where tokens are said the run on each fabric; the goodput where failures matter."""
    first, *rest = (step.calculation() for step in steps)
    runs = [replace(first, assumptions=(*_assumed(spec, steps[0]), *first.assumptions)), *rest]
    runs.append(compare_steps((*steps, _mis_tuned(steps[0], accelerators, workloads))))
    goodput = estimate_goodput(failures, gpus=spec.gpus or 0)
    if spec.train_tokens is not None:
        runs += [estimate_run(step, goodput, catalog, tokens=spec.train_tokens).calculation() for step in steps]
    elif (spec.gpus or 0) >= GOODPUT_MATTERS_GPUS:
        runs.append(goodput.calculation())
    return (*runs, scaling_curve(accelerators, workloads, steps))


def serving_calculation(
    spec: ClusterSpec,
    said: frozenset[str],
    accelerators: Accelerators,
    workloads: Workloads,
    serving: ServingData,
) -> Calculation:
    """What serving the model asks of the network, with the GPUs that were said, else one node."""
    nics = {"nics_per_node": spec.nics_per_node, "nic_gbps": spec.nic_gbps} if "gbps_per_gpu" in said else {}
    asked: dict[str, Any] = {
        "model": spec.model,
        "gpu": spec.gpu_model,
        "precision": cast(Precision, spec.precision or "bf16"),
        "fabric": "roce" if spec.tuning != "tuned" else "infiniband",
        "tuning": cast(Tuning, spec.tuning),
        **nics,
    }
    if spec.sequence is not None:
        asked["prompt_tokens"] = spec.sequence
    if spec.gpus is not None:
        asked["gpus"] = spec.gpus
    made = estimate_inference(accelerators, workloads.models, serving, **asked).calculation()
    notes = [] if spec.sequence else [_PROMPT]
    notes += [] if spec.gpus else [_ONE_NODE]
    return replace(made, label="", assumptions=(*notes, *made.assumptions))


_PROMPT = Bilingual("No prompt was given: 32,768 tokens are taken.", "未给出提示长度：按 32,768 token 计算。")
_ONE_NODE = Bilingual(
    "No number of GPUs was given: each replica is one standard node.", "未给出 GPU 数：每个副本为一台标准节点。"
)


def _mis_tuned(step: Training, accelerators: Accelerators, workloads: Workloads) -> Training:
    """The same job on a RoCE fabric as badly set up as the published cases: what there is to lose."""
    job = replace(step.job, fabric="roce", tuning="mis-tuned")
    return time_job(accelerators, workloads, step.gpu, job)


def _layout(spec: ClusterSpec, accelerators: Accelerators, workloads: Workloads) -> Training:
    """The layout that was said, else the fastest that fits on InfiniBand."""
    id = spec.model or DEFAULT_MODEL
    if id not in workloads.models:
        raise unknown_model(id, tuple(workloads.models))
    sequence = spec.sequence or workloads.models[id].sequence
    asked: dict[str, Any] = {
        "model": id,
        "gpus": spec.gpus or 0,
        "gpu": spec.gpu_model,
        "global_batch": spec.global_batch or usual_batch(spec.gpus or 1, sequence),
        "sequence": sequence,
        "precision": cast(Precision, spec.precision or "bf16"),
    }
    if spec.layout is None:
        return search_layouts(accelerators, workloads, keep=1, **asked)[0]
    stated: Mapping[str, Any] = degrees(spec.layout)
    return estimate_training(accelerators, workloads, **asked, **stated)


def _assumed(spec: ClusterSpec, training: Training) -> tuple[Bilingual, ...]:
    job, notes = training.job, []
    if spec.global_batch is None:
        tokens = job.global_batch * job.sequence
        notes.append(
            Bilingual(
                f"No batch was named: {job.global_batch:,} sequences of {job.sequence:,} tokens, {tokens:,} tokens "
                "a step.",
                f"未说明批大小：每步 {job.global_batch:,} 条、每条 {job.sequence:,} token，共 {tokens:,} token。",
            )
        )
    if spec.layout is None:
        notes.append(
            Bilingual(
                "The layout is the fastest that fits in memory on InfiniBand, found by search.",
                "并行方式为搜索得到的、在 InfiniBand 上显存可容纳的最快方案。",
            )
        )
    return tuple(notes)
