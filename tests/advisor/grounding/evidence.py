"""The evidence and the cases of this folder, and a model that says what a case says, through the real writer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from app.advisor.citations import Ledger, Numbering
from app.advisor.comparisons import REFERENCE
from app.advisor.evidence import Evidence, Tools
from app.advisor.figures import with_range
from app.advisor.model_failure import ModelFailed
from app.advisor.model_tools import Toolbox
from app.advisor.model_writer import ModelWriter
from app.advisor.question import read_question
from app.advisor.references import unmarked
from app.advisor.tools import load_tools
from app.fabric.calculation import Calculation, Language, Value
from app.fabric.decision import Decision
from app.library.library import Library
from app.library.passage import Passage
from app.settings import Settings

FOLDER = Path(__file__).parent
OUTCOMES = ("kept", "removed", "contradiction", "wrong", "shown")
PIECE = 5  # characters of a piece of the stream


@dataclass(frozen=True)
class Case:
    language: Language
    about: str
    outcome: str
    says: str
    shows: str | None = None
    question: str | None = None


@dataclass(frozen=True)
class Outcome:
    shown: str
    unsupported: Sequence[str]
    faults: Sequence[str]

    @property
    def name(self) -> str:
        if self.faults:
            return "contradiction"
        return "removed" if self.unsupported else "kept"


def cases() -> Iterator[Case]:
    languages: tuple[Language, ...] = ("en", "zh")
    for language in languages:
        files = sorted(FOLDER.glob(f"*.{language}.yaml"))
        for path, group in [(one, group) for one in files for group in yaml.safe_load(one.read_text(encoding="utf-8"))]:
            unknown = set(group) - {"about", *OUTCOMES}
            assert not unknown, f"{path.name}: {group['about']}: unknown outcome {unknown}"
            for outcome in OUTCOMES:
                for one in group.get(outcome, ()):
                    given = one if isinstance(one, dict) else {"says": one}
                    yield Case(language, group["about"], outcome, **given)


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = yaml.safe_load((FOLDER / "evidence.yaml").read_text(encoding="utf-8"))
    return data


def calculations() -> tuple[Calculation, ...]:
    return tuple(
        Calculation(
            one["tool"],
            one["inputs"],
            {name: _value(number, unit) for name, (number, unit) in one["values"].items()},
            id=one["id"],
            label=one["label"],
        )
        for one in _data()["calculations"]
    )


def _value(number: Any, unit: str) -> Value:
    return Value(number[0], unit, number[1], number[2]) if isinstance(number, list) else Value(number, unit)


def passages(language: Language) -> list[Passage]:
    return [
        Passage(f"p{at}", "d", "d.md", "A note" if language == "en" else "笔记", "", "", text, 0, len(text), language)
        for at, text in enumerate(_data()["passages"][language], 1)
    ]


def filled(text: str, language: Language) -> str:
    """The text with its references as figures, as it is to be shown."""
    values = {f"{one.id}.{name}": value for one in calculations() for name, value in one.values.items()}
    return REFERENCE.sub(lambda match: with_range(values[f"{match[1]}.{match[3]}"].to_json(), language), text)


class Model(GenericFakeChatModel):
    """Says the same at every call, in small pieces."""

    says: str

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        for at in range(0, len(self.says), PIECE):
            yield ChatGenerationChunk(message=AIMessageChunk(content=self.says[at : at + PIECE]))


def outcome_of(case: Case) -> Outcome:
    """What the writer makes of what the model says."""
    settings = Settings(model_tool_calls=0, _env_file=None)  # type: ignore[call-arg]
    question = read_question(case.question or _data()["question"][case.language], language=case.language)
    decision = Decision(_data()["verdict"], "medium", {}, (), (), None, None)  # type: ignore[arg-type]
    evidence = Evidence(question, "decision", calculations=calculations(), decision=decision)
    toolbox = Toolbox(_tools(), _no_library(), case.language, evidence.calculations, passages(case.language))
    model = Model(says=case.says, messages=iter([AIMessage("")]))
    writer = ModelWriter(model, settings, evidence, Ledger(lambda _: {}), toolbox, "RoCE.")
    numbering, shown = Numbering(), ""
    try:
        for piece in writer.write():
            shown += numbering(unmarked(piece))
    except ModelFailed as failure:
        assert failure.cause in {"contradicted", "unsupported", "language", "empty", "endless"}, failure
    return Outcome(shown.strip(), writer.unsupported, writer.repaired)


@cache
def _tools() -> Tools:
    return load_tools(Settings(_env_file=None).knowledge)  # type: ignore[call-arg]


@cache
def _no_library() -> Library:
    """The model of these tests calls no tool, so that nothing is searched."""
    return None  # type: ignore[return-value]
