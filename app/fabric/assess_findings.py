"""What a measured nccl-tests table says about a fabric, as sentences with what to check next.

The measured busbw is judged against what the model expects of a tuned fabric, not against the bound alone: a
bound that nobody reaches (trees without NVLS, many NVLink racks) would accuse every fabric. The thresholds
were each seen in a published run (eval/reference/collectives.csv): 0.26 to 0.45 of the bound in a mis-tuned
fabric, below 0.01 over TCP sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.fabric.calculation import Bilingual
from app.fabric.collective import Collective
from app.fabric.estimate import Estimate
from app.fabric.nccl_log import LogRow

Level = Literal["ok", "look", "fault"]
LARGE_BYTES = 64 * 2**20
_SMALL_BYTES = 4096
_DIP, _RAMP = 0.85, 0.7
_UNTUNED, _MISTUNED, _SOCKETS = 0.75, 0.2, 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence; `code` names it for scripts and tests."""

    code: str
    level: Level
    text: Bilingual


def findings_of(rows: tuple[LogRow, ...], models: tuple[Collective, ...]) -> tuple[Finding, ...]:
    """Findings, the gravest first; `models` are what the model expects of each row."""
    bulk = models[-1]
    found = [*_wrong(rows), *_share(rows[-1], bulk), *_rails(rows[-1], bulk)]
    found += [*_dip(rows), *_ramp(rows, models)]
    if len(rows) > 1:
        found += _latency(rows[0], models[0])
    if bulk.domains == 2 and bulk.inputs.op == "all-reduce":
        found.append(_TWO_NODES)
    order = {"fault": 0, "look": 1, "ok": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.level]))


_TWO_NODES = Finding(
    "two-nodes",
    "ok",
    Bilingual(
        "Between two nodes NCCL's tree can hide a slow NIC: repeat with NCCL_ALGO=RING, which has to reach "
        "46 to 48 GB/s per 400G NIC (24 per 200G).",
        "两节点时 NCCL 的树算法会掩盖慢网卡：请加 NCCL_ALGO=RING 重测，每块 400G 网卡应达 46 至 48 "
        "GB/s（200G 为 24）。",
    ),
)


def _wrong(rows: tuple[LogRow, ...]) -> list[Finding]:
    wrong = sum(row.wrong for row in rows)
    if not wrong:
        return []
    return [
        Finding(
            "wrong-data",
            "fault",
            Bilingual(
                f"{wrong} elements arrived wrong: find the faulty link or GPU before measuring speed.",
                f"有 {wrong} 个元素结果错误：先找出故障链路或 GPU，再谈速度。",
            ),
        )
    ]


