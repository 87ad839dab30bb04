"""Closed-form upper bounds of busbw, and nccl-tests' factor between algbw and busbw.

busbw is defined by nccl-tests (doc/PERFORMANCE.md): algbw = bytes / time, busbw = algbw * factor. It is not
a wire rate where switches reduce (NVLS, SHARP) or trees are used, and may then exceed the speed of the links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.fabric.accelerator import Accelerator

Operation = Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv"]
Limit = Literal["nic", "nvlink"]
OPERATIONS: tuple[Operation, ...] = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "broadcast",
    "send-recv",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """How n GPUs sit in NVLink domains, and the payload rate of the NICs of one domain (GB/s)."""

    gpus: int
    domains: int
    nic_gbytes_per_s: float  # of all NICs of one domain, after the effective rate and oversubscription
    one_nic_gbytes_per_s: float

    @property
    def domain_gpus(self) -> float:
        return self.gpus / self.domains


@dataclass(frozen=True, slots=True)
class Bound:
    """The highest busbw (GB/s) that the wires allow, what sets it, and by which way."""

    busbw_gbytes_per_s: float
    limit: Limit
    way: Literal["ring", "tree", "nvls", "sharp", "all-to-all", "pair"]


def busbw_factor(op: Operation, gpus: int) -> float:
    """busbw / algbw as nccl-tests defines it."""
    if op == "all-reduce":
        return 2 * (gpus - 1) / gpus
    if op in ("broadcast", "send-recv"):
        return 1.0
    return (gpus - 1) / gpus


def bounds(op: Operation, gpu: Accelerator, layout: Layout, *, sharp: bool = False) -> tuple[Bound, ...]:
    """Every way that the library could take, each with its bound; the first is the ring (or the only way)."""
    if op == "all-to-all":
        return (_all_to_all(gpu, layout),)
    if op == "send-recv":
        return (_pair(gpu, layout),)
    ways = [_ring(gpu, layout)]
    if op == "all-reduce":
        switch_limit = gpu.nvls_algbw_gbytes_per_s * busbw_factor(op, layout.gpus)
        if layout.domains == 1:
            if gpu.nvls_gbytes_per_s:
                ways.append(Bound(switch_limit, "nvlink", "nvls"))
        else:
            if layout.domains > 2 or gpu.two_node_tree:
                ways.append(_tree(gpu, layout, switch_limit))
            if sharp:
                ways.append(_sharp(gpu, layout, switch_limit))
    return tuple(ways)


def _lower(nic: float, nvlink: float, way: Literal["ring", "tree", "sharp", "all-to-all"]) -> Bound:
    return Bound(nic, "nic", way) if nic <= nvlink else Bound(nvlink, "nvlink", way)


def _ring(gpu: Accelerator, layout: Layout) -> Bound:
    """A ring crosses each domain's NICs once; d - 1 of its d hops through a domain are NVLink hops."""
    if layout.domains == 1:
        return Bound(gpu.ring_gbytes_per_s, "nvlink", "ring")
    inside = layout.domain_gpus
    nvlink = gpu.ring_gbytes_per_s * inside / (inside - 1) if inside > 1 else float("inf")
    return _lower(layout.nic_gbytes_per_s, nvlink, "ring")


def _tree(gpu: Accelerator, layout: Layout, switch_limit: float) -> Bound:
    """Between exactly two domains a tree sends every byte once each way; with more it is as a ring.

    The NVLink side is in-switch reduction where there is any, else the ring's rate.
    """
    nvlink = switch_limit or gpu.ring_gbytes_per_s
    if layout.domain_gpus <= 1:
        nvlink = float("inf")
    share = 2 * (layout.gpus - 1) / layout.gpus if layout.domains == 2 else 1.0
    return _lower(layout.nic_gbytes_per_s * share, nvlink, "tree")


def _sharp(gpu: Accelerator, layout: Layout, switch_limit: float) -> Bound:
    """InfiniBand switches reduce: every byte leaves a node once and comes back once."""
    nvlink = switch_limit or gpu.ring_gbytes_per_s
    return _lower(layout.nic_gbytes_per_s * busbw_factor("all-reduce", layout.gpus), nvlink, "sharp")


def _all_to_all(gpu: Accelerator, layout: Layout) -> Bound:
    """busbw <= r (n - 1) / (n - d): of n - 1 messages n - d leave the domain (SimAI's formula too)."""
    inside, others = layout.domain_gpus, layout.gpus - 1
    nvlink = gpu.all_to_all_gbytes_per_s * others / (inside - 1) if inside > 1 else float("inf")
    if layout.domains == 1:
        return Bound(gpu.all_to_all_gbytes_per_s, "nvlink", "all-to-all")
    nic = layout.nic_gbytes_per_s / inside * others / (layout.gpus - inside)
    return _lower(nic, nvlink, "all-to-all")


def _pair(gpu: Accelerator, layout: Layout) -> Bound:
    """Each GPU sends to the next; across nodes one GPU uses its share of the NICs, at least one whole NIC."""
    if layout.domains == 1:
        return Bound(gpu.ring_gbytes_per_s, "nvlink", "pair")
    share = layout.nic_gbytes_per_s / layout.domain_gpus
    return Bound(max(share, layout.one_nic_gbytes_per_s), "nic", "pair")
