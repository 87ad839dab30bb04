"""The bill of materials of a sized fabric: how many of what, at which price, serving which links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.catalog import Catalog, Nic
from app.fabric.checks import bad_value, between
from app.fabric.estimate import Estimate
from app.fabric.link_lines import cable_lines, module_lines, nic_line, node_module_lines, switch_lines
from app.fabric.links import Media, choose_media
from app.fabric.parts import BillLine, Parts, total_usd
from app.fabric.topology import Topology

CATEGORIES = ("switches", "nics", "optics", "cables", "management", "spares")


@dataclass(frozen=True, slots=True)
class Bill:
    """What to buy. `lengths_m` are the cable lengths, in metres, that chose copper or fibre."""

    topology: Topology
    lines: tuple[BillLine, ...]
    nic: Nic
    node_media: Media
    lengths_m: Mapping[str, float]
    spares_percent: float
    twin_port_nodes: bool

    @property
    def assumptions(self) -> tuple[Bilingual, ...]:
        return _assumptions(self)

    @property
    def capex_usd(self) -> Estimate:
        return total_usd(self.lines)

    def category_usd(self, *categories: str) -> Estimate:
        return total_usd(line for line in self.lines if line.category in categories)

    def quantity(self, item: str, *, spares: bool = False) -> int:
        """Pieces of an item over all lines; without spares unless asked."""
        return sum(
            line.quantity
            for line in self.lines
            if line.item == item and (spares or line.category != "spares")
        )

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(dict.fromkeys(source for line in self.lines for source in line.sources))

    def calculation(self) -> Calculation:
        usd = {f"{category}_usd": self.category_usd(category) for category in CATEGORIES}
        return Calculation(
            tool="bill",
            label=self.topology.fabric,
            inputs=self.topology.calculation().inputs,
            values={name: Value.of(total, "USD") for name, total in usd.items()}
            | {"capex_usd": Value.of(self.capex_usd, "USD")},
            assumptions=self.topology.assumptions + self.assumptions,
            sources=tuple(dict.fromkeys(self.topology.sources + self.sources)),
            rows=tuple(line.row() for line in self.lines),
        )


def bill_of_materials(
    catalog: Catalog,
    topology: Topology,
    *,
    nic: str | None = None,
    node_leaf_m: float | None = None,
    leaf_spine_m: float | None = None,
    spine_core_m: float | None = None,
    spares_percent: float | None = None,
    twin_port_nodes: bool = False,
) -> Bill:
    """Everything to buy for the back-end fabric: switches, NICs, modules, cables, management and spares.

    Lengths in metres choose copper or fibre and the kind of module; None takes the catalog's defaults. With
    `twin_port_nodes` a node has one twin-port module for two NICs (DGX H100) rather than one module a NIC.
    Raises AdvisorError for a NIC that does not fit, or a length that no cable spans.
    """
    t = topology
    lengths = {
        name: given if given is not None else catalog.default(name).value.typical
        for name, given in (
            ("node_leaf_m", node_leaf_m),
            ("leaf_spine_m", leaf_spine_m),
            ("spine_core_m", spine_core_m),
        )
    }
    for name, metres in lengths.items():
        if not 0.1 <= metres <= 2000:
            raise bad_value(name, metres, between(0.1, 2000))
    spares = spares_percent if spares_percent is not None else catalog.default("spares_percent").value.typical
    if not 0 <= spares <= 100:
        raise bad_value("spares_percent", spares, between(0, 100))
    card = _nic(catalog, t, nic)
    near = lengths["node_leaf_m"]
    node_leaf = choose_media(
        catalog, t.switch, t.link_gbps, near, ends="node", twin=twin_port_nodes, nic_form=card.form
    )
    leaf_spine = choose_media(catalog, t.switch, t.link_gbps, lengths["leaf_spine_m"], ends="switch")
    spine_core = choose_media(catalog, t.switch, t.link_gbps, lengths["spine_core_m"], ends="switch")
    parts = Parts(catalog)
    lines = [
        *switch_lines(parts, t, leaf_spine),
        nic_line(parts, t, card),
        *module_lines(parts, t, node_leaf, leaf_spine, spine_core),
        *node_module_lines(parts, t, node_leaf),
        *cable_lines(parts, t, node_leaf, leaf_spine, spine_core, lengths),
        *_management(parts, t),
    ]
    lines = [line for line in lines if line.quantity]
    lines += spare_lines(lines, spares)
    return Bill(t, tuple(lines), card, node_leaf, lengths, spares, twin_port_nodes)


def _nic(catalog: Catalog, t: Topology, nic: str | None) -> Nic:
    needed = t.link_gbps * t.planes
    card = catalog.nic(nic or ("connectx-7" if needed <= 400 else "connectx-8"))
    if t.fabric not in card.fabrics or card.gbps < t.link_gbps:
        fit = [
            other.id
            for other in catalog.nics.values()
            if t.fabric in other.fabrics and other.gbps >= t.link_gbps
        ]
        choices = ", ".join(fit)
        raise AdvisorError(
            f"{card.name} does not serve {t.link_gbps}G {t.fabric}.",
            f"Choose one of {choices}.",
            code="nic_does_not_fit",
            values={"nic": card.name, "gbps": t.link_gbps, "fabric": t.fabric, "choices": choices},
        )
    return card


def _management(parts: Parts, t: Topology) -> Iterable[BillLine]:
    endpoints = t.ports // t.planes
    ports = t.nodes + t.switches
    serves = Bilingual(
        f"{ports:,} management ports, one a node and switch", f"{ports:,} 个管理口，每节点和每交换机一个"
    )
    yield parts.line("sn2201", "management", "management", ceil(ports / 48), serves)
    if t.fabric == "infiniband":
        pair = Bilingual("a pair of fabric managers", "一对网络管理器")
        yield parts.line("ufm-appliance", "management", "management", 2, pair)
        per_nic = Bilingual(f"{endpoints:,} NIC endpoints", f"{endpoints:,} 个网卡端点")
        yield parts.line("ufm-license", "management", "management", endpoints, per_nic)
    else:
        per_switch = Bilingual(f"{t.switches:,} switches", f"{t.switches:,} 台交换机")
        yield parts.line("ethernet-manager", "management", "management", t.switches, per_switch)


def spare_lines(lines: list[BillLine], percent: float) -> list[BillLine]:
    """At least one of every module, NIC and cable; of switches whole ones only: a contract replaces them."""
    if not percent:
        return []
    first: dict[str, BillLine] = {}
    count: dict[str, int] = {}
    for line in lines:
        if line.category in ("switches", "nics", "optics", "cables"):
            first.setdefault(line.item, line)
            count[line.item] = count.get(line.item, 0) + line.quantity
    serves = Bilingual(f"spares, {percent:g} %", f"备件，{percent:g}%")
    spares = []
    for item, line in first.items():
        exact = count[item] * percent / 100
        pieces = round(exact) if line.category == "switches" else ceil(exact)
        if pieces:
            spares.append(line.spare(pieces, serves))
    return spares


def _assumptions(bill: Bill) -> tuple[Bilingual, ...]:
    t, card, lengths, spares = bill.topology, bill.nic, bill.lengths_m, bill.spares_percent
    lines = bill.lines
    notes = [
        Bilingual(
            f"Lengths: node to leaf {lengths['node_leaf_m']:g} m, leaf to spine {lengths['leaf_spine_m']:g} m"
            + (f", spine to core {lengths['spine_core_m']:g} m." if t.core_switches else "."),
            f"长度：节点到叶 {lengths['node_leaf_m']:g} m，叶到脊 {lengths['leaf_spine_m']:g} m"
            + (f"，脊到核心 {lengths['spine_core_m']:g} m。" if t.core_switches else "。"),
        ),
        Bilingual(f"NIC: {card.name}. {card.note.en}", f"网卡：{card.name}。{card.note.zh}"),
    ]
    if bill.node_media.node_module:
        each = (
            ("one twin-port module for two NICs, as in DGX H100", "每两块网卡共用一个双口模块，同 DGX H100")
            if bill.twin_port_nodes
            else ("one module at each NIC port", "每个网卡端口一个模块")
        )
        notes.append(Bilingual(f"At the node: {each[0]}.", f"节点端：{each[1]}。"))
    notes.append(
        Bilingual(
            f"Spares {spares:g} %: at least one of each module, NIC and cable; of switches whole ones only, "
            "a smaller build relies on its support contract.",
            f"备件 {spares:g}%：模块、网卡、线缆各至少一件；交换机仅计整台，小规模依靠支持合同。",
        )
    )
    notes.append(
        Bilingual(
            "The bill is of the back-end fabric only: no storage or front-end network, racks, installation "
            "or tax.",
            "清单仅含后端网络：不含存储与前端网络、机柜、安装和税费。",
        )
    )
    unpriced = dict.fromkeys(line.name for line in lines if not line.priced)
    notes += [
        Bilingual(f"No price was found for {name}; it counts as 0.", f"未找到 {name} 的价格，按 0 计。")
        for name in unpriced
    ]
    ours = dict.fromkeys(line for line in lines if any(source.trust == "ours" for source in line.sources))
    named: dict[str, Bilingual] = {line.name: line.price_note for line in ours if line.priced}
    notes += [Bilingual(f"{name}: {note.en}", f"{name}：{note.zh}") for name, note in named.items()]
    if t.switch.power_typical_w is None:
        notes.append(
            Bilingual(
                f"No power figure was found for {t.switch.name}.", f"未找到 {t.switch.name} 的功耗数据。"
            )
        )
    return tuple(notes)
