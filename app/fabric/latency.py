"""Latency of NCCL's algorithms in microseconds: what a collective of a few bytes costs.

The formulas are those of NCCL's own tuning model (NVIDIA/nccl src/graph/tuning.cc, v2.30.7); the constants
are data (knowledge/catalog/collectives.yaml). Here n is GPUs, k is NVLink domains (nodes, where each node
is one domain), p = n / k. NCCL has one network latency for InfiniBand and RoCE; `net_factor` scales the
network terms to what was measured, and the caller says which.
"""

from __future__ import annotations

import math

from app.fabric.accelerator import Latencies, StepLatency


def ring_us(
    latencies: Latencies, step: StepLatency, *, gpus: int, domains: int, passes: int, net_factor: float = 1.0
) -> float:
    """Ring: base + (steps - s) * NVLink step + s * network step, s = passes * (k - 1).

    `passes` is 2 for all-reduce (reduce-scatter, then all-gather) and 1 for the other ring collectives.
    """
    steps = passes * (gpus - 1)
    between = passes * (domains - 1)
    low_latency = step is latencies.ring_ll
    overhead = (
        (latencies.net_overhead_ll if low_latency else latencies.net_overhead_simple) if domains > 1 else 0.0
    )
    net = step.net
    if gpus == domains:  # one GPU a node: NCCL takes the tree's network latency
        net = latencies.tree_ll.net if low_latency else latencies.tree_simple.net
    return step.base + (steps - between) * max(step.nvlink, overhead) + between * net * net_factor


def tree_us(step: StepLatency, *, gpus: int, domains: int, net_factor: float = 1.0) -> float:
    """Double binary tree, a chain inside each domain: base + 2 [(p - 1) NVLink + log2(k) network]."""
    inside = gpus / domains - 1
    return step.base + 2 * (inside * step.nvlink + math.log2(domains) * step.net * net_factor)


def nvls_us(latencies: Latencies, *, domains: int, net_factor: float = 1.0) -> float:
    """In-switch reduction; over several domains as NVLSTree: NVLink + 2 log2(k) network."""
    if domains == 1:
        return latencies.nvls.nvlink
    step = latencies.nvls_tree
    return step.nvlink + 2 * math.log2(domains) * step.net * net_factor


def collnet_us(latencies: Latencies, *, gpus: int, domains: int, net_factor: float = 1.0) -> float:
    """Reduction in InfiniBand switches (SHARP, CollNetDirect): constant in the number of nodes."""
    step, inside = latencies.collnet_direct, gpus / domains - 1
    return 2 * (min(1.0, inside) * step.nvlink + latencies.collnet_per_gpu * inside) + step.net * net_factor


def all_to_all_us(latencies: Latencies, *, gpus: int, domains: int, net_factor: float = 1.0) -> float:
    """Group of sends and receives: per peer inside the domain, and per further domain.

    NCCL does not model it; the constants come from one measured floor, so the range around it is wide.
    """
    step = latencies.all_to_all
    return step.base + step.nvlink * (gpus / domains - 1) + step.net * (domains - 1) * net_factor
