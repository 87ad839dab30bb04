"""One sentence of a model: what of it may be shown, what is dropped, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.advisor.both_fabrics import Pairs
from app.advisor.check import Quoted, is_year
from app.advisor.comparisons import REFERENCE, faults
from app.advisor.counted import miscounted
from app.advisor.excerpt import terms
from app.advisor.figure_text import Figure, figures_in
from app.advisor.figures import size, with_range
from app.advisor.markers import MARKER, in_prose, numbers_of
from app.advisor.model_material import gives_orders
from app.advisor.proportions import proportions, without_true
from app.advisor.question import Question
from app.advisor.references import marked, unmarked, without_stray
from app.advisor.spelled import spelled_as_digits
from app.advisor.subjects import misnamed
from app.fabric.calculation import Calculation, Language
from app.library.passage import Passage

LEAST_SHARED_TERMS = 0.34  # of a sentence's key terms, for a passage to count as its source
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_LOWER_WORD = re.compile(r"(?<![\w/.-])[a-z]{2,}(?![\w/.-]\w)")
_CODE = re.compile(r"`[^`]*`|```.*?```", re.DOTALL)
_OTHER_SCRIPT = re.compile(r"[\u0370-\u05ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\uac00-\ud7af]{3,}")
_STRAY_BRACES = re.compile(r"\{[^{}\n]{0,80}\}|\{\s*T\d*[^}\n]*$")
_ECHO = re.compile(  # labels of the prompt, see model_material.py: a weak model repeats what it was given
    r"[\s*#>_-]*(?:Verdict \(already shown\)|Calculations(?: \(write the reference|\W*$)|Passages\W*$|Question\W*:"
    r"|Earlier in this conversation \(|asked: .*\| answered:)"
    r"|\s*\[\d+\] [^\n]{1,120} › "  # a passage's title and section
)
_TOOL_TEXT = re.compile(r"\"(?:name|function)\"\s*:\s*\"|</?tool_call>|\"arguments\"\s*:|\"parameters\"\s*:\s*\{")


@dataclass(frozen=True, slots=True)
class Checked:
    """`text` is "" where nothing of the sentence may be shown. Markers are the material's, not yet the answer's."""

    text: str = ""
    unsupported: tuple[str, ...] = ()
    fault: str = ""  # what contradicts the calculations, or the language asked for
    figures: int = 0
    dropped_markers: int = 0


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """Holds what sentences are checked against; calculations and passages may grow while the model calls tools."""

    question: Question
    calculations: Mapping[str, Calculation]
    passages: Mapping[int, Passage]
    choice: str = ""  # the verdict's
    context: str = ""  # further texts whose numbers are the user's: the cluster as it was said
    _known_pairs: dict[int, Pairs] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, sentence: str, read_as: str = "") -> Checked:
        """`read_as` is the sentence with the fabrics named that it goes on to speak of, see spoken_of.py.

        Figures of references come with their origin, see references.py.
        """
        sentence, read_as = without_stray(sentence), without_stray(read_as or sentence)
        if _TOOL_TEXT.search(sentence) or _ECHO.match(sentence):
            return Checked()
        if not sentence.strip("-*•#> \t\n"):
            return Checked()
        if self._foreign(sentence):
            return Checked(fault="language")
        unknown = self._unknown(sentence)
        if unknown:
            return Checked(unsupported=tuple(unknown), figures=len(unknown))
        bare, meant = MARKER.sub("", sentence), MARKER.sub("", read_as)
        wrong = faults(meant, self.calculations, self.choice, self._pairs()) + misnamed(meant, self.calculations)
        if wrong:
            return Checked(fault=f"{wrong[0]}: “{unmarked(self._filled(bare)).strip()[:160]}”", figures=1)
        typed = figures_in(REFERENCE.sub(" · ", bare))
        cited = [self.passages[number] for number in numbers_of(sentence) if number in self.passages]
        quoted = Quoted(_trusted(one) for one in cited)
        said = self.question.text.replace(self.question.disputed, " ") if self.question.disputed else self.question.text
        own = [said, self.context, *map(_inputs, self.calculations.values())]
        asked = Quoted(own)
        stray = [
            one
            for one in typed
            if not (quoted(one) or is_year(one))
            and (not asked(one) or contests(one, bare) or miscounted(one.text, bare, own))
        ]
        if _SUPPOSED.search(bare):
            stray = [one for one in stray if not _LINE_RATE.fullmatch(one.text)]
        if stray:
            found = list(proportions(meant, self._pairs()))
            if any(one.true is False and one.is_of(stray) for one in found):
                return Checked(fault=f"not by so much: “{unmarked(self._filled(bare)).strip()[:160]}”", figures=1)
            stray = without_true(stray, found)
        count = len(typed) + len(REFERENCE.findall(bare))
        if stray:
            return Checked(unsupported=tuple(one.text for one in stray), figures=count)
        if brand := self._advertised(bare):
            return Checked(unsupported=(brand,), figures=count)
        kept, dropped = self._supported_markers(sentence)
        return Checked(self._filled(kept), figures=count, dropped_markers=dropped)

    def _pairs(self) -> Pairs:
        """The values of both fabrics, computed again only when a tool has added a calculation."""
        size = len(self.calculations)
        if size not in self._known_pairs:
            self._known_pairs[size] = Pairs.of(self.calculations.values())
        return self._known_pairs[size]

    def _foreign(self, sentence: str) -> bool:
        text = REFERENCE.sub("", sentence)
        chinese, latin = len(_CJK.findall(text)), len(_WORD.findall(text))
        if _OTHER_SCRIPT.search(text):
            return True
        if self.question.language == "zh":
            return chinese == 0 and latin >= 2 and bool(_LOWER_WORD.search(_CODE.sub("", text)))
        return chinese >= 4 and chinese > latin

    def _unknown(self, sentence: str) -> list[str]:
        """References to what was not calculated, and braces that are no reference at all."""
        found = [match[0] for match in REFERENCE.finditer(sentence) if self._value(match) is None]
        rest = REFERENCE.sub("", sentence)
        return found + [match[0] for match in _STRAY_BRACES.finditer(rest) if re.search(r"T\d|_", match[0])]

    def _value(self, match: re.Match[str]) -> str | None:
        one = self.calculations.get(match[1])
        if one is None or match[2] not in (None, one.label, one.tool) or match[3] not in one.values:
            return None
        return with_range(one.values[match[3]].to_json(), self.question.language)

    def _filled(self, sentence: str) -> str:
        return REFERENCE.sub(lambda match: marked(self._value(match) or "", match[1], match[3]), sentence)

    def _advertised(self, sentence: str) -> str:
        """A product or vendor that is recommended although neither question, verdict nor calculations name it."""
        match = _RECOMMENDS.search(sentence)
        if match is None:
            return ""
        said = _LEADING_WORD.sub("", sentence) if _PRAISED.search(match[0]) else sentence[match.end() :]
        allowed = " ".join(
            [self.question.text, *(str(value) for one in self.calculations.values() for value in one.inputs.values())]
            + [str(v.value) for one in self.calculations.values() for v in one.values.values()]
        ).lower()
        for name in _NAMED.findall(said):
            if name.lower() not in allowed and not _OURS.fullmatch(name.rstrip("-0123456789")):
                return str(name)
        return ""

    def _supported_markers(self, sentence: str) -> tuple[str, int]:
        """The sentence without the markers of passages that do not bear it out."""
        bare = MARKER.sub("", sentence)
        dropped = 0

        def keep(match: re.Match[str]) -> str:
            nonlocal dropped
            known = [number for number in numbers_of(match[0]) if number in self.passages]
            borne = [number for number in known if supports(self.passages[number], bare)]
            dropped += len(known) - len(borne)
            return "".join(f"[{number}]" for number in borne)

        text = in_prose(lambda prose: MARKER.sub(keep, prose), sentence)
        return re.sub(r"[ \t]+(?=[.,;!?。，；！？](?:\s|$))", "", text).rstrip(), dropped


_RECOMMENDS = re.compile(
    r"\b(?:recommend(?:ed)?|must (?:buy|choose|use)|should (?:buy|choose|purchase)|buy|purchase"
    r"|best (?:vendor|supplier|choice)(?: is)?"
    r"|(?:one|switch(?:es)?|vendor|supplier|brand|product) to (?:buy|choose|take|get)"
    r"|(?:only|leading) (?:vendor|supplier))\b"
    r"|推荐|应该?(?:购买|采购|选购|选用|采用|买)|必须(?:购买|采购|选择)|首选"
    r"|(?:最好|最佳)的(?:厂商|供应商)",
    re.IGNORECASE,
)
_PRAISED = re.compile(r"best|only|leading|\bto\b|首选|最", re.IGNORECASE)  # the name may stand before it
_LEADING_WORD = re.compile(r"^\W*[A-Z][a-z]+(?=,| (?!(?:is|are|has|offers)\b)[a-z])")  # "Given the budget, …"
_NAMED = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]*(?:[A-Z][a-z]+|[a-z]{3,})(?:[A-Za-z0-9-]*)")
_OURS = re.compile(
    r"(?:InfiniBand|RoCE(?:v2)?|Ethernet|Either|Ultra|Consortium|NaaS|NVLink|NVSwitch|Network|Fabric|Quantum|Spectrum"
    r"|The|This|That|These|Those|When|Where|With|For|And|But|Because|Since|Both|Choose|Use|Its|Your|Our|GPUs?)",
    re.IGNORECASE,
)


_CONTESTED = frozenset({"USD", "EUR", "CNY", "us", "h", "GB/s", "W", "kWh", "fraction"})
_SCALED = re.compile(r"[万萬亿億]|[MB]$|illion")
_COUNTS = r"\s*(?:张|卡|块|台|颗|个|名|人|GPU|card|node|server|host|port|link|parameter|token)"
_TIMES = r"\s*(?:times|x\b|×|-?fold|倍)"
_ATTRIBUTED = re.compile(
    r"\byour (?:own )?(?:budget|quot\w+|offer|limit|price|target|assumption|vendor|supplier)\b"
    r"|\byou (?:asked|stated?|mention(?:ed)?|gave|give|plan|pay|have|set|name)\b|\bquot(?:ed|ation)\b"
    r"|预算|报价|您(?:提到|给出|设定|要求|计划)|你(?:提到|给出|设定|要求|计划)",
    re.IGNORECASE,
)
_YIELDS = re.compile(
    r"\b(?:you(?:'re| are) right|agreed?|indeed|correct|as you say|sorry|apolog\w+)\b|得对|是的|确实|没错|抱歉",
    re.IGNORECASE,
)


_SUPPOSED = re.compile(r"\b(?:if|would|could|later|future)\b|如果|若|换成|改用|升级|将来|以后", re.IGNORECASE)
_LINE_RATE = re.compile(r"(?:100|200|400|800)G|(?:1\.6|3\.2)T")  # names of port speeds, as NDR is one


def _inputs(calculation: Calculation) -> str:
    """What a calculation was made for, as a text would say it: its GPUs, years and bytes."""
    given = calculation.inputs
    said = [f"{given[name]} {name}" for name in ("gpus", "years") if isinstance(given.get(name), int)]
    count = given.get("bytes")
    return ", ".join([*said, size(count)] if isinstance(count, int) else said)


def contests(figure: Figure, sentence: str) -> bool:
    """Whether a figure of the question is said as a fact: sizes may be, a price only as the user's own."""
    place = re.escape(figure.text)
    scaled = bool(_SCALED.search(figure.text)) and not re.search(place + _COUNTS, sentence, re.IGNORECASE)
    multiple = bool(re.search(rf"(?<![\d.]){place}{_TIMES}", spelled_as_digits(sentence), re.IGNORECASE))
    if figure.dimension not in _CONTESTED and not (not figure.dimension and (scaled or multiple)):
        return False
    return bool(_YIELDS.search(sentence)) or not _ATTRIBUTED.search(sentence)


