"""A measured nccl-tests table against the bound and the model: how good is this fabric?"""

from __future__ import annotations

from app.errors import AdvisorError
from app.fabric.accelerator import Accelerator, Accelerators, Fabric
from app.fabric.assess_findings import findings_of
from app.fabric.bound import Operation
from app.fabric.calculation import Bilingual, Calculation, Value
from app.fabric.collective import Collective, estimate_collective
from app.fabric.message_size import parse_nics
from app.fabric.nccl_log import NcclLog, parse_nccl_log


def assess_log(
    text: str,
    accelerators: Accelerators,
    gpu: str | None = None,
    nics: tuple[int, int] | str | None = None,
    *,
    op: Operation | None = None,
    nodes: int | None = None,
    fabric: Fabric = "roce",
) -> Calculation:
    """The largest message of the table in `text` (nccl-tests or rccl-tests output) beside its bound.

    What is not given is read from the log, and NICs ((8, 400) or "8x400") from the GPU's standard server.
    `rows` holds the findings, gravest first: {code, level (fault | look | ok), en, zh}. Raises AdvisorError
    where the log does not tell and nothing was given.
    """
    log = parse_nccl_log(text, op=op)
    accelerator = accelerators.find(gpu) if gpu else _named(log, accelerators)
    if log.op is None:
        raise AdvisorError(
            "The table does not tell which collective it measured.",
            "Keep the line with the *_perf command in the log, or name the collective.",
            code="unknown_operation",
        )
    nodes, per_node = _shape(log, accelerator, nodes)
    count, gbps = (parse_nics(nics) if isinstance(nics, str) else nics) or (
        accelerator.nics_per_node * per_node // accelerator.gpus_per_node or 1,
        accelerator.nic_gbps,
    )

    def model(bytes: int) -> Collective:
        return estimate_collective(
            accelerators,
            op=log.op or "all-reduce",
            nodes=nodes,
            gpus_per_node=per_node,
            gpu=accelerator.id,
            fabric=fabric,
            nics_per_node=count,
            nic_gbps=gbps,
            bytes=bytes,
        )

    models = tuple(model(row.bytes) for row in log.rows)
    row, bulk = log.rows[-1], models[-1]
    findings = findings_of(log.rows, models)
    return Calculation(
        tool="assess",
        inputs={
            "op": log.op,
            "gpu": accelerator.id,
            "nodes": nodes,
            "gpus_per_node": per_node,
            "nics_per_node": count,
            "nic_gbps": gbps,
            "bytes": row.bytes,
        },
        values={
            "busbw_gbytes_per_s": Value(row.busbw_gbytes_per_s, "GB/s"),
            "algbw_gbytes_per_s": Value(row.algbw_gbytes_per_s, "GB/s"),
            "time_us": Value(row.time_us, "us"),
            "bound_gbytes_per_s": Value(bulk.bound_gbytes_per_s, "GB/s"),
            "fraction_of_bound": Value(row.busbw_gbytes_per_s / bulk.bound_gbytes_per_s),
            "expected_busbw_gbytes_per_s": Value.of(bulk.busbw_range_gbytes_per_s, "GB/s"),
            "smallest_message_us": Value(log.rows[0].time_us, "us"),
        },
        assumptions=(_what_was_read(log, accelerator, nics is None), *bulk.assumptions),
        sources=bulk.sources,
        rows=tuple(
            {"code": finding.code, "level": finding.level, "en": finding.text.en, "zh": finding.text.zh}
            for finding in findings
        ),
        label=fabric,
    )


def _named(log: NcclLog, accelerators: Accelerators) -> Accelerator:
    """The accelerator whose id stands in the device name of the log; of several (b200, gb200) the longest."""
    name = log.gpu_name.lower()
    fitting = [one for one in accelerators.by_id.values() if one.id in name]
    if not fitting:
        raise AdvisorError(
            "The log does not name a GPU that is known.",
            f"Name it, one of {', '.join(accelerators.by_id)}.",
            code="unknown_gpu",
            values={"gpu": log.gpu_name, "known": ", ".join(accelerators.by_id)},
        )
    return max(fitting, key=lambda one: len(one.id))


def _shape(log: NcclLog, gpu: Accelerator, nodes: int | None) -> tuple[int, int]:
    """Nodes, and GPUs in each. Raises AdvisorError where they cannot be told or do not divide."""
    if log.gpus is None:
        raise AdvisorError(
            "The log does not tell how many GPUs took part.",
            "Keep the lines that begin with '# Rank' in it, or a message of 1 MiB and more.",
            code="unknown_gpus",
        )
    nodes = nodes or log.hosts or max(1, log.gpus // gpu.gpus_per_node)
    if nodes < 1 or log.gpus % nodes:
        raise AdvisorError(
            f"{log.gpus} GPUs do not spread evenly over {nodes} nodes.",
            f"Give a number of nodes that divides {log.gpus}.",
            code="uneven_nodes",
            values={"gpus": log.gpus, "nodes": nodes},
        )
    return nodes, log.gpus // nodes


def _what_was_read(log: NcclLog, gpu: Accelerator, standard_nics: bool) -> Bilingual:
    en = f"Read from the log: {log.op}, {log.gpus} GPUs; the largest message counts."
    zh = f"取自日志：{log.op}，{log.gpus} 个 GPU；以最大消息为准。"
    if standard_nics:
        en += f" NICs are those of a standard {gpu.name} server ({gpu.nics_per_node}x{gpu.nic_gbps}G)."
        zh += f"网卡按 {gpu.name} 标准服务器计（{gpu.nics_per_node}×{gpu.nic_gbps}G）。"
    return Bilingual(en, zh)
