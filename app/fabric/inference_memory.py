"""Bytes that serving keeps in memory: the weights once a replica, and the KV cache of every request.

Attention keeps a key and a value per KV head: 2 * layers * kv_heads * head_size values a token (grouped-query and
multi-head alike). Latent attention (MLA, DeepSeek-V2/V3) keeps the compressed latent and the rotary key instead:
layers * (kv_rank + rope), whatever the heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.inference_job import BYTES, ServingJob
from app.fabric.transformer import Transformer


def kv_bytes_per_token(model: Transformer, value_bytes: int) -> int:
    """KV cache of one token in all layers, bytes."""
    if model.latent is not None:
        return model.layers * (model.latent.kv_rank + model.latent.rope) * value_bytes
    return 2 * model.layers * model.kv_heads * model.head_size * value_bytes


@dataclass(frozen=True, slots=True)
class ServingMemory:
    """Of one replica, in GB (1e9 bytes) except where the name says otherwise."""

    kv_bytes_per_token: int
    kv_request_gbytes: float  # of the prompt: what a prefill hands over
    kv_full_gbytes: float  # of prompt and output: what a request occupies in the end
    weights_gbytes: float
    usable_gbytes: float
    concurrent: int

    @property
    def needed_gbytes(self) -> float:
        return self.weights_gbytes + self.concurrent * self.kv_full_gbytes

    @property
    def fits(self) -> bool:
        return self.needed_gbytes <= self.usable_gbytes

    @property
    def most_concurrent(self) -> int:
        """Requests of this length that the memory beside the weights holds."""
        return max(0, int((self.usable_gbytes - self.weights_gbytes) / self.kv_full_gbytes))


def memory_of(job: ServingJob, usable_share: float) -> ServingMemory:
    """Weights count once a replica (experts that are spread over more GPUs count their part)."""
    per_token = kv_bytes_per_token(job.model, BYTES[job.kv_precision])
    compute = job.gpu.compute
    spread = max(1.0, job.ep / job.tp)
    weights = job.model.parameters - job.model.expert_parameters + job.model.expert_parameters / spread
    return ServingMemory(
        kv_bytes_per_token=per_token,
        kv_request_gbytes=per_token * job.prompt_tokens / 1e9,
        kv_full_gbytes=per_token * (job.prompt_tokens + job.output_tokens) / 1e9,
        weights_gbytes=weights * BYTES[job.precision] / 1e9,
        usable_gbytes=(0.0 if compute is None else compute.memory_gbytes) * job.tp * usable_share,
        concurrent=job.concurrent,
    )
