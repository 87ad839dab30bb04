"""How long a GPU computes on one layer: matrix products by their size, attention, and what only moves memory.

A product takes max(FLOPs / (peak * share), bytes / memory rate) plus the start of a kernel, so that small
products are inefficient; calculon's size table comes to the same. Times in seconds, of one micro-batch on
one GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.accelerator import Compute
from app.fabric.job import Job


@dataclass(frozen=True, slots=True)
class Machine:
    """Rates of one GPU under one software stack, in FLOP/s and byte/s."""

    matrix: float
    attention_matrix: float  # batched products of unfused attention, always in bf16
    flash: float  # 0: unfused
    memory: float
    start_s: float
    passes: float

    @classmethod
    def of(
        cls,
        compute: Compute,
        *,
        fp8: bool,
        sustained: float,
        flash_share: float,
        memory_share: float,
        start_us: float,
        passes: float,
    ) -> Machine:
        bf16 = compute.bf16_tflops * compute.bf16_share * sustained
        matrix = compute.fp8_tflops * compute.fp8_share * sustained if fp8 else bf16
        return cls(
            matrix * 1e12,
            bf16 * 1e12,
            compute.bf16_tflops * flash_share * 1e12,
            compute.memory_gbytes_per_s * memory_share * 1e9,
            start_us / 1e6,
            passes,
        )

    def product(self, rows: float, columns: float, inner: float, count: float = 1.0, rate: float = 0.0) -> float:
        """`count` products of (rows x inner) by (inner x columns) in one kernel."""
        flops = 2 * rows * columns * inner * count
        moved = 2 * count * (rows * columns + columns * inner + rows * inner)
        return max(flops / (rate or self.matrix), moved / self.memory) + self.start_s

    def move(self, bytes: float) -> float:
        """A kernel that only reads and writes."""
        return bytes / self.memory + self.start_s


@dataclass(frozen=True, slots=True)
class LayerTime:
    """Forward times: matrix products, attention core, memory-bound rest. Backward takes 2, `back` and 2 times."""

    products: float
    attention: float
    attention_back: float  # of the attention core
    rest: float

    @property
    def forward(self) -> float:
        return self.products + self.attention + self.rest

    @property
    def backward(self) -> float:
        return 2 * self.products + self.attention_back + 2 * self.rest


def layer_time(job: Job, machine: Machine, *, experts: bool) -> LayerTime:
    """One layer, with experts in place of its feedforward or not."""
    model, tokens = job.model, job.tokens
    products = _projections(job, machine)
    if experts:
        products += _expert_products(job, machine)
        width = model.experts.feedforward * model.experts.per_token / job.tp if model.experts else 0.0
    else:
        width = model.feedforward / job.tp
        columns = width * (2 if model.gated else 1)
        products += machine.product(tokens, columns, model.hidden) + machine.product(tokens, model.hidden, width)
    core, back = _attention(job, machine)
    shared = tokens * model.hidden / (job.tp if job.sequence_parallel else 1)
    # two norms (read and write), two dropouts with residual (read twice, write), one activation (read and
    # write)
    rest = 2 * machine.move(4 * shared) + 2 * machine.move(7 * shared)
    rest += machine.move((6 if model.gated else 4) * tokens * width)
    return LayerTime(products, core, back, rest * machine.passes)


def output_time(job: Job, machine: Machine) -> float:
    """Output layer and loss, forward and backward: on the last stage only."""
    columns = job.model.vocabulary / job.tp
    return 3 * machine.product(job.tokens, columns, job.model.hidden, rate=machine.attention_matrix) + (
        3 * machine.passes * machine.move(12 * job.tokens * columns)
    )


def _projections(job: Job, machine: Machine) -> float:
    model, tokens, tp = job.model, job.tokens, job.tp
    if model.latent is None:
        columns = (model.heads + 2 * max(model.kv_heads, tp)) * model.head_size / tp
        return machine.product(tokens, columns, model.hidden) + machine.product(
            tokens, model.hidden, model.heads * model.head_size / tp
        )
    one = model.latent
    return (
        machine.product(tokens, one.query_rank + one.kv_rank + one.rope, model.hidden)
        + machine.product(tokens, model.heads * (one.nope + one.rope) / tp, one.query_rank)
        + machine.product(tokens, model.heads * (one.nope + one.value) / tp, one.kv_rank)
        + machine.product(tokens, model.hidden, model.heads * one.value / tp)
    )


def _expert_products(job: Job, machine: Machine) -> float:
    """Routed experts on this GPU, balanced, plus the shared expert; tokens are split over tp before routing."""
    moe = job.model.experts
    if moe is None:
        return 0.0
    local = moe.experts / job.ep
    rows = job.tokens / job.tp * moe.per_token / local
    columns, hidden = moe.feedforward * (2 if job.model.gated else 1), job.model.hidden
    total = machine.product(rows, columns, hidden, local) + machine.product(rows, hidden, moe.feedforward, local)
    total += (local - 1) * 0.1 * machine.start_s  # a grouped product starts nearly as one kernel
    if moe.shared_feedforward:
        width = moe.shared_feedforward / job.tp
        total += machine.product(job.tokens, 2 * width, hidden) + machine.product(job.tokens, hidden, width)
    return total


def _attention(job: Job, machine: Machine) -> tuple[float, float]:
    """Scores and their sum over values, forward and backward."""
    model, heads = job.model, job.model.heads / job.tp * job.micro_batch
    rows, columns = job.sequence / job.cp, job.sequence
    if machine.flash:
        flops = 2 * model.score_size * rows * columns * heads / 2  # below the diagonal
        forward = flops / machine.flash + machine.start_s
        return forward, 2.5 * forward
    size, rate = model.score_size / 2, machine.attention_matrix
    products = machine.product(rows, columns, size, heads, rate) + machine.product(rows, size, columns, heads, rate)
    # masked softmax (read, write), dropout (read, write, one-byte mask)
    forward = products + machine.move(9 * heads * rows * columns)
    return forward, 2 * forward
