"""What a sentence says of the two fabrics, against the values: whose figure it is, which one is dearer or slower.

Works on a model's sentence whose value references are still in place, so that the owner of a figure is known and not
guessed. Where a sentence can be read in two ways it is let pass; what it can only mean wrongly is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.advisor.advice import DENIED, gratis, other_advice
from app.advisor.both_fabrics import FABRIC, Pairs, alike_faults, other
from app.advisor.metric_words import metric_of
from app.fabric.calculation import Calculation

REFERENCE = re.compile(r"\{\s*(T\d+)\.(?:([a-z]+)\.)?([a-z_0-9]+)\s*\}")
_ANY = re.compile(
    rf"(?P<infiniband>{FABRIC['infiniband'].pattern})|(?P<roce>{FABRIC['roce'].pattern})|(?P<value>{REFERENCE.pattern})",
    re.IGNORECASE | re.ASCII,
)
_CLAUSE = re.compile(
    r"[,;:，；：、()（）]|\b(?:while|whereas|but|and|than|versus|vs\.?|against|compared (?:to|with)|over)\b"
    r"|而|但|比|与|和|相比",
    re.IGNORECASE,
)
_DEARER = (
    r"dearer|more expensive|costlier|pricier|costs? more|more costly"
    r"|更贵|较贵|贵于|昂贵|贵(?!\w*的?不)|成本更高|价格更高"
)
_CHEAPER = (
    r"cheaper|cheapest|undercuts?|less expensive|costs? less|less costly|more affordable|saves? money"
    r"|便宜|更省钱|成本更低|价格更低"
)
_SLOWER = r"slower|takes? longer|更慢|较慢|慢于|(?<=比)[^，。]{0,14}慢"
_FASTER = r"faster|fastest|quicker|sooner|更快|较快|快于|(?<=比)[^，。]{0,14}快"
_HUNGRIER = r"(?:more|higher) power|more (?:energy|electricity)|更耗电|更费电|功耗更?[高大](?:于)?"
_THRIFTIER = r"(?:less|lower) power|less (?:energy|electricity)|更省电|功耗更?[低小](?:于)?"
_OTHER_SPEED = re.compile(
    r"\b(?:deploy|deliver|ship|install|lead time|set ?up|roll ?out|available|market|learn)"
    r"|部署|上线|交付|到货|安装|上手",
    re.IGNORECASE,
)
_MORE = r"higher|greater|larger|exceeds?|above|more than|高于|大于|多于|超过|更高|更多"
_LESS = r"lower|smaller|fewer|below|less than|under|低于|小于|少于|更低|更少"
ANY_UNIT = ("USD", "us", "kW", "GB/s", "", "switches")
_NOT_THIS = re.compile(  # right in front of the comparative
    r"(?:\b(?:not|never|no)|n't)\s+(?:(?:any|much|really|actually|significantly|the)\s+)*$"
    r"|(?:并不|不|并非)(?:会|更|是|显得)?\s*$|(?:不比|没有|不如)[^，。]{0,16}$",
    re.IGNORECASE,
)
_HARDLY_EVER = re.compile(r"\b(?:always|necessarily|only|just|merely)\b|总是|一定|必然|仅|只是", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:if|unless|whether|would|could|might|when|until|either)\b|如果|只有|才(?:上|选|用|需|值|考虑|有必要)|若|是否|除非|可能|(?<![相应适恰正])当(?![然前中])",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"(?:fewer|more)\s+(?!than\b|expensive\b|costly\b|of\b)[a-z]", re.IGNORECASE)
_HELD_AGAINST = re.compile(
    r"\b(?:instead of|against|versus|vs\.?|rather than|compared (?:to|with)|not)\s*$"
    r"|(?:而不是|而非|相比于?|对比|对)\s*$",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[\w-]+\s*(?:and|or|、|和|与|及)\s*(?:InfiniBand|IB|RoCE|Ethernet|以太网)", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class _Figure:
    owner: str  # "infiniband", "roce" or ""
    unit: str
    value: float
    text: str


def faults(
    sentence: str, calculations: Mapping[str, Calculation], choice: str = "", pairs: Pairs | None = None
) -> list[str]:
    """What is wrong with a sentence, each in a few words; [] where nothing is. `choice` is the verdict's, `pairs` those
    of the calculations where they are known already.
    """
    pairs = pairs or Pairs.of(calculations.values())
    found = _misplaced(sentence, calculations)
    if not _OPEN.search(sentence):
        found += _wrong_way_round(sentence, calculations, pairs)
        found += alike_faults(REFERENCE.sub(" ", sentence), pairs)
        found += gratis(sentence)
        found += other_advice(sentence, choice)
    return found


def owner_of(calculation: Calculation, name: str) -> str:
    """The fabric that a value is of: the one its name begins with, else that of its calculation."""
    return next((fabric for fabric in FABRIC if name.startswith(f"{fabric}_")), _fabric(calculation.label))


def _fabric(label: str) -> str:
    return label if label in FABRIC else ""


def _misplaced(sentence: str, calculations: Mapping[str, Calculation]) -> list[str]:
    """Figures said of the other fabric than the one that they are of."""
    tokens = [(match, match.lastgroup) for match in _ANY.finditer(sentence)]
    kinds = ["value" if match["value"] else ("infiniband" if match["infiniband"] else "roce") for match, _ in tokens]
    places = [match.start() for match, _ in tokens]
    values = [at for at, kind in enumerate(kinds) if kind == "value"]
    fabrics = [at for at, kind in enumerate(kinds) if kind != "value"]
    found = []
    for order, at in enumerate(values):
        figure = _figure(tokens[at][0].group("value"), calculations)
        if figure is None or not figure.owner or not fabrics:
            continue
        said = _said_of(order, at, kinds, places, values, fabrics, sentence)
        if said and said != figure.owner:
            found.append(f"{figure.text} is of {figure.owner}, not of {said}")
    return found


def _said_of(
    order: int,
    at: int,
    kinds: Sequence[str],
    places: Sequence[int],
    values: Sequence[int],
    fabrics: Sequence[int],
    sentence: str,
) -> str:
    """The fabric that a figure is said of, "" where it may be either."""
    named = [kinds[one] for one in fabrics]
    if len(set(named)) == 1:
        # "RoCE draws more (25 kW against 20 kW)": what it is held against is not said to be its own
        if _HELD_AGAINST.search(sentence[: places[at]]) or _before_the_other(at, places, values, fabrics, sentence):
            return ""
        return named[0]
    apart = max(fabrics) < min(values) or max(values) < min(fabrics)
    listed = _LISTED.match(sentence[places[fabrics[0]] :]) or places[fabrics[0]] < places[values[0]]
    if apart and (listed or not _share_a_clause(places, values, fabrics, sentence)):
        # all fabrics, then all figures: in the same order, or else it cannot be told
        return named[order] if len(values) == len(fabrics) else ""
    clause_start, clause_end = _clause(sentence, places[at])
    before = [one for one in fabrics if clause_start <= places[one] < places[at]]
    after = [one for one in fabrics if places[at] < places[one] < clause_end]
    if before:
        return kinds[before[-1]]
    if after:
        return kinds[after[0]]
    return ""


def _share_a_clause(places: Sequence[int], values: Sequence[int], fabrics: Sequence[int], sentence: str) -> bool:
    of_fabrics = {_clause(sentence, places[one]) for one in fabrics}
    return any(_clause(sentence, places[one]) in of_fabrics for one in values)


def _before_the_other(
    at: int, places: Sequence[int], values: Sequence[int], fabrics: Sequence[int], sentence: str
) -> bool:
    """ "{a} to buy, {b} for InfiniBand": a figure in its own clause, before one that the name goes with."""
    _, end = _clause(sentence, places[at])
    if any(places[one] < end for one in fabrics):
        return False
    start, end = _clause(sentence, places[fabrics[0]])
    return any(one != at and start <= places[one] < end for one in values)


def _clause(sentence: str, place: int) -> tuple[int, int]:
    start, end = 0, len(sentence)
    for match in _CLAUSE.finditer(REFERENCE.sub(lambda one: "·" * len(one[0]), sentence)):
        if match.end() <= place:
            start = match.end()
        elif match.start() > place:
            end = match.start()
            break
    return start, end


def _figure(reference: str, calculations: Mapping[str, Calculation]) -> _Figure | None:
    match = REFERENCE.search(reference)
    calculation = calculations.get(match[1]) if match else None
    if match is None or calculation is None or match[3] not in calculation.values:
        return None
    value = calculation.values[match[3]]
    if not isinstance(value.value, int | float):
        return None
    return _Figure(owner_of(calculation, match[3]), value.unit, float(value.value), reference)


def _wrong_way_round(sentence: str, calculations: Mapping[str, Calculation], pairs: Pairs) -> list[str]:
    """ "RoCE is dearer at {a} than InfiniBand at {b}", where b is the larger; "RoCE is not cheaper", where it is."""
    masked = REFERENCE.sub(lambda match: "·" * len(match[0]), sentence)
    for more, less, units in (
        (_DEARER, _CHEAPER, ("USD",)),
        (_HUNGRIER, _THRIFTIER, ("kW",)),
        (_SLOWER, _FASTER, ("us",)),
        (_MORE, _LESS, ANY_UNIT),
    ):
        match = re.search(rf"(?P<more>{more})|(?P<less>{less})", masked, re.IGNORECASE)
        if match is None or (units == ("us",) and _OTHER_SPEED.search(masked)):
            continue
        denied = bool(_NOT_THIS.search(masked[: match.start()]))
        if not denied and DENIED.search(masked[: match.end()]):
            return []
        if denied and _HARDLY_EVER.search(masked):
            return []
        claim = _Claim(match, larger=match["more"] is not None, denied=denied)
        return _checked(sentence, masked, claim, units, calculations, pairs)
    return []


@dataclass(frozen=True, slots=True)
class _Claim:
    word: re.Match[str]
    larger: bool
    denied: bool

    def agrees(self, mine: float, theirs: float) -> bool:
        if self.denied:
            return not (mine > theirs if self.larger else mine < theirs)
        return mine == theirs or (mine > theirs) == self.larger


def _checked(
    sentence: str,
    masked: str,
    claim: _Claim,
    units: Sequence[str],
    calculations: Mapping[str, Calculation],
    pairs: Pairs,
) -> list[str]:
    figures = [one for match in REFERENCE.finditer(sentence) if (one := _figure(match[0], calculations))]
    figures = [one for one in figures if one.unit in units]
    fabrics = [
        (match.start(), "infiniband" if match["infiniband"] else "roce")
        for match in _ANY.finditer(masked)
        if not match["value"]
    ]
    subject = _subject(masked, fabrics, claim.word)
    owned = {one.owner: one for one in figures if one.owner}
    wrong = [f"“{claim.word[0]}” is the wrong way round"]
    if len(figures) == 2 and len(owned) == 2 and figures[0].unit == figures[1].unit and subject:
        return [] if claim.agrees(owned[subject].value, owned[other(subject)].value) else wrong
    if len(figures) == 2 and not fabrics and figures[0].unit == figures[1].unit:
        return [] if claim.agrees(figures[0].value, figures[1].value) else wrong
    if not subject:
        return []
    start, end = _clause(sentence, claim.word.start())
    about = masked[start:end] if metric_of(masked[start:end]) else masked
    if _COUNTED.match(masked[claim.word.start() :]) and about is masked:
        return []  # "fewer cables": of something that has no pair of values
    values = pairs.of_metric(_metric(about, units))
    if values and not any(claim.agrees(pair[subject], pair[other(subject)]) for pair in values):
        return wrong
    return []


def _metric(masked: str, units: Sequence[str]) -> str:
    said = metric_of(masked)
    if units == ("USD",):
        return said if said in {"tco", "capex"} else "price"
    if units == ANY_UNIT:  # "the higher TCO"; what takes "less than" of something else is not told
        return said if said != "time" else ""
    return {"us": "time", "kW": "power"}[units[0]]


def _subject(masked: str, fabrics: Sequence[tuple[int, str]], word: re.Match[str]) -> str:
    """The fabric that is said to be dearer or slower: the nearest before the word that is not behind a `than`."""
    named = [name for _, name in fabrics]
    if len(set(named)) == 1:
        than = re.search(r"\bthan\b", masked[word.end() :])
        if than and word.end() + than.start() < fabrics[0][0]:
            return other(named[0])  # "It is cheaper than RoCE"
        return named[0]
    before = [(place, name) for place, name in fabrics if place < word.start()]
    if not before:
        return ""
    between = masked[before[0][0] : word.start()]
    if re.search(r"比(?!较)|没有|不如", between) and "相比" not in between:  # "RoCE 比 InfiniBand 贵"
        return before[0][1]
    compared = re.match(r"\s*(?:compared (?:to|with)|against|unlike|relative to)\b", masked, re.IGNORECASE)
    if compared and len(before) > 1:
        return before[1][1]
    return before[-1][1] if len({name for _, name in before}) == 2 else before[0][1]
