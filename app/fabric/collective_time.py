"""The time of every way a collective could take; the library is assumed to take the fastest.

time = latency (app/fabric/latency.py)
     + wire (bytes * busbw factor / (share * bound), app/fabric/bound.py)
     + pipeline fill, min(2 sqrt(granule * wire), cap): chunks grow with the message, as NCCL chooses them
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from app.fabric.accelerator import Accelerator, CollectiveConstants
from app.fabric.bound import Bound, Layout, Limit, busbw_factor
from app.fabric.collective_inputs import CollectiveInputs
from app.fabric.estimate import Estimate
from app.fabric.latency import all_to_all_us, collnet_us, nvls_us, ring_us, tree_us

Point = Literal["fastest", "typical", "slowest"]
POINTS: tuple[Point, ...] = ("fastest", "typical", "slowest")
_PLATEAUS = {
    "nvls": "nvls_gbytes_per_s",
    "tree": "nvls_gbytes_per_s",
    "sharp": "nvls_gbytes_per_s",
    "all-to-all": "all_to_all_gbytes_per_s",
}


class Timing(NamedTuple):
    """One way at one point of the calibration, in us; the time first, so that min() finds the fastest."""

    time_us: float
    wire_us: float
    limit: Limit
    way: str


@dataclass(frozen=True, slots=True)
class Case:
    """One collective with the data that its time depends on."""

    inputs: CollectiveInputs
    gpu: Accelerator
    constants: CollectiveConstants
    layout: Layout
    ways: tuple[Bound, ...]

    def fastest_way(self, point: Point) -> Timing:
        """The fastest way at the fastest, typical or slowest end of the calibration's ranges."""
        tuning = "inside" if self.layout.domains == 1 else self.inputs.tuning
        share = _at(self.constants.efficiencies[tuning, self.inputs.fabric].share, point, high_is_fast=True)
        size = self.inputs.bytes * busbw_factor(self.inputs.op, self.layout.gpus) / 1000  # over GB/s: us
        best = min(self._bulk(share, size, point))
        # LL has half of a ring's bandwidth at most: where that alone takes longer, its steps cannot make up for it
        if self.inputs.op in ("all-to-all", "send-recv") or 2 * size > (
            best.time_us * self.ways[0].busbw_gbytes_per_s * share
        ):
            return best
        return min(best, *self._low_latency(share, size, point))

    def _bulk(self, share: float, size: float, point: Point) -> Iterator[Timing]:
        for way in self.ways:
            wire = size / (way.busbw_gbytes_per_s * share * self._relative(way) * self._spread(way, point))
            time = self._latency(way, point) + wire + self._fill(wire, point)
            yield Timing(time, wire, way.limit, way.way)

    def _low_latency(self, share: float, size: float, point: Point) -> Iterator[Timing]:
        """NCCL's LL protocol: short steps, but half of a ring's bandwidth at most, or a tree's over 3.8."""
        latencies, layout = self.constants.latencies, self.layout
        factor, ring = self._factor("small", point), self.ways[0]
        limit, start = self._low_latency_limit(), 0.0
        if layout.domains > 1:
            start = _at(self.constants.start_us[self.inputs.fabric], point, high_is_fast=False)
        wire = size / (min(limit, 0.5 * ring.busbw_gbytes_per_s) * share)
        latency = start + ring_us(
            latencies,
            latencies.ring_ll,
            gpus=layout.gpus,
            domains=layout.domains,
            passes=self._passes,
            net_factor=factor,
        )
        yield Timing(latency + wire, wire, ring.limit, "ring (LL)")
        if self.inputs.op == "all-reduce":
            limit = min(limit, 0.92 * ring.busbw_gbytes_per_s / 3.8) * latencies.ll_tree_share
            wire, step = size / (limit * share), latencies.tree_ll
            latency = start + tree_us(step, gpus=layout.gpus, domains=layout.domains, net_factor=factor)
            yield Timing(latency + wire, wire, ring.limit, "tree (LL)")

    def _low_latency_limit(self) -> float:
        latencies, domains = self.constants.latencies, self.layout.domains
        if domains == 1:
            return latencies.ll_one_node_gbytes_per_s[self.gpu.architecture]
        return latencies.ll_two_nodes_gbytes_per_s if domains == 2 else latencies.ll_more_nodes_gbytes_per_s

    @property
    def _passes(self) -> int:
        return 2 if self.inputs.op == "all-reduce" else 1

    def _latency(self, way: Bound, point: Point) -> float:
        latencies, gpus, domains = self.constants.latencies, self.layout.gpus, self.layout.domains
        if way.way == "sharp":
            return collnet_us(latencies, gpus=gpus, domains=domains, net_factor=self._factor("small", point))
        if way.way in ("nvls", "tree"):
            factor = self._factor("bulk_tree", point)
            if self.gpu.nvls_gbytes_per_s:
                return nvls_us(latencies, domains=domains, net_factor=factor)
            return tree_us(latencies.tree_simple, gpus=gpus, domains=domains, net_factor=factor)
        factor, step = self._factor("bulk_ring", point), latencies.ring_simple
        if way.way == "all-to-all":
            return all_to_all_us(latencies, gpus=gpus, domains=domains, net_factor=factor)
        if way.way == "pair":
            return step.base + (step.net * factor if domains > 1 else step.nvlink)
        plateau = latencies.ring_plateau if self._passes == 2 and domains > 1 else 1.0
        return plateau * ring_us(
            latencies, step, gpus=gpus, domains=domains, passes=self._passes, net_factor=factor
        )

    def _fill(self, wire_us: float, point: Point) -> float:
        """Pipeline fill; at the fastest point half of it."""
        inside, pipeline = self.constants.nvlink_pipeline, self.constants.network_pipeline
        domains, cap, stages = self.layout.domains, pipeline.cap_us, 1
        if self.gpu.spans_nodes and (self.inputs.op == "all-reduce" or domains == 1):
            pipeline, stages = self.constants.rack_pipeline, domains**2
            cap = max(inside.cap_us, pipeline.cap_per_gpu_us * self.layout.domain_gpus)
            cap += pipeline.cap_per_domain_us * (domains - 1)
        elif domains == 1:
            pipeline, cap = inside, inside.cap_us
        fill = min(2 * math.sqrt(pipeline.granule_us * stages * wire_us), cap)
        return fill / 2 if point == "fastest" else fill

    def _relative(self, way: Bound) -> float:
        """What the operation or the hardware reaches, relative to the share of a tuned ring."""
        relative = self.constants.relative
        if self.layout.domains == 1:
            return 1.0
        if way.way in ("all-to-all", "sharp"):
            return relative["all_to_all" if way.way == "all-to-all" else "sharp"][0]
        if self.gpu.spans_nodes and self.inputs.op == "all-reduce":
            return _racks_share(self.constants.racks, self.layout.domains)
        if way.way == "tree" and not self.gpu.nvls_gbytes_per_s:
            return relative["tree_without_nvls"][0]
        return 1.0

    def _spread(self, way: Bound, point: Point) -> float:
        """By how much a plateau that was taken from another GPU may be off; only the range widens."""
        if way.limit == "nic" or _PLATEAUS.get(way.way, "ring_gbytes_per_s") not in self.gpu.assumed:
            return 1.0
        return _at(self.constants.assumed_plateau.share, point, high_is_fast=True)

    def _factor(self, kind: str, point: Point) -> float:
        return _at(self.constants.latency_factors[kind, self.inputs.fabric].share, point, high_is_fast=False)


def _at(range: Estimate, point: Point, *, high_is_fast: bool) -> float:
    if point == "typical":
        return range.typical
    return range.high if (point == "fastest") == high_is_fast else range.low


def _racks_share(points: tuple[tuple[float, float], ...], domains: int) -> float:
    """Interpolated over log(domains); beyond the last measured point the last share holds."""
    for (fewer, share), (more, next_share) in pairwise(points):
        if domains <= more:
            return share + (next_share - share) * math.log(domains / fewer) / math.log(more / fewer)
    return points[-1][1]
