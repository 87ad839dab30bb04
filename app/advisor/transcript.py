"""A chat as Markdown to keep: each question and answer, with the sources and calculations it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.advisor.answer import Answer, Citation
from app.advisor.figures import with_range
from app.fabric.calculation import Language

_WORDS: Mapping[str, Mapping[Language, str]] = {
    "sources": {"en": "Sources", "zh": "来源"},
    "assumptions": {"en": "Assumptions", "zh": "假设"},
    "calculations": {"en": "Calculations", "zh": "计算"},
    "characters": {"en": "characters {start}–{end} of {document}", "zh": "{document} 第 {start}–{end} 字符"},
}


def to_markdown(answers: Sequence[Answer]) -> str:
    """All turns, in order; "" for a chat without turns."""
    return "\n\n".join("\n".join(_turn(answer)) for answer in answers) + ("\n" if answers else "")


def _turn(answer: Answer) -> Iterator[str]:
    language = answer.language
    yield f"## {' '.join(answer.question.split())}\n"
    yield from (f"> {notice}\n" for notice in answer.notices)
    yield answer.text
    if answer.citations:
        yield f"\n**{_WORDS['sources'][language]}**\n"
        yield from (_source(citation, language) for citation in answer.citations)
    if answer.assumptions:
        yield f"\n**{_WORDS['assumptions'][language]}**\n"
        yield from (f"- {assumption.text}" for assumption in answer.assumptions)
    if answer.calculations:
        yield f"\n**{_WORDS['calculations'][language]}**\n"
        yield from (_calculation(one, language) for one in answer.calculations)


def _source(citation: Citation, language: Language) -> str:
    place = _WORDS["characters"][language].format(start=citation.start, end=citation.end, document=citation.document)
    parts = [f"{citation.title} › {citation.section}" if citation.section else citation.title, place]
    parts += [
        ", ".join(origin[key] for key in ("title", "url", "date", "trust") if origin.get(key))
        for origin in citation.sources
    ]
    if citation.url and not citation.sources:
        parts.append(citation.url)
    return f"- [{citation.marker}] {'; '.join(parts)}"


def _calculation(calculation: Mapping[str, Any], language: Language) -> str:
    name = " ".join(part for part in (calculation["tool"], calculation["label"]) if part)
    inputs = ", ".join(f"{key} = {value}" for key, value in calculation["inputs"].items() if value is not None)
    values = "; ".join(f"{key} = {with_range(value, language)}" for key, value in calculation["values"].items())
    return f"- {calculation['id']} {name} ({inputs}): {values}"
