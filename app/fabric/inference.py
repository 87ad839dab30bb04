"""Serving a model: what crosses the network, how long it takes, and whether that is hidden.

Three kinds of traffic: the KV cache from prefill to decode replicas (app/fabric/inference_transfer.py), the
all-reduces of tensor parallelism and the exchange between experts (app/fabric/inference_time.py), beside the
memory and the time of the arithmetic that they have to hide behind. Every collective comes from
app/fabric/collective.py; constants are data (knowledge/catalog/inference.yaml).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.fabric.accelerator import Accelerators, Fabric, Tuning
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.collective import Collective
from app.fabric.estimate import Estimate
from app.fabric.inference_data import ServingData
from app.fabric.inference_job import ServingJob, check_job
from app.fabric.inference_memory import ServingMemory, memory_of
from app.fabric.inference_notes import assumptions_of
from app.fabric.inference_time import (
    ExpertExchange,
    all_reduces,
    decode_s,
    expert_dispatch,
    expert_exchange,
    prefill_s,
    tp_all_reduce,
)
from app.fabric.inference_transfer import Link, Transfer, compare_links, link_rate, needed_gbytes_per_s, slowest_enough
from app.fabric.inference_transfer import transfer_s as transfer_time
from app.fabric.job import Precision, unknown_model
from app.fabric.transformer import Transformer


@dataclass(frozen=True, slots=True)
class Inference:
    """One way of serving. `transfer_s` is over the given NICs and tuning; `links` holds the others beside them."""

    job: ServingJob
    memory: ServingMemory
    prefill_s: Estimate
    decode_s: Estimate
    transfer_s: Estimate
    links: tuple[Transfer, ...]
    needed_gbytes_per_s: Estimate  # of one replica
    rate_gbytes_per_s: Estimate
    all_reduce: Collective | None  # of a decode step, as the replica is laid out
    all_reduce_two_nodes: Collective | None
    all_reduce_prefill: Collective | None  # of a whole prompt
    experts: ExpertExchange | None
    expert_prefill: tuple[Collective, Collective] | None  # one layer's dispatch and combine
    data: ServingData

    @property
    def enough(self) -> Transfer | None:
        """The slowest link that is enough for the KV cache."""
        return slowest_enough(self.links)

    @property
    def keeps_up(self) -> Transfer | None:
        """The slowest link that carries the demand, whatever it adds to the first token."""
        return slowest_enough(self.links, ("enough", "keeps up"))

    @property
    def needs_400g(self) -> str:
        """Whether every NIC has to be 400 Gb/s RDMA: no, yes, and why; "only for the first token" where links carry
        the demand but none is fast enough to go unnoticed; "not enough either" where none carries it.

        Tensor parallelism and experts that leave their NVLink domain move far more than KV caches do.
        """
        if self.job.ep_crosses:
            return "yes, for the experts"
        if self.job.tp_crosses:
            return "yes, for tensor parallelism"
        if self.enough is None:
            return "not enough either" if self.keeps_up is None else "only for the first token"
        link = self.enough.link
        full = self.job.nics_per_node * 400
        return "yes" if link.transport == "rdma" and link.nics_per_node * link.nic_gbps >= full else "no"

    def all_reduces_s(self, one: Collective | None) -> Estimate | None:
        """All of a decode step, or of a prefill."""
        return None if one is None else one.time_range_us * (all_reduces(self.job) / 1e6)

    @property
    def assumptions(self) -> tuple[Bilingual, ...]:
        return assumptions_of(self.job, fits=self.memory.fits, experts_known=self.experts is not None)

    @property
    def sources(self) -> tuple[Source, ...]:
        data, job = self.data, self.job
        rates = [data.rdma_share, data.start_ms, data.prefill_share, data.memory_share, data.usable_memory]
        used = [
            *job.model.sources,
            *(source for rate in [*rates, data.tcp_node_gbytes_per_s] for source in rate.sources),
        ]
        used += [data.experts.source] if self.experts else []
        used += [job.gpu.compute.source] if job.gpu.compute else []
        for one in (self.all_reduce, self.all_reduce_two_nodes, *(self.expert_prefill or ())):
            used += one.sources if one else ()
        return tuple(dict.fromkeys(used))

    def calculation(self) -> Calculation:
        job = self.job
        return Calculation(
            tool="inference",
            inputs=_inputs(job),
            values={**self._network(), **self._memory(), **self._decode(), **self._experts()},
            assumptions=self.assumptions,
            sources=self.sources,
            rows=tuple(_row(one, self) for one in self.links),
            label=job.fabric if job.tuning == "tuned" else f"{job.fabric} ({job.tuning})",
        )

    def _network(self) -> dict[str, Value]:
        over = self.transfer_s.typical / self.prefill_s.typical
        fastest, slowest = self.transfer_s.low / self.prefill_s.high, self.transfer_s.high / self.prefill_s.low
        return {
            "needs_400g_rdma": Value(self.needs_400g),
            "slowest_enough": Value(self.enough.link.name if self.enough else "none"),
            "slowest_that_keeps_up": Value(self.keeps_up.link.name if self.keeps_up else "none"),
            "kv_bytes_per_token": Value(self.memory.kv_bytes_per_token, "B"),
            "kv_gbytes_per_request": Value(self.memory.kv_request_gbytes, "GB"),
            "prefill_s": Value.of(self.prefill_s, "s"),
            "kv_transfer_s": Value.of(self.transfer_s, "s"),
            "transfer_over_prefill": Value(over, "share", fastest, slowest),
            "needed_gbytes_per_s_per_gpu": Value.of(self.needed_gbytes_per_s * (1 / self.job.tp), "GB/s"),
            "link_gbytes_per_s_per_gpu": Value.of(self.rate_gbytes_per_s * (1 / self.job.tp), "GB/s"),
            "most_requests_per_s": Value(
                self.job.replicas / self.prefill_s.typical,
                "",
                self.job.replicas / self.prefill_s.high,
                self.job.replicas / self.prefill_s.low,
            ),
        }

    def _memory(self) -> dict[str, Value]:
        memory = self.memory
        return {
            "weights_gbytes": Value(memory.weights_gbytes, "GB"),
            "memory_needed_gbytes": Value(memory.needed_gbytes, "GB"),
            "memory_usable_gbytes": Value(memory.usable_gbytes, "GB"),
            "fits": Value("yes" if memory.fits else "no"),
            "most_concurrent": Value(memory.most_concurrent),
        }

    def _decode(self) -> dict[str, Value]:
        values = {"decode_read_s": Value.of(self.decode_s, "s")}
        for name, one in (("", self.all_reduce), ("_two_nodes", self.all_reduce_two_nodes)):
            spent = self.all_reduces_s(one)
            if one is not None and spent is not None:
                step = self.decode_s + spent
                values[f"tp_all_reduce{name}_us"] = Value.of(one.time_range_us, "us")
                values[f"tp_all_reduce{name}_s_per_token"] = Value.of(spent, "s")
                values[f"tp_share{name}"] = Value(spent.typical / step.typical, "share")
        whole = self.all_reduces_s(self.all_reduce_prefill)
        return values | ({"tp_prefill_s": Value.of(whole, "s")} if whole else {})

    def _experts(self) -> dict[str, Value]:
        values: dict[str, Value] = {}
        if self.experts is not None:
            values["moe_dispatch_us"] = Value.of(self.experts.dispatch_us, "us")
            values["moe_combine_us"] = Value.of(self.experts.combine_us, "us")
            values["moe_s_per_token"] = Value.of(self.experts.step_s, "s")
        if self.expert_prefill is not None:
            dispatch, combine = self.expert_prefill
            each = dispatch.time_range_us + combine.time_range_us
            values["moe_prefill_s"] = Value.of(each * (self.job.model.expert_layers / 1e6), "s")
        return values


def _inputs(job: ServingJob) -> dict[str, Scalar]:
    given = {name: getattr(job, name) for name in ServingJob.__dataclass_fields__ if name not in ("model", "gpu")}
    return {"model": job.model.id, "model_name": job.model.name, "gpu": job.gpu.id, **given}


def _row(one: Transfer, made: Inference) -> dict[str, Scalar]:
    line_gbytes_per_s = made.job.line_gbytes_per_s(one.link.nics_per_node, one.link.nic_gbps)
    return {
        "link": one.link.name,
        "line_rate_ms": round(1e3 * made.memory.kv_request_gbytes / line_gbytes_per_s, 3),
        "replica_gbytes_per_s": round(one.rate_gbytes_per_s.typical, 3),
        "transfer_ms": round(one.time_s.typical * 1e3, 3),
        "transfer_ms_low": round(one.time_s.low * 1e3, 3),
        "transfer_ms_high": round(one.time_s.high * 1e3, 3),
        "percent_of_prefill": round(100 * one.share_of_prefill, 2),
        "load_percent": round(100 * one.load, 2),
        "enough": one.enough,
    }


def estimate_inference(
    accelerators: Accelerators,
    models: Mapping[str, Transformer],
    data: ServingData,
    *,
    model: str | Transformer,
    gpus: int = 8,
    gpu: str = "h100",
    tp: int | None = None,
    ep: int | None = None,
    prompt_tokens: int = 32_768,
    output_tokens: int = 512,
    concurrent: int = 1,
    requests_per_s: float | None = None,
    precision: Precision = "bf16",
    kv_precision: Precision = "bf16",
    fabric: Fabric = "infiniband",
    tuning: Tuning = "tuned",
    gpus_per_node: int | None = None,
    nics_per_node: int | None = None,
    nic_gbps: int | None = None,
) -> Inference:
    """How a model is served on so many GPUs, and what its network has to carry.

    `tp` defaults to the GPUs of a node, `ep` to all GPUs (the most that divide the experts), NICs to those of the
    GPU's standard server. Raises AdvisorError that names the constraint and the nearest value that fits.
    """
    found = accelerators.find(gpu)
    one = models.get(model.strip().lower()) if isinstance(model, str) else model
    if one is None:
        raise unknown_model(str(model), tuple(models))
    per_node = gpus_per_node or found.gpus_per_node
    experts = 1 if one.experts is None else one.experts.experts
    job = ServingJob(
        model=one,
        gpu=found,
        gpus=gpus,
        gpus_per_node=per_node,
        tp=min(gpus, per_node) if tp is None else tp,
        ep=_largest_divisor(experts, gpus) if ep is None else ep,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        concurrent=concurrent,
        requests_per_s=requests_per_s,
        precision=precision,
        kv_precision=kv_precision,
        fabric=fabric,
        tuning=tuning,
        nics_per_node=found.nics_per_node if nics_per_node is None else nics_per_node,
        nic_gbps=found.nic_gbps if nic_gbps is None else nic_gbps,
    )
    check_job(job)
    memory, prefill = memory_of(job, data.usable_memory.share.typical), prefill_s(job, data)
    link = Link(job.nics_per_node, job.nic_gbps, tuning=job.tuning)
    rate = link_rate(job, link, data, accelerators.constants)
    return Inference(
        job=job,
        memory=memory,
        prefill_s=prefill,
        decode_s=decode_s(job, data),
        transfer_s=transfer_time(memory.kv_request_gbytes, rate, data.start_ms.share),
        links=compare_links(job, memory.kv_request_gbytes, prefill, data, accelerators.constants),
        needed_gbytes_per_s=needed_gbytes_per_s(job, memory.kv_request_gbytes, prefill),
        rate_gbytes_per_s=rate,
        all_reduce=tp_all_reduce(accelerators, job, nodes=job.replica_nodes, tokens=job.concurrent),
        all_reduce_two_nodes=None
        if job.replica_nodes > 1
        else tp_all_reduce(accelerators, job, nodes=2, tokens=job.concurrent),
        all_reduce_prefill=tp_all_reduce(accelerators, job, nodes=job.replica_nodes, tokens=job.prompt_tokens),
        experts=expert_exchange(job, data.experts),
        expert_prefill=_expert_prefill(accelerators, job),
        data=data,
    )


def _expert_prefill(accelerators: Accelerators, job: ServingJob) -> tuple[Collective, Collective] | None:
    """Each GPU holds its part of a prompt; FP8 goes out and BF16 comes back, as DeepEP does."""
    tokens = max(1, job.prompt_tokens // job.tp)
    dispatch = expert_dispatch(accelerators, job, tokens=tokens, value_bytes=1)
    combine = expert_dispatch(accelerators, job, tokens=tokens, value_bytes=2)
    return None if dispatch is None or combine is None else (dispatch, combine)


def _largest_divisor(number: int, most: int) -> int:
    return max((size for size in range(1, min(number, max(1, most)) + 1) if number % size == 0), default=1)
