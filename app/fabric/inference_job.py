"""One way to serve a model: the GPUs, how the model is split over them, and the requests; checked.

A replica is `tp` GPUs that hold the model once. Prefill and decode run on replicas of this shape, and the KV cache
of a request crosses the network from one to another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerator, Fabric, Tuning
from app.fabric.job import Precision
from app.fabric.transformer import Transformer

BYTES: dict[Precision, int] = {"bf16": 2, "fp8": 1}


@dataclass(frozen=True, slots=True)
class ServingJob:
    """`prompt_tokens` and `output_tokens` are of one request; `concurrent` requests decode at once on a replica.

    `requests_per_s` is for all GPUs together; without it the prefill runs at full rate. `ep` GPUs share the experts.
    """

    model: Transformer
    gpu: Accelerator
    gpus: int
    gpus_per_node: int
    tp: int
    ep: int
    prompt_tokens: int
    output_tokens: int
    concurrent: int
    requests_per_s: float | None
    precision: Precision
    kv_precision: Precision
    fabric: Fabric
    tuning: Tuning
    nics_per_node: int
    nic_gbps: int

    @property
    def replicas(self) -> int:
        return self.gpus // self.tp

    @property
    def replica_nodes(self) -> int:
        return math.ceil(self.tp / self.gpus_per_node)

    @property
    def tp_crosses(self) -> bool:
        """Whether tensor parallelism leaves the NVLink or xGMI domain for the network."""
        return self.tp > max(self.gpus_per_node, self.gpu.domain_gpus if self.gpu.spans_nodes else 0)

    @property
    def ep_crosses(self) -> bool:
        """Whether the experts are spread beyond one domain."""
        return self.ep > max(self.gpus_per_node, self.gpu.domain_gpus if self.gpu.spans_nodes else 0)

    def line_gbytes_per_s(self, nics_per_node: int, nic_gbps: int) -> float:
        """Line rate of the NICs of one replica, GB/s: its share of the node's, no more than its GPUs' slots carry."""
        node = min(nics_per_node * nic_gbps, self.gpu.nic_gbps_per_gpu * self.gpus_per_node)
        return node / self.gpus_per_node * self.tp / 8


def check_job(job: ServingJob) -> None:
    """Raises AdvisorError on the first thing that no server could run, with the nearest value that fits."""
    for name in ("gpus", "gpus_per_node", "tp", "ep", "prompt_tokens", "output_tokens", "concurrent"):
        if not 1 <= getattr(job, name) <= 10_000_000:
            raise _bad(
                f"{name} must be between 1 and 10,000,000, not {getattr(job, name)}.", f"Give {name} of at least 1."
            )
    if job.nics_per_node < 1 or job.nic_gbps < 1:
        raise _bad(f"{job.nics_per_node} NICs of {job.nic_gbps} Gb/s carry nothing.", "Give at least 1x1, e.g. 8x400.")
    if job.requests_per_s is not None and not 0 < job.requests_per_s < 1e9:
        raise _bad(f"{job.requests_per_s:g} requests a second is no rate.", "Give a positive number.")
    _check_split(job)
    if job.gpu.compute is None:
        raise _bad(f"{job.gpu.name} has no sourced peak rate.", "Choose another GPU.")
    if job.precision == "fp8" and not job.gpu.compute.fp8_tflops:
        raise _bad(f"{job.gpu.name} has no FP8 tensor cores.", "Use precision bf16.")


def _check_split(job: ServingJob) -> None:
    if job.gpus_per_node > job.gpu.domain_gpus:
        raise _bad(
            f"{job.gpu.name} joins at most {job.gpu.domain_gpus} GPUs in one domain, not {job.gpus_per_node}.",
            f"Give {job.gpu.gpus_per_node} GPUs per node.",
        )
    fits = max(size for size in range(1, job.tp + 1) if job.gpus % size == 0 and job.model.heads % size == 0)
    if job.gpus % job.tp:
        raise _bad(f"{job.gpus} GPUs do not divide into replicas of tp {job.tp}.", f"Use tp {fits}.")
    if job.model.heads % job.tp:
        raise _bad(f"{job.model.heads} heads do not divide by tp {job.tp}.", f"Use tp {fits}.")
    if job.tp > job.gpus_per_node and job.tp % job.gpus_per_node:
        raise _bad(
            f"tp {job.tp} fills no whole nodes of {job.gpus_per_node} GPUs.",
            f"Use tp {job.tp // job.gpus_per_node * job.gpus_per_node}.",
        )
    if job.ep > 1 and job.model.experts is None:
        raise _bad(f"{job.model.name} has no experts to spread.", "Leave ep out.")
    if job.model.experts is not None and (job.ep > job.gpus or job.model.experts.experts % job.ep):
        count = job.model.experts.experts
        fits = max(size for size in range(1, min(job.ep, job.gpus, count) + 1) if count % size == 0)
        raise _bad(f"{count} experts do not spread over ep {job.ep} of {job.gpus} GPUs.", f"Use ep {fits}.")


def _bad(message: str, remedy: str) -> AdvisorError:
    return AdvisorError(message, remedy, code="bad_serving", values={"message": message})
