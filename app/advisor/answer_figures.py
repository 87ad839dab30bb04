"""The figures of a built-in answer: values of calculations as text, each marked with where it is from."""

from __future__ import annotations

from typing import Any

from app.advisor.evidence import FABRICS, Evidence
from app.advisor.figures import money, plain, with_range
from app.advisor.phrases import phrase, phrases
from app.advisor.references import marked
from app.fabric.calculation import Calculation, Language


class AnswerFigures:
    """Values, counts and tables of one answer's calculations, in its language."""

    def __init__(self, evidence: Evidence):
        self.evidence = evidence
        self.language: Language = evidence.question.language

    def value(self, tool: str, label: str, name: str) -> str:
        calculation = self.evidence.calculation(tool, label)
        if calculation is None or name not in calculation.values:
            return "–"
        return marked(with_range(calculation.values[name].to_json(), self.language), calculation.id, name)

    def design(self, fabric: str) -> str:
        one = self._size_of(fabric)
        layout = self._phrase("layouts", str(one.values["layout"].value))
        name = one.values["switch"].value
        return f"{layout}（{name}）" if self.language == "zh" else f"{layout}, {name}"

    def counts(self, fabric: str, *names: str) -> str:
        one = self._size_of(fabric)
        return " / ".join(marked(plain(one.values[name].value), one.id, name) for name in names)

    def switches(self, fabric: str) -> str:
        one = self._size_of(fabric)
        return plain(sum(int(one.values[f"{tier}_switches"].value) for tier in ("leaf", "spine", "core")))

    def _size_of(self, fabric: str) -> Calculation:
        one = self.evidence.calculation("size", fabric)
        if one is None:
            raise LookupError(f"no sizing of {fabric} was made")
        return one

    def bands(self) -> list[dict[str, Any]]:
        rows = []
        for band in self.evidence.bands:
            values = band.comparison.values
            rows.append(
                {
                    "gpus": band.gpus,
                    "option": self._phrase("options", band.decision.choice),
                    "ratio": marked(
                        with_range(values["capex_ratio_exact_counts"].to_json(), self.language),
                        band.comparison.id,
                        "capex_ratio_exact_counts",
                    ),
                    "id": band.comparison.id,
                }
                | {
                    f"{fabric}_capex": marked(
                        money(float(values[f"{fabric}_capex_usd"].value), self.language),
                        band.comparison.id,
                        f"{fabric}_capex_usd",
                    )
                    for fabric in FABRICS
                }
            )
        return rows

    def computed(self) -> list[str]:
        """Lines for the results of the calculators that have no table of their own."""
        lines = []
        colon, pattern = ("：", "{}（{}）") if self.language == "zh" else (": ", "{} ({})")
        for one in self.evidence.calculations:
            inputs = {key: plain_input(value) for key, value in one.inputs.items()}
            for name, entry in phrases()["computed"].get(one.tool, {}).items():
                if name in one.values:
                    value = one.values[name].to_json()
                    shown = with_range(value | {"unit": entry.get("unit", value["unit"])}, self.language)
                    shown = marked(shown, one.id, name)
                    lines.append(pattern.format(entry[self.language].format_map(inputs) + colon + shown, one.id))
        return lines

    def bill_parts(self) -> list[str]:
        """A sentence for every part of the bill that the question names: "optics and cables: … with InfiniBand, …"."""
        costs = {fabric: self.evidence.calculation("cost", fabric) for fabric in FABRICS}
        if None in costs.values():
            return []
        ids = ", ".join(one.id for one in costs.values() if one)
        told = []
        for part in self.evidence.question.parts:
            entry = phrases()["bill_parts"][part]
            name = entry[self.language].format(years=plain(self.evidence.question.spec.years))
            found = {fabric: self.value("cost", fabric, entry["value"]) for fabric in FABRICS}
            sentence = phrases()["bill_part"][self.language].format(part=name, ids=ids, **found)
            told.append(sentence[:1].upper() + sentence[1:])
        return told

    def partly_filled(self) -> bool:
        """Whether a fabric is built in whole units for more GPUs than there are, which bends the ratio of prices."""
        sizes = [one for one in self.evidence.calculations if one.tool == "size"]
        return any(one.values["sized_for_gpus"].value != self.evidence.question.spec.gpus for one in sizes)

    def differences(self) -> str:
        """The two parts of the bill that make most of the difference, InfiniBand less RoCE."""
        one = self.evidence.calculation("compare")
        if one is None:
            return ""
        parts = {
            name: float(value.value)
            for name, value in one.values.items()
            if name.startswith("difference_") and abs(float(value.value)) >= 1
        }
        largest = sorted(parts.items(), key=lambda part: -abs(part[1]))[:2]
        comma = "，" if self.language == "zh" else ", "
        return comma.join(
            f"{self._phrase('parts', name)} {'+' if usd > 0 else '−'}"
            + marked(money(abs(usd), self.language), one.id, name)
            for name, usd in largest
        )

    def _phrase(self, group: str, key: str) -> str:
        return phrase(group, key, self.language)


def plain_input(value: Any) -> str:
    return plain(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