def _share(row: LogRow, bulk: Collective) -> list[Finding]:
    if row.bytes < LARGE_BYTES:
        return [
            Finding(
                "too-small",
                "look",
                Bilingual(
                    f"The largest message is {row.bytes} bytes: run to 8 GiB (-e 8G) to judge bandwidth.",
                    f"最大消息仅 {row.bytes} 字节：请测到 8 GiB（-e 8G）再判断带宽。",
                ),
            )
        ]
    busbw, expected = row.busbw_gbytes_per_s, bulk.busbw_range_gbytes_per_s
    share = _percent(busbw / bulk.bound_gbytes_per_s)
    code, level, text = _inside(busbw, bulk) if bulk.domains == 1 else _between(busbw, expected)
    span = f"{expected.low:.0f}-{expected.high:.0f} GB/s"
    whole = Bilingual(
        f"{busbw:.1f} GB/s is {share} of the bound (tuned fabrics reach {span}): {text.en}",
        f"{busbw:.1f} GB/s 为上限的 {share}（调优良好时为 {span}）：{text.zh}",
    )
    return [Finding(code, level, whole)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def _between(busbw: float, expected: Estimate) -> tuple[str, Level, Bilingual]:
    share = busbw / expected.typical
    if busbw > 1.06 * expected.high:
        return (
            "above-bound",
            "look",
            Bilingual(
                "more than these NICs can carry; check --nics and --gpu, or SHARP is on.",
                "超过所给网卡的能力；请核对 --nics 与 --gpu，或已启用 SHARP。",
            ),
        )
    if busbw >= 0.98 * expected.low:
        return "tuned", "ok", Bilingual("as a tuned fabric does.", "属调优良好的水平。")
    if share >= _UNTUNED:
        return (
            "below-tuned",
            "look",
            Bilingual(
                "somewhat below a tuned fabric; check NCCL_IB_QPS_PER_CONNECTION, rail and NUMA "
                "affinity, ECN "
                "and PFC counters, adaptive routing.",
                "略低于调优水平；检查 NCCL_IB_QPS_PER_CONNECTION、轨道与 NUMA 亲和、ECN/PFC "
                "计数与自适应路由。",
            ),
        )
    if share >= _MISTUNED:
        return (
            "mis-tuned",
            "fault",
            Bilingual(
                "the range of published mis-tuned runs (26 to 45 %) and of colliding flows (60 to 72 %); "
                "check "
                "GPUDirect RDMA in the NCCL_DEBUG=INFO log, PCIe ACS, NCCL_IB_HCA, and hash collisions on "
                "uplinks.",
                "落在公开的调优失当案例（26% 至 45%）与流哈希冲突（60% 至 72%）区间；检查 NCCL_DEBUG=INFO "
                "中的 GPUDirect "
                "RDMA、PCIe ACS、NCCL_IB_HCA 与上行链路哈希冲突。",
            ),
        )
    if share >= _SOCKETS:
        return (
            "few-nics",
            "fault",
            Bilingual(
                "only one or few NICs carry traffic, or data goes through host memory; check NCCL_IB_HCA and "
                "GPUDirect RDMA.",
                "只有一块或少数网卡在传输，或数据经主机内存；检查 NCCL_IB_HCA 与 GPUDirect RDMA。",
            ),
        )
    return (
        "no-rdma",
        "fault",
        Bilingual(
            "RDMA is off: a published run over TCP sockets shows 0.7 %; look for NET/Socket in the NCCL log.",
            "RDMA 未启用：公开的 TCP 套接字测试为 0.7%；请在 NCCL 日志中查找 NET/Socket。",
        ),
    )


def _inside(busbw: float, bulk: Collective) -> tuple[str, Level, Bilingual]:
    ring = bulk.accelerator.ring_gbytes_per_s
    if busbw >= 0.93 * bulk.busbw_gbytes_per_s:
        return "nvlink-full", "ok", Bilingual("as NVLink or xGMI should.", "NVLink/xGMI 达到应有水平。")
    if bulk.way == "nvls" and 0.9 * ring <= busbw <= 1.04 * ring:
        return (
            "nvls-off",
            "look",
            Bilingual(
                "the rate of a ring, so the switches do not reduce; check NCCL_NVLS_ENABLE and the fabric "
                "manager.",
                "相当于环算法的速率，交换机未做规约；检查 NCCL_NVLS_ENABLE 与 fabric manager。",
            ),
        )
    return (
        "nvlink-low",
        "fault",
        Bilingual(
            "NVLink or xGMI falls short; check nvidia-smi nvlink -s (rocm-smi on AMD) and the fabric "
            "manager.",
            "NVLink/xGMI 未达标；检查 nvidia-smi nvlink -s（AMD 用 rocm-smi）与 fabric manager。",
        ),
    )


def _rails(row: LogRow, bulk: Collective) -> list[Finding]:
    """Whether the rate is what some of the NICs would carry."""
    nics, share = bulk.inputs.nics_per_node, row.busbw_gbytes_per_s / bulk.busbw_gbytes_per_s
    working = round(share * nics)
    if (
        bulk.dominant != "nic"
        or bulk.accelerator.spans_nodes
        or row.bytes < LARGE_BYTES
        or not 0 < working < nics
        or share > 0.93
    ):
        return []
    if abs(share - working / nics) > 0.02:
        return []
    return [
        Finding(
            "rails-missing",
            "look",
            Bilingual(
                f"That is what {working} of {nics} NICs carry: check that every one is up and used.",
                f"恰为 {nics} 块网卡中 {working} 块的速率：检查是否每块都在线并被使用。",
            ),
        )
    ]


def _dip(rows: tuple[LogRow, ...]) -> list[Finding]:
    """The first size, of 1 MiB or more, at which busbw falls well below what a smaller size reached."""
    best = 0.0
    for row in rows:
        busbw = row.busbw_gbytes_per_s
        if row.bytes >= 2**20 and busbw < _DIP * best:
            text = Bilingual(
                f"busbw falls at {row.bytes} bytes to {busbw:.1f} from {best:.1f} GB/s: congestion, a "
                "retransmitting link, or another algorithm; repeat and watch the counters.",
                f"在 {row.bytes} 字节处 busbw 由 {best:.1f} 降至 {busbw:.1f} GB/s：拥塞、链路重传或算法切换；"
                "请重测并观察计数器。",
            )
            return [Finding("dip", "look", text)]
        best = max(best, busbw)
    return []


def _ramp(rows: tuple[LogRow, ...], models: tuple[Collective, ...]) -> list[Finding]:
    """The size of 32 MiB to 1 GiB that lags most behind the model, where a tuned fabric is already fast."""
    middle = [
        (row.busbw_gbytes_per_s / model.busbw_range_gbytes_per_s.low, row, model)
        for row, model in zip(rows, models, strict=True)
        if 32 * 2**20 <= row.bytes <= 2**30
    ]
    share, row, model = min(middle, key=lambda one: one[0], default=(1.0, rows[-1], models[-1]))
    if share >= _RAMP or row is rows[-1]:
        return []
    busbw, size, expected = row.busbw_gbytes_per_s, row.bytes // 2**20, model.busbw_range_gbytes_per_s
    span = f"{expected.low:.0f}-{expected.high:.0f} GB/s"
    text = Bilingual(
        f"At {size} MiB only {busbw:.0f} GB/s, where tuned fabrics reach {span}: too few channels or queue "
        "pairs, or a slow first phase; gradients travel in such sizes.",
        f"{size} MiB 时仅 {busbw:.0f} GB/s，而调优良好时为 {span}："
        "通道或队列对过少，或启动阶段过慢；梯度正是以这类大小传输。",
    )
    return [Finding("slow-ramp", "look", text)]


def _latency(row: LogRow, small: Collective) -> list[Finding]:
    high = small.time_range_us.high
    if row.bytes > _SMALL_BYTES or row.time_us <= 1.3 * high:
        return []
    text = Bilingual(
        f"The smallest message takes {row.time_us:.0f} us, the model says {small.time_us:.0f} "
        f"(at most {high:.0f}): a slow first hop, a transport such as EFA, or one process driving all GPUs.",
        f"最小消息耗时 {row.time_us:.0f} us，模型为 {small.time_us:.0f}（至多 {high:.0f}）："
        "首跳慢、EFA 等云传输，或单进程驱动全部 GPU。",
    )
    return [Finding("slow-start", "look", text)]
