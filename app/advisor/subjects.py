"""Whether a figure is said of what it is a figure of: the size of cluster, price or ownership, all GPUs or each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.advisor.comparisons import REFERENCE
from app.advisor.metric_words import NAMED
from app.advisor.numerals import normalise_numbers
from app.fabric.calculation import Calculation

_GPUS = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)[\s-]*(?:[A-Z]\w*\s)?(?:GPUs?|卡|张\s?卡|张\s?GPU|块\s?GPU|块\s?卡)(?![A-Za-z])",
    re.IGNORECASE | re.ASCII,
)
_PER_GPU = re.compile(r"\s*(?:per|for each|for every|a|/)\s*GPU\b|\s*(?:每卡|/卡|每张)", re.IGNORECASE)
_PER_YEAR = re.compile(r"\s*(?:per|a|each|every|/)\s*(?:year|annum)\b|\s*annually|\s*(?:每年|/年)", re.IGNORECASE)
_EACH_GPU_BEFORE = re.compile(
    r"\b(?:per[- ]GPU|each GPU|every GPU|a single GPU)\b|每卡|每张(?:卡|\s?GPU)|每块(?:卡|\s?GPU)|单卡", re.IGNORECASE
)
_EACH_YEAR_BEFORE = re.compile(
    r"\b(?:annual(?:ly)?|yearly|(?:per|each|every) year)\b|每年|年成本|年度|年均", re.IGNORECASE
)
_ALL_OF_IT = re.compile(
    r"\b(?:in total|in all|altogether|overall|total|whole|entire)\b"
    r"|总共|一共|合计|整个|全部|共需|总(?:价|额|计|投资|投入|花费|造价)",
    re.IGNORECASE,
)
_YEARS = re.compile(r"(?<![\w.,])(\d{1,2})[\s-]*(?:years?\b|年)", re.IGNORECASE | re.ASCII)
_SUPPOSED = re.compile(r"\b(?:if|would|instead of|rather than)\b|如果|若|而不是|而非|改为", re.IGNORECASE)
_OVER_YEARS = ("tco", "opex", "energy", "staff", "support")  # what grows with the years
_CLAUSE_END = re.compile(r"[,;:，；：。]|\b(?:and|while|but|whereas)\b|而|但")
_UPFRONT = re.compile(r"\s*(?:upfront|to buy)\b", re.IGNORECASE)


def misnamed(sentence: str, calculations: Mapping[str, Calculation]) -> list[str]:
    """Faults of a sentence whose references are still in place, each in a few words."""
    found = []
    masked = REFERENCE.sub(lambda match: "·" * len(match[0]), sentence)
    said = {int(match[1].replace(",", "")) for match in _GPUS.finditer(masked)}
    years = {int(match[1]) for match in _YEARS.finditer(normalise_numbers(masked))}
    supposed = _SUPPOSED.search(masked)
    for match in REFERENCE.finditer(sentence):
        calculation, name = calculations.get(match[1]), match[3]
        if calculation is None:
            continue
        gpus = calculation.inputs.get("gpus")
        if len(said) == 1 and isinstance(gpus, int) and gpus not in said and not name.endswith("gpus"):
            found.append(f"{match[0]} is for {gpus} GPUs, not for {min(said)}")
        span = calculation.inputs.get("years")
        grows = name.startswith(_OVER_YEARS) and "year" not in name
        if grows and not supposed and len(years) == 1 and isinstance(span, int | float) and span not in years:
            found.append(f"{match[0]} is for {span:g} years, not for {min(years)}")
        behind = sentence[match.end() :]
        clause = _CLAUSE_END.split(masked[: match.start()])[-1]
        whole = clause + _CLAUSE_END.split(masked[match.end() :])[0]
        total = calculation.values[name].unit in ("USD", "W", "kW") if name in calculation.values else False
        if name.endswith("_per_gpu") and _ALL_OF_IT.search(whole) and not _EACH_GPU_BEFORE.search(whole):
            found.append(f"{match[0]} is for each GPU, not for all")
        if total and (_PER_GPU.match(behind) or _EACH_GPU_BEFORE.search(clause)) and not name.endswith("_per_gpu"):
            found.append(f"{match[0]} is for all GPUs, not for each")
        if (_PER_YEAR.match(behind) or (total and _EACH_YEAR_BEFORE.search(clause))) and "year" not in name:
            found.append(f"{match[0]} is for all years, not for each")
        named = [
            subject
            for subject, words in NAMED.items()
            if words.search(clause) or (subject == "capex" and _UPFRONT.match(behind))
        ]
        own = next((subject for subject in NAMED if subject in name), "")
        if len(named) == 1 and own and own != named[0]:
            found.append(f"{match[0]} is {own}, not {named[0]}")
    return found
