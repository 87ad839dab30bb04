"""What a collective estimate assumed, in both languages."""

from __future__ import annotations

from app.fabric.accelerator import Accelerator
from app.fabric.calculation import Bilingual
from app.fabric.collective_inputs import CollectiveInputs

_WAYS = Bilingual(
    "The library takes the fastest of ring, tree, in-switch reduction and their low-latency protocols, as "
    "NCCL's own "
    "tuning model does.",
    "通信库在环、树、交换机内规约及其低时延协议中选最快者，与 NCCL 自身的调优模型一致。",
)
_NIC = Bilingual(
    "A NIC carries 97 % of its line rate as payload (48.5 GB/s at 400G).",
    "网卡有效载荷按线速的 97% 计（400G 为 48.5 GB/s）。",
)
_INSIDE = Bilingual(
    "Everything stays inside one NVLink or xGMI domain: the network does not matter.",
    "通信全部在一个 NVLink 或 xGMI 域内完成，与外部网络无关。",
)
_TUNED = Bilingual(
    "A tuned fabric reaches 90 to 101 % of the bound for large messages (97 % is the middle of the "
    "published runs), "
    "and tuned RoCE is at parity with InfiniBand (Tolly: 231.8 against 230.7 GB/s on the same servers).",
    "调优后的网络在大消息时可达理论上限的 90% 至 101%（公开测试的中间值为 97%），调优后的 RoCE 与 "
    "InfiniBand 持平"
    "（Tolly 同服务器对比：231.8 对 230.7 GB/s）。",
)
_DEFAULT_ROCE = Bilingual(
    "RoCE with defaults is a scenario, not a measured constant: 60 % is a vendor's claim for standard "
    "Ethernet (low "
    "trust), 72 % is what separates two published runs on the same hardware, 97 % is parity; 80 % is our "
    "middle.",
    "“默认配置 RoCE”是一种情景而非实测常数：60% 是厂商对普通以太网的说法（可信度低），72% "
    "是同一硬件两次公开测试之比，"
    "97% 为持平；80% 是我们取的中间值。",
)
_MISTUNED = Bilingual(
    "Mis-tuned follows one published case: all-reduce at 42 to 45 % and all-gather at 26 % of the bound "
    "although "
    "the links test at full rate.",
    "“调优失当”取自一个公开案例：链路测试满速，但 all-reduce 仅达上限的 42% 至 45%，all-gather 仅 26%。",
)
_SMALL = Bilingual(
    "Latency dominates. For the smallest messages NCCL's model says 25 us (2 nodes) and 55 us (16); "
    "measured were 46 "
    "and 62 us, once 61 us on RoCE between two nodes. No full sweep on RoCE was found, so its range is "
    "wider.",
    "时延占主导。最小消息 NCCL 模型为 25 us（2 节点）与 55 us（16 节点），实测 46 与 62 us，RoCE "
    "两节点一次实测 61 us。"
    "未找到 RoCE 的完整扫描，因此其范围更宽。",
)
_SHARP = Bilingual(
    "The InfiniBand switches reduce (SHARP), so time does not grow with the number of nodes.",
    "由 InfiniBand 交换机做规约（SHARP），时间不随节点数增长。",
)
_SHARP_IDLE = Bilingual("SHARP changes nothing inside one node.", "单节点内 SHARP 不起作用。")
_RACKS = Bilingual(
    "NVLink racks are filled evenly; beyond three racks the share rests on a single published run of 20 "
    "racks.",
    "NVLink 机柜均匀分配；超过三个机柜的效率仅依据一次 20 机柜的公开测试。",
)
_ALL_TO_ALL = Bilingual(
    "NCCL does not model all-to-all latency; ours is fitted to SimAI's ratios, whose measurement is not "
    "documented.",
    "NCCL 没有 all-to-all 时延模型；此处按 SimAI 的比率拟合，其测量方法未见说明。",
)
_SLOT = Bilingual(
    "The NICs exceed what the GPUs' slots carry, so part of them idle.",
    "网卡总带宽超过 GPU 插槽所能承载，部分网卡闲置。",
)


def assumptions_of(
    inputs: CollectiveInputs, gpu: Accelerator, domains: int, dominant: str
) -> tuple[Bilingual, ...]:
    """The assumptions behind one estimate, those that matter most first."""
    notes = []
    if domains == 1:
        notes.append(_INSIDE)
        if inputs.sharp:
            notes.append(_SHARP_IDLE)
    else:
        notes.append(_tuning_note(inputs.tuning, inputs.fabric))
        if inputs.oversubscription > 1:
            notes.append(_oversubscription_note(inputs.oversubscription))
        if inputs.sharp:
            notes.append(_SHARP)
        notes.append(_NIC)
        if inputs.nics_per_node * inputs.nic_gbps > gpu.nic_gbps_per_gpu * inputs.gpus_per_node:
            notes.append(_SLOT)
    if dominant == "latency":
        notes.append(_SMALL)
    if gpu.spans_nodes:
        notes.append(_RACKS)
    if gpu.assumed:
        notes.append(_assumed_note(gpu.name))
    if inputs.op == "all-to-all":
        notes.append(_ALL_TO_ALL)
    notes.append(_WAYS)
    return tuple(notes)


def _assumed_note(name: str) -> Bilingual:
    return Bilingual(
        f"Part of the plateaus of {name} inside its domain are taken from a sibling GPU, so the range is wider.",
        f"{name} 域内的部分带宽上限取自同代的其他 GPU，因此范围更宽。",
    )


def _oversubscription_note(ratio: float) -> Bilingual:
    return Bilingual(
        f"Oversubscription {ratio:g}:1 is taken in full, as if every byte between nodes crossed that tier.",
        f"收敛比 {ratio:g}:1 按最不利情况计：节点间的每个字节都经过收敛层。",
    )


def _tuning_note(tuning: str, fabric: str) -> Bilingual:
    if tuning == "mis-tuned":
        return _MISTUNED
    return _DEFAULT_ROCE if (tuning, fabric) == ("default", "roce") else _TUNED
