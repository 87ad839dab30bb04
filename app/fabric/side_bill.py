"""What the storage, in-band and out-of-band networks cost: their bills, power, and TCO on the back end's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.fabric.bill import spare_lines
from app.fabric.calculation import Bilingual, Calculation, Value
from app.fabric.catalog import Catalog
from app.fabric.cost import SUPPORTED, Cost, energy_cost, support_cost
from app.fabric.estimate import Estimate
from app.fabric.link_lines import chassis_watts
from app.fabric.links import choose_media
from app.fabric.parts import BillLine, Parts, total_usd
from app.fabric.power import Power, power_of
from app.fabric.side_networks import STORAGE_GBPS, SideNetwork, SideNetworks
from app.fabric.terms import CostTerms
from app.fabric.tree import cages, spread

_SERVES = {  # cable of each kind of link, and what it joins
    "node_leaf": ("aoc-200", "links to nodes", "条节点链路"),
    "server": ("aoc-100", "links to management servers", "条管理服务器链路"),
    "file_server": ("aoc-100", "links to file storage", "条文件存储链路"),
    "out_of_band": ("aoc-100", "uplinks of out-of-band switches", "条带外交换机上联"),
    "between": ("dac-100", "links between the switches of a pair", "条成对交换机互联"),
    "leaf_core": ("aoc-100", "leaf-core links", "条叶—核心链路"),
}


@dataclass(frozen=True, slots=True)
class SideCost:
    """One network's bill, and its cost over the years of the terms, US dollars; staff is the back end's."""

    network: SideNetwork
    lines: tuple[BillLine, ...]
    power: Power
    energy_usd: Estimate
    support_usd: Estimate

    @property
    def capex_usd(self) -> Estimate:
        return total_usd(self.lines)

    @property
    def tco_usd(self) -> Estimate:
        return Estimate.total((self.capex_usd, self.energy_usd, self.support_usd))


def side_costs(
    catalog: Catalog, networks: SideNetworks, terms: CostTerms, *, counted: int = 0
) -> tuple[SideCost, ...]:
    """The cost of each network; `counted` out-of-band switches stand on the back end's bill already."""
    parts = Parts(catalog)
    lines = (
        _storage_lines(catalog, parts, networks.storage),
        _in_band_lines(catalog, parts, networks.in_band),
        _out_of_band_lines(parts, networks.out_of_band, counted),
    )
    made = []
    for network, found in zip(networks.all(), lines, strict=True):
        bought = [line for line in found if line.quantity]
        bought += spare_lines(bought, terms.spares_percent)
        power = power_of(bought, pue=terms.pue.typical)
        supported = total_usd(line for line in bought if line.category in SUPPORTED)
        made.append(
            SideCost(
                network, tuple(bought), power, energy_cost(power, terms), support_cost(supported, terms)
            )
        )
    return tuple(made)


def side_calculation(catalog: Catalog, cost: Cost, networks: SideNetworks) -> Calculation:
    """The three networks beside a costed back end: capex, TCO and power of each, of all, and every line."""
    counted = cost.bill.quantity("sn2201")
    made = side_costs(catalog, networks, cost.terms, counted=counted)
    values: dict[str, Value] = {}
    for one in made:
        name = one.network.name.replace("-", "_")
        values[f"{name}_switches"] = Value(one.network.switches, "switches")
        values[f"{name}_capex_usd"] = Value.of(one.capex_usd, "USD")
        values[f"{name}_tco_usd"] = Value.of(one.tco_usd, "USD")
        values[f"{name}_power_typical_kw"] = Value(one.power.typical_w / 1000, "kW")
    capex = Estimate.total((cost.capex_usd, *(one.capex_usd for one in made)))
    values["all_networks_capex_usd"] = Value.of(capex, "USD")
    tco = Estimate.total((cost.tco_usd, *(one.tco_usd for one in made)))
    values["all_networks_tco_usd"] = Value.of(tco, "USD")
    notes = [note for one in made for note in one.network.notes]
    notes.append(
        Bilingual(
            f"{counted} out-of-band switches stand on the back end's bill already and are not counted twice; "
            "staff is the back end's; servers, storage and links to the site are not in these bills.",
            f"{counted} 台带外交换机已列入后端清单，不重复计；人力按后端计；不含服务器、存储设备与园区上联。",
        )
    )
    sources = [source for one in made for source in one.network.sources]
    sources += [source for one in made for line in one.lines for source in line.sources]
    return Calculation(
        tool="networks",
        label=cost.bill.topology.fabric,
        inputs={"gpus": cost.gpus, "storage_links": networks.storage.links["storage"], "years": cost.terms.years},
        values=values,
        assumptions=tuple(dict.fromkeys(notes)),
        sources=tuple(dict.fromkeys(sources)),
        rows=tuple({"network": one.network.name} | line.row() for one in made for line in one.lines),
    )


