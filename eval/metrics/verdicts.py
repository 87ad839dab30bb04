"""Is the recommendation one of those that the case accepts?"""

from __future__ import annotations

from collections.abc import Sequence

from app.advisor.answer import Answer


def verdict_is_right(expected: Sequence[str], answer: Answer) -> bool:
    """True if the structured verdict is among `expected`; prose is not read. No verdict is a wrong one."""
    return answer.verdict is not None and answer.verdict.choice in expected
