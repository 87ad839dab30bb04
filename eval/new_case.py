"""Where a new case comes from: a question asked now, or a turn of a chat that somebody has rated."""

from __future__ import annotations

from app.advisor.advisor import Advisor
from app.advisor.answer import Answer
from app.advisor.chats import ChatStore
from app.errors import AdvisorError
from app.settings import Settings


def from_question(settings: Settings, question: str) -> tuple[list[Answer], str]:
    return [Advisor.open(settings).answer(question)], ""


def from_conversation(settings: Settings, chat_id: str, number: int | None) -> tuple[list[Answer], str]:
    """The turns up to the one asked for (or rated down last, or the last), and the comment that it got."""
    turns = ChatStore.open(settings).turns(chat_id)
    if not turns:
        raise AdvisorError(f"There is no chat {chat_id}.", "The id is in the address of the page.")
    if number is None:
        down = [turn.number for turn in turns if turn.rating == 0]
        number = down[-1] if down else turns[-1].number
    chosen = [turn for turn in turns if turn.number <= number]
    if not chosen or chosen[-1].number != number:
        raise AdvisorError(f"Chat {chat_id} has no turn {number}.", f"It has {len(turns)} turns.")
    return [turn.answer for turn in chosen], chosen[-1].comment
