"""What one browser session is doing: which chat is open, what is to be asked next, which language to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st

from app.advisor.error_text import error_text
from app.advisor.question import detect_language
from app.errors import AdvisorError
from app.web import resources
from app.web.labels import Choice, Labels, labels, resolve_language

ASK_PAGE, DOCUMENTS_PAGE, ABOUT_PAGE = "app_pages/ask.py", "app_pages/documents.py", "app_pages/about.py"
LANGUAGES: tuple[Choice, ...] = ("auto", "en", "zh")


@dataclass(frozen=True, slots=True)
class Request:
    """A question to ask. To ask a turn's question again: `changes`, with the turns `before` it as history."""

    question: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A question that could not be answered, and why; shown until the next one."""

    chat: str
    question: str
    message: str


def language_choice() -> Choice:
    chosen = st.session_state.get("language") or st.query_params.get("language")
    return cast(Choice, chosen) if chosen in LANGUAGES else "auto"


def interface_labels() -> Labels:
    return labels(resolve_language(language_choice(), st.context.locale))


def answer_labels(language: str) -> Labels:
    """Words around an answer: as chosen, or on `auto` in the language of the answer."""
    return labels(resolve_language(language_choice(), language))


def find_chat() -> None:
    """On the Ask page, before anything is drawn: open the chat of the address, else keep the session's own."""
    named = st.query_params.get("chat")
    if named:
        st.session_state["chat"] = named
    chat = open_chat()
    if chat and not resources.chats().exists(chat):
        forget_chat()
        st.session_state["chat-unknown"] = True
    elif chat:
        st.query_params["chat"] = chat


def open_chat() -> str | None:
    """The id of the open chat; None for a new one."""
    chat: str | None = st.session_state.get("chat")
    return chat


def start_chat() -> str:
    chat = resources.chats().new()
    chosen = st.session_state.pop("next-model", None)
    if chosen in models():
        resources.chats().choose_model(chat, chosen)
    st.session_state["chat"] = chat
    st.query_params["chat"] = chat
    return chat


def models() -> tuple[str, ...]:
    """Models that the reader may choose among; one if there is no choice."""
    return resources.settings().offered_models


def model() -> str:
    """The model of the open chat, or that chosen for the next one; what is no longer offered gives way to the first."""
    chat, offered = open_chat(), models()
    if len(offered) == 1:
        return offered[0]
    chosen = (resources.chats().model(chat) if chat else st.session_state.get("next-model")) or offered[0]
    return chosen if chosen in offered else offered[0]


def choose_model(name: str) -> None:
    """For the open chat, or for the next one until it starts."""
    chat = open_chat()
    if name not in models():
        return
    if chat:
        resources.chats().choose_model(chat, name)
    else:
        st.session_state["next-model"] = name


def forget_chat() -> None:
    st.session_state.pop("chat", None)
    st.session_state.pop("refusal", None)
    st.query_params.pop("chat", None)


def ask(question: str, changes: Mapping[str, Any] | None = None, before: int | None = None) -> None:
    """Have the question asked in the next run of the page; for use as a callback of buttons."""
    st.session_state["request"] = Request(question, changes or {}, before)


def take_request() -> Request | None:
    request: Request | None = st.session_state.pop("request", None)
    return request


def open_document(document_id: str) -> None:
    """For use as a callback of buttons of the Documents page."""
    st.query_params["document"] = document_id


def close_document() -> None:
    for name in ("document", "start", "end", "cite"):
        st.query_params.pop(name, None)


def in_words(error: AdvisorError, question: str = "") -> str:
    """One message for people, what is wrong and how to mend it, in the chosen language or that of the question."""
    spoken = detect_language(question) if question else st.context.locale
    return error_text(error, resolve_language(language_choice(), spoken))
