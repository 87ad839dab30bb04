"""What a model may do while it writes: run calculators and search again, a limited number of times.

Results become calculations T… and passages [n] of the answer, under the next free numbers. Weak models print their
calls as JSON text; such text is found and run.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool

from app.advisor.calculator_tools import Result, calculator_tools
from app.advisor.evidence import Searchable, Tools
from app.advisor.model_material import passage_text, value_lines
from app.fabric.calculation import Calculation, Language
from app.library.passage import Passage

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware

SEARCH_HITS = 4
_BEGINS_CALL = re.compile(r"\s*(?:<tool_call>|<\|python_tag\|>|```(?:json|tool\w*)?\s*[{\[]|\[?\s*\{\s*\")")
_MAY_BEGIN_CALL = ("<tool_call>", "<|python_tag|>", "```json", "```tool", '{"', '[{"', "```\n{")


class Toolbox:
    """The tools of one answer. `calculations` and `passages` are read by the check of sentences while they grow."""

    def __init__(
        self,
        tools: Tools,
        library: Searchable,
        language: Language,
        calculations: Sequence[Calculation],
        passages: Sequence[Passage],
    ):
        self.calculations = {one.id: one for one in calculations}
        self.passages = dict(enumerate(passages, 1))
        self.added: list[Calculation] = []
        self.calls = 0
        self._library = library
        self._language = language
        self._lock = threading.Lock()
        self.tools: list[BaseTool] = [
            *calculator_tools(tools, self._record),
            StructuredTool.from_function(self._search, name="search", response_format="content_and_artifact"),
        ]

    def _record(self, calculation: Calculation) -> tuple[Calculation, str]:
        with self._lock:
            self.calls += 1
            same = next((one for one in self.calculations.values() if _same(one, calculation)), None)
            if same is None:
                same = calculation.with_id(f"T{len(self.calculations) + 1}")
                self.calculations[same.id] = same
                self.added.append(same)
        inputs = ", ".join(f"{name}={value}" for name, value in same.inputs.items() if value is not None)
        return same, "\n".join([f"{same.id} {same.tool} {same.label} ({inputs})", *value_lines([same])])

    def _search(self, query: str) -> Result:
        """Find passages on networks of GPU clusters; cite them by the number in brackets."""
        hits = self._library.search(query, k=SEARCH_HITS, language=self._language)
        found: list[str] = []
        with self._lock:
            self.calls += 1
            for hit in hits:
                number = next((at for at, one in self.passages.items() if one.id == hit.passage.id), 0)
                if not number:
                    number = len(self.passages) + 1
                    self.passages[number] = hit.passage
                found.append(passage_text(number, hit.passage))
        return "\n\n".join(found) or "Nothing was found.", {"passages": [hit.to_json() for hit in hits]}


def _same(one: Calculation, other: Calculation) -> bool:
    return (one.tool, one.label) == (other.tool, other.label) and dict(one.inputs) == dict(other.inputs)


def calls_in_text(text: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Tool calls that a model printed as JSON: `{"name": "cost", "arguments": {…}}`, alone or in a list."""
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    at = 0
    while (at := text.find("{", at)) >= 0:
        try:
            data, end = decoder.raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        at = end
        function = data.get("function")
        call = function if isinstance(function, dict) else data
        name = call.get("name") or call.get("tool") or (function if isinstance(function, str) else None)
        given = next((call[key] for key in ("arguments", "parameters", "args", "input") if key in call), None)
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError:
                continue
        if name in names and isinstance(given, dict):
            found.append({"name": name, "args": given, "id": f"text-{len(found) + 1}", "type": "tool_call"})
    return found


def held_calls(pieces: Iterator[tuple[str, str]], is_call: Callable[[str], bool]) -> Iterator[str]:
    """The text of (message id, piece) pairs, without messages that are a tool call printed as text.

    A message is held back only while it looks like one.
    """
    message, held, decided = "", "", False
    for identity, piece in pieces:
        if identity != message:
            if held and not is_call(held):
                yield held
            if message and decided:
                yield "\n\n"
            message, held, decided = identity, "", False
        if decided:
            yield piece
            continue
        held += piece
        start = held.lstrip()
        if _BEGINS_CALL.match(held) or any(begin.startswith(start) for begin in _MAY_BEGIN_CALL):
            continue
        decided = True
        yield held
        held = ""
    if held and not is_call(held):
        yield held


def middleware(names: Sequence[str], limit: int) -> list[AgentMiddleware[Any, Any]]:
    """Limits of calls, faults of tools as text, and calls that were printed as text turned into calls."""
    from langchain.agents.middleware import (
        ModelCallLimitMiddleware,
        ToolCallLimitMiddleware,
        ToolErrorMiddleware,
        wrap_model_call,
    )
    from langchain_core.messages import AIMessage

    @wrap_model_call
    def printed_calls(request: Any, handler: Any) -> Any:
        response = handler(request)
        for at, message in enumerate(response.result):
            if isinstance(message, AIMessage) and not message.tool_calls:
                calls = calls_in_text(str(message.text), names)
                if calls:
                    prefix = message.id or "printed"
                    numbered = [{**call, "id": f"{prefix}-{call['id']}"} for call in calls]
                    response.result[at] = AIMessage(content="", tool_calls=numbered, id=message.id)
        return response

    return [
        printed_calls,
        ToolErrorMiddleware(on_error=lambda error, request: f"Error: {type(error).__name__}: {error}"),
        ToolCallLimitMiddleware(run_limit=limit, exit_behavior="continue"),
        ModelCallLimitMiddleware(run_limit=limit + 2, exit_behavior="error"),
    ]
