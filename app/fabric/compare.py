"""InfiniBand beside RoCE for the same cluster: sizes, costs, the ratio of the two, and what makes it.

The source article's "2-3x" is shown as its claim, beside the ratio of our own bills.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.fabric.bill import BillLine
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.catalog import Catalog
from app.fabric.cost import SUPPORTED, Cost, CostTerms, Design, calculation_of, default_terms
from app.fabric.estimate import Estimate
from app.fabric.ratio import ratio_of_totals
from app.fabric.topology import Fabric

CLAIM = (2.0, 3.0)
HOURS_PER_YEAR = 8760
_PARTS = ("switches", "nics", "optics and cables", "management", "spares")
_PARTS_ZH = {
    "switches": "交换机", "nics": "网卡", "optics and cables": "光模块与线缆", "management": "管理", "spares": "备件",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both fabrics, sized and costed on the same terms."""

    sizes: Mapping[Fabric, Calculation]
    costs: Mapping[Fabric, Calculation]
    owned: Mapping[Fabric, Cost]
    exact_ratio: Estimate
    gpu_hour_usd: Estimate
    sources: tuple[Source, ...]

    @property
    def capex_ratio(self) -> Estimate:
        return capex_ratio(self.owned["infiniband"], self.owned["roce"])

    @property
    def switch_ratio(self) -> Estimate:
        return capex_ratio(self.owned["infiniband"], self.owned["roce"], ("switches",))

    @property
    def tco_ratio(self) -> Estimate:
        return tco_ratio(self.owned["infiniband"], self.owned["roce"])

    def calculation(self) -> Calculation:
        ib, roce = self.owned["infiniband"], self.owned["roce"]
        values: dict[str, Value] = {}
        for name, cost in (("infiniband", ib), ("roce", roce)):
            values[f"{name}_switches"] = Value(cost.bill.topology.switches, "switches")
            values[f"{name}_capex_usd"] = Value.of(cost.capex_usd, "USD")
            values[f"{name}_tco_usd"] = Value.of(cost.tco_usd, "USD")
            values[f"{name}_capex_usd_per_gpu"] = Value.of(cost.capex_usd * (1 / cost.gpus), "USD")
            values[f"{name}_power_typical_kw"] = Value(cost.power.typical_w / 1000, "kW")
        values["capex_ratio"] = Value.of(self.capex_ratio, "infiniband/roce")
        values["switch_ratio"] = Value.of(self.switch_ratio, "infiniband/roce")
        values["tco_ratio"] = Value.of(self.tco_ratio, "infiniband/roce")
        values["capex_ratio_exact_counts"] = Value.of(self.exact_ratio, "infiniband/roce")
        values["capex_difference_usd"] = Value(ib.capex_usd.typical - roce.capex_usd.typical, "USD")
        values["tco_difference_usd"] = Value(ib.tco_usd.typical - roce.tco_usd.typical, "USD")
        values["article_ratio_claim"] = Value("2-3", "infiniband/roce", *CLAIM)
        values["break_even_slowdown_percent"] = Value.of(self.break_even_slowdown_percent(), "%")
        for part, difference in self.differences().items():
            values[f"difference_{part.replace(' ', '_')}_usd"] = Value(difference, "USD")
        inputs: dict[str, Scalar] = {
            name: value
            for name, value in self.costs["infiniband"].inputs.items()
            if name not in ("fabric", "switch")
        }
        inputs["infiniband_switch"] = ib.bill.topology.switch.id
        inputs["roce_switch"] = roce.bill.topology.switch.id
        inputs["gpu_hour_usd"] = self.gpu_hour_usd.typical
        return Calculation(
            tool="compare",
            inputs=inputs,
            values=values,
            assumptions=(*self._notes(), *_shared(self.costs["infiniband"], self.costs["roce"])),
            sources=tuple(
                dict.fromkeys((*self.sources, *self.costs["infiniband"].sources, *self.costs["roce"].sources))
            ),
            rows=tuple(self._rows()),
        )

    def differences(self) -> dict[str, float]:
        """Typical price of InfiniBand less that of RoCE, US dollars, by part of the bill, largest first."""
        found = {
            part: _part(self.owned["infiniband"], part).typical - _part(self.owned["roce"], part).typical
            for part in _PARTS
        }
        return dict(sorted(found.items(), key=lambda item: -abs(item[1])))

    def break_even_slowdown_percent(self) -> Estimate:
        """How much slower the cheaper fabric may make all GPUs before its saving in TCO is gone, per cent.

        Saving / (GPUs x hours x price of a GPU hour); low at the dearest GPU hour.
        """
        ib, roce = self.owned["infiniband"], self.owned["roce"]
        saving = abs(ib.tco_usd.typical - roce.tco_usd.typical)
        gpu_hours = ib.gpus * HOURS_PER_YEAR * ib.terms.annuity_years
        low, typical, high = (
            100 * saving / (gpu_hours * price)
            for price in (self.gpu_hour_usd.high, self.gpu_hour_usd.typical, self.gpu_hour_usd.low)
        )
        return Estimate(low, typical, high)

    def _rows(self) -> list[dict[str, Scalar]]:
        ib, roce = self.owned["infiniband"], self.owned["roce"]
        rows: list[dict[str, Scalar]] = []

        def add(quantity: str, zh: str, unit: str, pick: Callable[[Cost], Estimate | Scalar]) -> None:
            a, b = pick(ib), pick(roce)
            row: dict[str, Scalar] = {"quantity": quantity, "quantity_zh": zh, "unit": unit}
            for name, value in (("infiniband", a), ("roce", b)):
                if isinstance(value, Estimate):
                    row |= {f"{name}_low": value.low, name: value.typical, f"{name}_high": value.high}
                else:
                    row[name] = value
            rows.append(row)

        add("switch", "交换机型号", "", lambda c: c.bill.topology.switch.name)
        add("tiers", "层数", "tiers", lambda c: c.bill.topology.tiers)
        add("switches", "交换机", "switches", lambda c: c.bill.topology.switches)
        add("node-leaf links", "节点—叶链路", "links", lambda c: c.bill.topology.node_leaf_links)
        add("links between switches", "交换机间链路", "links", lambda c: c.bill.topology.switch_links)
        for part in _PARTS:
            add(part, _PARTS_ZH[part], "USD", partial(_part, part=part))
        add("capex", "采购成本", "USD", lambda c: c.capex_usd)
        add("power, typical", "典型功耗", "kW", lambda c: c.power.typical_w / 1000)
        add("power, maximum", "最大功耗", "kW", lambda c: c.power.max_w / 1000)
        add("energy", "电费", "USD", lambda c: c.energy_usd)
        add("support", "支持费", "USD", lambda c: c.support_usd)
        add("staff", "人力", "USD", lambda c: c.staff_usd)
        add("TCO", "总拥有成本", "USD", lambda c: c.tco_usd)
        return rows

    def _notes(self) -> list[Bilingual]:
        ratio = self.capex_ratio
        parts = [(part, usd) for part, usd in self.differences().items() if abs(usd) >= 1]
        en = ", ".join(f"{part} {usd:+,.0f} USD" for part, usd in parts) or "none"
        zh = "，".join(f"{_PARTS_ZH[part]} {usd:+,.0f} 美元" for part, usd in parts) or "无"
        return [
            Bilingual(
                f"The source article says InfiniBand hardware costs 2-3 times RoCE; that is its claim. Our bills give "
                f"{ratio.typical:.2f} ({ratio.low:.2f}-{ratio.high:.2f}).",
                f"原文称 InfiniBand 硬件成本为 RoCE 的 2–3 倍，这是原文的说法；按我们的清单为 "
                f"{ratio.typical:.2f}（{ratio.low:.2f}–{ratio.high:.2f}）。",
            ),
            Bilingual(
                f"The parts that make the difference (InfiniBand less RoCE, typical): {en}.",
                f"差额来自（InfiniBand 减 RoCE，典型值）：{zh}。",
            ),
            Bilingual(
                "A part that both bills hold has the same price in both when the range of the ratio is formed.",
                "计算比值范围时，两份清单共有的部件取同一价格。",
            ),
            Bilingual(
                "Break-even: the slowdown of all GPUs at which the cheaper network's saving is spent on GPU hours "
                f"({self.gpu_hour_usd.typical:g} USD each).",
                f"盈亏平衡：较便宜的网络使全部 GPU 变慢到该比例时，省下的钱恰好耗在 GPU 小时上"
                f"（每小时 {self.gpu_hour_usd.typical:g} 美元）。",
            ),
        ]


