"""The patterns that questions are read with, from vocabulary.yaml, compiled once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Vocabulary:
    fabrics: Mapping[str, re.Pattern[str]]
    intents: Mapping[str, re.Pattern[str]]
    domain: re.Pattern[str]
    domain_weak: re.Pattern[str]
    follow_up: re.Pattern[str]
    spec: Mapping[str, Mapping[str, re.Pattern[str]]]
    flags: Mapping[str, re.Pattern[str]]
    denied: Mapping[str, re.Pattern[str]]  # spec field -> "we do not care about it"
    excluded: Mapping[str, re.Pattern[str]]  # fabric -> "anything but it"
    no_experience: re.Pattern[str]
    negator: re.Pattern[str]
    negated_inside: re.Pattern[str]
    restate: Mapping[str, re.Pattern[str]]  # sure | zh | en | why_not
    focus: Mapping[str, re.Pattern[str]]  # part of a bill
    preferred_notes: Mapping[str, frozenset[str]]
    preferred_factor: float
    not_ours: re.Pattern[str]
    not_ours_alone: re.Pattern[str]
    core: re.Pattern[str]
    chinese_words: re.Pattern[str]
    english_words: re.Pattern[str]

    def ours(self, text: str) -> bool:
        """Whether a question has a word of our field, or two different ones that other fields share."""
        if self.domain.search(text):
            return True
        return len({match[0].lower() for match in self.domain_weak.finditer(text)}) > 1

    def elsewhere(self, text: str) -> bool:
        """Whether a question is of another field that shares words with ours."""
        return bool(self.not_ours.search(text) or (self.not_ours_alone.search(text) and not self.core.search(text)))


@cache
def vocabulary() -> Vocabulary:
    data = yaml.safe_load((Path(__file__).parent / "vocabulary.yaml").read_text(encoding="utf-8"))
    spec: dict[str, Any] = data["spec"]
    flags = spec.pop("flags")
    return Vocabulary(
        _each(data["fabrics"]),
        _each(data["intents"]),
        _any(data["domain"]),
        _any(data["domain_weak"]),
        _any(data["follow_up"]),
        {field: _each(values) for field, values in spec.items()},
        _each(flags),
        _each(data["denied"]),
        _each(data["excluded"]),
        _any(data["no_experience"]),
        _any(data["negator"]),
        _any(data["negated_inside"]),
        _each(data["restate"]),
        _each(data["focus"]),
        {kind: frozenset(topics) for kind, topics in data["preferred_notes"].items() if kind != "factor"},
        float(data["preferred_notes"]["factor"]),
        _any(data["not_ours"]),
        _any(data["not_ours_alone"]),
        _any(data["core"]),
        _any([data["language_words"]["zh"]]),
        _any([data["language_words"]["en"]]),
    )


def _each(patterns: Mapping[str, Sequence[str]]) -> dict[str, re.Pattern[str]]:
    return {name: _any(some) for name, some in patterns.items()}


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.ASCII)
