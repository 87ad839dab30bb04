"""What the serving model knows beyond the models and the accelerators; see knowledge/catalog/inference.yaml.

Plain data with its sources; app/serving_data.py reads it. Nothing is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.accelerator import Rate
from app.fabric.calculation import Source


@dataclass(frozen=True, slots=True)
class ExpertLatency:
    """One published pair: a layer's dispatch and combine over so many GPUs, in us."""

    gpus: int
    dispatch_us: float
    combine_us: float


@dataclass(frozen=True, slots=True)
class ExpertTable:
    """Published latencies, ascending in GPUs, and what they were measured with (tokens are of one GPU)."""

    rows: tuple[ExpertLatency, ...]
    architecture: str
    nic_gbps_per_gpu: float
    tokens: int
    hidden: int
    per_token: int
    source: Source


@dataclass(frozen=True, slots=True)
class ServingData:
    """Shares are of a peak or line rate; `start_ms` is added to every transfer of a KV cache."""

    rdma_share: Rate
    start_ms: Rate
    tcp_share: Rate
    tcp_node_gbytes_per_s: Rate
    prefill_share: Rate
    memory_share: Rate
    usable_memory: Rate
    enough_transfer: Rate
    enough_load: Rate
    experts: ExpertTable