def _shared(a: Calculation, b: Calculation) -> tuple[Bilingual, ...]:
    return tuple(dict.fromkeys((*a.assumptions, *b.assumptions)))


def _part(cost: Cost, part: str) -> Estimate:
    return cost.bill.category_usd(*(("optics", "cables") if part == "optics and cables" else (part,)))


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
    """Size, bill and cost both fabrics for `gpus` GPUs; `design` takes the other fields of Design, for both alike.

    Raises AdvisorError as size_fabric, bill_of_materials and default_terms do.
    """
    terms = terms or default_terms(catalog, gpus)
    designs = {
        "infiniband": Design(gpus=gpus, fabric="infiniband", switch=infiniband_switch, **design),
        "roce": Design(gpus=gpus, fabric="roce", switch=roce_switch, **design),
    }
    owned = {fabric: one.cost(catalog, terms) for fabric, one in designs.items()}
    exact = {fabric: one.exact().cost(catalog, terms) for fabric, one in designs.items()}
    price = catalog.price(gpu_hour)
    claim = catalog.sources.get("article")
    return Comparison(
        sizes={fabric: cost.bill.topology.calculation() for fabric, cost in owned.items()},  # type: ignore[misc]
        costs={fabric: calculation_of(catalog, cost) for fabric, cost in owned.items()},  # type: ignore[misc]
        owned=owned,  # type: ignore[arg-type]
        exact_ratio=capex_ratio(exact["infiniband"], exact["roce"]),
        gpu_hour_usd=price.usd if price else Estimate.exact(3.0),
        sources=(*((claim,) if claim else ()), *(price.sources if price else ())),
    )


