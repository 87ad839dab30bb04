"""What a collective estimate assumed, in both languages."""

from __future__ import annotations

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
    "A tuned fabric reaches 92 to 100 % of the bound for large messages, and tuned RoCE is at parity with "
    "InfiniBand "
    "(Tolly: 231.8 against 230.7 GB/s on the same servers).",
    "调优后的网络在大消息时可达理论上限的 92% 至 100%，调优后的 RoCE 与 InfiniBand 持平"
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
    "Mis-tuned follows one published case: 42 to 45 % of the bound although the links test at full rate.",
    "“调优失当”取自一个公开案例：链路测试满速，但集合通信仅达上限的 42% 至 45%。",
)
_SMALL = Bilingual(
    "Latency dominates. Measured small messages take 1 to 2 times NCCL's own model on InfiniBand; no sweep "
    "on RoCE "
    "was found, so its range is wider (EFA takes 2.5 to 6 times).",
    "时延占主导。InfiniBand 上小消息实测为 NCCL 模型的 1 至 2 倍；未找到 RoCE 的完整扫描，"
    "因此范围更宽（EFA 为 2.5 至 6 倍）。",
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
    "NCCL does not model all-to-all latency; ours rests on one measured single-node floor.",
    "NCCL 没有 all-to-all 时延模型；此处仅依据一个单节点实测下限。",
)


def assumptions_of(
    inputs: CollectiveInputs, domains: int, spans_nodes: bool, dominant: str
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
    if dominant == "latency":
        notes.append(_SMALL)
    if spans_nodes:
        notes.append(_RACKS)
    if inputs.op == "all-to-all":
        notes.append(_ALL_TO_ALL)
    notes.append(_WAYS)
    return tuple(notes)


def _oversubscription_note(ratio: float) -> Bilingual:
    return Bilingual(
        f"Oversubscription {ratio:g}:1 is taken in full, as if every byte between nodes crossed that tier.",
        f"收敛比 {ratio:g}:1 按最不利情况计：节点间的每个字节都经过收敛层。",
    )


def _tuning_note(tuning: str, fabric: str) -> Bilingual:
    if tuning == "mis-tuned":
        return _MISTUNED
    return _DEFAULT_ROCE if (tuning, fabric) == ("default", "roce") else _TUNED
