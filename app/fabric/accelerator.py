"""What the collective model knows: accelerators with their scale-up domains, and the constants of the model.

Plain data with its sources; app/accelerators.py reads it from knowledge/catalog. Nothing is computed here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.errors import AdvisorError
from app.fabric.calculation import Source
from app.fabric.estimate import Estimate

Fabric = Literal["infiniband", "roce"]
Tuning = Literal["tuned", "default", "mis-tuned"]


@dataclass(frozen=True, slots=True)
class Compute:
    """What training needs of a GPU: dense peak rates, the share that large matrix products reach, its memory."""

    bf16_tflops: float
    fp8_tflops: float  # 0 where there are no FP8 tensor cores
    bf16_share: float
    fp8_share: float
    memory_gbytes: float
    memory_gbytes_per_s: float
    source: Source


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One GPU model. Bandwidths are busbw plateaus in GB/s (1e9 B/s) inside one scale-up domain.

    `nvls_gbytes_per_s` is 0 where switches cannot reduce; it was measured with `nvls_gpus` GPUs. `assumed` names
    the plateaus that no measurement of this GPU supports.
    """

    id: str
    name: str
    architecture: str
    gpus_per_node: int
    domain_gpus: int
    ring_gbytes_per_s: float
    all_to_all_gbytes_per_s: float
    nics_per_node: int
    nic_gbps: int
    nvls_gbytes_per_s: float = 0.0
    nvls_gpus: int = 8
    two_node_tree: bool = True
    aliases: tuple[str, ...] = ()
    compute: Compute | None = None
    sources: tuple[Source, ...] = ()
    assumed: frozenset[str] = frozenset()

    @property
    def nic_gbps_per_gpu(self) -> float:
        """The network rate that a GPU's slot is built for: what its standard server gives it."""
        return self.nics_per_node * self.nic_gbps / self.gpus_per_node

    @property
    def spans_nodes(self) -> bool:
        """Whether one NVLink domain holds several nodes (NVL72)."""
        return self.domain_gpus > self.gpus_per_node

    @property
    def nvls_algbw_gbytes_per_s(self) -> float:
        """Bytes reduced per second: in-switch reduction keeps this, whatever the number of GPUs."""
        return self.nvls_gbytes_per_s * self.nvls_gpus / (2 * (self.nvls_gpus - 1))


@dataclass(frozen=True, slots=True)
class StepLatency:
    """One algorithm and protocol of NCCL's table, in us: base, NVLink step, network step."""

    nvlink: float
    net: float
    base: float = 0.0


@dataclass(frozen=True, slots=True)
class Latencies:
    """NCCL's latency constants in us, and the busbw limits of its low-latency protocol in GB/s."""

    ring_ll: StepLatency
    ring_simple: StepLatency
    tree_ll: StepLatency
    tree_simple: StepLatency
    nvls: StepLatency
    nvls_tree: StepLatency
    collnet_direct: StepLatency
    collnet_per_gpu: float
    net_overhead_ll: float
    net_overhead_simple: float
    ring_plateau: float
    ll_one_node_gbytes_per_s: Mapping[str, float]  # by architecture
    ll_two_nodes_gbytes_per_s: float
    ll_more_nodes_gbytes_per_s: float
    ll_tree_share: float
    all_to_all: StepLatency  # nvlink: per peer inside the domain; net: per further domain
    source: Source


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Fill of a pipeline whose chunks grow with the message: min(2 sqrt(granule * wire), cap), all in us."""

    granule_us: float
    cap_us: float
    source: Source
    cap_per_gpu_us: float = 0.0
    cap_per_domain_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of the bound that large messages reach, with the evidence."""

    share: Estimate
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class CollectiveConstants:
    """All constants of the collective model; see knowledge/catalog/collectives.yaml."""

    latencies: Latencies
    nic_efficiency: float
    nic_source: Source
    nvlink_pipeline: Pipeline
    rack_pipeline: Pipeline
    network_pipeline: Pipeline
    latency_factors: Mapping[tuple[str, str], Rate]  # (small | bulk_tree | bulk_ring, fabric)
    start_us: Mapping[str, Estimate]  # by fabric: added to a small message between domains
    efficiencies: Mapping[tuple[str, str], Rate]  # (tuning | inside, fabric)
    relative: Mapping[str, tuple[float, Source]]  # all_to_all, tree_without_nvls, sharp
    racks: tuple[tuple[float, float], ...]  # (NVLink domains, share), ascending
    racks_source: Source
    busbw_source: Source
    assumed_plateau: Rate  # by how much an assumed plateau may be off


@dataclass(frozen=True, slots=True)
class Accelerators:
    """Every known accelerator, and the constants of the model."""

    by_id: Mapping[str, Accelerator]
    constants: CollectiveConstants
    names: Mapping[str, str] = field(default_factory=dict)  # alias -> id

    def find(self, name: str) -> Accelerator:
        """The accelerator with this id or alias. Raises AdvisorError that names the closest ones."""
        key = str(name).strip().lower().replace(" ", "-").replace("_", "-")
        found = self.by_id.get(self.names.get(key, key))
        if found is not None:
            return found
        close = difflib.get_close_matches(key, [*self.by_id, *self.names], n=3, cutoff=0.5)
        raise AdvisorError(
            f"Unknown GPU: {str(name)[:60]}.",
            f"Did you mean {' or '.join(close)}?" if close else f"Known are {', '.join(self.by_id)}.",
            code="unknown_gpu",
            values={"gpu": str(name)[:60], "known": ", ".join(close or self.by_id)},
        )