def capex_ratio(above: Cost, below: Cost, categories: tuple[str, ...] | None = None) -> Estimate:
    """Capex of one over the other, all of it or of some categories; a part in both has one price in both."""
    weights = [_weights(cost, categories) for cost in (above, below)]
    return ratio_of_totals(weights[0], weights[1], _prices(above, below))


def tco_ratio(above: Cost, below: Cost) -> Estimate:
    """TCO of one over the other: prices, tariff, support and staff are common to both.

    Prices move freely; each of the other terms is tried at its low and its high end.
    """
    terms, ratios = above.terms, []
    parts = {**_prices(above, below), "1": Estimate.exact(1.0)}
    for support in (terms.support_percent.low, terms.support_percent.high):
        for rate in (terms.usd_per_kwh.low * terms.pue.low, terms.usd_per_kwh.high * terms.pue.high):
            for staff in (above.staff_usd.low, above.staff_usd.high):
                pair = [_owning_weights(cost, support, rate, staff) for cost in (above, below)]
                ratios.append(ratio_of_totals(pair[0], pair[1], parts))
    typical = above.tco_usd.typical / below.tco_usd.typical
    low, high = min(ratio.low for ratio in ratios), max(ratio.high for ratio in ratios)
    return Estimate(min(low, typical), typical, max(high, typical))


def _owning_weights(
    cost: Cost, support_percent: float, usd_per_kwh: float, staff_usd: float
) -> dict[str, float]:
    years = cost.terms.annuity_years
    weights = _weights(cost, None)
    for line in cost.bill.lines:
        if line.category in SUPPORTED:
            weights[_key(line)] += line.quantity * support_percent / 100 * years
    weights["1"] = cost.power.typical_w / 1000 * HOURS_PER_YEAR * usd_per_kwh * years + staff_usd
    return weights


def _weights(cost: Cost, categories: tuple[str, ...] | None) -> dict[str, float]:
    weights: dict[str, float] = {}
    for line in cost.bill.lines:
        if categories is None or line.category in categories:
            weights[_key(line)] = weights.get(_key(line), 0.0) + line.quantity
    return weights


def _prices(*costs: Cost) -> dict[str, Estimate]:
    return {_key(line): line.unit_price_usd for cost in costs for line in cost.bill.lines}


def _key(line: BillLine) -> str:
    """One part, one price: cables of different lengths are different parts."""
    return f"{line.item}/{line.unit_price_usd.typical:g}"
