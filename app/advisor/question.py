"""Reading a question: its language, what is asked for, and what it says of the cluster. No model, no search.

The patterns are data (vocabulary.yaml). What the question does not say is carried over from the conversation, and
otherwise stays a default that `assumptions` lists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from app.advisor.answer import Answer, Kind
from app.advisor.cluster_numbers import cluster_numbers
from app.advisor.dispute import disputed_figure
from app.advisor.numerals import normalise_numbers
from app.advisor.spec import ClusterSpec
from app.advisor.workload_question import (
    DEFAULT_MODEL,
    ModelNames,
    Subject,
    job_fields,
    subject_before,
    subject_of,
    without_job,
)
from app.errors import AdvisorError
from app.fabric.calculation import Language

CALCULATED: frozenset[str] = frozenset({"decision", "comparison", "sizing", "cost", "performance"})
NOT_OF_A_JOB: frozenset[str] = frozenset({"sizing", "diagnosis", "configuration"})  # asked of the network itself
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_\-']*")
_CODE_NAME = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+")
_CHOICE_FIELDS = frozenset(
    {
        *("workload", "budget", "network_team", "priority", "hybrid", "ethernet_estate", "avoid_lock_in"),
        *("tenancy", "region", "supply", "time_to_market"),
    }
)
_LOOSE = frozenset({"explanation", "alternative", "performance_weak", "sizing_weak"})  # words of almost any question
_SHORT_QUESTION_WORDS = 8


@dataclass(frozen=True, slots=True)
class Question:
    """A question as understood. `said` names the spec fields that the user gave, now or earlier in the chat."""

    text: str
    language: Language
    kind: Kind | Literal["unknown"]
    fabrics: frozenset[str]
    spec: ClusterSpec
    said: frozenset[str]
    follow_up: bool
    in_domain: bool
    intents: frozenset[str]
    disputed: str = ""  # a figure that the user holds against ours, see dispute.py
    job: Subject | None = None  # what of a training or serving job is asked, see workload_question.py


@dataclass(frozen=True, slots=True)
class Vocabulary:
    fabrics: Mapping[str, re.Pattern[str]]
    intents: Mapping[str, re.Pattern[str]]
    domain: re.Pattern[str]
    follow_up: re.Pattern[str]
    spec: Mapping[str, Mapping[str, re.Pattern[str]]]
    flags: Mapping[str, re.Pattern[str]]
    preferred_notes: Mapping[str, frozenset[str]]
    preferred_factor: float
    not_ours: re.Pattern[str]
    chinese_words: re.Pattern[str]
    english_words: re.Pattern[str]


@cache
def vocabulary() -> Vocabulary:
    data = yaml.safe_load((Path(__file__).parent / "vocabulary.yaml").read_text(encoding="utf-8"))
    spec: dict[str, Any] = data["spec"]
    flags = spec.pop("flags")
    return Vocabulary(
        {name: _any(patterns) for name, patterns in data["fabrics"].items()},
        {name: _any(patterns) for name, patterns in data["intents"].items()},
        _any(data["domain"]),
        _any(data["follow_up"]),
        {field: {value: _any(patterns) for value, patterns in values.items()} for field, values in spec.items()},
        {field: _any(patterns) for field, patterns in flags.items()},
        {kind: frozenset(topics) for kind, topics in data["preferred_notes"].items() if kind != "factor"},
        float(data["preferred_notes"]["factor"]),
        _any(data["not_ours"]),
        _any([data["language_words"]["zh"]]),
        _any([data["language_words"]["en"]]),
    )


def read_question(
    text: str,
    history: Sequence[Answer] = (),
    *,
    gpu_models: Sequence[str] = (),
    gpu_speeds: Mapping[str, int] | None = None,
    switches: Mapping[str, tuple[str, str]] | None = None,
    models: ModelNames | None = None,
    language: Language | Literal["auto"] = "auto",
    max_chars: int = 4000,
) -> Question:
    """Understand one question in its conversation.

    `gpu_speeds` gives the network per GPU, Gb/s, of each GPU's standard server; `switches` maps a lower-case name
    or id to (switch id, fabric). Raises AdvisorError for a question that is empty, too long or has no letters or
    digits in it.
    """
    cleaned = clean(text, max_chars)
    previous = history[-1] if history else None
    disputed = disputed_figure(cleaned, previous)
    job = job_fields(cleaned, models) if models else {}
    words = normalise_numbers(without_job(cleaned.replace(disputed, " ") if disputed else cleaned))
    tongue = detect_language(cleaned) if language == "auto" else language
    vocab = vocabulary()
    carried = _carried(history)
    follow_up = bool(previous and vocab.follow_up.search(words))

    changes = cluster_numbers(words, gpu_models, carried, follow_up) | _attributes(words, vocab) | job
    for name, (switch_id, fabric) in (switches or {}).items():
        if re.search(rf"(?<![a-z0-9]){re.escape(name)}s?(?![a-z0-9])", words.lower()):
            changes[f"{fabric}_switch"] = switch_id
    spec = carried.changed(changes)
    said = frozenset(changes) | (_said_before(history))
    if "gpu_model" in changes and "gbps_per_gpu" not in said:  # the network that its standard server has
        spec = spec.changed({"gbps_per_gpu": (gpu_speeds or {}).get(changes["gpu_model"], spec.gbps_per_gpu)})
    intents = frozenset(name for name, pattern in vocab.intents.items() if pattern.search(_unsaid(words, vocab)))
    prose = _CODE_NAME.sub(" ", words)  # NCCL_IB_TC speaks of a setting, not of InfiniBand
    fabrics = frozenset(name for name, pattern in vocab.fabrics.items() if pattern.search(prose))
    kind = _kind(words, intents, fabrics, changes, previous, follow_up, spec)
    subject = subject_of(cleaned, spec, "model" in job or (follow_up and spec.model is not None))
    if subject is None and previous and follow_up and kind == previous.kind:
        subject = subject_before(one["tool"] for one in previous.calculations)
    if (kind in NOT_OF_A_JOB and subject != "goodput") or (
        kind == "decision" and subject == "training" and "pick" in intents
    ):
        subject = None
    elif subject:
        kind = "performance"
    if subject == "training" and spec.model is None:
        spec = spec.changed({"model": DEFAULT_MODEL})
    if previous and disputed:
        kind, follow_up = previous.kind, True
    in_domain = bool(disputed) or (
        not vocab.not_ours.search(words)
        and bool(
            fabrics
            or vocab.domain.search(words)
            or (follow_up and (changes or kind in CALCULATED))
            or "gpus" in changes
        )
    )
    return Question(cleaned, tongue, kind, fabrics, spec, said, follow_up, in_domain, intents, disputed, subject)


def clean(text: str, max_chars: int) -> str:
    """The question without control characters; raises AdvisorError where nothing readable is left, or too much."""
    if len(text) > max_chars:
        raise AdvisorError(
            f"The question has {len(text):,} characters; {max_chars:,} are accepted.",
            "Shorten it, or ingest the long text as a document and ask about it.",
            code="question_too_long",
            values={"length": f"{len(text):,}", "limit": f"{max_chars:,}"},
        )
    kept = "".join(c if unicodedata.category(c)[0] != "C" or c in "\n\t" else " " for c in text).strip()
    if not any(c.isalnum() for c in kept):
        raise AdvisorError(
            "The question has no words in it.",
            "Ask, for example: RoCE or InfiniBand for 64 GPUs?",
            code="question_empty",
        )
    return kept


def detect_language(text: str) -> Language:
    """The language that the sentence is built in, not that of its terms: `RoCE 还是 IB` is Chinese."""
    cjk = len(_CJK.findall(text))
    if not cjk:
        return "en"
    vocab = vocabulary()
    chinese, english = (len(pattern.findall(text)) for pattern in (vocab.chinese_words, vocab.english_words))
    if chinese != english:
        return "zh" if chinese > english else "en"
    return "zh" if cjk >= len(_LATIN_WORD.findall(text)) else "en"


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.ASCII)


def _carried(history: Sequence[Answer]) -> ClusterSpec:
    for answer in reversed(history):
        if answer.spec:
            return ClusterSpec.from_json(answer.spec)
    return ClusterSpec()


def _said_before(history: Sequence[Answer]) -> frozenset[str]:
    for answer in reversed(history):
        if answer.spec:
            assumed = {assumption.field for assumption in answer.assumptions}
            default = ClusterSpec().to_json()
            return frozenset(
                name
                for name, value in answer.spec.items()
                if name in default and value != default[name] and name not in assumed
            )
    return frozenset()


def _attributes(words: str, vocab: Vocabulary) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field, values in vocab.spec.items():
        for value, pattern in values.items():
            if pattern.search(words):
                found[field] = value
                break
    return found | {field: True for field, pattern in vocab.flags.items() if pattern.search(words)}


def _unsaid(words: str, vocab: Vocabulary) -> str:
    """The question without what it says of the cluster, so that "tight budget" does not ask for a price."""
    for field in ("budget", "network_team", "priority"):
        for pattern in vocab.spec[field].values():
            words = pattern.sub(" ", words)
    return words


def _kind(
    words: str,
    intents: frozenset[str],
    fabrics: frozenset[str],
    changes: Mapping[str, Any],
    previous: Answer | None,
    follow_up: bool,
    spec: ClusterSpec,
) -> Kind | Literal["unknown"]:
    """Which kind of answer is asked for, the most specific intent first."""
    scale = spec.gpus is not None
    both = len(fabrics) >= 2
    chooses = bool({"decision", "pick"} & intents) or (
        "alternative" in intents and (scale or len(words.split()) <= _SHORT_QUESTION_WORDS)
    )
    choice = chooses and (both or (scale and bool(fabrics or "gpus" in changes)))
    if choice and "why" in intents and set(changes) <= {"gpus", "model"}:
        return "explanation"  # of what others chose, or of a premise: not asked to choose
    about_choice = set(changes) <= _CHOICE_FIELDS and bool(changes)
    if previous and follow_up and about_choice and previous.kind in {"decision", "comparison", "clarification"}:
        return "decision"
    if previous and "flip" in intents and previous.kind in {"decision", "comparison"}:
        return "decision"
    if choice and scale and "gpus" in changes and "pick" in intents and not intents & {"asked_price", "count"}:
        return "decision"
    if "staffing" in intents:
        return "explanation"
    if "power" in intents and scale and "sizing" not in intents and "diagnosis" not in intents:
        return "cost"
    priced = "cost" in intents and "count" not in intents  # "how much for the switches", not "how many switches"
    if "sizing" in intents and "diagnosis" not in intents and not priced:
        return "sizing"
    if "diagnosis" in intents and not (choice and scale):
        return "diagnosis"
    if "performance" in intents and (scale or not (choice or "configuration" in intents)):
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
