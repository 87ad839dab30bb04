"""Time of one training step: compute, exposed traffic, pipeline bubble, optimizer.

step = micro-batches * (layers of a stage * layer + output + pipeline traffic)
     + (pp - 1) / vp * stage                         the bubble of 1F1B, interleaved over vp virtual stages
     + exposed gradient traffic + optimizer
layer = forward + backward + recomputed forward + exposed tensor, context, expert and sharding traffic

The composition is that of Megatron-LM (arXiv 2104.04473, 2205.05198) and calculon; every constant is data
(knowledge/catalog/training.yaml), every collective comes from app/fabric/collective.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerator, Accelerators, Fabric, Tuning
from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.estimate import Estimate
from app.fabric.job import Job, Precision, Recompute, Sharding, check_job, unknown_model
from app.fabric.layer_time import LayerTime, Machine, layer_time, output_time
from app.fabric.stack import Stack, Workloads
from app.fabric.traffic import Network, Traffic, traffic_of
from app.fabric.training_memory import Memory, memory_of
from app.fabric.training_notes import assumptions_of
from app.fabric.transformer import Transformer

Fit = Literal["yes", "tight", "no"]


@dataclass(frozen=True, slots=True)
class Training:
    """One step. Seconds; `exposed_s` is the traffic that adds to the step, by kind."""

    job: Job
    gpu: Accelerator
    step_s: Estimate
    compute_s: float
    bubble_s: float
    optimizer_s: float
    exposed_s: Mapping[str, float]
    memory: Memory
    fits: Fit
    workloads: Workloads
    network_sources: tuple[Source, ...]

    @property
    def label(self) -> str:
        """What the job runs on: `infiniband`, `roce`, `roce (default)`."""
        return self.job.fabric if self.job.tuning == "tuned" else f"{self.job.fabric} ({self.job.tuning})"

    @property
    def tokens_per_s(self) -> float:
        return self.job.global_batch * self.job.sequence / self.step_s.typical

    @property
    def exposed_communication_s(self) -> float:
        return sum(self.exposed_s.values())

    @property
    def tflops_per_gpu(self) -> float:
        """Model FLOPs, half of the attention scores, as Megatron-LM counts today."""
        flops = self.job.model.training_flops_per_token(self.job.sequence)
        return flops * self.tokens_per_s / self.job.gpus / 1e12

    @property
    def mfu(self) -> float:
        compute = self.gpu.compute
        peak = 0.0 if compute is None else compute.bf16_tflops
        if compute is not None and self.job.precision == "fp8":
            peak = compute.fp8_tflops
        return self.tflops_per_gpu / peak

    @property
    def hfu(self) -> float:
        """As MFU, with what is recomputed: a whole forward pass, or the attention scores of one (llm-foundry)."""
        model, length = self.job.model, self.job.sequence
        total = model.training_flops_per_token(length)
        again = {"none": 0.0, "selective": (total - model.training_flops_per_token(0)) / 3, "full": total / 3}
        return self.mfu * (1 + again[self.job.recompute] / total)

    @property
    def assumptions(self) -> tuple[Bilingual, ...]:
        return assumptions_of(self.job, self.fits == "yes", self.memory.total_gbytes)

    def calculation(self) -> Calculation:
        job, step = self.job, self.step_s
        tokens = job.global_batch * job.sequence
        values = {
            "step_time_s": Value.of(step, "s"),
            "tokens_per_s": Value(self.tokens_per_s, "tokens/s", tokens / step.high, tokens / step.low),
            "tokens_per_s_per_gpu": Value(self.tokens_per_s / job.gpus, "tokens/s"),
            "mfu": Value(self.mfu, "fraction"),
            "hfu": Value(self.hfu, "fraction"),
            "tflops_per_gpu": Value(self.tflops_per_gpu, "TFLOP/s"),
            "exposed_communication_s": Value(self.exposed_communication_s, "s"),
            "exposed_share": Value(self.exposed_communication_s / step.typical, "fraction"),
            **{f"exposed_{kind}_s": Value(seconds, "s") for kind, seconds in self.exposed_s.items() if seconds},
            "bubble_s": Value(self.bubble_s, "s"),
            "memory_gbytes": Value(self.memory.total_gbytes, "GB"),
            "fits": Value(self.fits),
        }
        return Calculation(
            tool="training",
            inputs=_inputs(job, self.gpu),
            values=values,
            assumptions=self.assumptions,
            sources=tuple(
                dict.fromkeys(
                    [
                        *job.model.sources,
                        *self.workloads.stacks[job.stack].sources,
                        *([self.gpu.compute.source] if self.gpu.compute else []),
                        *self.network_sources,
                    ]
                )
            ),
            label=self.label,
        )


def _inputs(job: Job, gpu: Accelerator) -> dict[str, float | int | str | bool | None]:
    given = {
        name: getattr(job, name) for name in Job.__dataclass_fields__ if name not in ("model", "sequence_parallel")
    }
    return {"model": job.model.id, "model_name": job.model.name, "gpu": gpu.id, **given, "dp": job.dp}


def estimate_training(
    accelerators: Accelerators,
    workloads: Workloads,
    *,
    model: str | Transformer,
    gpus: int,
    gpu: str = "h100",
    tp: int = 1,
    pp: int = 1,
    cp: int = 1,
    ep: int = 1,
    vp: int = 1,
    micro_batch: int = 1,
    global_batch: int,
    sequence: int | None = None,
    precision: Precision = "bf16",
    recompute: Recompute = "none",
    sharding: Sharding = "optimizer",
    sequence_parallel: bool | None = None,
    stack: str = "megatron-core",
    fabric: Fabric = "infiniband",
    tuning: Tuning = "tuned",
    gpus_per_node: int | None = None,
    nics_per_node: int | None = None,
    nic_gbps: int | None = None,
) -> Training:
    """Time of one step of `model` (an id, or a Transformer of one's own) on so many GPUs.

    Sequence parallelism goes with tensor parallelism unless told otherwise; nodes and NICs are those of the
    GPU's standard server. Raises AdvisorError that names the constraint and the nearest valid value.
    """
    accelerator = accelerators.find(gpu)
    if isinstance(model, str):
        if model not in workloads.models:
            raise unknown_model(model, tuple(workloads.models))
        model = workloads.models[model]
    if stack not in workloads.stacks:
        raise AdvisorError(f"Unknown software stack: {stack[:40]}.", f"Use {', '.join(workloads.stacks)}.")
    per_node = min(gpus_per_node or accelerator.gpus_per_node, max(1, gpus))
    job = Job(
        model, gpus, per_node, tp, pp, cp, ep, vp, micro_batch, global_batch, sequence or model.sequence,
        precision, recompute, sharding, tp > 1 if sequence_parallel is None else sequence_parallel, stack,
        fabric, tuning, nics_per_node or accelerator.nics_per_node, nic_gbps or accelerator.nic_gbps,
    )  # fmt: skip
    check_job(job, accelerator)
    return time_job(accelerators, workloads, accelerator, job)


def time_job(accelerators: Accelerators, workloads: Workloads, gpu: Accelerator, job: Job) -> Training:
    """Time of a job that was checked."""
    stack, network = workloads.stacks[job.stack], Network(accelerators, gpu, job)
    traffic = traffic_of(job, network, stack.gradient_bytes)
    points = {
        name: _step(job, workloads, gpu, stack, traffic, getattr(stack.sustained, name), at)
        for name, at in (("high", "low"), ("typical", "typical"), ("low", "high"))
    }
    typical = points["typical"]
    memory = memory_of(
        job, gradient_bytes=stack.gradient_bytes, fused_attention=stack.flash_share[gpu.architecture] > 0
    )
    limit = workloads.usable_memory * (gpu.compute.memory_gbytes if gpu.compute else 0.0)
    return Training(
        job=job,
        gpu=gpu,
        step_s=Estimate(points["high"].total, typical.total, points["low"].total),
        compute_s=typical.compute,
        bubble_s=typical.bubble,
        optimizer_s=typical.optimizer,
        exposed_s=typical.exposed,
        memory=memory,
        fits=_fit(memory.total_gbytes, limit),
        workloads=workloads,
        network_sources=tuple(dict.fromkeys(s for made in network.done.values() for s in made.sources)),
    )


def _fit(gbytes: float, limit: float) -> Fit:
    """Tight: within a quarter beyond the memory, where offload or selective recomputation still help."""
    if gbytes <= limit:
        return "yes"
    return "tight" if gbytes <= 1.25 * limit else "no"


@dataclass(frozen=True, slots=True)
class _Step:
    total: float
    compute: float
    bubble: float
    optimizer: float
    exposed: Mapping[str, float]


def _step(
    job: Job,
    workloads: Workloads,
    gpu: Accelerator,
    stack: Stack,
    traffic: Traffic,
    sustained: float,
    at: str,
) -> _Step:
    """The step with compute at `sustained` and traffic at its `low`, `typical` or `high` time."""
    if gpu.compute is None:
        raise ValueError("a checked job has a GPU with sourced rates")
    machine = Machine.of(
        gpu.compute,
        fp8=job.precision == "fp8",
        sustained=sustained,
        flash_share=stack.flash_share[gpu.architecture],
        memory_share=workloads.memory_share,
        start_us=workloads.kernel_start_us,
        passes=stack.elementwise_passes,
    )

    def seconds(kind: str, estimate: Estimate) -> float:
        return float(getattr(estimate, at)) * stack.exposed[kind]

    forward_traffic = traffic.tensor_forward if job.recompute == "full" else Estimate.exact(0.0)
    tensor = traffic.tensor_forward + traffic.tensor_backward + forward_traffic
    per_layer = {
        "tensor": seconds("tensor", tensor),
        "context": seconds("context", traffic.context_layer),
        "sharded": seconds("sharded", traffic.sharded_layer),
    }
    share = job.model.expert_layers / job.model.layers
    per_layer["expert"] = share * seconds("expert", traffic.expert_layer)
    compute = _mean_layer(job, machine, share) + share * stack.expert_layer_ms / 1e3
    layer = max(compute + sum(per_layer.values()), float(getattr(traffic.sharded_layer, at)))
    pipeline = seconds("pipeline", traffic.pipeline_micro_batch)
    stage, output = job.layers_per_stage * layer, output_time(job, machine)
    even = job.model.layers % job.pp == 0
    busiest = stage + (output if even else output / job.pp) + pipeline
    bubble = (job.pp - 1) / job.vp * (stage + pipeline)
    data = seconds("data", traffic.data_step)
    optimizer = _optimizer(job, workloads, machine)
    count = job.micro_batches
    exposed = {kind: count * job.layers_per_stage * value for kind, value in per_layer.items()}
    return _Step(
        total=count * busiest + bubble + data + optimizer,
        compute=count * (busiest - pipeline - job.layers_per_stage * sum(per_layer.values())),
        bubble=bubble,
        optimizer=optimizer,
        exposed={**exposed, "pipeline": count * pipeline, "data": data},
    )


def _mean_layer(job: Job, machine: Machine, expert_share: float) -> float:
    """Compute of an average layer, forward, backward and what is recomputed."""

    def whole(made: LayerTime) -> float:
        again = {"none": 0.0, "selective": made.attention, "full": made.forward}[job.recompute]
        return made.forward + made.backward + again

    total = 0.0
    if expert_share < 1:
        total += (1 - expert_share) * whole(layer_time(job, machine, experts=False))
    if expert_share > 0:
        total += expert_share * whole(layer_time(job, machine, experts=True))
    return total


def _optimizer(job: Job, workloads: Workloads, machine: Machine) -> float:
    model, owners = job.model, job.dp * job.cp if job.sharding != "none" else 1
    dense = (model.parameters - model.expert_parameters) / job.tp / job.pp / owners
    copies = max(1, job.tp * job.dp * job.cp // job.ep) if job.sharding != "none" else 1
    own = model.expert_parameters / job.ep / job.pp / copies
    return (dense + own) * workloads.optimizer_bytes / machine.memory


def compare_fabrics(
    accelerators: Accelerators, workloads: Workloads, training: Training
) -> tuple[Training, Training, Training]:
    """The same job on InfiniBand, on tuned RoCE and on RoCE with defaults."""

    def on(fabric: Fabric, tuning: Tuning) -> Training:
        job = replace(training.job, fabric=fabric, tuning=tuning)
        return time_job(accelerators, workloads, training.gpu, job)

    return on("infiniband", "tuned"), on("roce", "tuned"), on("roce", "default")
