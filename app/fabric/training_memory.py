"""What a training job keeps in the memory of one GPU, in GB (1e9 bytes).

Activations follow arXiv 2205.05198 (section 4), written out for gated feedforwards, grouped-query attention
and experts; the attention scores count only where attention is not fused.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.job import Job


@dataclass(frozen=True, slots=True)
class Memory:
    weights_gbytes: float
    gradients_gbytes: float
    optimizer_gbytes: float
    activations_gbytes: float

    @property
    def total_gbytes(self) -> float:
        return self.weights_gbytes + self.gradients_gbytes + self.optimizer_gbytes + self.activations_gbytes


def memory_of(job: Job, *, gradient_bytes: int, fused_attention: bool) -> Memory:
    """The first pipeline stage, which keeps the most micro-batches in flight."""
    model, shared = job.model, job.dp * job.cp
    dense = (model.parameters - model.expert_parameters) / job.tp / job.pp
    experts = model.expert_parameters / job.ep / job.pp
    owners = max(1, job.tp * shared // job.ep)

    def held(bytes: float, split: bool) -> float:
        parts = dense / (shared if split else 1) + experts / (owners if split else 1)
        return parts * bytes / 1e9

    layer = 2 * (model.parameters - model.embedding_parameters) / model.layers / job.tp / 1e9
    weights = held(2, job.sharding == "full") + (2 * layer if job.sharding == "full" else 0.0)
    return Memory(
        weights_gbytes=weights,
        gradients_gbytes=held(gradient_bytes, job.sharding in ("full", "gradients")),
        optimizer_gbytes=held(12, job.sharding != "none"),
        activations_gbytes=_activations(job, fused_attention),
    )


def _activations(job: Job, fused_attention: bool) -> float:
    in_flight = float(min(job.pp, job.micro_batches))
    if job.vp > 1:
        in_flight *= 1 + (job.pp - 1) / (job.pp * job.vp)
    per_layer = _layer_bytes(job, fused_attention) * job.tokens
    kept = per_layer * job.layers_per_stage * in_flight
    working = per_layer if job.recompute != "full" else _layer_bytes(job, fused_attention, full=True) * job.tokens
    logits = 6 * job.tokens * job.model.vocabulary / job.tp if job.pp == 1 else 0.0
    return (kept + working + logits) / 1e9


def _layer_bytes(job: Job, fused_attention: bool, *, full: bool = False) -> float:
    """Bytes a token leaves behind in one layer."""
    model, tp = job.model, job.tp
    split = tp if job.sequence_parallel else 1
    if job.recompute == "full" and not full:
        return 2 * model.hidden / split
    saved = 1 if job.precision == "fp8" else 2  # inputs of the matrix products are kept in their precision
    kept = (4 + 2 * saved) * model.hidden / split  # inputs of two norms and of two products
    if not fused_attention:
        kept += 2 * model.hidden / split  # dropout masks
    sizes = (model.heads * 2 + model.kv_heads * 2) * model.head_size
    kept += 2 * sizes / tp
    width = model.feedforward
    if model.experts is not None:
        width = model.experts.per_token * model.experts.feedforward + model.experts.shared_feedforward
    kept += (4 + saved if model.gated else 2 + saved) * width / tp
    if not fused_attention and job.recompute == "none":
        kept += 5 * model.heads * job.sequence / tp
    return kept
