"""Reading a question: its language, what is asked for, and what it says of the cluster. No model, no search.

The patterns are data (vocabulary.yaml). What the question does not say is carried over from the conversation, and
otherwise stays a default that `assumptions` lists.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from app.advisor.answer import Answer, Kind
from app.advisor.numerals import normalise_numbers
from app.advisor.spec import ClusterSpec
from app.errors import AdvisorError
from app.fabric.calculation import Language

CALCULATED: frozenset[str] = frozenset({"decision", "comparison", "sizing", "cost", "performance"})
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_\-']*")
_GPU_WORD = r"(?:gpus?|cards?|accelerators?|npus?|卡|张|張|块|塊|颗|個gpu|个gpu)"
_NODE_WORD = r"(?:nodes?|servers?|hosts?|machines?|boxes|dgx\w*|hgx\w*|台|臺|节点|節點|个节点|個節點)"
_NUMBER = r"((?<![\w.])-\d+(?:\.\d+)?|(?<![a-z0-9.])\d+(?:\.\d+)?)"
_BELOW_BEFORE = r"(?:under|below|less than|fewer than|smaller than|小于|少于|不到|低于)\s*"
_BELOW_AFTER = r"\s*(?:以下|以内|之内)"


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
    )


def read_question(
    text: str,
    history: Sequence[Answer] = (),
    *,
    gpu_models: Sequence[str] = (),
    switches: Mapping[str, tuple[str, str]] | None = None,
    language: Language | Literal["auto"] = "auto",
    max_chars: int = 4000,
) -> Question:
    """Understand one question in its conversation.

    `switches` maps a lower-case name or id to (switch id, fabric). Raises AdvisorError for a question that is empty,
    too long or has no letters or digits in it.
    """
    cleaned = clean(text, max_chars)
    words = normalise_numbers(cleaned)
    tongue = detect_language(cleaned) if language == "auto" else language
    vocab = vocabulary()
    previous = history[-1] if history else None
    carried = _carried(history)
    follow_up = bool(previous and vocab.follow_up.search(words))

    changes = _cluster_numbers(words, gpu_models, carried, follow_up) | _attributes(words, vocab)
    for name, (switch_id, fabric) in (switches or {}).items():
        if _search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", words.lower()):
            changes[f"{fabric}_switch"] = switch_id
    spec = carried.changed(changes)
    said = frozenset(changes) | (_said_before(history))
    intents = frozenset(name for name, pattern in vocab.intents.items() if pattern.search(words))
    fabrics = frozenset(name for name, pattern in vocab.fabrics.items() if pattern.search(words))
    kind = _kind(intents, fabrics, changes, previous, follow_up, spec)
    in_domain = bool(fabrics or vocab.domain.search(words) or (follow_up and changes) or "gpus" in changes)
    return Question(cleaned, tongue, kind, fabrics, spec, said, follow_up, in_domain, intents)


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
    """Chinese where Chinese characters are at least as many as Latin words: `RoCE 还是 IB` is Chinese."""
    cjk = len(_CJK.findall(text))
    return "zh" if cjk and cjk >= len(_LATIN_WORD.findall(text)) else "en"


_search = functools.partial(re.search, flags=re.ASCII)  # \\b and \\w must not take Chinese characters for letters


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


def _cluster_numbers(words: str, gpu_models: Sequence[str], carried: ClusterSpec, follow_up: bool) -> dict[str, Any]:
    low = words.lower()
    found: dict[str, Any] = {}
    models = "|".join(sorted((re.escape(model) for model in gpu_models), key=len, reverse=True)) or r"(?!)"
    if match := _search(rf"(?<![a-z0-9])({models})(?:s|x)?(?![a-z0-9])", low):
        found["gpu_model"] = match[1]
    if match := _search(
        r"(\d+)\s*-?\s*(?:gpus?|cards?|卡|张)\s*(?:/|per|a|each)?\s*-?\s*(?:nodes?|servers?|hosts?|服务器|節點|节点|机器|机)",
        low,
    ):
        found["gpus_per_node"] = int(match[1])
        low = low.replace(match[0], " node ", 1)
    elif match := _search(r"(?:每(?:台|节点|机|个节点)\s*)(\d+)\s*(?:张|块|卡|个)?", low):
        found["gpus_per_node"] = int(match[1])
        low = low.replace(match[0], " ", 1)
    per_node = found.get("gpus_per_node", carried.gpus_per_node)

    grid = _search(
        rf"(\d+)\s*{_NODE_WORD}?\s*(?:of|with|x|×|\*|各|每台)\s*(\d+)\s*-?\s*(?:x\s*)?(?:{models}|{_GPU_WORD})(?:s|-|\b|(?=[^a-z]))",
        low,
    )
    count = _search(
        rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:(?:nvidia|amd|hgx|dgx)\s+)?(?:(?:{models})s?[\s-]*)?{_GPU_WORD}", low
    )
    named = _search(rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:nvidia\s+|张|块)?(?:{models})s?(?![a-z0-9])", low)
    nodes = _search(rf"{_NUMBER}\s*(?:x|×)?[\s-]*(?:(?:{models})\s*)?{_NODE_WORD}", low)
    if grid:
        found["gpus"], found["gpus_per_node"] = int(grid[1]) * int(grid[2]), int(grid[2])
    elif count or named:
        match = count or named
        assert match
        found["gpus"] = _count(match[1])
        if _search(_BELOW_BEFORE + re.escape(match[1]), low) or _search(re.escape(match[0]) + _BELOW_AFTER, low):
            found["gpus"] = max(per_node, (found["gpus"] - 1) // per_node * per_node)  # "under 100" is sized at 96
    elif nodes:
        found["gpus"] = _count(nodes[1]) * per_node

    if match := _search(r"(?<![\d.:])(\d+)\s*x\s*(100|200|400|800)\s*g", low):
        found["gbps_per_gpu"] = int(match[1]) * int(match[2]) // max(1, per_node)
    elif match := _search(r"(?<![\d.x])(100|200|400|800|1600)\s*(?:g|gb|gbit|gbps|gb/s|gbe)(?![a-z0-9]|/s)", low):
        found["gbps_per_gpu"] = int(match[1])
    elif match := _search(r"(?<![a-z0-9])(hdr|ndr|xdr)(?![a-z0-9])", low):
        found["gbps_per_gpu"] = {"hdr": 200, "ndr": 400, "xdr": 800}[match[1]]
    if (match := _search(rf"{_NUMBER}\s*-?\s*(?:years?|yrs?|年)", low)) and not 1900 <= float(match[1]) <= 2100:
        found["years"] = _count(match[1])
    if match := _search(r"(?<![\d.:])(\d+(?:\.\d+)?)\s*[:：]\s*1(?![\d.:])", low):
        found["oversubscription"] = float(match[1])
    if match := _search(r"pue\s*(?:of|is|=|:|为|是)?\s*(\d+(?:\.\d+)?)", low):
        found["pue"] = float(match[1])
    if match := _search(r"(\d+(?:\.\d+)?)\s*(?:usd|dollars?|美元)?\s*(?:/|per|a|每)\s*kwh", low):
        found["usd_per_kwh"] = float(match[1])
    if _search(r"\b(dual|twin|two)[- ]plane|双平面|雙平面", low):
        found["planes"] = 2
    elif match := _search(r"(\d)[\s-]*(?:planes|平面)", low):
        found["planes"] = int(match[1])
    if match := _search(r"(\d+(?:\.\d+)?)\s*(ki?b|mi?b|gi?b|ti?b)(?![a-z/])", low):
        found["message_bytes"] = _bytes(float(match[1]), match[2])
    if (
        follow_up
        and "gpus" not in found
        and (match := _search(r"(?<![\w.$:=-])(-?\d+)(?![\w.%:]|\s*(?:g|gb|年|years?|km|m|usd|%|tb))", low))
    ):
        taken = {str(value) for name, value in found.items() if name != "gpus_per_node"}
        if match[1] not in taken:
            found["gpus"] = int(match[1])
    return found


def _count(text: str) -> int:
    value = float(text)
    return int(value)


def _bytes(number: float, unit: str) -> int:
    power = {"k": 1, "m": 2, "g": 3, "t": 4}[unit[0]]
    return int(number * (1024 if "i" in unit else 1000) ** power)


def _kind(
    intents: frozenset[str],
    fabrics: frozenset[str],
    changes: Mapping[str, Any],
    previous: Answer | None,
    follow_up: bool,
    spec: ClusterSpec,
) -> Kind | Literal["unknown"]:
    both = len(fabrics & {"infiniband", "roce", "naas"}) >= 2
    scale = spec.gpus is not None
    asks_choice = "decision" in intents and (both or (scale and bool(fabrics or "gpus" in changes)))
    if "sizing" in intents and "diagnosis" not in intents:
        return "sizing"
    if "diagnosis" in intents and not asks_choice and "gpus" not in changes:
        return "diagnosis"
    if "configuration" in intents and not asks_choice:
        return "configuration"
    if "comparison" in intents and both and not ("decision" in intents and scale):
        return "comparison"
    if "cost" in intents and (scale or both or fabrics) and not (asks_choice and "gpus" in changes and both):
        return "cost"
    if asks_choice:
        return "decision"
    if "performance" in intents:
        return "performance"
    if "diagnosis" in intents:
        return "diagnosis"
    if previous and (follow_up or not intents) and changes:
        inherited = previous.kind
        return "decision" if inherited == "clarification" else inherited
    if "cost" in intents:
        return "cost"
    if "explanation" in intents or fabrics or intents:
        return "decision" if both and not intents - {"explanation"} and "gpus" in changes else "explanation"
    return "decision" if "gpus" in changes else "unknown"
