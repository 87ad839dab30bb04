"""What the training calculator knows: models, and what software stacks make of the hardware. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.fabric.calculation import Source
from app.fabric.estimate import Estimate
from app.fabric.transformer import Transformer

KINDS = ("tensor", "pipeline", "data", "expert", "context", "sharded")


@dataclass(frozen=True, slots=True)
class Stack:
    """What a software stack makes of the hardware; see knowledge/catalog/training.yaml."""

    id: str
    sustained: Estimate
    flash_share: Mapping[str, float]  # by architecture; 0: unfused attention
    expert_layer_ms: float
    elementwise_passes: float
    gradient_bytes: int
    exposed: Mapping[str, float]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Workloads:
    """Every known model, the software stacks, and the constants of the training model."""

    models: Mapping[str, Transformer]
    stacks: Mapping[str, Stack]
    kernel_start_us: float
    memory_share: float
    optimizer_bytes: float
    usable_memory: float
    sources: tuple[Source, ...]
