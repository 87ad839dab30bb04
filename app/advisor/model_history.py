"""The turns before, for a model: as much as there is room for, the newest in most detail.

The last turns are told with their question and the opening of their answer, those before in one line each, and what
is older yet in one line for all. Nothing is asked of a model for this, and the evidence never gives way to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from app.advisor.answer import Answer
from app.advisor.model_window import tokens_of

HEAD = "Earlier in this conversation (background only; figures that count stand below):"
_FULL = (800, 700)  # characters of a question and of an answer
_LINE = (220, 220)
_MOST_FULL = 4  # turns; what was said before that is no longer what the question is about
_MOST_SIZES = 6
_DECORATION = re.compile(r"\[\d+\]|[*#`]|\{[^}]*\}")


def earlier(history: Sequence[Answer], room_tokens: int) -> list[str]:
    """Lines for the prompt, at most so many tokens; none where there is no history or no room for a line of it."""
    if not history:
        return []
    left = room_tokens - tokens_of(HEAD) - 2
    told: list[str] = []
    rest = list(history)
    while rest:
        reserve = tokens_of(_summary(rest[:-1])) if len(rest) > 1 else 0
        line = next((one for one in _tellings(rest[-1], len(told)) if tokens_of(one) + 1 + reserve <= left), None)
        if line is None:
            break
        told.append(line)
        left -= tokens_of(line) + 1
        rest.pop()
    if rest and tokens_of(_summary(rest)) <= left:
        told.append(_summary(rest))
    return [HEAD, *reversed(told), ""] if told else []


def _tellings(answer: Answer, newer: int) -> Iterator[str]:
    """One turn, the more detailed first."""
    if newer < _MOST_FULL:
        yield _turn(answer, *_FULL, paragraphs=2)
    yield _turn(answer, *_LINE, paragraphs=1)


def _turn(answer: Answer, question: int, reply: int, *, paragraphs: int) -> str:
    opening = " ".join([one for one in answer.text.split("\n\n") if not one.startswith(("#", "|"))][:paragraphs])
    return f"- asked: {_short(answer.question, question)} | answered: {_short(_DECORATION.sub('', opening), reply)}"


def _summary(turns: Sequence[Answer]) -> str:
    """All of them in one line: how many of which kind, and of clusters of which size."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(one.kind for one in turns).most_common())
    sizes = list(dict.fromkeys(one.spec["gpus"] for one in turns if one.spec and one.spec.get("gpus")))
    about = f"; clusters of {', '.join(f'{one:,}' for one in sizes[-_MOST_SIZES:])} GPUs" if sizes else ""
    return f"- before that, {len(turns)} more questions: {kinds}{about}"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
