"""What a transformer is made of: its parameters and the multiplications of one token.

Dense or mixture of experts; multi-head, grouped-query or latent (MLA) attention. FLOPs follow Megatron-LM's
num_floating_point_operations: 2 per multiplied parameter and token, attention scores on top.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.calculation import Source


@dataclass(frozen=True, slots=True)
class Experts:
    """Mixture of experts in all but the first `dense_layers` layers."""

    experts: int
    per_token: int
    feedforward: int
    shared_feedforward: int = 0
    dense_layers: int = 0


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek): ranks of the compressed queries and keys, sizes of the heads."""

    query_rank: int
    kv_rank: int
    nope: int
    rope: int
    value: int


@dataclass(frozen=True, slots=True)
class Transformer:
    """One decoder-only model. `gated` feedforwards (SwiGLU) have three matrices, others two."""

    id: str
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    feedforward: int
    vocabulary: int
    sequence: int
    gated: bool = True
    tied: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    sources: tuple[Source, ...] = ()

    @property
    def attention_parameters(self) -> int:
        """Of one layer."""
        if self.latent is None:
            queries = self.hidden * self.heads * self.head_size
            return 2 * queries + 2 * self.hidden * self.kv_heads * self.head_size
        one = self.latent
        queries = self.hidden * one.query_rank + one.query_rank * self.heads * (one.nope + one.rope)
        keys = self.hidden * (one.kv_rank + one.rope) + one.kv_rank * self.heads * (one.nope + one.value)
        return queries + keys + self.heads * one.value * self.hidden

    @property
    def score_size(self) -> int:
        """Head size of queries and keys plus that of values: what one score costs in multiplications."""
        if self.latent is None:
            return 2 * self.head_size
        return self.latent.nope + self.latent.rope + self.latent.value

    def matrix_parameters(self, width: int) -> int:
        """Of a feedforward of this width."""
        return (3 if self.gated else 2) * self.hidden * width

    @property
    def dense_layers(self) -> int:
        return self.layers if self.experts is None else self.experts.dense_layers

    @property
    def expert_layers(self) -> int:
        return self.layers - self.dense_layers

    @property
    def embedding_parameters(self) -> int:
        return self.vocabulary * self.hidden * (1 if self.tied else 2)

    @property
    def expert_parameters(self) -> int:
        """Of all routed experts in all layers."""
        if self.experts is None:
            return 0
        return self.expert_layers * self.experts.experts * self.matrix_parameters(self.experts.feedforward)

    @property
    def parameters(self) -> int:
        """All matrices (norms and biases are left out: far below 1 %)."""
        total = self.layers * self.attention_parameters + self.embedding_parameters
        total += self.dense_layers * self.matrix_parameters(self.feedforward)
        if self.experts is not None:
            router = self.hidden * self.experts.experts
            shared = self.matrix_parameters(self.experts.shared_feedforward)
            total += self.expert_layers * (router + shared)
        return total + self.expert_parameters

    @property
    def active_parameters(self) -> int:
        """What one token passes through."""
        if self.experts is None:
            return self.parameters
        idle = self.experts.experts - self.experts.per_token
        return self.parameters - self.expert_layers * idle * self.matrix_parameters(self.experts.feedforward)

    def training_flops_per_token(self, sequence: int, *, causal_half: bool = True) -> float:
        """Forward and backward of one token: 3 * (2 * multiplied parameters + attention scores).

        The embedding look-up multiplies nothing; the output layer does. `causal_half` counts only the
        scores below the diagonal, as Megatron-LM does today; older publications count all.
        """
        multiplied = self.active_parameters - (0 if self.tied else self.vocabulary * self.hidden)
        scores = 2 * self.layers * self.heads * self.score_size * sequence
        return 3 * (2 * multiplied + scores * (0.5 if causal_half else 1.0))
