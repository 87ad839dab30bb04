"""The lines of a bill that follow from its links: switches by tier, NICs, modules at each end, cables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from app.fabric.calculation import Bilingual
from app.fabric.catalog import Nic, Switch
from app.fabric.links import Media
from app.fabric.parts import BillLine, Parts
from app.fabric.topology import Topology
from app.fabric.tree import cages, spread, times


def nic_line(parts: Parts, t: Topology, card: Nic) -> BillLine:
    endpoints = t.ports // t.planes
    each = ceil(t.link_gbps * t.planes / card.gbps)
    serves = Bilingual(
        f"{t.ports:,} NIC ports of {t.nodes:,} nodes", f"{t.nodes:,} 个节点的 {t.ports:,} 个网卡端口"
    )
    return parts.line(card.id, "nics", "node", endpoints * each, serves)


def switch_lines(parts: Parts, t: Topology, media: Media) -> Iterable[BillLine]:
    """Switches by tier."""
    watts = chassis_watts(t.switch, media)
    for role, count, en, zh in (
        (
            "leaf",
            t.leaf_switches,
            f"leaves, {t.node_leaf_links:,} links to nodes",
            f"叶层，{t.node_leaf_links:,} 条节点链路",
        ),
        (
            "spine",
            t.spine_switches,
            f"spines, {t.leaf_spine_links:,} links to leaves",
            f"脊层，{t.leaf_spine_links:,} 条叶脊链路",
        ),
        (
            "core",
            t.core_switches,
            f"cores, {t.spine_core_links:,} links to spines",
            f"核心层，{t.spine_core_links:,} 条脊核链路",
        ),
    ):
        if count:
            yield parts.line(
                t.switch.id, "switches", role, count, Bilingual(en, zh), watts=watts
            )


def chassis_watts(switch: Switch, media: Media) -> tuple[float, float]:
    """Typical and maximum of a chassis; the maximum is the plate value less a full set of modules (own lines)."""
    typical = switch.power_typical_w or 0.0
    plate = switch.power_max_w or typical
    modules = switch.cages * media.module_max_w if switch.max_includes_optics else 0.0
    return typical, max(typical, plate - modules)


def module_lines(
    parts: Parts, t: Topology, node_leaf: Media, leaf_spine: Media, spine_core: Media
) -> Iterable[BillLine]:
    """Modules in switch cages. Links of one medium share cages; a half-used cage is a whole one."""
    tree, trees = t.tree, t.trees
    core_up = ceil(tree.spine_core / tree.spines) if tree.spines else 0
    spines = times(spread(tree.leaf_spine, tree.spines), trees)
    cores = times(spread(tree.spine_core, tree.cores), trees)
    for role, en, zh, loads, up, below, above in (
        ("leaf", "leaves", "叶", t.leaf_loads, tree.up, node_leaf, leaf_spine),
        ("spine", "spines", "脊", spines, core_up, leaf_spine, spine_core),
        ("core", "cores", "核心", cores, 0, spine_core, spine_core),
    ):
        if not loads:
            continue
        switches = sum(count for count, _ in loads)
        upward = ((switches, up),)
        if below.module == above.module:
            joint = tuple((count, links + up) for count, links in loads)
            needs = [(below.module, joint)]
        else:
            needs = [(below.module, loads), (above.module, upward)]
        for module, ends in needs:
            if module:
                total = sum(count * links for count, links in ends)
                serves = Bilingual(
                    f"{total:,} link ends at {switches:,} {en}",
                    f"{switches:,} 台{zh}交换机的 {total:,} 个链路端",
                )
                yield parts.line(module, "optics", role, cages(ends, t.links_per_cage), serves)


def node_module_lines(parts: Parts, t: Topology, media: Media) -> Iterable[BillLine]:
    if media.node_module:
        per_node = ceil(t.ports / t.nodes / media.links_per_node_module)
        serves = Bilingual(f"the node end of {t.ports:,} links", f"{t.ports:,} 条链路的节点端")
        yield parts.line(media.node_module, "optics", "node", per_node * t.nodes, serves)
    if t.reserved_ports and media.node_module:
        serves = Bilingual("the reserved ports (UFM)", "保留端口（UFM）")
        yield parts.line(media.node_module, "optics", "reserved", t.reserved_ports * t.planes, serves)


def cable_lines(
    parts: Parts,
    t: Topology,
    node_leaf: Media,
    leaf_spine: Media,
    spine_core: Media,
    lengths: Mapping[str, float],
) -> Iterable[BillLine]:
    for role, media, links, name, en, zh in (
        ("node-leaf", node_leaf, t.node_leaf_links, "node_leaf_m", "node-leaf links", "条节点—叶链路"),
        (
            "reserved",
            node_leaf,
            t.reserved_ports * t.planes,
            "node_leaf_m",
            "links to reserved ports (UFM)",
            "条保留端口链路（UFM）",
        ),
        ("leaf-spine", leaf_spine, t.leaf_spine_links, "leaf_spine_m", "leaf-spine links", "条叶—脊链路"),
        ("spine-core", spine_core, t.spine_core_links, "spine_core_m", "spine-core links", "条脊—核心链路"),
    ):
        if not links:
            continue
        metres = lengths[name]
        serves = Bilingual(f"{links:,} {en} of {metres:g} m", f"{links:,} {zh}，每条 {metres:g} m")
        count, watts = ceil(links * media.cables_per_link), (media.cable_w, media.cable_w)
        yield parts.line(media.cable, "cables", role, count, serves, metres=metres, watts=watts)
