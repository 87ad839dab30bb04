"""InfiniBand beside RoCE for the same cluster: sizes, costs, the ratio of the two, and what makes it.

The source article's "2-3x" is shown as its claim, beside the ratio of our own bills.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.fabric import compare_table
from app.fabric.best_fit import best_fit
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.catalog import Catalog
from app.fabric.cost import HOURS_PER_YEAR, Cost, Design, calculation_of
from app.fabric.decision import Situation
from app.fabric.estimate import Estimate
from app.fabric.ratio import capex_ratio, tco_ratio
from app.fabric.slowdown import slower_network
from app.fabric.terms import CostTerms, default_terms
from app.fabric.topology import Fabric
from app.fabric.uncertainty import ratio_spread

CLAIM = (2.0, 3.0)


@dataclass(frozen=True)
class Comparison:
    """Both fabrics on the same terms. Everything beyond the two costs is worked out when it is asked for."""

    catalog: Catalog
    designs: Mapping[Fabric, Design]
    owned: Mapping[Fabric, Cost]
    gpu_hour_usd: Estimate
    sources: tuple[Source, ...]
    hour_sources: tuple[Source, ...]

    @cached_property
    def sizes(self) -> Mapping[Fabric, Calculation]:
        return {fabric: cost.bill.topology.calculation() for fabric, cost in self.owned.items()}

    @cached_property
    def costs(self) -> Mapping[Fabric, Calculation]:
        return {fabric: calculation_of(self.catalog, cost) for fabric, cost in self.owned.items()}

    @cached_property
    def capex_ratio(self) -> Estimate:
        return capex_ratio(self.owned["infiniband"], self.owned["roce"])

    @cached_property
    def switch_ratio(self) -> Estimate:
        """Price of the switches of InfiniBand over that of RoCE."""
        return capex_ratio(self.owned["infiniband"], self.owned["roce"], ("switches",))

    @cached_property
    def tco_ratio(self) -> Estimate:
        return tco_ratio(self.owned["infiniband"], self.owned["roce"])

    @cached_property
    def exact(self) -> Mapping[Fabric, Cost]:
        """The same with exact counts rather than whole scalable units."""
        terms = self.owned["roce"].terms
        return {fabric: design.exact().cost(self.catalog, terms) for fabric, design in self.designs.items()}

    @cached_property
    def fitting(self) -> Mapping[Fabric, Cost]:
        """The least dear switch of the catalog for each fabric, with exact counts."""
        terms = self.owned["roce"].terms
        return {fabric: best_fit(self.catalog, design, terms) for fabric, design in self.designs.items()}

    @cached_property
    def exact_ratio(self) -> Estimate:
        return capex_ratio(self.exact["infiniband"], self.exact["roce"])

    @cached_property
    def best_fit_ratio(self) -> Estimate:
        return capex_ratio(self.fitting["infiniband"], self.fitting["roce"])

    def differences(self) -> dict[str, float]:
        """Typical price of InfiniBand less that of RoCE, US dollars, by part of the bill, largest first."""
        ib, roce = self.owned["infiniband"], self.owned["roce"]
        found = {
            part: compare_table.part_usd(ib, part).typical - compare_table.part_usd(roce, part).typical
            for part in compare_table.PARTS
        }
        return dict(sorted(found.items(), key=lambda item: -abs(item[1])))

    def break_even_slowdown_percent(self) -> Estimate:
        """How much slower the cheaper fabric may make all GPUs before its saving in TCO is gone, per cent.

        Saving / (GPUs x hours x price of a GPU hour); low at the dearest GPU hour.
        """
        ib, roce = self.owned["infiniband"], self.owned["roce"]
        saving = abs(ib.tco_usd.typical - roce.tco_usd.typical)
        gpu_hours = ib.gpus * HOURS_PER_YEAR * ib.terms.annuity_years
        hour = self.gpu_hour_usd
        return Estimate(*(100 * saving / (gpu_hours * usd) for usd in (hour.high, hour.typical, hour.low)))

    def slowdown(
        self,
        slower: Fabric,
        lost_percent: Estimate,
        *,
        used_percent: float = 100.0,
        notes: tuple[Bilingual, ...] = (),
        sources: tuple[Source, ...] = (),
    ) -> Calculation:
        """What it costs if one of the two wastes so many per cent of the GPU hours that the other does not."""
        other: Fabric = "roce" if slower == "infiniband" else "infiniband"
        return slower_network(
            self.owned[slower],
            self.owned[other],
            lost_percent=lost_percent,
            gpu_hour_usd=self.gpu_hour_usd,
            used_percent=used_percent,
            sources=(*self.hour_sources, *sources),
            notes=notes,
        )

    def situation(self, **facts: Any) -> Situation:
        """What the verdict looks at: our figures, by exact counts (a half-empty unit is no price premium), and
        `facts` that somebody stated (the other fields of Situation)."""
        tiers = {fabric: cost.bill.topology.tiers for fabric, cost in self.owned.items()}
        return Situation(
            gpus=self.owned["roce"].gpus,
            capex_ratio=self.exact_ratio,
            infiniband_tiers=tiers["infiniband"],
            roce_tiers=tiers["roce"],
            **facts,
        )

    def calculation(self) -> Calculation:
        ib, roce = self.owned["infiniband"], self.owned["roce"]
        values: dict[str, Value] = {}
        for name, cost in (("infiniband", ib), ("roce", roce)):
            values[f"{name}_switches"] = Value(cost.bill.topology.switches, "switches")
            values[f"{name}_capex_usd"] = Value.of(cost.capex_usd, "USD")
            values[f"{name}_tco_usd"] = Value.of(cost.tco_usd, "USD")
            values[f"{name}_capex_usd_per_gpu"] = Value.of(cost.capex_usd * (1 / cost.gpus), "USD")
            values[f"{name}_power_typical_kw"] = Value(cost.power.typical_w / 1000, "kW")
        spread = ratio_spread(ib, roce)
        for name, ratio in (
            ("capex_ratio", self.capex_ratio),
            ("switch_ratio", self.switch_ratio),
            ("tco_ratio", self.tco_ratio),
            ("capex_ratio_exact_counts", self.exact_ratio),
            ("capex_ratio_best_fit", self.best_fit_ratio),
        ):
            values[name] = Value.of(ratio, "infiniband/roce")
        for name, points in (("capex_ratio", spread.capex), ("tco_ratio", spread.tco)):
            values[f"{name}_p10"] = Value(points.p10, "infiniband/roce")
            values[f"{name}_p50"] = Value(points.p50, "infiniband/roce")
            values[f"{name}_p90"] = Value(points.p90, "infiniband/roce")
        values["chance_infiniband_dearer_percent"] = Value(100 * spread.chance_dearer, "%")
        for name, cost in self.fitting.items():
            values[f"{name}_best_fit_switch"] = Value(cost.bill.topology.switch.name)
            values[f"{name}_best_fit_capex_usd"] = Value.of(cost.capex_usd, "USD")
        values["capex_difference_usd"] = Value(ib.capex_usd.typical - roce.capex_usd.typical, "USD")
        values["tco_difference_usd"] = Value(ib.tco_usd.typical - roce.tco_usd.typical, "USD")
        values["article_ratio_claim"] = Value("2-3", "infiniband/roce", *CLAIM)
        values["break_even_slowdown_percent"] = Value.of(self.break_even_slowdown_percent(), "%")
        for part, difference in self.differences().items():
            values[f"difference_{part.replace(' ', '_')}_usd"] = Value(difference, "USD")
        own, other = self.costs["infiniband"], self.costs["roce"]
        inputs: dict[str, Scalar] = {
            name: value for name, value in own.inputs.items() if name not in ("fabric", "switch")
        }
        inputs["infiniband_switch"] = ib.bill.topology.switch.id
        inputs["roce_switch"] = roce.bill.topology.switch.id
        inputs["gpu_hour_usd"] = self.gpu_hour_usd.typical
        notes = (*compare_table.notes(self), *own.assumptions, *other.assumptions)
        return Calculation(
            tool="compare",
            inputs=inputs,
            values=values,
            assumptions=tuple(dict.fromkeys(notes)),
            sources=tuple(dict.fromkeys((*self.sources, *own.sources, *other.sources))),
            rows=compare_table.rows(ib, roce),
        )


def compare_fabrics(
    catalog: Catalog,
    *,
    gpus: int,
    infiniband_switch: str | None = None,
    roce_switch: str | None = None,
    gpu_hour: str = "gpu-hour-h100",
    terms: CostTerms | None = None,
    **design: Any,
) -> Comparison:
    """Size, bill and cost both fabrics for `gpus` GPUs; `design` takes the other fields of Design, for both.

    `gpu_hour` is the catalog's item that prices an hour of a GPU. Raises AdvisorError as size_fabric,
    bill_of_materials and default_terms do.
    """
    terms = terms or default_terms(catalog, gpus)
    designs: dict[Fabric, Design] = {
        "infiniband": Design(gpus=gpus, fabric="infiniband", switch=infiniband_switch, **design),
        "roce": Design(gpus=gpus, fabric="roce", switch=roce_switch, **design),
    }
    owned: dict[Fabric, Cost] = {fabric: one.cost(catalog, terms) for fabric, one in designs.items()}
    price, claim = catalog.prices[catalog.service(gpu_hour).id], catalog.sources.get("article")
    sources = (*((claim,) if claim else ()), *price.sources)
    return Comparison(catalog, designs, owned, price.usd, sources, price.sources)
