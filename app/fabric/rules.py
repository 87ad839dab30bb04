"""What a verdict is weighed from: the situation, the rules (knowledge/catalog/decision.yaml), and when one applies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.fabric.calculation import Bilingual
from app.fabric.checks import bad_value, check_range, one_of
from app.fabric.estimate import Estimate

Option = Literal["infiniband", "roce", "naas", "either"]
Provenance = Literal["article", "published", "calculator", "said"]
OPTIONS: tuple[Option, ...] = ("infiniband", "roce", "naas")


@dataclass(frozen=True, slots=True)
class Situation:
    """What a rule may look at. None: nobody has said, and no rule about it applies.

    `capex_ratio` and `time_ratio` are InfiniBand over RoCE: network capex, and time of the collective.
    """

    gpus: int
    workload: str | None = None
    budget: str | None = None
    network_team: str | None = None
    priority: str | None = None
    hybrid: bool | None = None
    ethernet_estate: bool | None = None
    avoid_lock_in: bool | None = None
    excluded: str | None = None  # infiniband | roce: ruled out by those who ask
    accelerator: str | None = None  # id in other_accelerators.yaml, where the cluster is not of GPUs
    tenancy: str | None = None  # single | multi
    region: str | None = None  # china | elsewhere
    supply: str | None = None  # constrained | open
    time_to_market: str | None = None  # urgent | relaxed
    capex_ratio: Estimate | None = None
    time_ratio: float | None = None
    infiniband_tiers: int | None = None
    roce_tiers: int | None = None

    def fact(self, name: str) -> Any:
        if name == "extra_infiniband_tiers":
            known = self.infiniband_tiers is not None and self.roce_tiers is not None
            return self.infiniband_tiers - self.roce_tiers if known else None  # type: ignore[operator]
        value = getattr(self, name)
        return value.typical if isinstance(value, Estimate) else value


@dataclass(frozen=True, slots=True)
class Threshold:
    name: str
    value: float
    unit: str
    note: str
    meaning: Bilingual


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    when: Mapping[str, Any]
    weights: Mapping[Option, float]
    provenance: Provenance
    text: Bilingual
    note: str = ""  # topic of the note that supports it
    section: int | None = None  # which of its sections; 0 is its opening
    unless: tuple[Mapping[str, Any], ...] = ()  # where any of these holds it does not apply
    calculation: str = ""  # tool whose result it speaks of


@dataclass(frozen=True, slots=True)
class Flip:
    changes: Mapping[str, Any]
    text: Bilingual


@dataclass(frozen=True, slots=True)
class Rules:
    thresholds: Mapping[str, Threshold]
    rules: tuple[Rule, ...]
    flips: tuple[Flip, ...]
    pairs: tuple[Flip, ...]
    scales_gpus: tuple[int, ...]
    tie_margin: float
    updated: str

    def limit(self, bound: float | str) -> float:
        return self.thresholds[bound].value if isinstance(bound, str) else bound


def holds(rules: Rules, rule: Rule, situation: Situation) -> bool:
    """Whether a rule applies: all of its conditions are met, and none of its exceptions."""
    def met(conditions: Mapping[str, Any]) -> bool:
        return all(_meets(rules, situation.fact(name), wanted) for name, wanted in conditions.items())

    return met(rule.when) and not any(met(conditions) for conditions in rule.unless)


def _meets(rules: Rules, fact: Any, wanted: Any) -> bool:
    if fact is None:
        return False
    if isinstance(wanted, Mapping):
        enough = "min" not in wanted or fact >= rules.limit(wanted["min"])
        return bool(enough and ("below" not in wanted or fact < rules.limit(wanted["below"])))
    return bool(fact == wanted)


def reweighted(rules: Rules, factors: Mapping[str, float]) -> Rules:
    """The rules with weights multiplied, by rule id. Raises AdvisorError for an unknown rule or a bad factor."""
    known = {rule.id for rule in rules.rules}
    for id, factor in factors.items():
        if id not in known:
            raise bad_value("rule", id, one_of(sorted(known)))
        check_range(f"weight of {id}", factor, 0, 10)
    changed = tuple(
        replace(rule, weights={option: points * factors[rule.id] for option, points in rule.weights.items()})
        if rule.id in factors
        else rule
        for rule in rules.rules
    )
    return replace(rules, rules=changed)


def parse_rules(data: Mapping[str, Any]) -> Rules:
    """Typed rules from the YAML's mapping; KeyError or TypeError where the file is not as its header says."""
    return Rules(
        thresholds={
            name: Threshold(name, row["value"], row["unit"], row["note"], Bilingual(row["en"], row["zh"]))
            for name, row in data["thresholds"].items()
        },
        rules=tuple(
            Rule(
                row["id"],
                row["when"],
                row["weights"],
                row["provenance"],
                Bilingual(row["en"], row["zh"]),
                row.get("note", ""),
                row.get("section"),
                tuple(row.get("unless", ())),
                row.get("calculation", ""),
            )
            for row in data["rules"]
        ),
        flips=tuple(
            Flip({row["field"]: row["value"]}, Bilingual(row["en"], row["zh"])) for row in data["flips"]
        ),
        pairs=tuple(Flip(row["fields"], Bilingual(row["en"], row["zh"])) for row in data["pairs"]),
        scales_gpus=tuple(data["scales_gpus"]),
        tie_margin=float(data["tie_margin"]),
        updated=str(data["updated"]),
    )
