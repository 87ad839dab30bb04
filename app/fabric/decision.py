"""The verdict: which fabric, why, how surely, and what would flip it.

The rules are data (knowledge/catalog/decision.yaml) with their provenance: the source article's scenarios and size
bands, published practice, or a calculator's result. This module adds up the weights of the rules that apply; it knows
no rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.fabric.calculation import Bilingual, Calculation, Source, Value
from app.fabric.estimate import Estimate

Option = Literal["infiniband", "roce", "naas", "either"]
Provenance = Literal["article", "published", "calculator"]
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


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that applies here, with its sentence filled in. `favours` is "either" where it moves nothing."""

    rule: Rule
    text: Bilingual
    favours: Option


@dataclass(frozen=True, slots=True)
class Decision:
    choice: Option
    confidence: Literal["low", "medium", "high"]
    scores: Mapping[Option, float]
    reasons: tuple[Applied, ...]
    would_flip: tuple[tuple[Bilingual, Option], ...]
    situation: Situation
    rules: Rules

    def calculation(self) -> Calculation:
        """Shape of every calculator: scores and thresholds as values, one row a rule that applied."""
        values = {
            f"score_{option}": Value(round(score, 2), "points") for option, score in self.scores.items()
        }
        values |= {name: Value(one.value, one.unit) for name, one in self.rules.thresholds.items()}
        values |= {
            f"scale_tried_{number}": Value(gpus, "gpus")
            for number, gpus in enumerate(self.rules.scales_gpus, 1)
        }
        return Calculation(
            tool="decision",
            inputs={
                name: value.typical if isinstance(value, Estimate) else value
                for name in Situation.__slots__
                if (value := getattr(self.situation, name)) is not None
            },
            values=values,
            assumptions=(
                Bilingual(
                    "The weights of the rules are our judgement; the reasons carry their own sources.",
                    "规则的权重是我们的判断；各条理由各有出处。",
                ),
            ),
            sources=(
                Source(
                    "Decision rules of Fabric Advisor (knowledge/catalog/decision.yaml)",
                    "",
                    self.rules.updated,
                    "ours",
                ),
            ),
            rows=tuple(
                {
                    "rule": one.rule.id,
                    "provenance": one.rule.provenance,
                    **{f"{option}_points": one.rule.weights.get(option, 0) for option in OPTIONS},
                }
                for one in self.reasons
            ),
        )


def decide(
    rules: Rules, situation: Situation, *, at_scale: Callable[[int], Situation] | None = None
) -> Decision:
    """Weigh the rules for one situation.

    `at_scale` re-computes the situation for another number of GPUs, so that the sizes at which the verdict changes
    can be named; without it only changes of the other inputs are tried.
    """
    choice, scores, margin = _weigh(rules, situation)
    reasons = tuple(
        _applied(rules, rule, situation) for rule in rules.rules if _holds(rules, rule, situation)
    )
    flips = _flips(rules, situation, choice)
    unknown_flips = [
        flip for flip, _ in flips if all(situation.fact(field) is None for field in flip.changes)
    ]
    named = tuple((flip.text, other) for flip, other in flips)
    if at_scale:
        named += _scale_flips(rules, situation, choice, at_scale)
    if margin >= 3 and not unknown_flips:
        confidence: Literal["low", "medium", "high"] = "high"
    else:
        confidence = "medium" if margin >= 1.5 else "low"
    ordered = tuple(sorted(reasons, key=lambda one: -one.rule.weights.get(choice, 0)))
    return Decision(choice, confidence, scores, ordered, named, situation, rules)


def _weigh(rules: Rules, situation: Situation) -> tuple[Option, dict[Option, float], float]:
    scores: dict[Option, float] = dict.fromkeys(OPTIONS, 0.0)
    for rule in rules.rules:
        if _holds(rules, rule, situation):
            for option, weight in rule.weights.items():
                if option != "either":
                    scores[option] += weight
    ranked = sorted(OPTIONS, key=lambda option: -scores[option])
    margin = scores[ranked[0]] - scores[ranked[1]]
    fabrics_tie = margin < rules.tie_margin and "naas" not in ranked[:2]
    return ("either" if fabrics_tie else ranked[0]), scores, margin


def _holds(rules: Rules, rule: Rule, situation: Situation) -> bool:
    for name, wanted in rule.when.items():
        fact = situation.fact(name)
        if fact is None:
            return False
        if isinstance(wanted, Mapping):
            if "min" in wanted and fact < rules.limit(wanted["min"]):
                return False
            if "below" in wanted and fact >= rules.limit(wanted["below"]):
                return False
        elif fact != wanted:
            return False
    return True


def _applied(rules: Rules, rule: Rule, situation: Situation) -> Applied:
    facts: dict[str, Any] = {name: f"{one.value:,.10g}" for name, one in rules.thresholds.items()}
    for name in Situation.__slots__:
        value = getattr(situation, name)
        if isinstance(value, Estimate):
            facts |= {
                name: f"{value.typical:.2f}",
                f"{name}_low": f"{value.low:.2f}",
                f"{name}_high": f"{value.high:.2f}",
            }
        else:
            facts[name] = value
    text = Bilingual(rule.text.en.format_map(facts), rule.text.zh.format_map(facts))
    gains: dict[Option, float] = {
        option: weight for option, weight in rule.weights.items() if weight > 0 and option != "either"
    }
    return Applied(rule, text, max(gains, key=lambda option: gains[option]) if gains else "either")


def _flips(rules: Rules, situation: Situation, choice: Option) -> list[tuple[Flip, Option]]:
    def tried(flips: tuple[Flip, ...]) -> list[tuple[Flip, Option]]:
        found = []
        for flip in flips:
            if all(getattr(situation, field) == value for field, value in flip.changes.items()):
                continue
            other, _, _ = _weigh(rules, replace(situation, **flip.changes))
            if other != choice:
                found.append((flip, other))
        return found

    return tried(rules.flips) or tried(rules.pairs)


def _scale_flips(
    rules: Rules, situation: Situation, choice: Option, at_scale: Callable[[int], Situation]
) -> tuple[tuple[Bilingual, Option], ...]:
    found: list[tuple[Bilingual, Option]] = []
    larger = [gpus for gpus in rules.scales_gpus if gpus > situation.gpus]
    smaller = [gpus for gpus in reversed(rules.scales_gpus) if gpus < situation.gpus]
    for scales, en, zh in ((larger, "grows to", "扩大到"), (smaller, "shrinks to", "缩小到")):
        for gpus in scales:
            other, _, _ = _weigh(rules, at_scale(gpus))
            if other != choice:
                found.append((Bilingual(f"the cluster {en} {gpus:,} GPUs", f"集群{zh} {gpus:,} 卡"), other))
                break
    return tuple(found)


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
