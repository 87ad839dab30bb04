"""Sizes a scale-out fabric: switches, tiers and links for so many GPUs. Prices and power are not its job."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, get_args

from app.fabric import topology_notes
from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.catalog import Catalog, Switch
from app.fabric.checks import (
    bad_value,
    check_choice,
    check_range,
    check_switch,
    link_speed,
    one_of,
    out_of_range,
)
from app.fabric.tree import Loads, Tree, back_to_back, cages, capacity, divisors, grow, single_tier, spread, times

Fabric = Literal["infiniband", "roce"]
Shape = Literal["rail-optimized", "fat-tree", "rail-only"]
Layout = Literal["back-to-back", "leaf-spine", "three-tier", "rail-only", "single-switch"]
INPUTS = (
    "gpus",
    "fabric",
    "gpus_per_node",
    "gbps_per_gpu",
    "planes",
    "topology",
    "oversubscription",
    "core_oversubscription",
    "nics_per_gpu",
    "reserved_ports",
    "whole_units",
    "grow_to",
)
DEFAULT_SWITCH = {"infiniband": {400: "qm9700", 800: "q3400"}, "roce": {400: "sn5600", 800: "sn5600"}}


@dataclass(frozen=True, slots=True)
class Topology:
    """A sized fabric. Counts are of all planes (and rails) together; links are of `link_gbps` each.

    `max_gpus` is what this number of tiers carries with this switch, `switch_max_gpus` what three tiers do.
    """

    gpus: int
    fabric: Fabric
    gpus_per_node: int
    gbps_per_gpu: int
    planes: int
    topology: Shape
    oversubscription: float
    core_oversubscription: float
    nics_per_gpu: float
    reserved_ports: int
    whole_units: bool
    grow_to: int | None
    switch: Switch
    radix: int
    link_gbps: int
    links_per_cage: int
    rails: int
    nodes: int
    trees: int
    tree: Tree
    layout: Layout
    max_gpus: int
    switch_max_gpus: int
    sized_for_gpus: int
    switch_is_default: bool
    sources: tuple[Source, ...]

    @property
    def assumptions(self) -> tuple[Bilingual, ...]:
        return topology_notes.assumptions(self)

    @property
    def tiers(self) -> int:
        return self.tree.tiers

    @property
    def leaf_switches(self) -> int:
        return self.tree.leaves * self.trees

    @property
    def spine_switches(self) -> int:
        return self.tree.spines * self.trees

    @property
    def core_switches(self) -> int:
        return self.tree.cores * self.trees

    @property
    def switches(self) -> int:
        return self.tree.switches * self.trees

    @property
    def ports(self) -> int:
        """NIC ports of all nodes, in all planes."""
        return round(self.nodes * self.gpus_per_node * self.nics_per_gpu) * self.planes

    @property
    def node_leaf_links(self) -> int:
        return self.ports

    @property
    def leaf_spine_links(self) -> int:
        return self.tree.leaf_spine * self.trees

    @property
    def spine_core_links(self) -> int:
        return self.tree.spine_core * self.trees

    @property
    def switch_links(self) -> int:
        """All links between switches."""
        return self.leaf_spine_links + self.spine_core_links

    @property
    def leaf_loads(self) -> Loads:
        """(leaves, links to nodes on each), over all trees; reserved ports included."""
        return times(self.tree.leaf_loads, self.trees)

    @property
    def spine_loads(self) -> Loads:
        return spread(self.leaf_spine_links + self.spine_core_links, self.spine_switches)

    @property
    def core_loads(self) -> Loads:
        return spread(self.spine_core_links, self.core_switches)

    @property
    def uplinks_per_leaf(self) -> int:
        return self.tree.up

    @property
    def cages_used(self) -> int:
        """Cages that hold a module or cable, each switch rounded up to whole cages."""
        leaves = tuple((count, links + self.tree.up) for count, links in self.leaf_loads)
        return sum(cages(loads, self.links_per_cage) for loads in (leaves, self.spine_loads, self.core_loads))

    def calculation(self) -> Calculation:
        return Calculation(
            tool="size",
            label=self.fabric,
            inputs={"switch": self.switch.id} | {name: getattr(self, name) for name in INPUTS},
            values={
                "tiers": Value(self.tiers, "tiers"),
                "leaf_switches": Value(self.leaf_switches, "switches"),
                "spine_switches": Value(self.spine_switches, "switches"),
                "core_switches": Value(self.core_switches, "switches"),
                "switches": Value(self.switches, "switches"),
                "node_leaf_links": Value(self.node_leaf_links, "links"),
                "leaf_spine_links": Value(self.leaf_spine_links, "links"),
                "spine_core_links": Value(self.spine_core_links, "links"),
                "max_gpus": Value(self.max_gpus, "GPUs"),
                "switch_max_gpus": Value(self.switch_max_gpus, "GPUs"),
                "sized_for_gpus": Value(self.sized_for_gpus, "GPUs"),
                "nodes": Value(self.nodes, "nodes"),
                "radix": Value(self.radix, "links"),
                "link_gbps": Value(self.link_gbps, "Gbit/s"),
                "links_per_cage": Value(self.links_per_cage, "links"),
                "cages_used": Value(self.cages_used, "cages"),
                "layout": Value(self.layout),
                "switch": Value(self.switch.name),
            },
            assumptions=self.assumptions,
            sources=self.sources,
        )


def default_switch(fabric: Fabric, link_gbps: int) -> str:
    """Id of the switch that is taken where none is named."""
    return DEFAULT_SWITCH[fabric][max(400, link_gbps)]


def size_fabric(
    catalog: Catalog,
    *,
    gpus: int,
    fabric: Fabric,
    switch: str | None = None,
    gpus_per_node: int = 8,
    gbps_per_gpu: int = 400,
    planes: int = 1,
    topology: Shape = "rail-optimized",
    oversubscription: float = 1.0,
    whole_units: bool = True,
    core_oversubscription: float = 1.0,
    nics_per_gpu: float = 1.0,
    rails: int | None = None,
    reserved_ports: int = 0,
    single_switch: bool = False,
    grow_to: int | None = None,
) -> Topology:
    """Switches, tiers and links of a fabric for `gpus` GPUs.

    Ratios are down:up, at leaves (`oversubscription`) and spines (`core_oversubscription`). `reserved_ports`
    are leaf ports of each plane for UFM and the like. `whole_units` builds full rail groups, as NVIDIA's
    reference architectures do; without it, exact counts. `single_switch` takes one box instead of a pair.
    With `grow_to` the switches and their links are those of so many GPUs, of which `gpus` are there.
    Raises AdvisorError for bad input, an unknown or unfit switch, or more GPUs than three tiers carry.
    """
    check_choice("fabric", fabric, get_args(Fabric))
    check_choice("topology", topology, get_args(Shape))
    for name, number, low, high in (
        ("gpus_per_node", gpus_per_node, 1, 1024),
        ("planes", planes, 1, 16),
        ("oversubscription", oversubscription, 1, 32),
        ("core_oversubscription", core_oversubscription, 1, 32),
        ("nics_per_gpu", nics_per_gpu, 0.125, 8),
        ("reserved_ports", reserved_ports, 0, 32),
    ):
        check_range(name, number, low, high)
    node_ports = gpus_per_node * nics_per_gpu
    if node_ports != int(node_ports):
        whole = Bilingual(
            f"Choose one that gives whole NICs for {gpus_per_node} GPUs.",
            f"请使 {gpus_per_node} 块 GPU 的网卡端口数为整数。",
        )
        raise bad_value("nics_per_gpu", nics_per_gpu, whole)
    node_ports = int(node_ports)
    link_gbps = link_speed(gbps_per_gpu, planes, nics_per_gpu)
    row = catalog.switch(switch or default_switch(fabric, link_gbps))
    check_switch(catalog, row, fabric, link_gbps)
    radix = row.radix(link_gbps)
    rails = rails if rails is not None else default_rails(node_ports)
    if rails < 1 or node_ports % rails:
        divisors_of = [str(one) for one in divisors(node_ports)]
        raise bad_value("rails", rails, one_of(divisors_of))

    separate, joint = {"rail-only": (rails, 1), "fat-tree": (1, 1)}.get(topology, (1, rails))

    def most(tiers: int, kept: int = 0) -> int:
        ports = separate * capacity(joint, radix, tiers, oversubscription, core_oversubscription)
        return int((ports - kept) / nics_per_gpu) // gpus_per_node * gpus_per_node  # whole nodes

    lanes = max(separate, joint)
    limit = most(3, ceil(reserved_ports / lanes) * lanes)
    planned = max(gpus, grow_to or 0)
    if gpus < 1 or planned > limit:
        raise out_of_range(catalog, gpus if gpus < 1 else planned, row, limit, fabric, link_gbps)
    nodes, built = ceil(gpus / gpus_per_node), ceil(planned / gpus_per_node)
    ratios = (oversubscription, core_oversubscription)
    counts = (nodes * node_ports, built * node_ports)
    grown = _tree(topology, counts, rails, radix, ratios, whole_units, reserved_ports, single_switch)
    if grown is None:
        raise out_of_range(catalog, planned, row, limit, fabric, link_gbps)
    layout, tree = grown
    separate = rails if topology == "rail-only" and tree.tiers > 1 else 1
    paired = layout in ("back-to-back", "single-switch")
    max_gpus = int(radix / nics_per_gpu) if paired else most(tree.tiers)
    ports = tree.positions if paired or topology == "fat-tree" else tree.positions * rails
    return Topology(
        gpus=gpus,
        fabric=fabric,
        gpus_per_node=gpus_per_node,
        gbps_per_gpu=gbps_per_gpu,
        planes=planes,
        topology=topology,
        oversubscription=oversubscription,
        core_oversubscription=core_oversubscription,
        nics_per_gpu=nics_per_gpu,
        reserved_ports=reserved_ports,
        whole_units=whole_units,
        grow_to=grow_to,
        switch=row,
        radix=radix,
        link_gbps=link_gbps,
        links_per_cage=row.links_per_cage(link_gbps),
        rails=rails,
        nodes=nodes,
        trees=planes * separate,
        tree=tree,
        layout=layout,
        max_gpus=max(max_gpus, planned),
        switch_max_gpus=limit,
        sized_for_gpus=max(planned, int(ports / nics_per_gpu)),
        switch_is_default=switch is None,
        sources=row.sources,
    )


def _tree(
    shape: Shape,
    counts: tuple[int, int],
    rails: int,
    radix: int,
    ratios: tuple[float, float],
    whole: bool,
    extra: int,
    single: bool,
) -> tuple[Layout, Tree] | None:
    """The layout and the tree of one plane; of one rail where rails are separate with more than one tier.

    `counts` are the NIC ports there and the ports built for.
    """
    used, ports = counts[0] + extra, counts[1] + extra
    if shape == "rail-only":
        spare = ceil(extra / rails)
        positions = counts[1] // rails + spare
        if positions <= radix:
            return "rail-only", single_tier(used, positions, rails, radix, whole=whole)
        tree = grow(counts[0] // rails, counts[1] // rails, 1, radix, ratios, whole=whole, extra=spare)
        return None if tree is None else ("rail-only", tree)
    if single and ports <= radix:
        return "single-switch", Tree(1, 1, 0, 0, radix, 0, 0, 0, ((1, used),), ports)
    if 2 * ceil(ports / 2) <= radix:
        return "back-to-back", back_to_back(used, ports, ratios[0])
    split = 1 if shape == "fat-tree" else rails
    tree = grow(counts[0] // split, counts[1] // split, split, radix, ratios, whole=whole, extra=extra)
    return None if tree is None else ("leaf-spine" if tree.tiers == 2 else "three-tier", tree)


def default_rails(node_ports: int) -> int:
    """One rail per NIC port of a node; a rack-scale domain has one per GPU of its 4-GPU compute trays."""
    if node_ports <= 8:
        return node_ports
    return next(rails for rails in (8 if node_ports <= 16 else 4, 4, 2, 1) if node_ports % rails == 0)
