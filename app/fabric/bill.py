"""The bill of materials of a sized fabric: how many of what, at which price, and which links each line serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.catalog import Catalog, Nic
from app.fabric.estimate import Estimate
from app.fabric.links import Media, choose_media
from app.fabric.topology import Topology, bad_value
from app.fabric.tree import Loads, cages

CATEGORIES = ("switches", "nics", "optics", "cables", "management", "spares")
FREE = Estimate.exact(0.0)


@dataclass(frozen=True, slots=True)
class BillLine:
    """So many of one item. Price in US dollars and power in watts are of one piece."""

    item: str
    name: str
    category: str
    quantity: int
    unit_price_usd: Estimate
    power_typical_w: float
    power_max_w: float
    serves: Bilingual
    sources: tuple[Source, ...]
    price_note: Bilingual = Bilingual("", "")
    priced: bool = True

    @property
    def total_usd(self) -> Estimate:
        return self.unit_price_usd * self.quantity

    def row(self) -> dict[str, Scalar]:
        total, dated = self.total_usd, self.sources[-1] if self.sources else None
        return {
            "category": self.category,
            "item": self.item,
            "name": self.name,
            "quantity": self.quantity,
            "unit_usd_low": self.unit_price_usd.low,
            "unit_usd": self.unit_price_usd.typical,
            "unit_usd_high": self.unit_price_usd.high,
            "total_usd_low": total.low,
            "total_usd": total.typical,
            "total_usd_high": total.high,
            "power_typical_w": self.power_typical_w,
            "power_max_w": self.power_max_w,
            "serves": self.serves.en,
            "serves_zh": self.serves.zh,
            "price_note": self.price_note.en,
            "price_note_zh": self.price_note.zh,
            "source": "; ".join(source.title for source in self.sources),
            "date": dated.date if dated else "",
            "trust": ", ".join(dict.fromkeys(source.trust for source in self.sources)),
        }


@dataclass(frozen=True, slots=True)
class Bill:
    topology: Topology
    lines: tuple[BillLine, ...]
    assumptions: tuple[Bilingual, ...]

    @property
    def capex_usd(self) -> Estimate:
        return Estimate.total(line.total_usd for line in self.lines)

    def category_usd(self, *categories: str) -> Estimate:
        return Estimate.total(line.total_usd for line in self.lines if line.category in categories)

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
        if not 0 < metres <= 2000:
            raise bad_value(name, metres, "Choose a length above 0 and up to 2000 m.")
    spares = spares_percent if spares_percent is not None else catalog.default("spares_percent").value.typical
    if not 0 <= spares <= 100:
        raise bad_value("spares_percent", spares, "Choose a percentage from 0 to 100.")
    card = _nic(catalog, t, nic)
    node_leaf = choose_media(catalog, t, lengths["node_leaf_m"], ends="node", twin=twin_port_nodes)
    leaf_spine = choose_media(catalog, t, lengths["leaf_spine_m"], ends="switch")
    spine_core = choose_media(catalog, t, lengths["spine_core_m"], ends="switch")
    make = _Maker(catalog)
    lines = [
        *_switch_lines(make, t, leaf_spine),
        _nic_line(make, t, card),
        *_module_lines(make, t, node_leaf, leaf_spine, spine_core),
        *_node_modules(make, t, node_leaf),
        *_cable_lines(make, t, node_leaf, leaf_spine, spine_core, lengths),
        *_management(make, t),
    ]
    lines = [line for line in lines if line.quantity]
    lines += _spares(lines, spares)
    return Bill(
        t, tuple(lines), _assumptions(catalog, t, card, lines, lengths, spares, twin_port_nodes, node_leaf)
    )


class _Maker:
    """Makes a line from a catalog row: price, name and sources looked up in one place."""

    def __init__(self, catalog: Catalog):
        self.catalog = catalog
        self.rows: Mapping[str, object] = {
            **catalog.switches, **catalog.nics, **catalog.optics, **catalog.cables, **catalog.services,
        }  # fmt: skip

    def line(
        self, item: str, category: str, quantity: int, serves: Bilingual, *, metres: float = 0.0,
        typical_w: float | None = None, max_w: float | None = None,
    ) -> BillLine:  # fmt: skip
        row = self.rows[item]
        price = self.catalog.price(item)
        unit = FREE if price is None else price.usd + price.usd_per_m * metres
        sources = row.sources if price is None else price.sources  # type: ignore[attr-defined]
        return BillLine(
            item,
            row.name,  # type: ignore[attr-defined]
            category,
            quantity,
            unit,
            getattr(row, "power_typical_w", 0.0) or 0.0 if typical_w is None else typical_w,
            getattr(row, "power_max_w", 0.0) or 0.0 if max_w is None else max_w,
            serves,
            sources,
            Bilingual("", "") if price is None else price.note,
            price is not None,
        )


def _nic(catalog: Catalog, t: Topology, nic: str | None) -> Nic:
    needed = t.link_gbps * t.planes
    card = catalog.nic(nic or ("connectx-7" if needed <= 400 else "connectx-8"))
    if t.fabric not in card.fabrics or card.gbps < t.link_gbps:
        fit = [
            other.id
            for other in catalog.nics.values()
            if t.fabric in other.fabrics and other.gbps >= t.link_gbps
        ]
        raise AdvisorError(
            f"{card.name} does not serve {t.link_gbps}G {t.fabric}.",
            f"Choose one of {', '.join(fit)}.",
            code="bad_value",
            values={"name": "nic", "value": card.id, "choices": ", ".join(fit)},
        )
    return card


def _nic_line(make: _Maker, t: Topology, card: Nic) -> BillLine:
    endpoints = t.ports // t.planes
    each = ceil(t.link_gbps * t.planes / card.gbps)
    serves = Bilingual(
        f"{t.ports:,} NIC ports of {t.nodes:,} nodes", f"{t.nodes:,} 个节点的 {t.ports:,} 个网卡端口"
    )
    return make.line(card.id, "nics", endpoints * each, serves)


def _switch_lines(make: _Maker, t: Topology, media: Media) -> Iterable[BillLine]:
    full = t.switch.cages * media.module_max_w
    typical = t.switch.power_typical_w or 0.0
    plate = t.switch.power_max_w or typical
    chassis_max = max(typical, plate - full) if t.switch.max_includes_optics else plate
    for count, en, zh in (
        (
            t.leaf_switches,
            f"leaves, {t.node_leaf_links:,} links to nodes",
            f"叶层，{t.node_leaf_links:,} 条节点链路",
        ),
        (
            t.spine_switches,
            f"spines, {t.leaf_spine_links:,} links to leaves",
            f"脊层，{t.leaf_spine_links:,} 条叶脊链路",
        ),
        (
            t.core_switches,
            f"cores, {t.spine_core_links:,} links to spines",
            f"核心层，{t.spine_core_links:,} 条脊核链路",
        ),
    ):
        yield make.line(
            t.switch.id, "switches", count, Bilingual(en, zh), typical_w=typical, max_w=chassis_max
        )


def _module_lines(
    make: _Maker, t: Topology, node_leaf: Media, leaf_spine: Media, spine_core: Media
) -> list[BillLine]:
    """Modules in switch cages. Links of one medium share cages; on each switch a last half-used cage is a whole one."""
    spine_down, core_links = t.tree.leaf_spine, t.tree.spine_core
    lines: list[BillLine] = []
    for tier_en, tier_zh, count, loads, up, below, above in (
        ("leaves", "叶", t.leaf_switches, t.leaf_loads, t.tree.up, node_leaf, leaf_spine),
        ("spines", "脊", t.spine_switches, _even(spine_down, t.tree.spines, t.trees),
         ceil(core_links / t.tree.spines) if t.tree.spines else 0, leaf_spine, spine_core),
        ("cores", "核心", t.core_switches, _even(core_links, t.tree.cores, t.trees), 0, spine_core, spine_core),
    ):  # fmt: skip
        if not count:
            continue
        per = t.links_per_cage
        if below.module == above.module:
            needs = {below.module: cages(tuple((n, links + up) for n, links in loads), per)}
        else:
            needs = {below.module: cages(loads, per), above.module: cages(((count, up),), per)}
        total = sum(n * (links + up) for n, links in loads)
        for module, quantity in needs.items():
            if module and quantity:
                serves = Bilingual(
                    f"{total:,} link ends at {count:,} {tier_en}",
                    f"{count:,} 台{tier_zh}交换机的 {total:,} 个链路端",
                )
                lines.append(make.line(module, "optics", quantity, serves))
    return lines


def _even(links: int, switches: int, trees: int) -> Loads:
    if not switches:
        return ()
    each, more = divmod(links, switches)
    return tuple((n * trees, per) for n, per in ((more, each + 1), (switches - more, each)) if n)


def _node_modules(make: _Maker, t: Topology, media: Media) -> Iterable[BillLine]:
    if media.node_module:
        per_node = ceil(t.ports / t.nodes / media.links_per_node_module)
        serves = Bilingual(f"the node end of {t.ports:,} links", f"{t.ports:,} 条链路的节点端")
        yield make.line(media.node_module, "optics", per_node * t.nodes, serves)
    if t.reserved_ports and media.node_module:
        serves = Bilingual("the reserved ports (UFM)", "保留端口（UFM）")
        yield make.line(media.node_module, "optics", t.reserved_ports * t.planes, serves)


def _cable_lines(
    make: _Maker,
    t: Topology,
    node_leaf: Media,
    leaf_spine: Media,
    spine_core: Media,
    lengths: Mapping[str, float],
) -> Iterable[BillLine]:
    for media, links, name, en, zh in (
        (node_leaf, t.node_leaf_links, "node_leaf_m", "node-leaf links", "条节点—叶链路"),
        (
            node_leaf,
            t.reserved_ports * t.planes,
            "node_leaf_m",
            "links to reserved ports (UFM)",
            "条保留端口链路（UFM）",
        ),
        (leaf_spine, t.leaf_spine_links, "leaf_spine_m", "leaf-spine links", "条叶—脊链路"),
        (spine_core, t.spine_core_links, "spine_core_m", "spine-core links", "条脊—核心链路"),
    ):
        metres = lengths[name]
        serves = Bilingual(f"{links:,} {en} of {metres:g} m", f"{links:,} {zh}，每条 {metres:g} m")
        yield make.line(
            media.cable, "cables", ceil(links * media.cables_per_link), serves, metres=metres,
            typical_w=media.cable_w, max_w=media.cable_w,
        )  # fmt: skip


def _management(make: _Maker, t: Topology) -> Iterable[BillLine]:
    endpoints = t.ports // t.planes
    ports = t.nodes + t.switches
    serves = Bilingual(
        f"{ports:,} management ports, one a node and switch", f"{ports:,} 个管理口，每节点和每交换机一个"
    )
    yield make.line("sn2201", "management", ceil(ports / 48), serves)
    if t.fabric == "infiniband":
        pair = Bilingual("a pair of fabric managers", "一对网络管理器")
        yield make.line("ufm-appliance", "management", 2, pair)
        per_nic = Bilingual(f"{endpoints:,} NIC endpoints", f"{endpoints:,} 个网卡端点")
        yield make.line("ufm-license", "management", endpoints, per_nic)
    else:
        per_switch = Bilingual(f"{t.switches:,} switches", f"{t.switches:,} 台交换机")
        yield make.line("ethernet-manager", "management", t.switches, per_switch)


def _spares(lines: list[BillLine], percent: float) -> list[BillLine]:
    """At least one of every module, NIC and cable; of switches only whole ones, since a contract replaces them."""
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
            spares.append(
                replace(
                    line,
                    category="spares",
                    quantity=pieces,
                    power_typical_w=0.0,
                    power_max_w=0.0,
                    serves=serves,
                )
            )
    return spares


def _assumptions(
    catalog: Catalog, t: Topology, card: Nic, lines: list[BillLine], lengths: Mapping[str, float], spares: float,
    twin: bool, media: Media,
) -> tuple[Bilingual, ...]:  # fmt: skip
    notes = [
        Bilingual(
            f"Lengths: node to leaf {lengths['node_leaf_m']:g} m, leaf to spine {lengths['leaf_spine_m']:g} m"
            + (f", spine to core {lengths['spine_core_m']:g} m." if t.core_switches else "."),
            f"长度：节点到叶 {lengths['node_leaf_m']:g} m，叶到脊 {lengths['leaf_spine_m']:g} m"
            + (f"，脊到核心 {lengths['spine_core_m']:g} m。" if t.core_switches else "。"),
        ),
        Bilingual(f"NIC: {card.name}. {card.note.en}", f"网卡：{card.name}。{card.note.zh}"),
    ]
    if media.node_module:
        each = (
            ("one twin-port module for two NICs, as in DGX H100", "每两块网卡共用一个双口模块，同 DGX H100")
            if twin
            else ("one module at each NIC port", "每个网卡端口一个模块")
        )
        notes.append(Bilingual(f"At the node: {each[0]}.", f"节点端：{each[1]}。"))
    notes.append(
        Bilingual(
            f"Spares {spares:g} %: at least one of each module, NIC and cable; of switches whole ones only, a "
            "smaller build relies on its support contract.",
            f"备件 {spares:g}%：模块、网卡、线缆各至少一件；交换机仅计整台，小规模依靠支持合同。",
        )
    )
    notes.append(
        Bilingual(
            "The bill is of the back-end fabric only: no storage or front-end network, racks, installation or tax.",
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