def _storage_lines(catalog: Catalog, parts: Parts, n: SideNetwork) -> Iterable[BillLine]:
    node_m, spine_m = (catalog.default(id).value.typical for id in ("node_leaf_m", "leaf_spine_m"))
    near = choose_media(catalog, n.switch, STORAGE_GBPS, node_m, ends="switch")  # the module; the node end is below
    far = choose_media(catalog, n.switch, STORAGE_GBPS, spine_m, ends="switch")
    per_cage = n.switch.links_per_cage(STORAGE_GBPS)
    node_links, storage = n.links["node_leaf"], n.links["storage"]
    trunk = sum(n.links.get(name, 0) for name in ("leaf_spine", "between", "spine_core"))
    total = node_links + storage
    serves = Bilingual(f"{total:,} links to nodes and storage", f"{total:,} 条节点与存储链路")
    yield parts.line(n.switch.id, "switches", "storage", n.switches, serves, watts=chassis_watts(n.switch, far))
    spine_ends = n.links.get("leaf_spine", 0) + n.links.get("spine_core", 0)
    filled = cages(tuple((one.leaves, one.ends + one.up) for one in n.groups), per_cage)  # storage brings its own ends
    filled += cages(spread(spine_ends, n.spines), per_cage)
    filled += cages(spread(n.links.get("spine_core", 0), n.cores), per_cage)
    ends = Bilingual(f"switch ends of {node_links + trunk:,} links", f"{node_links + trunk:,} 条链路的交换机端")
    yield parts.line(near.module or far.module, "optics", "storage", filled, ends)
    node_end = Bilingual(f"node end of {node_links:,} links", f"{node_links:,} 条链路的节点端")
    yield parts.line("qsfp112-400-sr4", "optics", "node", node_links, node_end)
    short = Bilingual(
        f"{node_links:,} node-leaf links of {node_m:g} m", f"{node_links:,} 条节点—叶链路，每条 {node_m:g} m"
    )
    yield parts.line("mpo12-om4", "cables", "node-leaf", node_links, short, metres=node_m)
    long = Bilingual(
        f"{trunk:,} links between switches of {spine_m:g} m", f"{trunk:,} 条交换机间链路，每条 {spine_m:g} m"
    )
    yield parts.line(far.cable, "cables", "leaf-spine", trunk, long, metres=spine_m)
    devices = Bilingual(f"{storage:,} links to storage devices", f"{storage:,} 条存储设备链路")
    yield _cable(catalog, parts, "aoc-400-2x200", "storage", storage, devices)
    if n.links["manager"]:
        pair = Bilingual("a pair of fabric managers for storage", "存储网络的一对网络管理器")
        yield parts.line("ufm-appliance", "management", "management", 2, pair)
        yield parts.line("ufm-license", "management", "management", node_links + 2 * storage, node_end)
    else:
        yield parts.line("ethernet-manager", "management", "management", n.switches, serves)


def _in_band_lines(catalog: Catalog, parts: Parts, n: SideNetwork) -> Iterable[BillLine]:
    total = sum(n.links.values())
    serves = Bilingual(f"{total:,} in-band links", f"{total:,} 条带内链路")
    yield parts.line(n.switch.id, "switches", "in-band", n.switches, serves)
    for kind, (cable, en, zh) in _SERVES.items():
        count = n.links[kind]
        joins = Bilingual(f"{count:,} {en}", f"{count:,} {zh}")
        yield _cable(catalog, parts, cable, kind.replace("_", "-"), count, joins)


def _cable(catalog: Catalog, parts: Parts, id: str, role: str, count: int, serves: Bilingual) -> BillLine:
    row = catalog.cables[id]
    watts = row.switch_end_w + row.links * row.node_end_w
    return parts.line(id, "cables", role, count, serves, watts=(watts, watts))


def _out_of_band_lines(parts: Parts, n: SideNetwork, counted: int) -> Iterable[BillLine]:
    ports = sum(count for kind, count in n.links.items() if kind != "uplink")
    serves = Bilingual(f"{ports:,} management ports", f"{ports:,} 个管理口")
    yield parts.line(n.switch.id, "switches", "out-of-band", max(0, n.switches - counted), serves)
    yield parts.line("cat5e-1g", "cables", "out-of-band", ports, serves)
