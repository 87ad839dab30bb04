"""The verdict: which fabric, why, how surely, and what would flip it.

The rules are data (knowledge/catalog/decision.yaml) with their provenance: the source article's scenarios and size
bands, published practice, or a calculator's result. This module adds up the weights of the rules that apply; it knows
no rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.fabric.calculation import Bilingual, Calculation, Language, Source, Value
from app.fabric.estimate import Estimate
from app.fabric.rules import OPTIONS, Flip, Option, Rule, Rules, Situation, holds, parse_rules, reweighted

__all__ = ["Applied", "Decision", "Option", "Rule", "Rules", "Situation", "choose", "decide", "parse_rules"]


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that applies here, with its sentence filled in. `favours` is "either" where it moves nothing.

    `stance` is for or against the choice: whether the rule gives it more points than its rival, or fewer.
    """

    rule: Rule
    text: Bilingual
    favours: Option
    stance: Literal["for", "against", "neutral"] = "neutral"


@dataclass(frozen=True, slots=True)
class Decision:
    choice: Option
    confidence: Literal["low", "medium", "high"]
    scores: Mapping[Option, float]
    reasons: tuple[Applied, ...]
    would_flip: tuple[tuple[Bilingual, Option], ...]
    situation: Situation
    rules: Rules

    @property
    def reasons_for(self) -> tuple[Applied, ...]:
        return tuple(one for one in self.reasons if one.stance == "for")

    @property
    def reasons_against(self) -> tuple[Applied, ...]:
        return tuple(one for one in self.reasons if one.stance == "against")

    def to_json(self, language: Language = "en") -> dict[str, Any]:
        """The verdict for scripts: choice, confidence, reasons on either side, what would flip it, the points."""

        def reasons(found: tuple[Applied, ...]) -> list[dict[str, str]]:
            return [{"rule": one.rule.id, "text": one.text.in_language(language)} for one in found]

        neutral = tuple(one for one in self.reasons if one.stance == "neutral")
        return {
            "choice": self.choice,
            "confidence": self.confidence,
            "scores": dict(self.scores),
            "reasons_for": reasons(self.reasons_for),
            "reasons_against": reasons(self.reasons_against),
            "reasons_neutral": reasons(neutral),
            "would_flip": [{"text": text.in_language(language), "choice": other} for text, other in self.would_flip],
            "calculation": self.calculation().to_json(language),
        }

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
                    "stance": one.stance,
                    **{f"{option}_points": one.rule.weights.get(option, 0) for option in OPTIONS},
                }
                for one in self.reasons
            ),
        )


def decide(
    rules: Rules,
    situation: Situation,
    *,
    at_scale: Callable[[int], Situation] | None = None,
    factors: Mapping[str, float] | None = None,
) -> Decision:
    """Weigh the rules for one situation.

    `at_scale` re-computes the situation for another number of GPUs, so that the sizes at which the verdict changes
    can be named; without it only changes of the other inputs are tried. `factors` multiply the weights of rules by
    their id: 0 leaves a rule out, 2 counts it twice. Raises AdvisorError for an unknown rule or a bad factor.
    """
    if factors:
        rules = reweighted(rules, factors)
    choice, scores, margin = _weigh(rules, situation)
    pair = _rivals(choice, scores)
    reasons = tuple(
        _applied(rules, rule, situation, pair) for rule in rules.rules if holds(rules, rule, situation)
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


def choose(rules: Rules, situation: Situation) -> Option:
    """The choice alone, without its reasons: for sweeps."""
    return _weigh(rules, situation)[0]


def _rivals(choice: Option, scores: Mapping[Option, float]) -> tuple[Option, Option]:
    """The choice and the best of the others; where the fabrics tie, InfiniBand and RoCE."""
    if choice == "either":
        return "infiniband", "roce"
    return choice, max((option for option in OPTIONS if option != choice), key=lambda option: scores[option])


def _weigh(rules: Rules, situation: Situation) -> tuple[Option, dict[Option, float], float]:
    scores: dict[Option, float] = dict.fromkeys(OPTIONS, 0.0)
    for rule in rules.rules:
        if holds(rules, rule, situation):
            for option, weight in rule.weights.items():
                if option != "either":
                    scores[option] += weight
    ranked = sorted(OPTIONS, key=lambda option: -scores[option])
    margin = scores[ranked[0]] - scores[ranked[1]]
    fabrics_tie = margin < rules.tie_margin and "naas" not in ranked[:2]
    return ("either" if fabrics_tie else ranked[0]), scores, margin


def _applied(rules: Rules, rule: Rule, situation: Situation, pair: tuple[Option, Option]) -> Applied:
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
    favours: Option = max(gains, key=lambda option: gains[option]) if gains else "either"
    lead = rule.weights.get(pair[0], 0) - rule.weights.get(pair[1], 0)
    stance: Literal["for", "against", "neutral"] = "for" if lead > 0 else "against" if lead < 0 else "neutral"
    return Applied(rule, text, favours, stance)


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
