"""The chat."""

from __future__ import annotations

import streamlit as st

from app.web import resources, session
from app.web.components import answer, conversation, sources
from app.web.inert import plain
from app.web.labels import Labels


def page() -> None:
    words = session.interface_labels()
    chat = session.open_chat()
    if chat is None and st.session_state.pop("chat-unknown", False):
        st.info(words["chat_unknown"])
    turns = resources.chats().turns(chat) if chat else []
    prompt = st.chat_input(words["ask_placeholder"], submit_mode="stop", key="question")
    request = session.Request(prompt) if prompt else session.take_request()
    refusal: session.Refusal | None = st.session_state.get("refusal")
    welcome = st.empty()  # emptied at once, so that nothing of it lingers while the first answer is made
    if not turns and not request and not refusal:
        with welcome.container():
            _welcome(words)
    for turn in turns:
        answer.draw(chat or "", turn, last=turn is turns[-1] and request is None)
    if chat:
        sources.opener(chat)
    if request:
        conversation.run(request, words)
    elif refusal and refusal.chat == chat:
        answer.draw_question(refusal.question)
        with answer.speaker("assistant"):
            st.error(plain(refusal.message), icon=":material/error:")


def _welcome(words: Labels) -> None:
    st.title(words["product"])
    st.markdown(words["purpose"])
    st.caption(words["examples"])
    cells = st.columns(2)
    for at, question in enumerate(words.examples):
        cells[at % 2].button(question, key=f"example-{at}", width="stretch", on_click=session.ask, args=(question,))


page()
