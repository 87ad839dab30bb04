"""Says in words what a sized topology assumed: the part of topology.py that is prose."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from app.fabric.calculation import Bilingual
from app.fabric.tree import grow

if TYPE_CHECKING:
    from app.fabric.topology import Topology

Add = Callable[[str, str], None]


def assumptions(topology: Topology) -> tuple[Bilingual, ...]:
    """What was chosen, rounded or left out, one sentence each."""
    notes: list[Bilingual] = []

    def add(en: str, zh: str) -> None:
        notes.append(Bilingual(en, zh))

    t, tree, name = topology, topology.tree, topology.switch.name
    if t.switch_is_default:
        add(
            f"Switch: {name}, radix {t.radix} at {t.link_gbps}G, our default for this fabric and speed.",
            f"交换机：{name}，{t.link_gbps}G 时端口数 {t.radix}，为该网络与速率的默认选择。",
        )
    if t.gpus % t.gpus_per_node:
        add(
            f"{t.gpus} GPUs are not whole nodes of {t.gpus_per_node}: {t.nodes} nodes are cabled.",
            f"{t.gpus} 块 GPU 不是 {t.gpus_per_node} 卡节点的整数倍，按 {t.nodes} 个节点布线。",
        )
    if t.nodes == 1:
        add(
            "One node: its GPUs talk over NVLink; a fabric only serves growth.",
            "仅一个节点：节点内 GPU 走 NVLink，网络仅用于扩展。",
        )
    _shape_note(t, add)
    if t.planes > 1:
        add(
            f"{t.planes} planes: as many separate networks, each with {t.link_gbps}G per NIC port; "
            "the counts are of all planes.",
            f"{t.planes} 个平面：相互独立的网络，每个网卡端口 {t.link_gbps}G；数量为所有平面之和。",
        )
    if t.links_per_cage > 1:
        add(
            f"Links are of {t.link_gbps}G; a cage of {t.switch.cage_gbps}G carries {t.links_per_cage}, so "
            "modules and cages are fewer than links.",
            f"链路按 {t.link_gbps}G 计；一个 {t.switch.cage_gbps}G 笼位承载 {t.links_per_cage} 条，"
            "因此模块与笼位数少于链路数。",
        )
    if t.reserved_ports:
        add(
            f"{t.reserved_ports} leaf ports of each plane are kept free of nodes (UFM or the like).",
            f"每个平面保留 {t.reserved_ports} 个叶端口不接节点（如 UFM）。",
        )
    if t.oversubscription != 1 or t.core_oversubscription != 1:
        add(
            f"Oversubscription {t.oversubscription:g}:1 at leaves ({tree.down} down, {tree.up} up), "
            f"{t.core_oversubscription:g}:1 at spines.",
            f"叶层收敛比 {t.oversubscription:g}:1（下行 {tree.down}，上行 {tree.up}），"
            f"脊层 {t.core_oversubscription:g}:1。",
        )
    _rounding_note(t, add)
    if not tree.even:
        add(
            "The last pod is not full, so some pairs of switches have one link more than others; "
            "NVIDIA publishes full pods only.",
            "最后一个 pod 未满，部分交换机之间会多一条链路；NVIDIA 仅公布满 pod 的数量。",
        )
    return tuple(notes)


def _shape_note(t: Topology, add: Add) -> None:
    if t.layout == "back-to-back":
        add(
            "Two switches back to back, half of the nodes' ports on each, as in DGX BasePOD; leaf-spine "
            "links are those between the two. One switch would have the ports but no second path.",
            "两台交换机背靠背，各接一半端口，同 DGX BasePOD；叶脊链路即两台之间的链路。"
            "单台端口也够，但没有第二条路径。",
        )
    elif t.layout == "single-switch":
        add("One switch: no second path if it fails.", "单台交换机：故障时没有第二条路径。")
    elif t.layout == "rail-only":
        add(
            f"Separate rails: {t.rails} networks with no path between them but NVLink inside a node (3N/r "
            "switches in two tiers, against 5N/r for one tree in three).",
            f"独立轨道：{t.rails} 张互不相通的网络，轨间只能经节点内 NVLink"
            "（两层 3N/r 台，对比三层整树 5N/r 台）。",
        )
    elif t.topology == "rail-optimized":
        add(
            f"One connected tree, rail-optimized: the {t.rails} rails of a node go to different leaves.",
            f"一张连通的树，轨道优化：一个节点的 {t.rails} 条轨道接到 {t.rails} 台不同的叶交换机。",
        )
    else:
        add("One connected tree without rails.", "一张连通的树，不分轨道。")
    needed = ceil(t.tree.leaf_spine / t.radix)
    if t.tree.tiers == 2 and t.tree.spines > needed:
        add(
            f"{t.tree.spines} spines rather than {needed}: each leaf has the same whole number of links to "
            "every spine, as in NVIDIA's tables.",
            f"脊交换机取 {t.tree.spines} 台而非 {needed} 台：使每台叶到每台脊的链路数相同且为整数，"
            "与 NVIDIA 的表格一致。",
        )


def _rounding_note(t: Topology, add: Add) -> None:
    if t.grow_to and t.grow_to > t.gpus:
        add(
            f"Switches and the links between them are built for {t.grow_to:,} GPUs; {t.gpus:,} are there.",
            f"交换机及其互联按 {t.grow_to:,} 块 GPU 建设，实装 {t.gpus:,} 块。",
        )
    if not t.whole_units:
        add("Exact counts rather than whole scalable units.", "按精确数量，而非整个扩展单元。")
        return
    if t.sized_for_gpus <= t.nodes * t.gpus_per_node or (t.topology == "rail-only" and t.tree.tiers == 1):
        return
    flat = t.topology == "fat-tree"
    nodes = t.ports // t.planes // (1 if flat else t.rails)
    rails = t.rails if t.topology == "rail-optimized" else 1
    ratios = (t.oversubscription, t.core_oversubscription)
    exact = grow(nodes, nodes, rails, t.radix, ratios, whole=False, extra=t.reserved_ports)
    fewer = "" if exact is None else f", {exact.switches * t.trees:,} with exact counts"
    fewer_zh = "" if exact is None else f"（按精确数量为 {exact.switches * t.trees:,} 台）"
    add(
        f"Built in whole units for {t.sized_for_gpus:,} GPUs, populated with {t.gpus:,}: NVIDIA's rule, so that "
        f"traffic stays even and the rest can be added; {t.switches:,} switches{fewer}.",
        f"按整单元建设，可容 {t.sized_for_gpus:,} 块 GPU，实装 {t.gpus:,} 块：此为 NVIDIA 的规则，"
        f"使流量均匀、便于补足；共 {t.switches:,} 台交换机{fewer_zh}。",
    )
