"""Time of a prefill and of a decode step on one replica, and what tensor and expert parallelism add.

prefill = FLOPs / (GPUs * peak * share): it is bound by arithmetic. FLOPs are 2 per multiplied parameter and token
plus the causal half of the attention scores; the output layer works on the last token only.
decode step = bytes read / (GPUs * memory rate * share): it is bound by memory, weights and KV cache are read once.
Of a mixture of experts a step of b tokens reads 1 - (1 - k/E)^b of the experts (k of E chosen, evenly).
Tensor parallelism adds two all-reduces of b * hidden * 2 bytes a layer, one after attention, one after the
feedforward (where experts are spread over GPUs, dispatch and combine take the second one's place).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from app.fabric.accelerator import Accelerators
from app.fabric.collective import Collective, estimate_collective
from app.fabric.estimate import Estimate
from app.fabric.inference_data import ExpertTable, ServingData
from app.fabric.inference_job import BYTES, ServingJob
from app.fabric.inference_memory import kv_bytes_per_token
from app.fabric.transformer import Transformer


def prefill_flops(model: Transformer, tokens: int) -> float:
    """Of one prompt: forward only, half of the scores, one token through the output layer."""
    multiplied = model.active_parameters - model.embedding_parameters
    scores = model.layers * model.heads * model.score_size * tokens  # 2 per product, half of them below the diagonal
    return tokens * (2.0 * multiplied + scores) + 2.0 * model.vocabulary * model.hidden


def prefill_s(job: ServingJob, data: ServingData) -> Estimate:
    """Seconds; low is the fastest. The share ends at what single matrix products reach on this GPU."""
    assert job.gpu.compute is not None  # check_job
    fp8, compute = job.precision == "fp8", job.gpu.compute
    peak = (compute.fp8_tflops if fp8 else compute.bf16_tflops) * 1e12 * job.tp
    best = compute.fp8_share if fp8 else compute.bf16_share
    flops, share = prefill_flops(job.model, job.prompt_tokens), data.prefill_share.share
    low, typical, high = (min(one, best) for one in (share.low, share.typical, share.high))
    return Estimate(flops / peak / high, flops / peak / typical, flops / peak / low)


def decode_bytes(job: ServingJob) -> float:
    """Read by one replica in one step: weights, and the KV cache of every request, halfway through its output."""
    model, experts = job.model, job.model.experts
    weights = float(model.parameters - model.expert_parameters - (0 if model.tied else model.vocabulary * model.hidden))
    if experts is not None:
        batch = job.concurrent * max(1, job.ep // job.tp)  # tokens of all replicas that share the experts
        read = 1 - (1 - experts.per_token / experts.experts) ** batch
        weights += model.expert_parameters * read / max(1.0, job.ep / job.tp)
    context = job.prompt_tokens + job.output_tokens / 2
    return weights * BYTES[job.precision] + job.concurrent * context * kv_bytes_per_token(
        model, BYTES[job.kv_precision]
    )


def decode_s(job: ServingJob, data: ServingData) -> Estimate:
    """Seconds of reading in one step, communication not counted."""
    assert job.gpu.compute is not None  # check_job
    share = data.memory_share.share
    peak = job.gpu.compute.memory_gbytes_per_s * 1e9 * job.tp
    return Estimate(*(decode_bytes(job) / peak / one for one in (share.high, share.typical, share.low)))


def all_reduces(job: ServingJob) -> int:
    """Of tensor parallelism, in one decode step or one prefill."""
    return 2 * job.model.layers - (job.model.expert_layers if job.ep > 1 else 0)


def tp_all_reduce(accelerators: Accelerators, job: ServingJob, *, nodes: int, tokens: int) -> Collective | None:
    """One all-reduce over so many tokens, the replica's GPUs in so many nodes; None where nothing is to reduce."""
    if job.tp == 1 or job.tp % nodes:
        return None
    return estimate_collective(
        accelerators,
        op="all-reduce",
        nodes=nodes,
        gpus_per_node=job.tp // nodes,
        gpu=job.gpu.id,
        fabric=job.fabric,
        nics_per_node=job.nics_per_node,
        nic_gbps=job.nic_gbps,
        bytes=tokens * job.model.hidden * 2,
        tuning=job.tuning,
    )


@dataclass(frozen=True, slots=True)
class ExpertExchange:
    """Dispatch and combine of one layer, us; and of all expert layers together, s."""

    dispatch_us: Estimate
    combine_us: Estimate
    layers: int

    @property
    def step_s(self) -> Estimate:
        return (self.dispatch_us + self.combine_us) * (self.layers / 1e6)


def expert_exchange(job: ServingJob, table: ExpertTable) -> ExpertExchange | None:
    """Of one decode step with the table's tokens a GPU; None where nothing published says (other GPUs, links, sizes).

    A model of another width or number of chosen experts is between the table's time and that time scaled by the bytes.
    """
    model = job.model
    known = job.gpu.architecture == table.architecture and table.rows[0].gpus <= job.ep <= table.rows[-1].gpus
    rate = min(job.nics_per_node * job.nic_gbps / job.gpus_per_node, job.gpu.nic_gbps_per_gpu)
    if model.experts is None or not known or (job.ep_crosses and rate != table.nic_gbps_per_gpu):
        return None
    ratio = model.hidden * model.experts.per_token / (table.hidden * table.per_token)

    def of(kind: str) -> Estimate:
        published = _between(tuple((row.gpus, getattr(row, kind)) for row in table.rows), job.ep)
        return Estimate(published * min(1, ratio), published * ratio, published * max(1, ratio))

    return ExpertExchange(of("dispatch_us"), of("combine_us"), model.expert_layers)


def expert_dispatch(accelerators: Accelerators, job: ServingJob, *, tokens: int, value_bytes: int) -> Collective | None:
    """One layer's exchange in a prefill: an all-to-all of `tokens` a GPU, each to its chosen experts."""
    if job.model.experts is None or job.ep == 1:
        return None
    nodes = math.ceil(job.ep / job.gpus_per_node)
    return estimate_collective(
        accelerators,
        op="all-to-all",
        nodes=nodes,
        gpus_per_node=math.ceil(job.ep / nodes),
        gpu=job.gpu.id,
        fabric=job.fabric,
        nics_per_node=job.nics_per_node,
        nic_gbps=job.nic_gbps,
        bytes=tokens * job.model.experts.per_token * job.model.hidden * value_bytes,
        tuning=job.tuning,
    )


def _between(points: tuple[tuple[int, float], ...], gpus: int) -> float:
    for (fewer, left), (more, right) in pairwise(points):
        if gpus <= more:
            return left + (right - left) * math.log(gpus / fewer) / math.log(more / fewer)
    return points[-1][1]
