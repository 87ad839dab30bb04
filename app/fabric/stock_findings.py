"""The values of a plan with kept switches, and which of the sentences of stock_sentences.py apply to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from app.fabric.calculation import Language, Scalar, Value
from app.fabric.stock_sentences import LEVELS, SENTENCES, said

if TYPE_CHECKING:
    from app.fabric.stock import StockPlan


def values(plan: StockPlan) -> dict[str, Value]:
    """Every value, in the order in which people read them."""
    tree, trees = plan.chosen.tree, plan.chosen.trees
    leaves, spines, cores = (count * trees for count in (tree.leaves, tree.spines, tree.cores))
    worst = plan.chosen.oversubscription()
    found: dict[str, Value] = {
        "planned_gpus": Value(plan.gpus, "GPUs"),
        "stock_switches": Value(sum(plan.there.values()), "switches"),
        "kept_switches": Value(sum(plan.kept.values()), "switches"),
        "bought_switches": Value(sum(plan.bought.values()), "switches"),
        "idle_switches": Value(sum(plan.idle.values()), "switches"),
        "tiers": Value(tree.tiers, "tiers"),
        "leaf_switches": Value(leaves, "switches"),
        "spine_switches": Value(spines, "switches"),
        "core_switches": Value(cores, "switches"),
        "upper_switches": Value(spines + cores, "switches"),
        "leaf_model": Value(plan.chosen.leaf.name),
        "spine_model": Value(plan.chosen.spine.name),
        "node_leaf_links": Value(sum(count * links for count, links in tree.leaf_loads) * trees, "links"),
        "leaf_spine_links": Value(tree.leaf_spine * trees, "links"),
        "spine_core_links": Value(tree.spine_core * trees, "links"),
        "oversubscription_reached": Value(worst),
        "across_gbps": Value(plan.link_gbps / max(1.0, worst), "Gbit/s"),
        "link_gbps": Value(plan.link_gbps, "Gbit/s"),
        "stock_ports": Value(plan.kept_ports + plan.idle_ports, "ports"),
        "used_ports": Value(plan.used_ports, "ports"),
        "free_ports": Value(plan.kept_ports - plan.used_ports, "ports"),
        "idle_ports": Value(plan.idle_ports, "ports"),
        "stock_max_gpus": Value(plan.max_gpus, "GPUs"),
    }
    if plan.bought:
        found["to_buy"] = Value(_listed(plan, plan.bought))
        if plan.bought_usd is not None:
            found["priced_part_usd" if plan.unpriced else "bought_usd"] = Value.of(plan.bought_usd, "USD")
        if plan.unpriced:
            found["unpriced_models"] = Value(", ".join(row.name for row in plan.unpriced))
    if plan.keeping is not None:
        missing, needed = plan.missing(plan.keeping), plan.keeping.needed()
        found["keeping_kept"] = Value(sum(needed.values()) - sum(missing.values()), "switches")
        found["keeping_to_buy"] = Value(_listed(plan, missing))
    if plan.max_gpus >= plan.gpus:
        found["spare_gpus"] = Value(plan.max_gpus - plan.gpus, "GPUs")
    if plan.lowest_ratio is not None:
        found["stock_oversubscription"] = Value(plan.lowest_ratio)
    if plan.kinds is not None:
        for name, kind in zip(("there", "added"), plan.kinds, strict=True):
            found[f"{name}_gpu"], found[f"{name}_gbps"] = Value(kind.name), Value(kind.gbps, "Gbit/s")
    return found | dict(_of_the_model(plan)) | dict(_unfit(plan)) | dict(_breakout(plan))


def _listed(plan: StockPlan, models: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {plan.catalog.switch(id).name}" for id, count in models.items())


def _of_the_model(plan: StockPlan) -> Iterator[tuple[str, Value]]:
    """Of the most numerous model there that fits, by itself."""
    row = plan.main
    if row is None:
        return
    yield "kept_model", Value(row.name)
    yield "radix", Value(row.radix(plan.link_gbps), "links")
    yield "two_tier_gpus", Value(plan.two_tier_gpus, "GPUs")
    yield "rails", Value(plan.joint_rails, "rails")
    if plan.alone:
        yield "alone_switches", Value(plan.alone.switches, "switches")
        yield "alone_tiers", Value(plan.alone.tiers, "tiers")
        if (short := plan.alone.switches - plan.there[row.id]) > 0:
            yield "short_switches", Value(short, "switches")


def _unfit(plan: StockPlan) -> Iterator[tuple[str, Value]]:
    rows = {id: plan.catalog.switch(id) for id in plan.there if id not in plan.fit}
    for name, group in (
        ("other_fabric", [row for row in rows.values() if row.fabric != plan.fabric]),
        ("too_slow", [row for row in rows.values() if row.fabric == plan.fabric]),
    ):
        if group:
            yield f"{name}_switches", Value(sum(plan.there[row.id] for row in group), "switches")
            yield f"{name}_models", Value(", ".join(row.name for row in group))
        if group and name == "too_slow":
            yield "fastest_gbps", Value(max(speed for row in group for speed in row.ports), "Gbit/s")


def _breakout(plan: StockPlan) -> Iterator[tuple[str, Value]]:
    for row in (plan.chosen.leaf, plan.chosen.spine):
        if (links := row.links_per_cage(plan.link_gbps)) > 1:
            yield "breakout_model", Value(row.name)
            yield "links_per_cage", Value(links, "links")
            return


def codes(plan: StockPlan, values: Mapping[str, Value]) -> list[str]:
    """Which sentences apply, what breaks first."""
    asked, ratio = plan.inputs["oversubscription"], plan.lowest_ratio
    applies: Mapping[str, bool] = {
        "other-fabric": "other_fabric_switches" in values,
        "too-slow": "too_slow_switches" in values,
        "third-tier": plan.main is not None and plan.gpus > plan.two_tier_gpus,
        "short": bool(plan.bought) and "short_switches" in values,
        "alone-never": bool(plan.fit) and plan.alone is None,
        "buy": bool(plan.bought),
        "keep-anyway": plan.keeping is not None,
        "price": "bought_usd" in values,
        "price-of-some": "priced_part_usd" in values,
        "no-price": "unpriced_models" in values and "priced_part_usd" not in values,
        "looser": bool(plan.bought) and ratio is not None and ratio > asked,
        "gpus-there": not plan.bought and not plan.inputs["gpus_there"],
        "tighter": not plan.bought and ratio is not None and ratio < asked,
        "two-speeds": plan.kinds is not None,
        "across": plan.chosen.oversubscription() > 1.0,
        "recable": any(plan.kept.values()) and plan.joint_rails > 1 and plan.chosen.tree.tiers > 1,
        "breakout": "breakout_model" in values,
        "idle": any(plan.idle.values()),
        "fits": not plan.bought,
        "speed": any(plan.kept.values()) and "radix" in values,
    }
    order = list(LEVELS)
    return sorted((code for code, true in applies.items() if true), key=lambda code: order.index(SENTENCES[code].level))


def rows(plan: StockPlan, values: Mapping[str, Value]) -> tuple[Mapping[str, Scalar], ...]:
    return tuple(
        {
            "level": LEVELS[SENTENCES[code].level].en,
            "level_zh": LEVELS[SENTENCES[code].level].zh,
            "finding": said(code, lambda name: _short(values[name], "en")).en,
            "finding_zh": said(code, lambda name: _short(values[name], "zh")).zh,
            "code": code,
        }
        for code in codes(plan, values)
    )


def _short(value: Value, language: Language) -> str:
    """A value in a sentence of a table; answers have their own way, see app/advisor/figures.py."""
    number, chinese = value.value, language == "zh"
    if isinstance(number, str):
        return number
    if value.unit == "USD":
        ends = (f"{end:,.0f}" for end in (value.low, value.high) if end is not None)
        return f"{number:,.0f} {'美元' if chinese else 'USD'} ({'–'.join(ends)})"
    suffix = {"GPUs": " 块 GPU" if chinese else " GPUs", "Gbit/s": " Gb/s"}.get(value.unit, "")
    return (f"{number:,}" if isinstance(number, int) else f"{number:,.4g}") + suffix
