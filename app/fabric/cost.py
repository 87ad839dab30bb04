"""What a bill costs to buy and to own: capex by category, energy, support, staff, TCO over the years."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.errors import AdvisorError
from app.fabric.bill import CATEGORIES, Bill, bill_of_materials
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.catalog import Catalog
from app.fabric.estimate import Estimate
from app.fabric.power import Power, network_power
from app.fabric.terms import CostTerms, default_terms
from app.fabric.topology import Fabric, Shape, Topology, size_fabric

HOURS_PER_YEAR = 8760
SUPPORTED = ("switches", "nics", "management")


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars over the years of the terms, discounted where they say so."""

    bill: Bill
    power: Power
    terms: CostTerms
    energy_usd: Estimate
    support_usd: Estimate
    staff_usd: Estimate

    @property
    def naas_usd(self) -> Estimate:
        return self.terms.naas_usd_per_year * self.terms.annuity_years

    @property
    def capex_usd(self) -> Estimate:
        return self.bill.capex_usd

    @property
    def tco_usd(self) -> Estimate:
        return Estimate.total(
            (self.capex_usd, self.energy_usd, self.support_usd, self.staff_usd, self.naas_usd)
        )

    @property
    def gpus(self) -> int:
        return self.bill.topology.gpus

    def values(self) -> dict[str, Value]:
        by = {category: self.bill.category_usd(category) for category in CATEGORIES}
        money = {
            "capex_usd": self.capex_usd,
            "switches_usd": by["switches"],
            "nics_usd": by["nics"],
            "optics_and_cables_usd": by["optics"] + by["cables"],
            "management_usd": by["management"],
            "spares_usd": by["spares"],
            "energy_usd": self.energy_usd,
            "support_usd": self.support_usd,
            "staff_usd": self.staff_usd,
            **({"naas_usd": self.naas_usd} if self.naas_usd.high else {}),
            "tco_usd": self.tco_usd,
            "capex_usd_per_gpu": self.capex_usd * (1 / self.gpus),
            "tco_usd_per_gpu": self.tco_usd * (1 / self.gpus),
        }
        values = {name: Value.of(estimate, "USD") for name, estimate in money.items()}
        values["power_typical_kw"] = Value(self.power.typical_w / 1000, "kW")
        values["power_max_kw"] = Value(self.power.max_w / 1000, "kW")
        values["facility_typical_kw"] = Value(self.power.facility_typical_w / 1000, "kW")
        values["facility_max_kw"] = Value(self.power.facility_max_w / 1000, "kW")
        values["years"] = Value(self.terms.years, "years")
        return values


def network_cost(bill: Bill, power: Power, *, terms: CostTerms) -> Cost:
    """Own the bill for `terms.years`.

    Energy: the typical draw all year (the high end: the maximum draw) x PUE x tariff. Support: a yearly
    percentage of the price of switches, NICs and management; modules and cables are covered by spares. Staff:
    FTE x salary.
    """
    support = support_cost(bill.category_usd(*SUPPORTED), terms)
    staff = _product(terms.staff_fte, terms.salary_usd) * terms.annuity_years
    return Cost(bill, power, terms, energy_cost(power, terms), support, staff)


def energy_cost(power: Power, terms: CostTerms) -> Estimate:
    kilowatt_hours = Estimate(power.typical_w, power.typical_w, power.max_w) * (HOURS_PER_YEAR / 1000)
    return _product(_product(kilowatt_hours, terms.pue), terms.usd_per_kwh) * terms.annuity_years


def support_cost(supported_usd: Estimate, terms: CostTerms) -> Estimate:
    return _product(supported_usd, terms.support_percent * 0.01) * terms.annuity_years


def _product(a: Estimate, b: Estimate) -> Estimate:
    return Estimate(a.low * b.low, a.typical * b.typical, a.high * b.high)


