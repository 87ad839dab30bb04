"""The advisor in LangChain's terms: the calculators as tools, and the whole as a Runnable chain.

For people who compose it with what they know; the product's own pages and commands do not go through here.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

from app.advisor.advisor import Advisor
from app.advisor.calculator_tools import calculator_tools

__all__ = ["as_runnable", "calculator_tools"]


def as_runnable(advisor: Advisor) -> Runnable[Any, Any]:
    """A Runnable from a question (str, or {"question", "history"}) to an Answer."""

    def run(asked: Any) -> Any:
        if isinstance(asked, str):
            return advisor.answer(asked)
        return advisor.answer(asked["question"], asked.get("history", ()))

    return RunnableLambda(run, name="fabric_advisor")
