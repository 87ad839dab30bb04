"""The sidebar: language, new chat, chats, and what can be done with the open one."""

from __future__ import annotations

import json
from typing import Literal

import streamlit as st

from app.web import resources, session
from app.web.inert import plain
from app.web.labels import Choice, Labels

LISTED_CHATS = 30
_LANGUAGE_NAMES = {"en": "English", "zh": "中文"}


def draw(words: Labels) -> None:
    with st.sidebar:
        if st.button(words["new_chat"], icon=":material/add:", width="stretch", key="new-chat"):
            session.forget_chat()
            st.switch_page(session.ASK_PAGE)
        _chats(words)
        _open_chat(words)
        _model(words)
        _language(words)


def _model(words: Labels) -> None:
    offered = session.models()
    if len(offered) < 2:
        return

    def name(model: str) -> str:
        return words["model_builtin"] if model == "builtin" else model

    key = f"model-{session.open_chat() or 'next'}"
    present = session.model()
    chosen = st.selectbox(words["model"], offered, offered.index(present), format_func=name, key=key)
    if chosen != present:
        session.choose_model(chosen)


def _language(words: Labels) -> None:
    def name(choice: Choice) -> str:
        return _LANGUAGE_NAMES.get(choice, words["language_auto"])

    st.session_state.setdefault("language", session.language_choice())
    st.segmented_control(
        words["language"], session.LANGUAGES, format_func=name, required=True, key="language", width="stretch"
    )
    if st.session_state["language"] == "auto":
        st.query_params.pop("language", None)
    else:
        st.query_params["language"] = st.session_state["language"]


def _chats(words: Labels) -> None:
    st.caption(words["chats"])
    listed = resources.chats().chats()[:LISTED_CHATS]
    if not listed:
        st.caption(words["no_chats"])
        return
    opened = session.open_chat()
    with st.container(key="chats", gap=None, border=False, height=320 if len(listed) > 8 else "content"):
        for chat in listed:
            kind: Literal["secondary", "tertiary"] = "secondary" if chat.id == opened else "tertiary"
            if st.button(plain(chat.title), key=f"chat-{chat.id}", type=kind, width="stretch"):
                st.session_state.pop("refusal", None)
                st.switch_page(session.ASK_PAGE, query_params={"chat": chat.id})


def _open_chat(words: Labels) -> None:
    """Saving and deleting. Files are made when asked for, not at every run."""
    chat = session.open_chat()
    store = resources.chats()
    if not chat or not store.turns(chat):
        return
    with st.popover(words["this_chat"], icon=":material/more_horiz:", width="stretch"):
        st.download_button(
            words["save_markdown"],
            lambda: store.export_markdown(chat),
            f"{chat}.md",
            "text/markdown",
            on_click="ignore",
            icon=":material/download:",
            width="stretch",
            key="save-markdown",
        )
        st.download_button(
            words["save_json"],
            lambda: json.dumps([one.to_json() for one in store.history(chat)], ensure_ascii=False, indent=2),
            f"{chat}.json",
            "application/json",
            on_click="ignore",
            icon=":material/data_object:",
            width="stretch",
            key="save-json",
        )
        st.divider()
        st.caption(words["delete_chat_sure"])
        if st.button(words["delete_chat"], icon=":material/delete:", width="stretch", key="delete-chat"):
            store.delete(chat)
            session.forget_chat()
            st.switch_page(session.ASK_PAGE)
