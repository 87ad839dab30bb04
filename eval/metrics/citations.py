"""Do the citations exist, quote truly, support the sentence that carries them, and stand where one is due?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.advisor.answer import Answer, Citation
from eval.metrics.retrieval import Found, matches
from eval.metrics.sentences import Claim, claims, markers_in, squeezed
from eval.metrics.support import all_known, known_without_citations
from eval.quantities import find_quantities

_STOP = frozenset(
    [
        "the",
        "and",
        "for",
        "are",
        "with",
        "that",
        "this",
        "from",
        "its",
        "not",
        "but",
        "has",
        "can",
        "than",
        "was",
    ]
)
_ODD = re.compile(r"\[(?!\d+(?:\s*[,，、]\s*\d+)*\])[^\]\s]*\d[^\]\s]*\](?!\()")  # [doc-99], but no link


@dataclass(frozen=True, slots=True)
class Share:
    """`good` of `n`; a share of nothing has no value."""

    good: int
    n: int


def invalid_citations(answer: Answer) -> list[str]:
    """Markers without a citation, citations that the text does not use, doubled markers, invented forms."""
    used, listed = set(markers_in(answer.text)), [citation.marker for citation in answer.citations]
    faults = [f"[{marker}] has no source" for marker in sorted(used - set(listed))]
    faults += [f"[{marker}] is listed but not cited" for marker in sorted(set(listed) - used)]
    faults += [f"[{marker}] is listed twice" for marker in sorted(set(listed)) if listed.count(marker) > 1]
    return faults + [f"{label} is no citation" for label in _ODD.findall(re.sub(r"`[^`]*`", "", answer.text))]


def unfaithful_quotes(answer: Answer, text_of: Callable[[str], str]) -> list[str]:
    """Citations that are not document[start:end]; `text_of(document_id)` raises KeyError if unknown."""
    faults = []
    for citation in answer.citations:
        try:
            text = text_of(citation.document_id)
        except KeyError:
            faults.append(f"[{citation.marker}] {citation.document} is not in the library")
            continue
        if text[citation.start : citation.end] != citation.passage:
            faults.append(f"[{citation.marker}] is not what {citation.document} says there")
    return faults


def citation_precision(answer: Answer, gold: Sequence[str]) -> Share:
    """Citations that are gold, or that support one of the sentences that carry them."""
    carrying: dict[int, list[Claim]] = {}
    for claim in claims(answer.text):
        for marker in claim.markers:
            carrying.setdefault(marker, []).append(claim)
    good = sum(
        is_gold(citation, gold) or any(supports(citation, c) for c in carrying.get(citation.marker, []))
        for citation in answer.citations
    )
    return Share(good, len(answer.citations))


def citation_recall(answer: Answer) -> tuple[Share, list[str]]:
    """Claims with a number or a comparison that carry a source, and those that do not.

    A source is a marker in the sentence; a marker in its paragraph whose passage has the sentence; the id
    of a calculation; or that all of its numbers are values of calculations.
    """
    passages = {citation.marker: squeezed(citation.passage) for citation in answer.citations}
    known = known_without_citations(answer)
    ids = {calculation["id"] for calculation in answer.calculations}
    needing = [claim for claim in claims(answer.text) if claim.needs_source]
    bare = [
        claim.text
        for claim in needing
        if not any(marker in passages for marker in claim.markers)
        and not any(squeezed(claim.bare) in passages.get(marker, "") for marker in claim.nearby)
        and not any(id in ids for id in claim.calculations)
        and not all_known(claim, known)
    ]
    return Share(len(needing) - len(bare), len(needing)), bare


def cites_gold(answer: Answer, gold: Sequence[str]) -> bool:
    return any(is_gold(citation, gold) for citation in answer.citations)


def is_gold(citation: Citation, gold: Sequence[str]) -> bool:
    found = Found(topic_of(citation.document), citation.document, citation.section)
    return any(matches(item, found) for item in gold)


def topic_of(document: str) -> str:
    """Both halves of a note pair have one topic: pfc.en.md and pfc.zh.md are pfc."""
    return re.sub(r"(?:\.(?:en|zh))?\.md$", "", document)


def supports(citation: Citation, claim: Claim) -> bool:
    """All numbers of the sentence are in the passage, or a third of its words are.

    A third told paraphrases from passages on something else when the answers of December 2026 were read by hand.
    A note in brackets and italics, such as *(published practice)*, says nothing of the matter and does not count.
    """
    passage = f"{citation.title} {citation.section} {citation.passage}"
    stated = [(q.value, q.dimension) for q in find_quantities(claim.bare)]
    there = {(q.value, q.dimension) for q in find_quantities(passage)}
    if stated and all(number in there for number in stated):
        return True
    words = _terms(re.sub(r"\*[(（][^*]*[)）]\*", "", claim.bare))
    return bool(words) and len(words & _terms(passage)) / len(words) >= 1 / 3


def _terms(text: str) -> set[str]:
    """Latin words and pairs of Chinese characters: enough to tell whether two texts are about the same."""
    latin = {word for word in re.findall(r"[a-z][a-z0-9]{2,}", text.casefold()) if word not in _STOP}
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    return latin | {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