@dataclass(frozen=True, slots=True)
class Design:
    """One way to build the network: what is sized, bought and owned. Lengths in metres."""

    gpus: int
    fabric: Fabric
    switch: str | None = None
    gpus_per_node: int = 8
    gbps_per_gpu: int = 400
    planes: int = 1
    topology: Shape = "rail-optimized"
    oversubscription: float = 1.0
    whole_units: bool = True
    core_oversubscription: float = 1.0
    nics_per_gpu: float = 1.0
    rails: int | None = None
    reserved_ports: int = 0
    single_switch: bool = False
    grow_to: int | None = None
    nic: str | None = None
    node_leaf_m: float | None = None
    leaf_spine_m: float | None = None
    spine_core_m: float | None = None
    twin_port_nodes: bool = False

    def sized(self, catalog: Catalog) -> Topology:
        return size_fabric(
            catalog,
            gpus=self.gpus,
            fabric=self.fabric,
            switch=self.switch,
            gpus_per_node=self.gpus_per_node,
            gbps_per_gpu=self.gbps_per_gpu,
            planes=self.planes,
            topology=self.topology,
            oversubscription=self.oversubscription,
            whole_units=self.whole_units,
            core_oversubscription=self.core_oversubscription,
            nics_per_gpu=self.nics_per_gpu,
            rails=self.rails,
            reserved_ports=self.reserved_ports,
            single_switch=self.single_switch,
            grow_to=self.grow_to,
        )

    def billed(self, catalog: Catalog, spares_percent: float | None = None) -> Bill:
        return bill_of_materials(
            catalog,
            self.sized(catalog),
            nic=self.nic,
            node_leaf_m=self.node_leaf_m,
            leaf_spine_m=self.leaf_spine_m,
            spine_core_m=self.spine_core_m,
            spares_percent=spares_percent,
            twin_port_nodes=self.twin_port_nodes,
        )

    def cost(self, catalog: Catalog, terms: CostTerms | None = None) -> Cost:
        """Raises AdvisorError for a switch without a price: to count it as 0 would turn a comparison round."""
        terms = terms or default_terms(catalog, self.gpus)
        bill = self.billed(catalog, terms.spares_percent)
        switch = bill.topology.switch
        if catalog.price(switch.id) is None:
            rows = catalog.switches.values()
            priced = [one.id for one in rows if one.fabric == self.fabric and catalog.price(one.id)]
            raise AdvisorError(
                f"No price is known for {switch.name}, so a network of it cannot be costed.",
                f"Choose one of {', '.join(priced)}, or add its price to knowledge/catalog/prices.yaml.",
                code="no_price",
                values={"switch": switch.name, "priced": ", ".join(priced)},
            )
        return network_cost(bill, network_power(bill, pue=terms.pue.typical), terms=terms)

    def exact(self) -> Design:
        return replace(self, whole_units=False)


def cost_calculation(
    catalog: Catalog, *, gpus: int, fabric: Fabric, terms: CostTerms | None = None, **design: Any
) -> Calculation:
    """Size, bill and cost one fabric; `design` takes the other fields of Design. Rows are the bill's lines.

    Raises AdvisorError as size_fabric, bill_of_materials and default_terms do.
    """
    return calculation_of(catalog, Design(gpus=gpus, fabric=fabric, **design).cost(catalog, terms))


def calculation_of(catalog: Catalog, cost: Cost) -> Calculation:
    """The record of a cost: its values, its assumptions, and the lines of its bill."""
    t, terms = cost.bill.topology, cost.terms
    values = cost.values()
    notes = [*t.assumptions, *cost.bill.assumptions, *terms.notes, _SUPPORT_NOTE]
    sources = [*t.sources, *cost.bill.sources, *terms.sources]
    share = network_share(catalog, cost)
    if share is not None:
        values["network_share_percent"], note, used = share
        notes.append(note)
        sources += used
    inputs: dict[str, Scalar] = dict(t.calculation().inputs)
    inputs |= {
        "years": terms.years,
        "pue": terms.pue.typical,
        "usd_per_kwh": terms.usd_per_kwh.typical,
        "support_percent": terms.support_percent.typical,
        "staff_fte": round(terms.staff_fte.typical, 4),
        "salary_usd": terms.salary_usd.typical,
        "discount_percent": terms.discount_percent,
        "spares_percent": terms.spares_percent,
    }
    return Calculation(
        tool="cost",
        label=t.fabric,
        inputs=inputs,
        values=values,
        assumptions=tuple(dict.fromkeys(notes)),
        sources=tuple(dict.fromkeys(sources)),
        rows=tuple(line.row() for line in cost.bill.lines),
    )


_SUPPORT_NOTE = Bilingual(
    "Support is a percentage of switches, NICs and management; modules and cables are covered by spares.",
    "支持费按交换机、网卡与管理部分计；光模块与线缆由备件覆盖。",
)


def network_share(catalog: Catalog, cost: Cost) -> tuple[Value, Bilingual, tuple[Source, ...]] | None:
    """The network's percentage of network plus servers, NICs counted as network; None if no server fits."""
    t = cost.bill.topology
    speed_servers = {400: "hgx-h100", 800: "hgx-b200"}
    id = speed_servers.get(t.gbps_per_gpu)
    price = catalog.price(id) if id else None
    if id is None or price is None or t.gpus_per_node != catalog.server(id).gpus:
        return None
    nics = cost.bill.category_usd("nics") * (1 / t.nodes)
    server = Estimate(
        max(0.0, price.usd.low - nics.high), price.usd.typical - nics.typical, price.usd.high - nics.low
    )
    servers, capex = server * t.nodes, cost.capex_usd
    percent = Estimate(
        100 * capex.low / (capex.low + servers.high),
        100 * capex.typical / (capex.typical + servers.typical),
        100 * capex.high / (capex.high + servers.low),
    )
    name = catalog.server(id).name
    note = Bilingual(
        f"Network share: back-end switches, NICs, modules, cables, management and spares over those plus "
        f"servers ({name}, without its NICs); no storage or front-end network.",
        f"网络占比：后端交换机、网卡、光模块、线缆、管理与备件之和，除以其与服务器"
        f"（{name}，不含网卡）之和；不含存储与前端网络。",
    )
    return Value.of(percent, "%"), note, price.sources


__all__ = [
    "Cost",
    "CostTerms",
    "Design",
    "calculation_of",
    "cost_calculation",
    "default_terms",
    "network_cost",
    "network_share",
]
