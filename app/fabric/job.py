"""One training job: a model, its parallel layout and its batch, checked for what no framework could run."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from math import gcd
from typing import Literal

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerator, Fabric, Tuning
from app.fabric.transformer import Transformer

Precision = Literal["bf16", "fp8"]
Recompute = Literal["none", "selective", "full"]
Sharding = Literal["none", "optimizer", "gradients", "full"]  # ZeRO 0, 1, 2, 3 (FSDP)

USUAL_TOKENS = 4 * 2**20  # of one step: published runs have 4 to 16 million
GPUS_PER_SEQUENCE = 8  # and at least one sequence for so many GPUs


@dataclass(frozen=True, slots=True)
class Job:
    """`dp` is what remains of the GPUs; expert parallelism lives inside tp * cp * dp, as in Megatron."""

    model: Transformer
    gpus: int
    gpus_per_node: int
    tp: int
    pp: int
    cp: int
    ep: int
    vp: int
    micro_batch: int
    global_batch: int
    sequence: int
    precision: Precision
    recompute: Recompute
    sharding: Sharding
    sequence_parallel: bool
    stack: str
    fabric: Fabric
    tuning: Tuning
    nics_per_node: int
    nic_gbps: int

    @property
    def dp(self) -> int:
        return self.gpus // (self.tp * self.pp * self.cp)

    @property
    def micro_batches(self) -> int:
        """In one step, on one data-parallel rank."""
        return self.global_batch // (self.dp * self.micro_batch)

    @property
    def tokens(self) -> int:
        """Of one micro-batch on one GPU, before tensor parallelism."""
        return self.micro_batch * self.sequence // self.cp

    @property
    def layers_per_stage(self) -> float:
        return self.model.layers / self.pp


def usual_batch(gpus: int, sequence: int) -> int:
    """Sequences of a step where nobody says: about USUAL_TOKENS tokens, in a number that divides over the GPUs.

    At 16,384 GPUs and 8,192 tokens it gives 2,048, the batch of Llama 3 (arXiv 2407.21783, table 4).
    """
    unit = gpus // gcd(gpus, GPUS_PER_SEQUENCE)
    return unit * max(1, round(USUAL_TOKENS / sequence / unit))


def check_dp(gpus: int, tp: int, pp: int, cp: int, dp: int) -> None:
    """Raises AdvisorError where tp x pp x cp x dp are not all the GPUs."""
    ranks = tp * pp * cp
    if ranks * dp == gpus:
        return
    whole = f", or dp {gpus // ranks}" if gpus % ranks == 0 else ""
    raise _bad(
        f"tp {tp} x pp {pp} x cp {cp} x dp {dp} = {ranks * dp} GPUs, not {gpus}.", f"Use {ranks * dp} GPUs{whole}."
    )


def check_counts(**counts: int) -> None:
    """Raises AdvisorError that names the first count below 1."""
    for name, count in counts.items():
        if count < 1:
            raise _bad(f"{name.replace('_', ' ')} must be at least 1, not {count}.", "Raise it.")


def check_job(job: Job, gpu: Accelerator) -> None:
    """Raises AdvisorError that names the constraint and the nearest valid value."""
    names = ("gpus", "tp", "pp", "cp", "ep", "vp", "micro_batch", "global_batch", "sequence")
    check_counts(**{name: getattr(job, name) for name in names})
    if gpu.compute is None:
        raise _bad(f"Training on {gpu.name} is not modelled: no sourced peak rate.", "Choose another GPU.")
    if job.precision == "fp8" and not gpu.compute.fp8_tflops:
        raise _bad(f"{gpu.name} has no FP8 tensor cores.", "Use bf16.")
    _check_layout(job)
    _check_batch(job)


def _check_layout(job: Job) -> None:
    model, ranks = job.model, job.tp * job.pp * job.cp
    if job.gpus % ranks:
        near = max(ranks, round(job.gpus / ranks) * ranks)
        raise _bad(
            f"{job.gpus} GPUs do not divide into tp {job.tp} x pp {job.pp} x cp {job.cp} = {ranks}.",
            f"Use {near} GPUs, or other factors.",
        )
    if model.heads % job.tp:
        raise _bad(f"{model.heads} heads do not divide by tp {job.tp}.", f"Use tp {_nearest(job.tp, model.heads)}.")
    if job.pp > model.layers:
        raise _bad(f"{model.layers} layers do not fill pp {job.pp} stages.", f"Use at most pp {model.layers}.")
    if job.vp > 1 and (job.pp == 1 or job.pp * job.vp > model.layers):
        raise _bad(
            f"vp {job.vp} needs a pipeline of more than one stage and at least pp x vp layers.",
            f"Use vp {max(1, model.layers // job.pp) if job.pp > 1 else 1}.",
        )
    if job.ep > 1 and model.experts is None:
        raise _bad(f"{model.name} has no experts.", "Use ep 1.")
    if model.experts is not None:
        room = job.gpus // job.pp
        if model.experts.experts % job.ep or room % job.ep:
            fit = [e for e in range(1, job.ep + 1) if model.experts.experts % e == 0 and room % e == 0]
            raise _bad(
                f"ep {job.ep} must divide {model.experts.experts} experts and the {room} GPUs of a stage.",
                f"Use ep {fit[-1]}.",
            )


def _check_batch(job: Job) -> None:
    if job.sequence % job.cp:
        raise _bad(
            f"Sequence {job.sequence} does not divide by cp {job.cp}.",
            f"Use cp {_nearest(job.cp, job.sequence)}.",
        )
    step = job.dp * job.micro_batch
    if job.global_batch % step:
        near = max(step, round(job.global_batch / step) * step)
        raise _bad(
            f"Global batch {job.global_batch} does not divide by dp {job.dp} x micro-batch {job.micro_batch} = {step}.",
            f"Use {near}.",
        )


def _nearest(wanted: int, of: int) -> int:
    return min((d for d in range(1, of + 1) if of % d == 0), key=lambda d: (abs(d - wanted), d))


def unknown_model(name: str, known: tuple[str, ...]) -> AdvisorError:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    remedy = f"Did you mean {' or '.join(close)}?" if close else f"Known are {', '.join(known)}; or give a YAML file."
    return AdvisorError(f"Unknown model: {name[:60]}.", remedy, code="unknown_model", values={"model": name[:60]})


def _bad(message: str, remedy: str) -> AdvisorError:
    return AdvisorError(message, remedy, code="bad_job", values={"message": message})
