"""Prose by a language model over the same evidence. The verdict and the figures stay ours.

The model sees numbered passages and the names of the calculations' values, and writes references such as
`{T3.capex_usd}`. They are filled in here; a sentence with a figure that nothing supports is dropped and counted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from app.advisor.check import ground
from app.advisor.citations import Ledger
from app.advisor.evidence import Evidence
from app.advisor.figures import with_range
from app.errors import AdvisorError
from app.fabric.calculation import Calculation, Language
from app.library.passage import Passage
from app.settings import Settings

PROMPTS = Path(__file__).parent / "prompts"
_REFERENCE = re.compile(r"\{\s*(T\d+)\.(?:([a-z]+)\.)?([a-z_0-9]+)\s*\}")
_MARKER = re.compile(r"[\[【［]{1,2}(\d+(?:\s*[,，]\s*\d+)*)[\]】］]{1,2}")
_MARKERS_AFTER_END = re.compile(r"([.!?。！？])[ \t]*((?:[\[【［]{1,2}\d+(?:\s*[,，]\s*\d+)*[\]】］]{1,2}[ \t]*)+)")
_BOUNDARY = re.compile(r"((?<=[.!?])\s+|(?<=[。！？])|\n+)")


@dataclass(frozen=True, slots=True)
class Prose:
    """The model's text after filling in and dropping; what was dropped is counted."""

    text: str
    unsupported: tuple[str, ...]
    contradictions: tuple[str, ...]


class ModelFailed(Exception):
    """The model gave no usable text; the message is a reason to show, without addresses or keys."""


def make_model(settings: Settings) -> BaseChatModel | None:
    """The configured chat model, None for the built-in writer. Raises AdvisorError on an unknown provider."""
    if settings.model == "builtin":
        return None
    if ":" not in settings.model:
        raise AdvisorError(
            f"FABRIC_ADVISOR_MODEL={settings.model} names no provider.",
            "Use builtin or provider:name, for example openai:gpt-5.",
        )
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"timeout": settings.model_timeout_s, "max_retries": 1, "temperature": 0}
    if settings.model_base_url:
        options["base_url"] = settings.model_base_url
        options["api_key"] = settings.model_api_key.get_secret_value() if settings.model_api_key else "not-needed"
    elif settings.model_api_key:
        options["api_key"] = settings.model_api_key.get_secret_value()
    try:
        model = init_chat_model(settings.model, **options)
    except ImportError as error:
        raise AdvisorError(
            f"The package for {settings.model} is not installed ({error.name or error}).",
            "Install it, or use an openai: compatible server.",
        ) from None
    except Exception as error:  # noqa: BLE001  (providers raise their own types for a missing key or unknown name)
        raise AdvisorError(
            f"The model {settings.model} cannot be set up: {_one_line(error)}",
            "Check FABRIC_ADVISOR_MODEL and the provider's key.",
        ) from None
    if not isinstance(model, BaseChatModel):
        raise AdvisorError(f"{settings.model} is not a chat model.", "Name one, for example openai:gpt-5.")
    return model


def prompt_text(language: Language) -> str:
    return (PROMPTS / f"{language}.md").read_text(encoding="utf-8")


def prompt_hash(language: Language) -> str:
    return hashlib.sha256(prompt_text(language).encode()).hexdigest()[:12]


def write_prose(
    model: BaseChatModel, evidence: Evidence, passages: Sequence[Passage], ledger: Ledger, verdict: str
) -> Prose:
    """Ask the model once. Raises ModelFailed where it does not answer or its answer contradicts the calculations."""
    numbers = dict(enumerate(passages, 1))
    try:
        reply = model.invoke(
            [
                SystemMessage(prompt_text(evidence.question.language)),
                HumanMessage(_material(evidence, numbers, verdict)),
            ]
        )
    except Exception as error:
        raise ModelFailed(_one_line(error)) from error
    text = re.sub(r"<think>.*?</think>", "", str(reply.text), flags=re.DOTALL).strip()
    if not text:
        raise ModelFailed("empty reply")
    return _checked(text, evidence, numbers, ledger)


