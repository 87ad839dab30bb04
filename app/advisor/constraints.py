"""What a question says of the team, the budget, the priorities … in words, and what it says is *not* so.

A word says nothing of itself: "the budget is not tight", "we don't care about lock-in" and "不担心厂商锁定" deny what
they name. A denied value is not taken; where the denial is itself an answer (not hybrid: one site), that is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from app.advisor.reading_notes import ReadingNote, note
from app.advisor.vocabulary import Vocabulary

_BEFORE = 28  # characters in front of a match in which a "not" denies it
_SAYS_NO_ITSELF = frozenset(
    {"network_team.none", "budget.ample", "budget.tight", "tuning.default", "tuning.mis-tuned", "supply.constrained"}
)
_FLAGS_SAY_NO = frozenset({"avoid_lock_in"})
_OTHERWISE: dict[str, Any] = {  # what a denial says; None: only that the value is not so
    "hybrid": False,
    "ethernet_estate": False,
    "avoid_lock_in": False,
    "tenancy.multi": "single",
    "tenancy.single": "multi",
    "region.china": "elsewhere",
    "supply.constrained": "open",
    "time_to_market.urgent": "relaxed",
    "topology.rail-optimized": "fat-tree",
    "tuning.tuned": "default",
}
_NULLABLE = frozenset({"budget", "network_team", "priority"})


@dataclass(frozen=True, slots=True)
class Constraints:
    fields: dict[str, Any]
    notes: tuple[ReadingNote, ...] = ()


def constraints(words: str, vocab: Vocabulary) -> Constraints:
    """Spec fields that are said in words; `words` has number words as digits."""
    found: dict[str, Any] = {}
    notes: list[ReadingNote] = []
    if match := vocab.no_experience.search(words):
        words = words.replace(match[0], " ")
        notes.append(
            note(
                "team",
                f"“{match[0].strip()}” is not taken for having no network team; say so if there is none.",
                f"“{match[0].strip()}” 不等于没有网络团队；若确实没有，请说明。",
            )
        )
    for fabric, pattern in vocab.excluded.items():
        if pattern.search(words):
            found["excluded"] = fabric
    for field, pattern in vocab.denied.items():
        if pattern.search(words):
            words = pattern.sub(" ", words)
            found[field] = _OTHERWISE.get(field)
    for field, values in vocab.spec.items():
        for value, pattern in values.items():
            said, denied = _said(words, pattern, vocab, f"{field}.{value}" in _SAYS_NO_ITSELF)
            if said:
                found[field] = value
                break
            if denied and (f"{field}.{value}" in _OTHERWISE or field in _NULLABLE):
                found.setdefault(field, _OTHERWISE.get(f"{field}.{value}"))
    for field, pattern in vocab.flags.items():
        said, denied = _said(words, pattern, vocab, field in _FLAGS_SAY_NO)
        if said or denied:
            found[field] = said
    return Constraints(found, tuple(notes))


def _said(words: str, pattern: re.Pattern[str], vocab: Vocabulary, says_no_itself: bool) -> tuple[bool, bool]:
    """Whether the pattern is said, and whether it is denied. One that is said once and denied once is said."""
    denied = False
    for match in pattern.finditer(words):
        before = words[max(0, match.start() - _BEFORE) : match.start()]
        if vocab.negator.search(before) or (not says_no_itself and vocab.negated_inside.search(match[0])):
            denied = True
        else:
            return True, denied
    return False, denied
