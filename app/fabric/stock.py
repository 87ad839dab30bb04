"""Growing a fabric with switches that are there already: what can be kept, what must be bought, what breaks.

Counts only. Of all pairings of the models there, and of one that can be bought, the one that buys the fewest switches
is taken; see stock_pairing.py. What it means is said in stock_findings.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from app.errors import AdvisorError
from app.fabric import stock_findings
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source
from app.fabric.catalog import Catalog, Switch, fold
from app.fabric.checks import check_choice, check_range
from app.fabric.estimate import Estimate
from app.fabric.stock_pairing import Pairing, Search, Wiring, fitting
from app.fabric.topology import Fabric, Topology, default_switch, size_fabric
from app.fabric.tree import capacity

MOST_SWITCHES = 100_000
RATIOS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)  # tried beside the one that is asked for
_ONE = re.compile(
    r"\s*(?P<count>\d+)(?:\s*[x×*:]\s*|\s*[台个]\s*|\s+)(?:[A-Za-z]+\s+)*(?P<id>[\w.-]*\d[\w.-]*?)(?:\s+switch(?:es)?)?\s*",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<![\w.-])(\d{1,3}),(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class GpuKind:
    name: str
    gbps: int  # network of one GPU, all planes


@dataclass(frozen=True)
class StockPlan:
    """The switches there against the cluster planned. `alone` is the fabric of the most numerous model by itself."""

    catalog: Catalog
    inputs: Mapping[str, Any]
    fabric: Fabric
    link_gbps: int
    there: Mapping[str, int]  # by model
    gpus: int
    joint_rails: int  # leaves that a node's NICs go to; 1 for a fat tree
    chosen: Pairing
    keeping: Pairing | None  # the one that buys the fewest of those that keep some, where `chosen` keeps none
    alone: Topology | None
    max_gpus: int  # that the switches there carry with nothing bought
    lowest_ratio: float | None  # at which the switches there suffice
    kinds: tuple[GpuKind, GpuKind] | None = None  # of the GPUs there and of those added, where they differ in speed

    @property
    def fit(self) -> Mapping[str, Switch]:
        return fitting(self.catalog, self.there, self.fabric, self.link_gbps)

    @property
    def main(self) -> Switch | None:
        """The most numerous model there that fits."""
        fit = self.fit
        return fit[max(fit, key=lambda id: self.there[id])] if fit else None

    @property
    def two_tier_gpus(self) -> int:
        """GPUs that two tiers of the main model carry at the ratio asked for, in whole nodes; 0 without one."""
        row, node = self.main, int(self.inputs["gpus_per_node"])
        if row is None:
            return 0
        ports = capacity(self.joint_rails, row.radix(self.link_gbps), 2, self.inputs["oversubscription"], 1.0)
        return ports // node * node

    @cached_property
    def kept(self) -> Mapping[str, int]:
        need = self.chosen.needed()
        return {id: min(count, need.get(id, 0)) for id, count in self.there.items()}

    @cached_property
    def bought(self) -> Mapping[str, int]:
        return self.missing(self.chosen)

    def missing(self, pairing: Pairing) -> Mapping[str, int]:
        """What a pairing needs beyond the switches there, by model."""
        short = {id: count - self.there.get(id, 0) for id, count in pairing.needed().items()}
        return {id: count for id, count in short.items() if count > 0}

    @property
    def idle(self) -> Mapping[str, int]:
        return {id: count - self.kept[id] for id, count in self.there.items()}

    @cached_property
    def used_ports(self) -> int:
        """Ports with a link, on the switches that are kept; those that are kept carry the fullest places."""
        loads = self.chosen.loads()
        return sum(sum(loads.get(id, [])[:count]) for id, count in self.kept.items())

    @property
    def kept_ports(self) -> int:
        return sum(count * self.catalog.switch(id).radix(self.link_gbps) for id, count in self.kept.items() if count)

    @property
    def idle_ports(self) -> int:
        return sum(self.idle[id] * row.radix(self.link_gbps) for id, row in self.fit.items())

    @property
    def bought_usd(self) -> Estimate | None:
        """Of the models with a known price; None where there are none."""
        priced = [price.usd * n for id, n in self.bought.items() if (price := self.catalog.price(id))]
        return sum(priced[1:], priced[0]) if priced else None

    @property
    def unpriced(self) -> tuple[Switch, ...]:
        return tuple(self.catalog.switch(id) for id in self.bought if self.catalog.price(id) is None)

    def calculation(self) -> Calculation:
        values = stock_findings.values(self)
        return Calculation(
            tool="grow",
            label=self.fabric,
            inputs=dict(self.inputs),
            values=values,
            assumptions=_assumptions(self),
            sources=self.sources,
            rows=stock_findings.rows(self, values),
        )

    @property
    def sources(self) -> tuple[Source, ...]:
        models = dict.fromkeys((*self.there, self.chosen.leaf.id, self.chosen.spine.id))
        prices = [self.catalog.price(id) for id in self.bought]
        every = [source for id in models for source in self.catalog.switch(id).sources]
        return tuple(dict.fromkeys([*every, *(source for price in prices if price for source in price.sources)]))


def parse_stock(text: str) -> dict[str, int]:
    """`40x sn4700, 4 SN5600` -> {"sn4700": 40, "SN5600": 4}. Raises AdvisorError for anything else."""
    found: dict[str, int] = {}
    for part in re.split(r"[,，;；+]|\band\b|和|、", _THOUSANDS.sub(r"\1", text)):
        match = _ONE.fullmatch(part)
        count = int(match["count"]) if match else 0
        if match is None or not 1 <= count <= MOST_SWITCHES:
            raise AdvisorError(
                f"{text[:80]!r} does not say which switches are there.",
                "Write how many of which, for example 40x sn4700, 4x sn5600.",
                code="bad_stock",
                values={"text": text[:80]},
            )
        found[match["id"]] = found.get(match["id"], 0) + count
    return found


def plan_stock(
    catalog: Catalog,
    *,
    keep: str | Mapping[str, int],
    add_gpus: int,
    gpus_there: int = 0,
    fabric: Fabric | None = None,
    gpus_per_node: int = 8,
    gbps_per_gpu: int = 400,
    planes: int = 1,
    topology: Wiring = "rail-optimized",
    oversubscription: float = 1.0,
    new_switch: str | None = None,
    whole_units: bool = True,
    kinds: tuple[GpuKind, GpuKind] | None = None,
) -> StockPlan:
    """Which of the switches there (`keep`: "40x sn4700", or a mapping) carry `gpus_there` + `add_gpus` GPUs.

    All GPUs have the same nodes and speed; where those there and those added are of two `kinds` (in this order), that
    is said, and `gbps_per_gpu` should be the faster of theirs, which is then an upper bound. `new_switch` is what may
    be bought, by default the catalog's for this fabric and speed; more of a model that is there may be bought too.
    `fabric` is by default that of the switches. Raises AdvisorError as size_fabric does, for switches that are not in
    the catalog, and where no fabric follows.
    """
    check_range("add_gpus", add_gpus, 0, 10_000_000)
    check_range("gpus_there", gpus_there, 0, 10_000_000)
    check_choice("topology", topology, get_args(Wiring))
    given = parse_stock(keep) if isinstance(keep, str) else dict(keep)
    there: dict[str, int] = {}
    for name, count in given.items():
        row = _row(catalog, name)
        there[row.id] = there.get(row.id, 0) + count
    fabric = fabric or _own_fabric(catalog, there)
    gpus = gpus_there + add_gpus
    design: dict[str, Any] = {
        "fabric": fabric,
        "gpus_per_node": gpus_per_node,
        "gbps_per_gpu": gbps_per_gpu,
        "planes": planes,
        "topology": topology,
        "whole_units": whole_units,
    }
    probe = size_fabric(catalog, gpus=1 if gpus else 0, oversubscription=oversubscription, switch=new_switch, **design)
    rails = probe.rails if topology == "rail-optimized" else 1
    search = Search(catalog, there, probe.link_gbps, rails, design)
    new = catalog.switch(new_switch or default_switch(fabric, probe.link_gbps))
    fit = fitting(catalog, there, fabric, probe.link_gbps)
    chosen = search.best({**fit, new.id: new}, gpus, oversubscription)
    if chosen is None:  # say what would carry it
        size_fabric(catalog, gpus=gpus, oversubscription=oversubscription, switch=new.id, **design)
        raise AssertionError("no pairing although the new switch alone suffices")
    nothing_kept = not set(chosen.needed()) & set(there)
    keeping = search.best({**fit, new.id: new}, gpus, oversubscription, keeping=True) if nothing_kept else None
    main = max(fit, key=lambda id: there[id], default=None)  # as StockPlan.main
    ratios = sorted({*RATIOS, oversubscription})
    inputs: dict[str, Scalar] = {
        "keep": ", ".join(f"{count}x {id}" for id, count in there.items()),
        "add_gpus": add_gpus,
        "gpus_there": gpus_there,
        **design,
        "oversubscription": oversubscription,
        "new_switch": new.id,
    }
    return StockPlan(
        catalog,
        inputs,
        fabric,
        probe.link_gbps,
        there,
        gpus,
        rails,
        chosen,
        keeping,
        search.sized(main, gpus, oversubscription) if main else None,
        search.most_gpus(fit, oversubscription),
        next((ratio for ratio in ratios if search.suffices(fit, gpus, ratio)), None),
        kinds,
    )


def _row(catalog: Catalog, name: str) -> Switch:
    """The switch of this id; of "SN4700s" the SN4700."""
    plural = name.endswith("s") and fold(name) not in map(fold, catalog.switches)
    return catalog.switch(name[:-1] if plural else name)


def _own_fabric(catalog: Catalog, there: Mapping[str, int]) -> Fabric:
    fabrics = {catalog.switch(id).fabric for id in there} & set(get_args(Fabric))
    if len(fabrics) != 1:
        names = ", ".join(catalog.switch(id).name for id in there)
        raise AdvisorError(
            f"It does not follow from {names} whether the GPUs' network is InfiniBand or RoCE.",
            "Say which, with fabric infiniband or roce.",
            code="which_fabric",
            values={"switches": names},
        )
    return "infiniband" if "infiniband" in fabrics else "roce"


def _assumptions(plan: StockPlan) -> tuple[Bilingual, ...]:
    notes = [
        Bilingual(
            "All GPUs, those there and those added, have nodes of the same kind and the same network speed.",
            "原有与新增的 GPU 节点类型相同，网络速率相同。",
        ),
        Bilingual(
            "Each tier is of one model of switch; leaf and spine may differ. The plan that buys the fewest is shown.",
            "同一层只用一种交换机，叶与脊可以不同；所示为购买台数最少的方案。",
        ),
        Bilingual(
            "Prices are of switches only: modules, cables and NICs of the added nodes come on top (see cost).",
            "价格只含交换机；新增节点的光模块、线缆与网卡另计（见 cost）。",
        ),
        Bilingual(
            "Whether the old switches' software, buffers and congestion control match the new ones is not computed.",
            "未计算旧交换机的软件、缓存与拥塞控制能否与新设备匹配。",
        ),
    ]
    return tuple(notes)
