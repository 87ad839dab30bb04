"""What an estimate of serving assumed, in both languages."""

from __future__ import annotations

from app.fabric.calculation import Bilingual
from app.fabric.inference_job import ServingJob

_TRANSFER = Bilingual(
    "Prefill and decode run on separate replicas, so every KV cache crosses the network once. Transfer engines "
    "reached 47 to 97 % of the line rate; 77 % is Mooncake between two 8-GPU nodes on RoCE.",
    "预填充与解码在不同副本上运行，每个请求的 KV 缓存要跨网络传一次。传输引擎实测达线速的 47% 至 97%；77% 取自 "
    "Mooncake 在两台 8 卡 RoCE 节点间的测试。",
)
_OVERLAP = Bilingual(
    "The share of the prefill is what the transfer adds to the first token if nothing overlaps; engines that send "
    "layer by layer hide most of it.",
    "“占预填充的比例”指完全不重叠时传输给首 token 增加的时间；逐层发送的引擎可隐藏其中大部分。",
)
_PREFILL = Bilingual(
    "A prefill is bound by arithmetic. 50 % of the dense peak is our assumption; the range runs from 14 % (an 8B model "
    "over eight H800, Mooncake) to what single matrix products reach, and counts the all-reduces inside a node. "
    "Prompts found in a prefix cache need neither.",
    "预填充受算力限制。取稠密峰值的 50% 为我们的假设；范围从 14%（Mooncake：8B 模型分布在八块 H800 上）"
    "到单个矩阵乘法的实测上限，已含节点内的 all-reduce。"
    "命中前缀缓存的部分两者都不需要。",
)
_DECODE = Bilingual(
    "A decode step reads weights and KV cache once at 50 to 85 % of the memory's rate (85 % as calculon; the rest is "
    "ours). All-reduce times are NCCL's; serving engines have faster kernels inside a node.",
    "解码步按显存峰值带宽的 50% 至 85% 读取一遍权重与 KV 缓存（85% 取自 calculon，其余为我们的假设）。all-reduce 按 "
    "NCCL 计；推理引擎在节点内有更快的内核。",
)
_MEMORY = Bilingual(
    "Engines fill 90 % of the memory (vLLM's default); activations are left out.",
    "引擎占用显存的 90%（vLLM 默认值），未计激活值。",
)
_ENOUGH = Bilingual(
    "We call a link enough if the transfer adds at most 10 % to the prefill and the demand stays below 80 % of it at "
    "the fastest prefill; both limits are ours.",
    "传输时间不超过预填充的 10%，且在最快预填充下负载低于 80%，即视为够用；两个界限均为我们所定。",
)
_NETWORK_SHARE = Bilingual(
    "A replica gets its share of the node's NICs, as if all replicas of the node send at once.",
    "每个副本按比例分得节点网卡带宽，相当于节点内所有副本同时发送。",
)
_TCP = Bilingual(
    "TCP carried 36 to 41 GB/s a node in Mooncake's comparison; an untuned TCP path between two H200 nodes "
    "carried 3.8.",
    "TCP 在 Mooncake 的对比中每节点 36 至 41 GB/s；两台 H200 节点间未调优的 TCP 仅 3.8 GB/s。",
)
_EXPERTS = Bilingual(
    "Dispatch and combine are DeepEP's published times (H800, 400G InfiniBand, 128 tokens a GPU), not overlapped.",
    "dispatch 与 combine 为 DeepEP 公布的时间（H800、400G InfiniBand、每卡 128 token），未计重叠。",
)
_NO_EXPERTS = Bilingual(
    "No published low-latency figure fits this GPU, link or number of expert-parallel GPUs, so decode's expert "
    "exchange is left out.",
    "没有与该 GPU、链路或专家并行规模相符的公开低时延数据，因此未给出解码阶段的专家交换时间。",
)
_CROSSES = Bilingual(
    "The verdict on KV caches is not the verdict on the network: what tensor parallelism or the experts send between "
    "nodes comes on top, and the published figures for it are all of 400G RDMA.",
    "KV 缓存够用不等于网络够用：张量并行或专家在节点间的通信另计，且其公开数据均来自 400G RDMA。",
)
_RACK = Bilingual(
    "Between replicas in one NVLink rack the cache can go over NVLink; the network counts between racks.",
    "同一 NVLink 机柜内的副本之间可经 NVLink 传输缓存；机柜之间才用网络。",
)
_LATENT = Bilingual(
    "Latent attention (MLA): the cache holds the compressed latent and the rotary key; it is sent once a request.",
    "潜在注意力（MLA）：缓存只保存压缩后的潜变量与旋转位置键，每个请求发送一次。",
)


def assumptions_of(job: ServingJob, *, fits: bool, experts_known: bool) -> tuple[Bilingual, ...]:
    """Those that matter most first."""
    notes = [_TRANSFER, _OVERLAP, _PREFILL, _ENOUGH]
    if job.tp_crosses or job.ep_crosses:
        notes.insert(0, _CROSSES)
    if not fits:
        notes.insert(0, _does_not_fit(job))
    if job.tp < job.gpus_per_node:
        notes.append(_NETWORK_SHARE)
    if job.gpu.spans_nodes:
        notes.append(_RACK)
    notes += [_DECODE, _MEMORY, _TCP]
    if job.model.latent is not None:
        notes.append(_LATENT)
    if job.model.experts is not None:
        notes.append(_EXPERTS if experts_known else _NO_EXPERTS)
    return tuple(notes)


def _does_not_fit(job: ServingJob) -> Bilingual:
    return Bilingual(
        f"The model and {job.concurrent} requests do not fit on {job.tp} x {job.gpu.name}; the times are as "
        "if they did.",
        f"模型加 {job.concurrent} 个请求放不进 {job.tp} 块 {job.gpu.name}；以下时间按假定放得下计算。",
    )
