"""How long a collective takes on a cluster, against the closed-form bound of its wires.

Shares, granules and network factors were calibrated on published measurements
(knowledge/catalog/collectives.yaml); `fabric-advisor validate collectives` prints the error of each.
InfiniBand and tuned RoCE share one efficiency, because measurements show them at parity; an untuned fabric
is a stated scenario with its evidence, not a penalty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from app.fabric.accelerator import Accelerator, Accelerators, CollectiveConstants, Fabric, Tuning
from app.fabric.bound import Operation, bounds, busbw_factor
from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.collective_inputs import CollectiveInputs, check, check_bytes, layout_of
from app.fabric.collective_notes import assumptions_of
from app.fabric.collective_time import POINTS, Case
from app.fabric.estimate import Estimate
from app.fabric.message_size import parse_bytes, parse_nics

__all__ = ["Collective", "CollectiveInputs", "Operation", "estimate_collective", "parse_bytes", "parse_nics"]


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective. Bandwidths in GB/s (1e9 B/s) as nccl-tests defines them.

    `dominant` is what most of the time is spent on: latency, nic or nvlink. `way` is the algorithm: ring,
    tree, nvls, sharp, all-to-all or pair, with " (LL)" for the low-latency protocol. The ranges follow from
    the lowest and highest shares and latencies of the calibration; they say nothing of probability.
    """

    inputs: CollectiveInputs
    accelerator: Accelerator
    domains: int
    time_us: float
    algbw_gbytes_per_s: float
    busbw_gbytes_per_s: float
    bound_gbytes_per_s: float
    fraction_of_bound: float
    dominant: str
    way: str
    time_range_us: Estimate
    busbw_range_gbytes_per_s: Estimate
    constants: CollectiveConstants

    @property
    def assumptions(self) -> tuple[Bilingual, ...]:
        return assumptions_of(self.inputs, self.accelerator, self.domains, self.dominant)

    @property
    def sources(self) -> tuple[Source, ...]:
        constants, inputs = self.constants, self.inputs
        used = [*self.accelerator.sources, constants.busbw_source, constants.latencies.source]
        if self.accelerator.assumed:
            used += constants.assumed_plateau.sources
        if self.domains > 1:
            used += [constants.nic_source, constants.network_pipeline.source]
            used += constants.efficiencies[inputs.tuning, inputs.fabric].sources
            used += constants.latency_factors["small", inputs.fabric].sources
            if self.accelerator.spans_nodes:
                used.append(constants.racks_source)
            if inputs.op == "all-to-all":
                used.append(constants.relative["all_to_all"][1])
        if inputs.sharp:
            used.append(constants.relative["sharp"][1])
        return tuple(dict.fromkeys(used))

    def calculation(self) -> Calculation:
        busbw = self.busbw_range_gbytes_per_s
        algbw = busbw * (1 / busbw_factor(self.inputs.op, self.inputs.gpus))
        return Calculation(
            tool="collective",
            inputs={name: getattr(self.inputs, name) for name in CollectiveInputs.__dataclass_fields__},
            values={
                "time_us": Value.of(self.time_range_us, "us"),
                "algbw_gbytes_per_s": Value.of(algbw, "GB/s"),
                "busbw_gbytes_per_s": Value.of(busbw, "GB/s"),
                "bound_gbytes_per_s": Value(self.bound_gbytes_per_s, "GB/s"),
                "fraction_of_bound": Value.of(busbw * (1 / self.bound_gbytes_per_s), ""),
                "dominant": Value(self.dominant),
            },
            assumptions=self.assumptions,
            sources=self.sources,
            label=self.inputs.fabric,
        )


def estimate_collective(
    accelerators: Accelerators,
    *,
    op: Operation,
    nodes: int,
    gpus_per_node: int = 8,
    gpu: str = "h100",
    fabric: Fabric = "infiniband",
    nics_per_node: int = 8,
    nic_gbps: int = 400,
    bytes: int,
    tuning: Tuning = "tuned",
    sharp: bool = False,
    oversubscription: float = 1.0,
) -> Collective:
    """Time and bandwidth of one collective over nodes * gpus_per_node GPUs.

    `bytes` is the size that nccl-tests prints (the full array); `oversubscription` divides the rate between
    nodes; `sharp` reduces in InfiniBand switches. Raises AdvisorError on bad input.
    """
    inputs = CollectiveInputs(
        op, nodes, gpus_per_node, gpu, fabric, nics_per_node, nic_gbps, bytes, tuning, sharp, oversubscription
    )
    accelerator = accelerators.find(gpu)
    check(inputs, accelerator)
    return _collective(_case(inputs, accelerator, accelerators.constants))


def at_sizes(collective: Collective, sizes: Iterable[int]) -> Iterator[Collective]:
    """The same collective at other sizes in bytes; what does not depend on the size is worked out once.

    Raises AdvisorError for a size that cannot be sent.
    """
    case = _case(collective.inputs, collective.accelerator, collective.constants)
    for size in sizes:
        check_bytes(size)
        yield _collective(replace(case, inputs=replace(case.inputs, bytes=size)))


def _case(inputs: CollectiveInputs, accelerator: Accelerator, constants: CollectiveConstants) -> Case:
    layout = layout_of(inputs, accelerator, constants.nic_efficiency)
    return Case(inputs, accelerator, constants, layout, bounds(inputs.op, accelerator, layout, sharp=inputs.sharp))


def _collective(case: Case) -> Collective:
    fastest, typical, slowest = (case.fastest_way(point) for point in POINTS)
    bytes = case.inputs.bytes
    moved = bytes * busbw_factor(case.inputs.op, case.layout.gpus) / 1000  # over us: busbw in GB/s
    bound, busbw = max(way.busbw_gbytes_per_s for way in case.ways), moved / typical.time_us
    return Collective(
        inputs=case.inputs,
        accelerator=case.gpu,
        domains=case.layout.domains,
        time_us=typical.time_us,
        algbw_gbytes_per_s=bytes / 1000 / typical.time_us,
        busbw_gbytes_per_s=busbw,
        bound_gbytes_per_s=bound,
        fraction_of_bound=busbw / bound,
        dominant="latency" if typical.time_us > 2 * typical.wire_us else typical.limit,
        way=typical.way,
        time_range_us=Estimate(fastest.time_us, typical.time_us, slowest.time_us),
        busbw_range_gbytes_per_s=Estimate(moved / slowest.time_us, busbw, moved / fastest.time_us),
        constants=case.constants,
    )
