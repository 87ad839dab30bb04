"""How long a KV cache takes from the prefill to the decode replica, link by link, and which link is enough.

time = start + bytes / (share * line rate of the replica's NICs); the share is what transfer engines were measured
at. An untuned fabric keeps, of that, what it keeps of a collective. TCP has its own share, up to what a node manages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.fabric.accelerator import CollectiveConstants, Fabric, Tuning
from app.fabric.estimate import Estimate
from app.fabric.inference_data import ServingData
from app.fabric.inference_job import ServingJob

Transport = Literal["rdma", "tcp"]
Enough = Literal["enough", "keeps up", "too slow"]


@dataclass(frozen=True, slots=True)
class Link:
    """NICs of a node, and what runs over them."""

    nics_per_node: int
    nic_gbps: int
    transport: Transport = "rdma"
    tuning: Tuning = "tuned"

    @property
    def name(self) -> str:
        words = f"{self.nics_per_node}x{self.nic_gbps}G {self.transport.upper()}"
        return words if self.tuning == "tuned" else f"{words}, {self.tuning}"


@dataclass(frozen=True, slots=True)
class Transfer:
    """One request's KV cache over one link, beside the prefill.

    `share_of_prefill` is what it adds to the first token where it is not overlapped; `load` is the demand over
    what the link carries, at the fastest prefill or at the stated request rate.
    """

    link: Link
    rate_gbytes_per_s: Estimate  # of one replica; low is the slowest
    time_s: Estimate
    share_of_prefill: float
    load: float
    enough: Enough


def transfer_s(kv_gbytes: float, rate_gbytes_per_s: Estimate, start_ms: Estimate) -> Estimate:
    """Seconds; the fastest end has the highest rate and the shortest start."""
    return Estimate(
        start_ms.low / 1e3 + kv_gbytes / rate_gbytes_per_s.high,
        start_ms.typical / 1e3 + kv_gbytes / rate_gbytes_per_s.typical,
        start_ms.high / 1e3 + kv_gbytes / rate_gbytes_per_s.low,
    )


def link_rate(job: ServingJob, link: Link, data: ServingData, constants: CollectiveConstants) -> Estimate:
    """GB/s that one replica gets out of a link."""
    line = job.line_gbytes_per_s(link.nics_per_node, link.nic_gbps)
    if link.transport == "tcp":
        part = job.tp / job.gpus_per_node  # of a node, or of several
        share, most = data.tcp_share.share, data.tcp_node_gbytes_per_s.share
        ends = (
            min(line * of_line, of_node * part)
            for of_line, of_node in ((share.low, most.low), (share.typical, most.typical), (share.high, most.high))
        )
        return Estimate(*ends)
    share = data.rdma_share.share
    kept = _kept(constants, job.fabric, link.tuning)
    return Estimate(share.low * kept.low, share.typical * kept.typical, share.high * kept.high) * line


def compare_links(
    job: ServingJob,
    kv_gbytes: float,
    prefill_s: Estimate,
    data: ServingData,
    constants: CollectiveConstants,
) -> tuple[Transfer, ...]:
    """Every option side by side, the slowest first, then the untuned ones and TCP."""
    made = []
    for link in _links(job):
        rate = link_rate(job, link, data, constants)
        time = transfer_s(kv_gbytes, rate, data.start_ms.share)
        share = time.typical / prefill_s.typical
        load = needed_gbytes_per_s(job, kv_gbytes, prefill_s).high / rate.typical
        made.append(Transfer(link, rate, time, share, load, _enough(share, load, data)))
    return tuple(made)


def needed_gbytes_per_s(job: ServingJob, kv_gbytes: float, prefill_s: Estimate) -> Estimate:
    """What one replica's prefills put on the network: back to back, or at the stated rate."""
    if job.requests_per_s is not None:
        return Estimate.exact(job.requests_per_s / job.replicas * kv_gbytes)
    return Estimate(kv_gbytes / prefill_s.high, kv_gbytes / prefill_s.typical, kv_gbytes / prefill_s.low)


def slowest_enough(transfers: tuple[Transfer, ...], grades: tuple[Enough, ...] = ("enough",)) -> Transfer | None:
    """The link of the lowest line rate with one of these grades; TCP counts as the slowest of its speed."""
    fit = [one for one in transfers if one.enough in grades and one.link.tuning == "tuned"]
    return min(fit, key=_speed, default=None)


def _speed(one: Transfer) -> tuple[int, bool]:
    return one.link.nics_per_node * one.link.nic_gbps, one.link.transport == "rdma"


def _links(job: ServingJob) -> list[Link]:
    nics = job.nics_per_node
    speeds = sorted({100, 200, 400, job.nic_gbps})
    links = [Link(1, job.nic_gbps)] if nics > 1 else []
    links += [Link(nics, speed) for speed in speeds]
    other: Tuning = "default" if job.tuning == "tuned" else job.tuning
    if job.fabric == "roce" or other == "mis-tuned":
        links += [Link(nics, speed, tuning=other) for speed in speeds]
    return [*links, *(Link(nics, speed, "tcp") for speed in speeds)]


def _kept(constants: CollectiveConstants, fabric: Fabric, tuning: Tuning) -> Estimate:
    """What an untuned fabric keeps of the tuned one's rate."""
    if tuning == "tuned":
        return Estimate.exact(1.0)
    untuned, tuned = constants.efficiencies[tuning, fabric].share, constants.efficiencies["tuned", fabric].share
    return Estimate(*(min(1.0, one / tuned.typical) for one in (untuned.low, untuned.typical, untuned.high)))


def _enough(share_of_prefill: float, load: float, data: ServingData) -> Enough:
    if load > data.enough_load.share.typical:
        return "too slow"
    return "enough" if share_of_prefill <= data.enough_transfer.share.typical else "keeps up"
