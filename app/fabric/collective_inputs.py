"""What a collective is asked for, checked, and how its GPUs sit in NVLink domains."""

from __future__ import annotations

import math
from dataclasses import dataclass

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerator, Fabric, Tuning
from app.fabric.bound import OPERATIONS, Layout, Operation
from app.fabric.message_size import MAX_BYTES

MAX_GPUS = 10_000_000


@dataclass(frozen=True, slots=True)
class CollectiveInputs:
    """One collective on one cluster; `bytes` is the size that nccl-tests prints (the full array)."""

    op: Operation
    nodes: int
    gpus_per_node: int
    gpu: str
    fabric: Fabric
    nics_per_node: int
    nic_gbps: int
    bytes: int
    tuning: Tuning
    sharp: bool
    oversubscription: float

    @property
    def gpus(self) -> int:
        return self.nodes * self.gpus_per_node


def layout_of(inputs: CollectiveInputs, gpu: Accelerator, nic_efficiency: float) -> Layout:
    """Nodes grouped into NVLink domains, filled evenly, and the NIC payload rate of one domain.

    A NIC carries `nic_efficiency` of its line rate; oversubscription divides it, as if every byte between
    nodes crossed the oversubscribed tier. A GPU reaches the network at no more than its slot's rate, so NICs
    beyond that idle.
    """
    domains = inputs.nodes
    if gpu.spans_nodes:
        domains = math.ceil(inputs.nodes / (gpu.domain_gpus // inputs.gpus_per_node))
    share = nic_efficiency / inputs.oversubscription / 8
    slots = gpu.nic_gbps_per_gpu * inputs.gpus_per_node
    node = min(inputs.nics_per_node * inputs.nic_gbps, slots) * share
    one_nic = min(inputs.nic_gbps, gpu.nic_gbps_per_gpu) * share
    return Layout(inputs.gpus, domains, node * inputs.nodes / domains, one_nic)


def check(inputs: CollectiveInputs, gpu: Accelerator) -> None:
    """Raises AdvisorError on the first input that no cluster can have."""
    _check_choices(inputs)
    _check_cluster(inputs, gpu)
    if inputs.nics_per_node < 1 or inputs.nic_gbps < 1:
        raise _bad(
            f"{inputs.nics_per_node} NICs of {inputs.nic_gbps} Gb/s carry nothing.",
            "Give at least one NIC of at least 1 Gb/s, for example 8x400.",
        )
    check_bytes(inputs.bytes)
    if not 1 <= inputs.oversubscription <= 1000:
        raise _bad(
            f"Oversubscription {inputs.oversubscription:g} is not a ratio of at least 1.",
            "Give 1 for a non-blocking fabric, 2 for 2:1.",
        )
    if inputs.sharp and inputs.fabric != "infiniband":
        raise _bad("SHARP is a function of InfiniBand switches.", "Choose infiniband, or leave SHARP off.")
    if inputs.sharp and inputs.op != "all-reduce":
        raise _bad(f"SHARP is not modelled for {inputs.op}.", "Use SHARP with all-reduce.")


def check_bytes(size: int) -> None:
    """Raises AdvisorError for a message that cannot be sent."""
    if not 1 <= size <= MAX_BYTES:
        raise _bad(f"A message of {size} bytes cannot be sent.", "Give 1 byte to 1 EiB.")


def _check_choices(inputs: CollectiveInputs) -> None:
    for given, known, what in (
        (inputs.op, OPERATIONS, "collective"),
        (inputs.fabric, ("infiniband", "roce"), "fabric"),
        (inputs.tuning, ("tuned", "default", "mis-tuned"), "tuning"),
    ):
        if given not in known:
            raise _bad(f"Unknown {what}: {str(given)[:40]}.", f"Use {', '.join(known)}.")


def _check_cluster(inputs: CollectiveInputs, gpu: Accelerator) -> None:
    if inputs.nodes < 1:
        raise _bad(f"A collective needs at least one node, not {inputs.nodes}.", "Give 1 node or more.")
    if inputs.gpus_per_node < 1:
        raise _bad(
            f"A node needs at least one GPU, not {inputs.gpus_per_node}.", "Give 1 GPU per node or more."
        )
    if inputs.gpus_per_node > gpu.domain_gpus:
        raise _bad(
            f"{gpu.name} joins at most {gpu.domain_gpus} GPUs in one NVLink or xGMI domain, "
            f"not {inputs.gpus_per_node}.",
            f"Give {gpu.gpus_per_node} GPUs per node (at most {gpu.domain_gpus}) and more nodes.",
        )
    if inputs.gpus == 1:
        raise _bad("A collective needs at least two GPUs.", "Raise the nodes or the GPUs per node.")
    if inputs.gpus > MAX_GPUS:
        raise _bad(f"{inputs.gpus:,} GPUs are beyond this model.", f"Ask for at most {MAX_GPUS:,} GPUs.")


def _bad(message: str, remedy: str) -> AdvisorError:
    return AdvisorError(message, remedy, code="bad_collective", values={"message": message})
