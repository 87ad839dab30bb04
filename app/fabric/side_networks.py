"""Sizes the networks beside the back end: storage, in-band management and out-of-band management.

The rules are those that NVIDIA's 4-unit DGX SuperPOD H100 follows (RA-11333-001 V11, tables 7 and 8 and text):
- storage: for each storage port of a node a leaf per 32 nodes (radix 64), oversubscribed near 4:3; pairs of
  leaves for storage devices at 1:1;
- in-band: leaves in pairs with two links between them and four up; two cores where one pair does not suffice;
- out-of-band: one 1G port for every device that has one: nodes, switches, servers, power strips, storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.catalog import Catalog, Default, Switch
from app.fabric.checks import bad_value, between, check_switch, out_of_range
from app.fabric.topology import DEFAULT_SWITCH, Topology
from app.fabric.tree import divisors, spread

Name = Literal["storage", "in-band", "out-of-band"]
NAMES: tuple[Name, ...] = ("storage", "in-band", "out-of-band")
STORAGE_GBPS = 400
UFM_LINKS = 4
_UPLINKS, _PEER_LINKS, _PAIRS_PER_CELL = 4, 2, 15
_DEFAULTS: Mapping[Name, tuple[str, ...]] = {
    "storage": ("storage_ports_per_node", "storage_links_per_node", "storage_oversubscription"),
    "in-band": ("in_band_ports_per_node", "file_server_links", "management_servers"),
    "out-of-band": ("management_servers", "nodes_per_rack"),
}


@dataclass(frozen=True, slots=True)
class LeafGroup:
    """So many leaves alike, each with so many link ends below, cables to storage (a cage each), and uplinks."""

    leaves: int
    ends: int
    storage: int
    up: int


@dataclass(frozen=True, slots=True)
class SideNetwork:
    """One network. `links` counts cables by what they serve."""

    name: Name
    switch: Switch
    tiers: int
    spines: int
    cores: int
    links: Mapping[str, int]
    groups: tuple[LeafGroup, ...]
    nodes: int
    gpus: int
    notes: tuple[Bilingual, ...]
    sources: tuple[Source, ...]

    @property
    def leaves(self) -> int:
        return sum(group.leaves for group in self.groups)

    @property
    def switches(self) -> int:
        return self.leaves + self.spines + self.cores

    def calculation(self) -> Calculation:
        inputs: dict[str, Scalar] = {"network": self.name, "gpus": self.gpus, "nodes": self.nodes}
        values = {
            "tiers": Value(self.tiers, "tiers"),
            "leaf_switches": Value(self.leaves, "switches"),
            "spine_switches": Value(self.spines, "switches"),
            "core_switches": Value(self.cores, "switches"),
            "switches": Value(self.switches, "switches"),
            "switch": Value(self.switch.name),
        }
        return Calculation(
            tool="size",
            label=self.name,
            inputs=inputs | {"switch": self.switch.id},
            values=values | {f"{name}_links": Value(count, "links") for name, count in self.links.items()},
            assumptions=self.notes,
            sources=self.sources,
        )


@dataclass(frozen=True, slots=True)
class SideNetworks:
    storage: SideNetwork
    in_band: SideNetwork
    out_of_band: SideNetwork

    def all(self) -> tuple[SideNetwork, ...]:
        return self.storage, self.in_band, self.out_of_band

    def named(self, name: Name) -> SideNetwork:
        return next(one for one in self.all() if one.name == name)


def size_side_networks(
    catalog: Catalog, compute: Topology, *, storage_links: int | None = None, storage_switch: str | None = None
) -> SideNetworks:
    """The three networks of a cluster whose back end is sized; `storage_links` go to storage devices.

    Raises AdvisorError for a negative number of links, or a cluster too large for three tiers of storage.
    """
    storage = _storage(catalog, compute, storage_links, storage_switch)
    out_switches = 1
    while True:  # each in-band switch needs an out-of-band port, each out-of-band switch two in-band ones
        in_band = _in_band(catalog, compute, out_switches)
        out_of_band = _out_of_band(catalog, compute, storage, in_band)
        if out_of_band.switches == out_switches:
            return SideNetworks(storage, in_band, out_of_band)
        out_switches = out_of_band.switches


def _storage(
    catalog: Catalog, compute: Topology, storage_links: int | None, storage_switch: str | None
) -> SideNetwork:
    row = catalog.switch(storage_switch or DEFAULT_SWITCH[compute.fabric][STORAGE_GBPS])
    check_switch(catalog, row, compute.fabric, STORAGE_GBPS)
    nodes, rails = compute.nodes, round(_value(catalog, "storage_ports_per_node"))
    ratio = _value(catalog, "storage_oversubscription")
    devices = ceil(nodes * _value(catalog, "storage_links_per_node")) if storage_links is None else storage_links
    if not 1 <= devices <= 1_000_000:
        raise bad_value("storage_links", devices, between(1, 1_000_000))
    managers = UFM_LINKS if compute.fabric == "infiniband" else 0
    links = {"node_leaf": nodes * rails, "storage": devices, "manager": managers}
    pair = _pair(row, links, ratio)
    if pair:
        links["between"] = pair.up
        return _network(catalog, "storage", compute, row, (1, 0, 0), links, (pair,), _storage_notes(devices))
    radix = row.radix(STORAGE_GBPS)
    down = radix // 2
    up = ceil(down / ratio - 0.01)  # the ratio is written with four digits
    full, rest = divmod(nodes, down)
    node_leaves = [LeafGroup(rails * full, down, 0, up), LeafGroup(rails * bool(rest), rest, 0, up)]
    spines, device_leaves = _device_leaves(row, up, rails * ceil(nodes / down), devices, managers)
    groups = tuple(group for group in (*node_leaves, *device_leaves) if group.leaves)
    trunk = sum(group.leaves * group.up for group in groups)
    leaves, tiers, cores = sum(group.leaves for group in groups), 2, 0
    links["leaf_spine"] = trunk
    if leaves > radix:
        tiers, spines, cores = 3, ceil(trunk / down), ceil(trunk / radix)
        links["spine_core"] = trunk
    if leaves > radix * down:
        limit = (radix * down // rails - 2) * down * compute.gpus_per_node
        raise out_of_range(catalog, compute.gpus, row, limit, compute.fabric, STORAGE_GBPS)
    return _network(
        catalog, "storage", compute, row, (tiers, spines, cores), links, groups, _storage_notes(devices)
    )


def _pair(row: Switch, links: Mapping[str, int], ratio: float) -> LeafGroup | None:
    """Two switches back to back, half of everything on each; None where their cages do not suffice."""
    ends, devices = ceil((links["node_leaf"] + links["manager"]) / 2), ceil(links["storage"] / 2)
    up = ceil((ends + devices) / ratio - 0.01)
    used = ceil((ends + up) / row.links_per_cage(STORAGE_GBPS)) + devices
    return LeafGroup(2, ends, devices, up) if used <= row.cages else None


def _device_leaves(
    row: Switch, up: int, node_leaves: int, devices: int, managers: int
) -> tuple[int, tuple[LeafGroup, ...]]:
    """Spines, and pairs of leaves for storage at 1:1. A cable to storage fills a cage, as do two uplinks.

    Spines are a divisor of the node leaves' uplinks, and uplinks of storage leaves a multiple of the spines, so
    that every leaf has the same whole number of links to every spine.
    """
    radix, per_cage = row.radix(STORAGE_GBPS), row.links_per_cage(STORAGE_GBPS)
    leaves = 2
    while True:
        each, manager_ends = ceil(devices / leaves), ceil(managers / leaves)
        # one spine would have no second path; where a third tier is needed its spines are counted by the caller
        choices = [spines for spines in divisors(up) if spines > 1] if node_leaves + leaves <= radix else [1]
        for spines in choices:
            device_up = ceil(each / spines) * spines
            enough = node_leaves * up + leaves * device_up <= spines * radix or spines == 1
            if enough and each + ceil((device_up + manager_ends) / per_cage) <= row.cages:
                groups = [LeafGroup(n, manager_ends, links, device_up) for n, links in spread(devices, leaves)]
                return spines, tuple(groups)
        leaves += 2


def _in_band(catalog: Catalog, compute: Topology, out_switches: int) -> SideNetwork:
    row = catalog.switch("sn4600c")
    links = {
        "node_leaf": compute.nodes * round(_value(catalog, "in_band_ports_per_node")),
        "server": 2 * round(_value(catalog, "management_servers")),
        "file_server": round(_value(catalog, "file_server_links")),
        "out_of_band": 2 * out_switches,
    }
    ports, radix = sum(links.values()), row.radix(100)
    usable = radix - _UPLINKS - _PEER_LINKS
    pairs = ceil(ports / (2 * usable))
    cells = 0 if pairs == 1 else ceil(pairs / _PAIRS_PER_CELL)
    cores = 2 * cells
    links["between"] = _PEER_LINKS * pairs
    links["leaf_core"] = 2 * pairs * _UPLINKS if cores else 0
    links["site"] = _UPLINKS * max(1, cells)
    notes: list[Bilingual] = []
    if cells > 1:
        notes.append(
            Bilingual(
                f"{cells} cells, each with two cores of its own and its own links to the site: ours.",
                f"{cells} 个单元，各有两台核心与自己的园区上联：为我们设定。",
            )
        )
    groups = _even(ports, 2 * pairs, _UPLINKS + _PEER_LINKS)
    return _network(catalog, "in-band", compute, row, (2 if cores else 1, 0, cores), links, groups, notes)


def _out_of_band(
    catalog: Catalog, compute: Topology, storage: SideNetwork, in_band: SideNetwork
) -> SideNetwork:
    row = catalog.switch("sn2201")
    node_racks = ceil(compute.nodes / _value(catalog, "nodes_per_rack"))
    management_racks = ceil(compute.nodes * 6 / 128)
    managers = UFM_LINKS if compute.fabric == "infiniband" else 0
    links = {
        "node": compute.nodes,
        "fabric_switch": compute.switches + storage.switches,
        "server": round(_value(catalog, "management_servers")) + managers,
        "in_band_switch": in_band.switches,
        "power_strip": 3 * node_racks + 2 * management_racks,
        "storage": storage.links["storage"],
    }
    ports = sum(links.values())
    switches = ceil(ports / row.radix(1))
    links["uplink"] = 2 * switches
    note = Bilingual(
        f"Out-of-band: {node_racks} racks of nodes and {management_racks} of management; one port for each link "
        "to storage, ours.",
        f"带外：{node_racks} 个节点机柜与 {management_racks} 个管理机柜；每条存储链路计一个端口，为我们设定。",
    )
    return _network(catalog, "out-of-band", compute, row, (1, 0, 0), links, _even(ports, switches, 0), [note])


def _storage_notes(devices: int) -> list[Bilingual]:
    return [
        Bilingual(
            f"Storage: {devices:,} links of {STORAGE_GBPS}G to storage devices; the NIC ports of nodes for these "
            "networks are part of the server.",
            f"存储：{devices:,} 条 {STORAGE_GBPS}G 链路到存储设备；节点上这些网络的网卡端口含在服务器内。",
        )
    ]


def _network(
    catalog: Catalog,
    name: Name,
    compute: Topology,
    row: Switch,
    counts: tuple[int, int, int],
    links: Mapping[str, int],
    groups: tuple[LeafGroup, ...],
    notes: list[Bilingual],
) -> SideNetwork:
    """`counts` are tiers, spines and cores."""
    rules: list[Default] = [catalog.default(id) for id in _DEFAULTS[name]]
    sources = dict.fromkeys((*(source for one in rules for source in one.sources), *row.sources))
    every = tuple(dict.fromkeys((*(rule.note for rule in rules), *notes)))
    return SideNetwork(name, row, *counts, dict(links), groups, compute.nodes, compute.gpus, every, tuple(sources))


def _value(catalog: Catalog, id: str) -> float:
    return catalog.default(id).value.typical


def _even(ports: int, switches: int, up: int) -> tuple[LeafGroup, ...]:
    return tuple(LeafGroup(count, ends, 0, up) for count, ends in spread(ports, switches))
