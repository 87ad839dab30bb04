"""Which kind of answer a question asks for, from its intents, what it says, and what was answered before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from app.advisor.answer import Answer, Kind

CALCULATED: frozenset[str] = frozenset({"decision", "comparison", "sizing", "cost", "performance"})
NOT_OF_A_JOB: frozenset[str] = frozenset({"sizing", "diagnosis", "configuration"})  # asked of the network itself
CHOICE_FIELDS = frozenset(
    {
        *("workload", "budget", "network_team", "priority", "hybrid", "ethernet_estate", "avoid_lock_in"),
        *("tenancy", "region", "supply", "time_to_market", "excluded"),
    }
)
_LOOSE = frozenset({"explanation", "alternative", "performance_weak", "sizing_weak"})  # words of almost any question
_COUNTED_PARTS = frozenset({"optics", "switches", "nics"})  # parts of a bill that a sizing counts
_ASKS = re.compile(
    r"[?？]|^\W*(?:what|which|how|why|who|when|where|is|are|does|do|can|explain)\b|吗|呢|什么|怎么", re.IGNORECASE
)
_IF = re.compile(
    r"^\W*(?:and |but |so )*(?:what|how)? ?(?:if|about)\b|^\W*(?:那|那么)?(?:如果|要是|假如|换成"
    r"|改成)",
    re.IGNORECASE,
)
_OF_ITS_OWN = frozenset({"sizing", "diagnosis", "configuration", "performance", "decision", "staffing", "why"})
_WANTS = frozenset({"sizing", "cost", "count", "configuration", "asked_price", "power", "staffing"})
_WANTS_ANOTHER = _WANTS | {"decision", "pick", "performance", "flip"}
_ENOUGH_TO_CHOOSE = 2  # conditions that are said of a cluster
_TERMS = frozenset({"years", "usd_per_kwh", "pue"})  # what a price depends on beside the cluster
_SHORT_QUESTION_WORDS = 8
_NOT_ASIDE = frozenset({"pick", "asked_price", "count", "sizing", "diagnosis", "configuration"})


def kind_of(
    words: str,
    intents: frozenset[str],
    fabrics: frozenset[str],
    changes: Mapping[str, Any],
    previous: Answer | None,
    follow_up: bool,
    scale: bool,
    parts: Sequence[str],
) -> Kind | Literal["unknown"]:
    """The most specific intent first. `scale`: the number of GPUs is known; `parts`: of a bill, as named."""
    both = len(fabrics) >= 2
    chooses = bool({"decision", "pick"} & intents) or (
        "alternative" in intents and (scale or len(words.split()) <= _SHORT_QUESTION_WORDS)
    )
    choice = chooses and (both or (scale and bool(fabrics or "gpus" in changes)))
    if choice and "why" in intents and set(changes) <= {"gpus", "model"}:
        return "explanation"  # of what others chose, or of a premise: not asked to choose
    if "aside" in intents and not intents & _NOT_ASIDE and not (both and chooses):
        return "explanation"
    if "speed_enough" in intents and scale and not both and "keep" not in changes:
        return "performance"
    about_choice = set(changes) <= CHOICE_FIELDS and bool(changes)
    tells = not _ASKS.search(words)  # "we are not hybrid"
    of_choice = bool(previous and previous.kind in {"decision", "comparison", "clarification"})
    if (follow_up or tells) and about_choice and of_choice:
        return "decision"
    goes_on = bool(previous and follow_up and scale and previous.kind in CALCULATED and set(changes) <= _TERMS)
    shares = bool(previous and previous.kind == "cost" and "count" not in intents)  # "and the optics?" of a price
    if previous and goes_on and parts and not intents & (_OF_ITS_OWN - ({"sizing"} if shares else set())):
        return "sizing" if previous.kind == "sizing" and set(parts) <= _COUNTED_PARTS else "cost"
    if goes_on and "performance_weak" in intents and not intents - _LOOSE:
        return "performance"  # "and the latency?"
    if previous and "flip" in intents and previous.kind in {"decision", "comparison"}:
        return "decision"
    if choice and scale and "gpus" in changes and "pick" in intents and not intents & {"asked_price", "count"}:
        return "decision"
    described = "gpus" in changes and len(CHOICE_FIELDS & set(changes)) >= _ENOUGH_TO_CHOOSE
    if described and tells and scale and not intents & _WANTS:
        return "decision"  # a cluster and its conditions, and no question: which network is what is left to say
    supposes = bool(follow_up and changes and _IF.search(words))
    if previous and supposes and previous.kind in CALCULATED and not intents & _WANTS_ANOTHER:
        return previous.kind  # "what if we only have 100G links?" is no fault to find
    if "staffing" in intents:
        return "explanation"
    if "power" in intents and scale and "sizing" not in intents and "diagnosis" not in intents:
        return "cost"
    priced = "cost" in intents and "count" not in intents  # "how much for the switches", not "how many switches"
    if "sizing" in intents and "diagnosis" not in intents and not priced:
        return "sizing"
    if "diagnosis" in intents and not (choice and scale):
        return "diagnosis"
    defines = "definition" in intents and "gpus" not in changes
    if "performance" in intents and not defines and (scale or not (choice or "configuration" in intents)):
        return "performance"
    if "configuration" in intents and not (choice and scale):
        return "configuration"
    if "comparison" in intents and both and not (choice and scale):
        return "comparison"
    if "cost" in intents and not (choice and both and "gpus" in changes):
        return "cost"
    if choice:
        return "decision"
    if scale and "gpus" in changes:
        weak = {"performance_weak": "performance", "sizing_weak": "sizing"}
        for intent, kind in weak.items():
            if intent in intents:
                return kind  # type: ignore[return-value]
    if previous and follow_up and fabrics and scale and previous.kind in CALCULATED and not intents - _LOOSE:
        return previous.kind  # "and on InfiniBand?" after a price asks for a price
    if previous and (follow_up or not intents) and changes:
        return "decision" if previous.kind == "clarification" else previous.kind
    if "explanation" in intents or intents or fabrics:
        return "decision" if both and "gpus" in changes else "explanation"
    return "decision" if "gpus" in changes else "unknown"
