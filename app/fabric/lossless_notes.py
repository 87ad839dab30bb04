"""What a lossless plan assumes and warns of, in both languages."""

from __future__ import annotations

from collections.abc import Sequence

from app.fabric.calculation import Bilingual
from app.fabric.lossless import DSCP_BITS
from app.fabric.lossless_catalog import Threshold
from app.fabric.lossless_headroom import FamilyHeadroom, Link


def headroom_notes(link: Link, typical: FamilyHeadroom) -> list[Bilingual]:
    notes = [
        Bilingual(
            "Headroom is specific to the ASIC: take the vendor's profile of your switch; Broadcom's tables follow "
            "another rule than this formula, and tables of one chip differ with SONiC's release.",
            "Headroom 取决于交换芯片：请用你所用交换机的厂商配置；Broadcom 的表并不遵循此公式，"
            "同一芯片的表也随 SONiC 版本而不同。",
        )
    ]
    if link.family is None:
        notes.append(
            Bilingual(
                f"No switch family was given: the value is that of {typical.asic.name}, the range spans every family "
                "with data for this speed and length.",
                f"未指定交换芯片：数值按 {typical.asic.name}，范围涵盖该速率与长度下有数据的所有系列。",
            )
        )
    detail, pattern = typical.detail, link.patterns[0]
    if detail is None:
        notes.append(
            Bilingual(
                f"{typical.asic.name} publishes no formula: the bytes are read from the tables that SONiC ships, by "
                "straight lines between their lengths; the value is the largest published for this very length, else "
                "the largest of its switches.",
                f"{typical.asic.name} 未公开公式：字节数取自 SONiC 随附的表，在表中长度之间按直线插值，"
                "取该长度下公布的最大值，没有时取各交换机中的最大者。",
            )
        )
        return notes
    asic = typical.asic
    notes.append(
        Bilingual(
            "xoff = lossless MTU + (port MTU + bytes on cable + MAC/PHY delay + peer response + tile) x cell "
            f"occupancy, rounded up to KiB; port MTU {link.port_mtu_bytes:,} B, cell {asic.cell_bytes} B, lossless MTU "
            f"{pattern.lossless_mtu_bytes:,} B, {pattern.small_packet_percent:g}% small packets; no gearbox.",
            "xoff = 无损 MTU +（端口 MTU + 线缆上字节 + MAC/PHY 延迟 + 对端响应 + tile）× 单元占用率，"
            f"向上取整到 KiB；端口 MTU {link.port_mtu_bytes:,} B，单元 {asic.cell_bytes} B，"
            f"无损 MTU {pattern.lossless_mtu_bytes:,} B，小包 {pattern.small_packet_percent:g}%；不含 gearbox。",
        )
    )
    if len(link.patterns) > 1:
        others = "; ".join(f"{one.lossless_mtu_bytes:,} B, {one.small_packet_percent:g}%" for one in link.patterns[1:])
        notes.append(
            Bilingual(
                f"The range spans other traffic that SONiC assumes (lossless MTU, small packets): {others}.",
                f"范围涵盖 SONiC 的其他流量假设（无损 MTU、小包比例）：{others}。",
            )
        )
    notes.append(
        Bilingual(
            "With a shared headroom pool, only xon is reserved for each priority; the pool holds the rest.",
            "启用共享 headroom 池时，每个优先级只预留 xon，其余由池承担。",
        )
    )
    return notes


def ecn_notes(stated: Sequence[Threshold], late: Sequence[Threshold], pause: float | None) -> list[Bilingual]:
    notes = [
        Bilingual(
            "ECN thresholds are a range over sources, none of them the right one; start from those of your own ASIC.",
            "ECN 阈值是各来源的范围，没有唯一正确的值；请从你所用芯片的值开始。",
        ),
        Bilingual(
            "ECN must act before PFC: Kmax has to lie below the queue depth at which the switch pauses its peer. That "
            "depth is the threshold of the shared buffer, not the size of the headroom.",
            "ECN 必须先于 PFC 生效：Kmax 须低于交换机发出暂停时的队列深度。"
            "该深度由共享缓存的阈值决定，不是 headroom 的大小。",
        ),
    ]
    if pause is None:
        largest = max((one.kmax_bytes or 0 for one in stated if one.lossless), default=0)
        notes.append(
            Bilingual(
                "Whether ECN acts first was not checked: the pause point or the shared buffer was not given. It must "
                f"lie above {largest:,} B for the highest Kmax here.",
                f"未检查 ECN 是否先生效：未给出暂停点或共享缓存。对此处最高的 Kmax，暂停点须高于 {largest:,} B。",
            )
        )
    elif late:
        names = "; ".join(f"{one.name} ({one.kmax_bytes:,} B)" for one in late)
        notes.append(
            Bilingual(
                f"Does not hold at a pause point of {pause:,.0f} B: PFC would act before full ECN marking with "
                f"{names}.",
                f"暂停点为 {pause:,.0f} B 时不成立：采用以下阈值，PFC 会先于 ECN 满标记生效：{names}。",
            )
        )
    else:
        notes.append(
            Bilingual(
                f"Holds at a pause point of {pause:,.0f} B for every source here that has PFC behind it.",
                f"暂停点为 {pause:,.0f} B 时，此处所有配有 PFC 的来源都成立。",
            )
        )
    return notes


def priority_notes(traffic_class: int | None) -> list[Bilingual]:
    notes = [
        Bilingual(
            "NCCL_IB_TC is the whole byte: DSCP << 2; DSCP = TC >> 2. NIC, host and switch must name the same DSCP.",
            "NCCL_IB_TC 是整个字节：DSCP << 2；DSCP = TC >> 2。网卡、主机与交换机须使用同一 DSCP。",
        )
    ]
    if traffic_class is not None and (ecn := traffic_class % (1 << DSCP_BITS)):
        notes.append(
            Bilingual(
                f"Traffic class {traffic_class} carries {ecn} in its two ECN bits; they do not change the DSCP.",
                f"流量类别 {traffic_class} 的两个 ECN 位为 {ecn}，不影响 DSCP。",
            )
        )
    return notes


def loss_notes(round_trip_us: float, rdma_mtu_bytes: int, loss: float) -> list[Bilingual]:
    return [
        Bilingual(
            f"Go-back-N: efficiency (1 - p) / (1 - p + p W) at p = {loss:g}, W packets in flight at {round_trip_us:g} "
            f"us and {rdma_mtu_bytes:,} B; losses are independent, and time-outs make it worse. Our closed form, not a "
            "measurement.",
            f"Go-back-N：效率 (1 - p) / (1 - p + p W)，p = {loss:g}，W 为 {round_trip_us:g} us、{rdma_mtu_bytes:,} B "
            "下的在途包数；假设丢包相互独立，超时会更差。这是我们的闭式估算，不是实测。",
        )
    ]


def nccl_notes() -> list[Bilingual]:
    return [
        Bilingual(
            "NCCL defaults are those of v2.30.7; other versions differ. Leave unset what you have no reason to change.",
            "NCCL 默认值取自 v2.30.7，其他版本可能不同；没有理由改动的请保持未设置。",
        )
    ]
