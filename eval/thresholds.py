"""The least (or the most) that each metric must reach, from thresholds.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.located_yaml import Fields, read_yaml
from eval.summary import Measure


@dataclass(frozen=True, slots=True)
class Threshold:
    metric: str
    minimum: float | None = None
    maximum: float | None = None

    def met_by(self, value: float) -> bool:
        """Compared with room for the rounding of floats only."""
        return (self.minimum is None or value >= self.minimum - 1e-12) and (
            self.maximum is None or value <= self.maximum + 1e-12
        )

    @property
    def text(self) -> str:
        ends = [f"≥ {self.minimum:g}"] if self.minimum is not None else []
        return " and ".join(ends + ([f"≤ {self.maximum:g}"] if self.maximum is not None else []))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A threshold and its metric; `measure` is None where no case measured it, which is no miss."""

    threshold: Threshold
    measure: Measure | None

    @property
    def met(self) -> bool:
        return self.measure is None or self.threshold.met_by(self.measure.value)


def load_thresholds(path: Path) -> list[Threshold]:
    """`metric: {min: …, max: …, per: language}`; raises AdvisorError that names file, line and field."""
    content = read_yaml(path)
    names = Fields(content, path.name, known=content or (), what="thresholds file").data
    found = []
    for metric, limits in names.items():
        fields = Fields(limits, path.name, line=names.lines[metric], known=("min", "max", "per"), what="threshold")
        if fields.text("per", "") not in ("", "language"):
            fields.fail("per", "must be language")
        low = fields.number("min") if "min" in fields.data else None
        high = fields.number("max") if "max" in fields.data else None
        if low is None and high is None:
            fields.fail("min", "give min, max or both")
        keys = [f"{metric}[{one}]" for one in ("en", "zh")] if fields.data.get("per") else [metric]
        found += [Threshold(key, low, high) for key in keys]
    return found


def judge(thresholds: Sequence[Threshold], measured: Mapping[str, Measure]) -> list[Outcome]:
    return [Outcome(threshold, measured.get(threshold.metric)) for threshold in thresholds]
