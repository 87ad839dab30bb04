"""What a training job sends, and how long each kind of traffic takes on its fabric.

Ranks are numbered as Megatron does: tensor fastest, then context, data, and pipeline stages slowest;
experts lie over tensor, context and data ranks. A group that touches a node with few of its GPUs gets that
share of the NICs. Times in seconds; every collective comes from app/fabric/collective.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil

from app.fabric.accelerator import Accelerator, Accelerators
from app.fabric.bound import Operation
from app.fabric.collective import Collective, estimate_collective
from app.fabric.estimate import Estimate
from app.fabric.job import Job

NOTHING = Estimate.exact(0.0)


@dataclass(slots=True)
class Network:
    """The collectives of one job; each is computed once."""

    accelerators: Accelerators
    gpu: Accelerator
    job: Job
    done: dict[tuple[str, int, int, int], Collective] = field(default_factory=dict)
    racks: dict[int, Accelerators] = field(default_factory=dict)

    def time(self, op: Operation, ranks: int, stride: int, bytes: float) -> Estimate:
        """Seconds of `op` over `ranks` GPUs that are `stride` apart, for a message of nccl-tests' size `bytes`."""
        if ranks < 2 or bytes < 1:
            return NOTHING
        key = (op, ranks, stride, int(bytes))
        if key not in self.done:
            self.done[key] = self._run(op, ranks, stride, int(bytes))
        us = self.done[key].time_range_us
        return us * 1e-6

    def _run(self, op: Operation, ranks: int, stride: int, bytes: int) -> Collective:
        job, gpu = self.job, self.gpu
        room = gpu.domain_gpus if gpu.spans_nodes else job.gpus_per_node
        together = max(1, min(ranks, room // stride))
        return estimate_collective(
            self._as_node(together) if gpu.spans_nodes else self.accelerators,
            op=op,
            nodes=ceil(ranks / together),
            gpus_per_node=together,
            gpu=gpu.id,
            fabric=job.fabric,
            nics_per_node=max(1, round(job.nics_per_node * together / job.gpus_per_node)),
            nic_gbps=job.nic_gbps,
            bytes=bytes,
            tuning=job.tuning,
        )

    def _as_node(self, gpus: int) -> Accelerators:
        """An NVLink rack as one big node, for a group that has `gpus` of its GPUs."""
        if gpus not in self.racks:
            nics = max(1, round(self.gpu.nics_per_node * gpus / self.gpu.gpus_per_node))
            node = replace(self.gpu, gpus_per_node=gpus, domain_gpus=gpus, nics_per_node=nics)
            self.racks[gpus] = Accelerators({node.id: node}, self.accelerators.constants)
        return self.racks[gpus]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Seconds in full, before any overlap: of a layer (forward and backward), of a micro-batch, of a step."""

    tensor_forward: Estimate
    tensor_backward: Estimate
    context_layer: Estimate
    expert_layer: Estimate
    sharded_layer: Estimate
    pipeline_micro_batch: Estimate
    data_step: Estimate


def traffic_of(job: Job, network: Network, gradient_bytes: int) -> Traffic:
    """All traffic of a job."""
    forward, backward = _tensor(job, network)
    return Traffic(
        tensor_forward=forward,
        tensor_backward=backward,
        context_layer=_context(job, network),
        expert_layer=_expert(job, network),
        sharded_layer=_sharded(job, network),
        pipeline_micro_batch=_pipeline(job, network),
        data_step=_data(job, network, gradient_bytes),
    )


def _tensor(job: Job, network: Network) -> tuple[Estimate, Estimate]:
    """Two all-reduces a layer each way; with sequence parallelism all-gather and reduce-scatter in their
    place, and the inputs are gathered again in backward."""
    bytes = job.tokens * job.model.hidden * 2
    if not job.sequence_parallel:
        both = 2 * network.time("all-reduce", job.tp, 1, bytes)
        return both, both
    gather, scatter = (network.time(op, job.tp, 1, bytes) for op in ("all-gather", "reduce-scatter"))
    return 2 * gather + 2 * scatter, 4 * gather + 2 * scatter


def _context(job: Job, network: Network) -> Estimate:
    """Keys and values are gathered forward, again backward, and their gradients scattered."""
    model = job.model
    heads = max(1, model.kv_heads // job.tp)
    size = job.micro_batch * job.sequence * 2 * heads * model.head_size * 2
    gather = network.time("all-gather", job.cp, job.tp, size)
    return 2 * gather + network.time("reduce-scatter", job.cp, job.tp, size)


def _expert(job: Job, network: Network) -> Estimate:
    """Tokens to their experts and back, forward and backward: four all-to-alls a layer in bf16, one in fp8
    where that is the precision of the products."""
    moe = job.model.experts
    if moe is None or job.ep == 1:
        return NOTHING
    bytes = job.tokens / job.tp * moe.per_token * job.model.hidden * 2
    back = network.time("all-to-all", job.ep, 1, bytes)
    there = network.time("all-to-all", job.ep, 1, bytes / 2) if job.precision == "fp8" else back
    return there + 3 * back


def _sharded(job: Job, network: Network) -> Estimate:
    """FSDP: a layer's weights are gathered forward and backward, its gradients scattered."""
    if job.sharding not in ("full", "gradients"):
        return NOTHING
    bytes = 2 * (job.model.parameters - job.model.embedding_parameters) / job.model.layers / job.tp / job.pp
    ranks = job.dp * job.cp
    gather = network.time("all-gather", ranks, job.tp, bytes)
    scatter = network.time("reduce-scatter", ranks, job.tp, bytes)
    return (2 if job.sharding == "full" else 1) * gather + scatter


def _pipeline(job: Job, network: Network) -> Estimate:
    """Activations on, gradients back, once per virtual stage; each tensor rank sends its part and gathers
    the rest within the node unless the sequence is split anyway."""
    if job.pp == 1:
        return NOTHING
    bytes = job.tokens * job.model.hidden * 2
    stride = job.gpus // job.pp
    one = network.time("send-recv", 2, stride, bytes / job.tp)
    if not job.sequence_parallel:
        one = one + network.time("all-gather", job.tp, 1, bytes)
    return 2 * job.vp * one


def _data(job: Job, network: Network, gradient_bytes: int) -> Estimate:
    """Gradients of the weights that are replicated: all-reduce, or reduce-scatter and all-gather of the weights."""
    if job.sharding in ("full", "gradients"):
        return NOTHING
    model, ranks = job.model, job.dp * job.cp
    dense = (model.parameters - model.expert_parameters) / job.tp / job.pp
    total = _synchronize(job, network, dense, ranks, job.tp, gradient_bytes)
    if model.experts is not None:
        copies = job.tp * ranks // job.ep
        own = model.expert_parameters / job.ep / job.pp
        total = total + _synchronize(job, network, own, copies, job.ep, gradient_bytes)
    return total


def _synchronize(
    job: Job, network: Network, parameters: float, ranks: int, stride: int, gradient_bytes: int
) -> Estimate:
    if job.sharding == "none":
        return network.time("all-reduce", ranks, stride, parameters * gradient_bytes)
    return network.time("reduce-scatter", ranks, stride, parameters * gradient_bytes) + network.time(
        "all-gather", ranks, stride, parameters * 2
    )


def collectives_used(network: Network) -> Mapping[tuple[str, int, int, int], Collective]:
    return network.done
