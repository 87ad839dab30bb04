"""Two runs of the same cases, case by case: is the second better, worse, or is there no evidence?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import AdvisorError
from eval.metrics.statistics import mcnemar

SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    both_pass: int
    both_fail: int
    fixed: list[str]  # failed in the first, pass in the second
    broken: list[str]  # passed in the first, fail in the second
    changed: list[str]  # same outcome, another kind or verdict
    only_in_one: list[str]
    measures: list[tuple[str, float, float]]
    settings: list[str]  # what differs between what was measured

    @property
    def p_value(self) -> float:
        return mcnemar(len(self.fixed), len(self.broken))

    @property
    def verdict(self) -> str:
        if self.p_value >= SIGNIFICANT:
            return "no evidence"
        return "better" if len(self.fixed) > len(self.broken) else "worse"


def compare_runs(first: Mapping[str, Any], second: Mapping[str, Any]) -> Comparison:
    """Cases are matched by id; those that raised an error in either run count as failed there."""
    left = {row["id"]: row for row in first["cases"]}
    right = {row["id"]: row for row in second["cases"]}
    shared = [id for id in left if id in right]
    if not shared:
        raise AdvisorError("The two runs have no case in common.", "Compare runs of the same questions.")
    outcome = {id: (left[id]["passed"], right[id]["passed"]) for id in shared}
    changed = [
        f"{id}: {name} {left[id][name] or 'none'} → {right[id][name] or 'none'}"
        for id in shared
        for name in ("kind", "verdict")
        if outcome[id][0] == outcome[id][1] and left[id][name] != right[id][name]
    ]
    return Comparison(
        both_pass=sum(pair == (True, True) for pair in outcome.values()),
        both_fail=sum(pair == (False, False) for pair in outcome.values()),
        fixed=[id for id, pair in outcome.items() if pair == (False, True)],
        broken=[id for id, pair in outcome.items() if pair == (True, False)],
        changed=changed,
        only_in_one=sorted(left.keys() ^ right.keys()),
        measures=[
            (name, one["value"], second["measures"][name]["value"])
            for name, one in first["measures"].items()
            if name in second["measures"] and abs(one["value"] - second["measures"][name]["value"]) > 1e-9
        ],
        settings=_different_settings(first["header"], second["header"]),
    )


def _different_settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    ignored = {"started", "fingerprint"}
    names = sorted((first.keys() | second.keys()) - ignored)
    return [f"{name}: {first.get(name)} → {second.get(name)}" for name in names if first.get(name) != second.get(name)]


def comparison_lines(comparison: Comparison) -> list[str]:
    lines = [f"differs: {line}" for line in comparison.settings] or ["differs: nothing that is recorded"]
    lines.append(
        f"both pass {comparison.both_pass}, both fail {comparison.both_fail}, "
        f"fixed {len(comparison.fixed)}, broken {len(comparison.broken)}"
    )
    lines += [f"  fixed: {id}" for id in comparison.fixed]
    lines += [f"  broken: {id}" for id in comparison.broken]
    lines += [f"  changed: {change}" for change in comparison.changed]
    lines += [f"  in one run only: {id}" for id in comparison.only_in_one]
    lines += [f"  {name}: {old:.4g} → {new:.4g}" for name, old, new in comparison.measures]
    lines.append(f"McNemar p = {comparison.p_value:.3g}: {comparison.verdict}")
    return lines