def _material(evidence: Evidence, passages: Mapping[int, Passage], verdict: str) -> str:
    lines = [f"Question: {evidence.question.text}", ""]
    if verdict:
        lines += [f"Verdict (already shown): {verdict}", ""]
    lines.append("Calculations (write the reference, not the value):")
    for one in evidence.calculations:
        for name, value in one.values.items():
            if value.unit != "points":
                lines.append(f"{{{one.id}.{name}}} = {with_range(value.to_json(), 'en')} | {one.tool} {one.label}")
    lines += ["", "Passages:"]
    lines += [f"[{number}] {passage.title} › {passage.section}\n{passage.text}" for number, passage in passages.items()]
    return "\n".join(lines)


def _checked(text: str, evidence: Evidence, passages: Mapping[int, Passage], ledger: Ledger) -> Prose:
    language = evidence.question.language
    calculations = {one.id: one for one in evidence.calculations}
    data = [one.to_json(language) for one in evidence.calculations]
    kept: list[str] = []
    unsupported: list[str] = []
    contradictions: list[str] = []
    for sentence, separator in _sentences(text):
        filled, unknown = _filled(sentence, calculations, language)
        cited = [passages[number] for number in _numbers(sentence) if number in passages]
        trial = Ledger(lambda _: {})
        for passage in cited:
            trial.number(passage)
        checked = ground(_MARKER.sub("", filled), data, trial.citations(), evidence.question.text)
        if unknown or checked.unsupported:
            unsupported += [*unknown, *checked.unsupported]
            continue
        contradictions += checked.contradictions
        kept.append(_MARKER.sub(lambda match: _cited(match[1], passages, ledger), filled) + separator)
    if contradictions:
        raise ModelFailed(f"it contradicted the calculations: {contradictions[0]}")
    prose = "".join(kept).strip()
    if not prose:
        raise ModelFailed("nothing of it was supported by the evidence")
    return Prose(prose, tuple(unsupported), tuple(contradictions))


def _sentences(text: str) -> Iterable[tuple[str, str]]:
    """Sentences, each with its markers before its full stop, and the space that follows it."""
    text = _MARKERS_AFTER_END.sub(lambda match: f" {match[2].strip()}{match[1]} ", text)
    parts = [*_BOUNDARY.split(text), ""]
    return (
        (sentence, separator)
        for sentence, separator in zip(parts[::2], parts[1::2], strict=False)
        if sentence or separator
    )


def _numbers(markers: str) -> list[int]:
    found: list[int] = []
    for match in _MARKER.finditer(markers):
        found += [int(number) for number in re.split(r"\s*[,，]\s*", match[1])]
    return list(dict.fromkeys(found))


def _cited(numbers: str, passages: Mapping[int, Passage], ledger: Ledger) -> str:
    known = [int(number) for number in re.split(r"\s*[,，]\s*", numbers) if int(number) in passages]
    return "".join(ledger.cite(passages[number]) for number in known)


def _filled(sentence: str, calculations: Mapping[str, Calculation], language: Language) -> tuple[str, list[str]]:
    unknown: list[str] = []

    def fill(match: re.Match[str]) -> str:
        one = calculations.get(match[1])
        label_fits = one is not None and match[2] in (None, one.label, one.tool)
        if one is None or not label_fits or match[3] not in one.values:
            unknown.append(match[0])
            return match[0]
        return with_range(one.values[match[3]].to_json(), language)

    return _REFERENCE.sub(fill, sentence), unknown


def _one_line(error: BaseException) -> str:
    """The kind of failure in a few words; provider messages may carry addresses or keys, so only the class is told."""
    name = type(error).__name__
    status = getattr(error, "status_code", None)
    return f"{name}, status {status}" if status else name
