"""Prose by a language model over the same evidence. The verdict and the figures stay ours.

The model sees numbered passages and the names of the calculations' values, and writes references such as
`{T3.capex_usd}`. Each sentence is checked as soon as it is whole, and only then shown. A sentence with a figure that
nothing supports is dropped and counted; one that contradicts the values costs the model one repair.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from app.advisor.answer import Answer
from app.advisor.citations import Ledger
from app.advisor.evidence import Evidence
from app.advisor.markers import MARKER, MarkerStream, in_prose
from app.advisor.model_check import Checked, SentenceCheck
from app.advisor.model_failure import ModelFailed
from app.advisor.model_material import material, prompt_text
from app.advisor.model_sentences import LONGEST, SentenceStream
from app.advisor.model_stream import watched, without_thoughts
from app.advisor.model_tools import Toolbox, calls_in_text, held_calls, middleware
from app.advisor.model_window import window_tokens
from app.advisor.spoken_of import SpokenOf
from app.settings import Settings

LONGEST_TEXT = 6000  # characters shown; more is a model that does not end
MOST_REPEATS = 3  # of a sentence, before the model is stopped
REPAIR = {
    "en": "This is wrong: {fault}. Write the rest of the text again from there, without that sentence, and without "
    "repeating what stands before it. Keep to the rules.",
    "zh": "这里有误：{fault}。请从此处起重写后面的文字，不要这一句，也不要重复前面的内容，并遵守规则。",
}


class _Fault(Exception):
    def __init__(self, sentence: str, fault: str):
        super().__init__(fault)
        self.sentence = sentence
        self.fault = fault


def _no_stop_warnings(record: logging.LogRecord) -> bool:
    """LangChain reports the exception that ends a stream as a fault; it is none."""
    return "_StopAtToken" not in record.getMessage()


class _StopAtToken(BaseCallbackHandler):
    """Ends the model's stream, which runs in a thread of LangGraph's own, once nobody reads it any more."""

    raise_error = True

    def __init__(self, stopped: threading.Event):
        self._stopped = stopped
        logging.getLogger("langchain_core.callbacks.manager").addFilter(_no_stop_warnings)

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        if self._stopped.is_set():
            raise ModelFailed("broken_off")


class ModelWriter:
    """Writes one text. After (or while) `write` runs, the other attributes say what happened."""

    def __init__(
        self,
        model: BaseChatModel,
        settings: Settings,
        evidence: Evidence,
        ledger: Ledger,
        toolbox: Toolbox,
        verdict: str,
        history: Sequence[Answer] = (),
    ):
        self.unsupported: list[str] = []
        self.repaired: list[str] = []
        self.usage = {"model_calls": 0, "input_tokens": 0, "output_tokens": 0, "dropped_markers": 0}
        self._model = model
        self._settings = settings
        self._secrets = settings.secrets()
        self._evidence = evidence
        self._ledger = ledger
        self._toolbox = toolbox
        self._verdict = verdict
        self._history = history
        self._written = ""  # in the material's markers, for a repair
        self._seen: dict[str, int] = {}
        self._spoken_of = SpokenOf()
        spec = evidence.question.spec
        self._check = SentenceCheck(
            evidence.question,
            toolbox.calculations,
            toolbox.passages,
            evidence.decision.choice if evidence.decision else "",
            f"{spec.gpus} GPUs, {spec.nodes} nodes, {spec.gpus_per_node} GPUs per node, {spec.gbps_per_gpu} Gb/s, "
            f"{spec.years} years",
        )

    def write(self) -> Iterator[str]:
        """Checked sentences with the answer's markers, each with the space before it.

        Raises ModelFailed, perhaps after some sentences, where the rest cannot be had.
        """
        try:
            yield from self._attempt(self._history)
        except ModelFailed as failure:
            if failure.cause != "context" or not self._history or self._written:
                raise
            yield from self._attempt(())  # its window is smaller than we believed: the evidence alone

    def _attempt(self, history: Sequence[Answer]) -> Iterator[str]:
        window = window_tokens(self._model, self._settings.model_context_tokens) if history else 0
        messages: list[BaseMessage] = [
            SystemMessage(prompt_text(self._evidence.question.language)),
            HumanMessage(material(self._evidence, self._toolbox.passages, self._verdict, history, window)),
        ]
        shown = 0
        try:
            for piece in self._sentences(messages):
                shown += 1
                yield piece
        except _Fault as first:
            self.repaired.append(first.fault)
            messages += [
                AIMessage(f"{self._written} {first.sentence}".strip()),
                HumanMessage(REPAIR[self._evidence.question.language].format(fault=first.fault)),
            ]
            try:
                for piece in self._sentences(messages):
                    shown += 1
                    yield piece
            except _Fault as second:
                raise self._failed(second.fault) from None
        if not shown:
            raise ModelFailed("unsupported" if self.unsupported or self._seen else "empty")

    @staticmethod
    def _failed(fault: str) -> ModelFailed:
        return ModelFailed("language") if fault == "language" else ModelFailed("contradicted", fault)

    def _sentences(self, messages: list[BaseMessage]) -> Iterator[str]:
        markers = MarkerStream(lambda number: number in self._toolbox.passages)
        cutter = SentenceStream()
        with contextlib.closing(self._text(messages)) as pieces:
            for piece in pieces:
                for sentence in cutter.feed(markers.feed(piece)):
                    yield from self._shown(sentence)
                if len(cutter.held) > LONGEST or len(self._written) > LONGEST_TEXT:
                    raise ModelFailed("endless")
        rest = cutter.feed(markers.finish()) + cutter.finish()
        for sentence in rest:
            yield from self._shown(sentence)
        self.usage["dropped_markers"] += len(markers.dropped)

    def _shown(self, sentence: str) -> Iterator[str]:
        key = " ".join(sentence.split())
        self._seen[key] = self._seen.get(key, 0) + 1
        if self._seen[key] > 1:
            if self._seen[key] >= MOST_REPEATS:
                raise ModelFailed("endless")
            return
        if any(secret in sentence for secret in self._secrets):  # a server that echoes what it was sent
            self.unsupported.append("API key")
            return
        checked: Checked = self._check(sentence, self._spoken_of(sentence))
        if checked.fault:
            del self._seen[key]
            raise _Fault(key, checked.fault)
        self.unsupported += checked.unsupported
        self.usage["dropped_markers"] += checked.dropped_markers
        if not checked.text.strip():
            return
        self._written += sentence
        yield in_prose(lambda prose: MARKER.sub(self._cited, prose), checked.text)

    def _cited(self, match: re.Match[str]) -> str:
        return self._ledger.cite(self._toolbox.passages[int(match[1])])

    def _text(self, messages: list[BaseMessage]) -> Generator[str, None, None]:
        """The model's text as it comes; without tools where the server does not take them."""
        if self._settings.model_tool_calls and (self._model.metadata or {}).get("tools", True):
            got = False
            try:
                for piece in self._watched(lambda stopped: self._agent(messages, stopped)):
                    got = True
                    yield piece
                return
            except ModelFailed as failure:
                if failure.cause != "no_tools" or got:
                    raise
                self._model.metadata = {**(self._model.metadata or {}), "tools": False}  # do not ask again
        yield from self._watched(lambda stopped: self._plain(messages))

    def _watched(self, source: Callable[[threading.Event], Iterator[str]]) -> Iterator[str]:
        silence = self._settings.model_timeout_s
        return without_thoughts(watched(source, silence_s=silence, total_s=3 * silence))

    def _plain(self, messages: list[BaseMessage]) -> Iterator[str]:
        self.usage["model_calls"] += 1
        for chunk in self._model.stream(messages):
            self._count(chunk)
            yield str(chunk.text)

    def _agent(self, messages: list[BaseMessage], stopped: threading.Event) -> Iterator[str]:
        from langchain.agents import create_agent

        names = [tool.name for tool in self._toolbox.tools]
        limit = self._settings.model_tool_calls
        agent: Any = create_agent(self._model, self._toolbox.tools, middleware=middleware(names, limit))
        config = {"recursion_limit": 200, "callbacks": [_StopAtToken(stopped)]}
        return held_calls(
            self._messages(agent.stream({"messages": messages}, config, stream_mode="messages")),
            lambda text: bool(calls_in_text(text, names)),
        )

    def _messages(self, stream: Iterator[Any]) -> Iterator[tuple[str, str]]:
        known: set[str] = set()
        for message, meta in stream:
            if isinstance(message, ToolMessage) or meta.get("langgraph_node") != "model":
                continue
            if not isinstance(message, AIMessage):
                continue
            identity = str(message.id)
            if identity not in known:
                known.add(identity)
                self.usage["model_calls"] += 1
            self._count(message)
            if message.text:
                yield identity, str(message.text)

    def _count(self, message: BaseMessage) -> None:
        usage = getattr(message, "usage_metadata", None) or {}
        for name in ("input_tokens", "output_tokens"):
            self.usage[name] += int(usage.get(name) or 0)