def _trusted(passage: Passage) -> str:
    """What may be quoted: nothing of a text that gives orders to whoever reads it."""
    return "" if gives_orders(passage.text) else f"{passage.title} {passage.section} {passage.text}"


def supports(passage: Passage, sentence: str) -> bool:
    """Whether a passage bears a sentence out: it has one of its numbers, or enough of its key terms."""
    text = _trusted(passage)
    figures = [one for one in figures_in(REFERENCE.sub(" ", sentence)) if len(one.digits) > 1 or one.dimension]
    if figures and any(Quoted([text])(one) for one in figures):
        return True
    small = [one for one in figures_in(REFERENCE.sub(" ", sentence)) if one not in figures]
    if len(small) > 1 and all(Quoted([text])(one) for one in small):  # "2 to 3"
        return True
    wanted = set(terms(REFERENCE.sub(" ", sentence)))
    if not wanted:
        return False
    shared = wanted & set(terms(text))
    if _language_of(sentence) != passage.language:  # a translation shares names and abbreviations only
        names = {term for term in wanted if re.fullmatch(r"[a-z][a-z0-9_+\-]+", term)}
        return bool(names) and len(names & shared) >= max(1, round(LEAST_SHARED_TERMS * len(names)))
    return len(shared) >= LEAST_SHARED_TERMS * len(wanted) and len(shared) >= min(2, len(wanted))


def _language_of(sentence: str) -> Language:
    return "zh" if _CJK.search(sentence) else "en"
