"""The calculators, the search and `ask` over the Model Context Protocol, for other assistants and editors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from app import __version__
from app.advisor.advisor import Advisor
from app.advisor.calculator_tools import calculator_tools
from app.errors import AdvisorError

READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
INSTRUCTIONS = (
    "Answers questions on networks for GPU clusters: InfiniBand, RoCE or a managed service. Use `ask` for advice with "
    "sources, `size`, `grow` (on switches that are there), `cost`, `compare` and the others for figures, `search` for "
    "passages. Show figures as they are "
    "given, with their ranges; do not compute with them."
)


def mcp_server(advisor: Advisor) -> MCPServer:
    """Tools: the calculators, search, ask. Bad input is a tool error that says how to mend it."""
    server: MCPServer = MCPServer("fabric-advisor", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING")

    def search(query: str, k: int = 5, language: Literal["en", "zh"] | None = None) -> dict[str, Any]:
        """Passages of the knowledge base with their place, section and source."""
        if not 1 <= k <= 50:
            raise ToolError("k must be 1 to 50.")
        hits = advisor.library.search(query, k=k, language=language)
        return {"query": query, "passages": [hit.to_json() for hit in hits]}

    def ask(question: str, language: Literal["auto", "en", "zh"] = "auto") -> dict[str, Any]:
        """A full answer: verdict, text with [n] markers, citations, calculations, assumptions, checked numbers."""
        try:
            return advisor.answer(question, language=language).to_json()
        except AdvisorError as error:
            raise ToolError(str(error)) from None

    for tool in calculator_tools(advisor.tools):
        function = getattr(tool, "func")  # noqa: B009  (declared on StructuredTool only)
        server.add_tool(_plain(function), name=tool.name, annotations=READ_ONLY)
    server.add_tool(search, annotations=READ_ONLY)
    server.add_tool(ask, annotations=READ_ONLY)
    return server


def _plain(function: Callable[..., tuple[str, dict[str, Any]]]) -> Callable[..., dict[str, Any]]:
    """The calculator alone: its JSON, or a tool error."""

    @functools.wraps(function)
    def run(**given: Any) -> dict[str, Any]:
        text, calculation = function(**given)
        if not calculation:
            raise ToolError(text)
        return calculation

    signature = inspect.signature(function, eval_str=True)
    run.__signature__ = signature.replace(return_annotation=dict[str, Any])  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    run.__annotations__["return"] = dict[str, Any]
    del run.__wrapped__
    return run
