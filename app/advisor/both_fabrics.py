"""The two fabrics: their names, the values that both have, and what is said to be alike of them.

`Pairs` holds the values that both fabrics have. Where two calculations of one metric disagree (whole units, best fit),
a statement that either bears out may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.advisor.metric_words import metric_of
from app.fabric.calculation import Calculation

FABRIC = {
    "infiniband": re.compile(
        r"infini-?band|无限带宽|\bIB\b|\bQM\d{4}|\bQ3\d{3}\b|\bQuantum\b|\b[NX]DR\b", re.IGNORECASE | re.ASCII
    ),
    "roce": re.compile(
        r"\broce(?:v2)?|\bethernet\b|以太网|\bSN\d{4}|\bSpectrum\b|\bTomahawk\b", re.IGNORECASE | re.ASCII
    ),
}
SAME_WITHIN = 1.25  # of each other: then "about the same" and "slightly dearer" may be said
EQUAL_WITHIN = 1.03  # then "the same" may be
_NAMES: Mapping[str, Sequence[str]] = {
    "power": ("power_typical_kw",),
    "tco": ("tco_usd",),
    "capex": ("capex_usd", "best_fit_capex_usd"),
    "price": ("capex_usd", "tco_usd", "best_fit_capex_usd"),
    "time": ("time_us",),
    "bandwidth": ("busbw_gbytes_per_s", "algbw_gbytes_per_s"),
    "switches": ("switches",),
}
_BOTH = re.compile(
    r"\bboth\b|\beither\b|\bthe two\b|\btwo (?:fabrics|networks|options)\b|两者|二者|两种|两个", re.IGNORECASE
)
_ALIKE = re.compile(
    r"\b(?:about|roughly|nearly|almost|virtually|practically|essentially|much)? ?(?:the same|equal(?:ly)?|identical)\b"
    r"|\bsimilar(?:ly)?\b|\bcomparabl[ey]\b|\bon (?:a )?par\b"
    r"|\bas (?:cheap|dear|expensive|affordable|fast|slow)(?:ly)? as\b"
    r"|\bnegligible\b|\b(?:hardly|barely|scarcely) (?:any|a|differ\w*|dearer|cheaper|more|less)"
    r"|\b(?:no|little) (?:\w+ )?difference\b|\b(?:slight|marginal)(?:ly)?\b|\bonly a (?:little|bit)\b"
    r"|\ba bit (?:more|less)"
    r"|差不多|相当(?=[。，,；;]|$)|持平|一样|相近|接近(?!.{0,4}(?:一半|倍|成|\d))|忽略|略(?!去|过)|稍(?!后)|一点|差异不大|差别不大|没有区别",
    re.IGNORECASE,
)
_EQUAL = re.compile(
    r"\b(?:cost|draw|take|consume)s? (?:exactly |precisely )?the same\b"
    r"(?=[\s,.;]*(?:$|to (?:buy|own)|time|amount|money))"
    r"|\b(?:exactly |precisely )?(?:the )?(?:same|equal|identical) (?:amount of )?"
    r"(?:power|electricity|price|costs?|time|tco|capex|money)\b|\bequally (?:fast|slow|expensive|cheap|dear)\b"
    r"|(?:功耗|耗电|价格|造价|成本|耗时|时间|速度|TCO)(?:都|也|完全|是)*(?:相同|一样|一致|相等)",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"\b(?:about|roughly|nearly|almost|virtually|practically|essentially|much|broadly|more or less)\b"
    r"|差不多|几乎|大致|大体|基本|约",
    re.IGNORECASE,
)
_NOT_ALIKE = re.compile(
    r"\b(?:not|never|neither|far from|nowhere near)\b|n't\b|不(?!大|多)|并非|绝非|没有(?!区别)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """`values[name]` is what both fabrics have of it, by fabric."""

    values: Mapping[str, Sequence[Mapping[str, float]]]

    @classmethod
    def of(cls, calculations: Iterable[Calculation]) -> Pairs:
        found = [
            (one.tool, one.label, {name: value.value for name, value in one.values.items()}) for one in calculations
        ]
        return cls._of(found)

    @classmethod
    def of_json(cls, calculations: Iterable[Mapping[str, Any]]) -> Pairs:
        return cls._of(
            [
                (one["tool"], one["label"], {name: value["value"] for name, value in one["values"].items()})
                for one in calculations
            ]
        )

    @classmethod
    def _of(cls, calculations: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Pairs:
        by_tool: dict[str, dict[str, dict[str, float]]] = {}
        for tool, label, values in calculations:
            for name, number in values.items():
                fabric = label if label in FABRIC else next((one for one in FABRIC if name.startswith(f"{one}_")), "")
                if fabric and isinstance(number, int | float):
                    by_tool.setdefault(tool, {}).setdefault(name.removeprefix(f"{fabric}_"), {})[fabric] = float(number)
        found: dict[str, list[Mapping[str, float]]] = {}
        for names in by_tool.values():
            for name, pair in names.items():
                if len(pair) == len(FABRIC) and all(value > 0 for value in pair.values()):
                    found.setdefault(name, []).append(pair)
        return cls(found)

    def of_metric(self, metric: str) -> list[Mapping[str, float]]:
        return [pair for name in _NAMES.get(metric, ()) for pair in self.values.get(name, ())]


def other(fabric: str) -> str:
    return "roce" if fabric == "infiniband" else "infiniband"


def named_in(text: str) -> list[str]:
    """The fabrics named, each once, in the order of their first mention."""
    places = [(match.start(), name) for name, words in FABRIC.items() if (match := words.search(text))]
    return [name for _, name in sorted(places)]


def alike_faults(masked: str, pairs: Pairs) -> list[str]:
    """ "Both cost about the same", "slightly dearer", where one is more than a quarter above the other; "the same"."""
    said, within = _EQUAL.search(masked), EQUAL_WITHIN
    if said is None or _ROUGHLY.search(masked):
        said, within = _ALIKE.search(masked), SAME_WITHIN
    if said is None or _NOT_ALIKE.search(masked[: said.start()]) or not (named_in(masked) or _BOTH.search(masked)):
        return []
    if len(named_in(masked)) < 2 and not _BOTH.search(masked):
        return []
    found = pairs.of_metric(metric_of(masked))
    if found and all(max(pair.values()) > within * min(pair.values()) for pair in found):
        return [f"“{said[0].strip()}” is not so"]
    return []
