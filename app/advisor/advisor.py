"""The advisor: question in, events out. This file only wires: read, search, calculate, write, check."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from app.advisor import dispute
from app.advisor.answer import Answer, Event, Grounding, Step, Text, Verdict
from app.advisor.check import ground
from app.advisor.citations import Ledger, Numbering, renumber
from app.advisor.evidence import Evidence, Tools, gather, search_evidence
from app.advisor.model_failure import ModelFailed, notice
from app.advisor.model_material import PASSAGES, prompt_hash
from app.advisor.model_setup import ModelUnusable, make_model
from app.advisor.model_tools import Toolbox
from app.advisor.model_writer import ModelWriter
from app.advisor.question import Question, read_question
from app.advisor.references import references_in, unmarked
from app.advisor.tools import load_tools, network_speeds, switch_names
from app.advisor.workload_question import ModelNames
from app.advisor.writer import BuiltinWriter, Draft
from app.errors import AdvisorError
from app.fabric.calculation import Calculation, Language
from app.library.library import Library
from app.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

NO_MODEL_KINDS = frozenset({"out_of_scope", "no_evidence", "clarification"})


class Advisor:
    """Answers questions from a library of passages and the calculators. Safe to share between threads."""

    def __init__(self, settings: Settings, library: Library, tools: Tools, model: BaseChatModel | None = None):
        self.settings = settings
        self.library = library
        self.tools = tools
        self.model = model
        self.model_fault: ModelFailed | None = None
        self._switches = switch_names(tools.catalog)
        self._models = ModelNames({id: one.parameters / 1e9 for id, one in tools.workloads.models.items()})
        self._speeds = network_speeds(tools.accelerators)

    @classmethod
    def open(cls, settings: Settings, *, on_progress: Callable[[str], None] | None = None) -> Advisor:
        """Open the library (building the index of the notes if there is none) and load the data of the calculators."""
        library = Library.open(settings)
        library.ensure_notes(on_progress)
        return cls._with_its_model(settings, library, load_tools(settings.knowledge))

    @classmethod
    def _with_its_model(cls, settings: Settings, library: Library, tools: Tools) -> Advisor:
        try:
            return cls(settings, library, tools, make_model(settings))
        except ModelUnusable as error:  # the built-in writer needs no model: answer, and say why it is not used
            opened = cls(settings, library, tools)
            opened.model_fault = ModelFailed("set_up", error.message.rstrip("."))
            return opened

    def with_model(self, name: str) -> Advisor:
        """The advisor that writes with another of the offered models, on the same library and calculators. Raises
        AdvisorError for a model that is not offered.
        """
        if name == self.settings.model:
            return self
        if name not in self.settings.offered_models:
            raise AdvisorError(
                f"The model {name} is not offered.",
                f"Choose among: {', '.join(self.settings.offered_models)}.",
                code="model_not_offered",
                values={"name": name, "offered": ", ".join(self.settings.offered_models)},
            )
        return self._with_its_model(self.settings.for_model(name), self.library, self.tools)

    def ask(
        self,
        question: str,
        history: Sequence[Answer] = (),
        *,
        changes: Mapping[str, object] | None = None,
        language: Language | Literal["auto"] = "auto",
    ) -> Iterator[Event]:
        """Answer one question in its conversation: steps, pieces of text, then the whole Answer.

        `changes` puts other values in place of assumptions; `language` "auto" follows the settings, and by default
        the question. Raises AdvisorError for what cannot be answered as asked.
        """
        clock = _Clock()
        yield Step("read")
        with clock("read"):
            read = self._read(question, history, changes, language)
        yield Step("search", read.text)
        with clock("search"):
            hits = search_evidence(read, self.library)
        steps: list[Step] = []
        with clock("calculate"):
            evidence = gather(read, hits, self.library, self.tools, steps.append)
        yield from steps
        yield Step("write")
        ledger, written, text, numbered = Ledger(self.library.note_sources), _Written(), "", Numbering()
        with clock("write"):
            for part in self._write(evidence, ledger, history, written):
                text += part
                yield from (Text(piece) for piece in _pieces(numbered(unmarked(part))))
            draft = written.draft
            assert draft is not None
            numbers = ledger.settle(text)
            text = renumber(text, numbers)
            references, text = references_in(text), unmarked(text)
            verdict = _renumbered(draft.verdict, numbers)
        yield Step("check")
        with clock("check"):
            calculations = tuple(one.to_json(read.language) for one in (*evidence.calculations, *written.calculations))
            citations = ledger.citations()
            grounding = ground(text, calculations, citations, read.text)
        grounding = Grounding(
            grounding.numbers_checked,
            (*grounding.unsupported, *written.unsupported),
            (*grounding.contradictions, *written.contradictions),
        )
        yield Answer(
            question=question,
            language=read.language,
            kind=evidence.kind,
            spec=read.spec.to_json(),
            verdict=verdict,
            text=text,
            citations=citations,
            calculations=calculations,
            assumptions=draft.assumptions,
            follow_ups=draft.follow_ups,
            notices=(*draft.notices, *written.notices),
            searched=evidence.searched,
            grounding=grounding,
            model=written.model,
            timings_ms=clock.timings_ms(),
            references=references,
            usage=written.usage,
        )

    def answer(self, question: str, history: Sequence[Answer] = (), **options: Any) -> Answer:
        """The Answer alone, for callers that do not stream."""
        last = None
        for last in self.ask(question, history, **options):  # noqa: B007
            pass
        assert isinstance(last, Answer)
        return last

    def _read(
        self,
        question: str,
        history: Sequence[Answer],
        changes: Mapping[str, object] | None,
        language: Language | Literal["auto"],
    ) -> Question:
        read = read_question(
            question,
            history,
            gpu_models=tuple(self._speeds),
            gpu_speeds=self._speeds,
            switches=self._switches,
            models=self._models,
            language=self.settings.language if language == "auto" else language,
            max_chars=self.settings.max_question_chars,
        )
        if changes:
            read = replace(read, spec=read.spec.changed(changes), said=read.said | frozenset(changes))
        return read

    def _write(self, evidence: Evidence, ledger: Ledger, history: Sequence[Answer], written: _Written) -> Iterator[str]:
        """The text in pieces, as they are ready and never taken back; `written` gets everything else."""
        language = evidence.question.language
        written.draft = draft = BuiltinWriter(evidence, ledger).draft()
        if evidence.question.disputed:
            kept = dispute.reply(evidence.question.disputed, evidence.question.text, evidence.calculations, language)
            yield f"{kept}\n\n" if kept else ""
        if self.model is None or evidence.kind in NO_MODEL_KINDS:
            if self.model_fault and evidence.kind not in NO_MODEL_KINDS:
                written.notices = (notice(self.model_fault, self.settings.model, language, partly=False),)
            yield draft.text
            return
        headline, _, body = draft.text.partition("\n") if evidence.calculations else ("", "", draft.text)
        yield headline
        passages = [hit.passage for hit in evidence.hits[:PASSAGES]]
        toolbox = Toolbox(self.tools, self.library, language, evidence.calculations, passages)
        writer = ModelWriter(self.model, self.settings, evidence, ledger, toolbox, unmarked(headline), history)
        shown, failed = False, False
        try:
            for sentence in writer.write():
                yield sentence if shown else ("\n\n" if headline else "") + sentence.lstrip()
                shown = True
        except ModelFailed as failure:
            failed = True
            written.notices = (notice(failure, self.settings.model, language, partly=shown),)
        if headline or failed:
            yield (body if not headline else f"\n\n{body.strip()}") if not shown or headline else f"\n\n{body}"
        if shown:
            written.model = f"{self.settings.model}#{prompt_hash(language)}"
        written.unsupported = tuple(writer.unsupported)
        written.contradictions = ()
        written.calculations = tuple(toolbox.added)
        written.usage = {**writer.usage, "tool_calls": toolbox.calls, "repairs": len(writer.repaired)}


@dataclass
class _Written:
    """What belongs to a text beside the text."""

    draft: Draft | None = None
    notices: tuple[str, ...] = ()
    model: str = "builtin"
    unsupported: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    calculations: tuple[Calculation, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)


def _renumbered(verdict: Verdict | None, numbers: Mapping[int, int]) -> Verdict | None:
    if verdict is None:
        return None
    return replace(
        verdict,
        reasons=tuple(replace(one, reference=renumber(one.reference, numbers)) for one in verdict.reasons),
    )


class _Clock:
    def __init__(self) -> None:
        self._spent: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._spent[stage] = self._spent.get(stage, 0.0) + time.perf_counter() - start

    def timings_ms(self) -> dict[str, float]:
        timings = {stage: round(seconds * 1000, 1) for stage, seconds in self._spent.items()}
        return timings | {"total": round(sum(self._spent.values()) * 1000, 1)}


def _pieces(text: str) -> Iterator[str]:
    """The text in lines and words, so that a page can show it as it comes; joined they are the text."""
    yield from re.findall(r"\S+\s*|\s+", text)
