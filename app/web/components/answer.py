"""One turn of a chat: the question, and the answer with everything that it rests on."""

from __future__ import annotations

import streamlit as st

from app.advisor.answer import Answer
from app.advisor.chats import Turn
from app.web import resources, session
from app.web.components import assumptions, calculations, charts, sources
from app.web.inert import answer_markdown, citation_links, figure_links, plain
from app.web.labels import Labels

LONGEST_QUESTION_SHOWN = 600
_AVATARS = {"user": ":material/person:", "assistant": ":material/hub:"}


def draw(chat: str, turn: Turn, *, last: bool) -> None:
    """`last`: the turn that follow-ups are offered for."""
    answer = turn.answer
    words = session.answer_labels(answer.language)
    draw_question(answer.question)
    if turn.changes:
        st.caption(plain(words.fill("recalculated_with", changes=assumptions.described(turn.changes, words))))
    with speaker("assistant"):
        for notice in answer.notices:
            st.warning(plain(notice), icon=":material/info:")
        key = f"{chat}-{turn.number}"
        link = citation_links(turn.number, {one.marker: one for one in answer.citations})
        with st.container(key=f"{'verdict' if answer.verdict else 'text'}-{key}"):
            opens = figure_links(chat, turn.number)
            identities = [str(one["id"]) for one in answer.calculations]
            st.markdown(answer_markdown(answer.text, link, answer.references, opens, identities))
        charts.draw(key, answer.calculations, words)
        _check(answer, words)
        if answer.citations:
            sources.strip(key, turn.number, answer.citations, words)
        _panels(chat, turn, words)
        slot = st.empty()  # emptied at once when the next question is asked
        if last and answer.follow_ups:
            with slot.container():
                _follow_ups(key, answer.follow_ups)
        _footer(chat, turn, words)


def draw_question(question: str) -> None:
    with speaker("user"):
        cut = question[:LONGEST_QUESTION_SHOWN]
        st.markdown("  \n".join(plain(line) for line in cut.splitlines()) + ("…" if cut != question else ""))


def speaker(role: str) -> st.delta_generator.DeltaGenerator:
    return st.chat_message(role, avatar=_AVATARS[role])


# Fragments below: a click in them redraws only them, and does not stop an answer that is being written.


@st.fragment
def _panels(chat: str, turn: Turn, words: Labels) -> None:
    """Calculations and assumptions, filled when they are opened."""
    key = f"{chat}-{turn.number}"
    count = len(turn.answer.calculations)
    if count:
        label = words.fill("calculations", count=count)
        panel = st.expander(label, icon=":material/calculate:", key=f"calculations-{key}", on_change="rerun")
        if panel.open:
            with panel:
                calculations.draw(key, turn.answer.calculations, words)
    count = len(turn.answer.assumptions)
    if count or turn.changes:
        label = words.fill("assumptions", count=count)
        panel = st.expander(label, icon=":material/tune:", key=f"assumed-{key}", on_change="rerun")
        if panel.open:
            with panel:
                assumptions.draw(key, turn, words)


@st.fragment
def _footer(chat: str, turn: Turn, words: Labels) -> None:
    key = f"{chat}-{turn.number}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.feedback("thumbs", key=f"rate-{key}", default=turn.rating, on_change=_rate, args=(chat, turn.number, key))
        with st.popover(words["copy"], type="tertiary", icon=":material/content_copy:", key=f"copy-{key}"):
            st.caption(words["copy_hint"])
            st.code(turn.answer.text, "markdown", wrap_lines=True, height=320)
        st.caption(_provenance(turn.answer, words))
    if st.session_state.get(f"rate-{key}") == 0:
        st.text_input(words["rate_why"], turn.comment, key=f"why-{key}", on_change=_rate, args=(chat, turn.number, key))


def _rate(chat: str, turn: int, key: str) -> None:
    comment = st.session_state.get(f"why-{key}", "")
    resources.chats().rate(chat, turn, st.session_state[f"rate-{key}"], comment)


def _check(answer: Answer, words: Labels) -> None:
    """What the check of figures found, where it found something."""
    if answer.grounding.unsupported:
        figures = ", ".join(answer.grounding.unsupported)
        st.warning(plain(words.fill("untraced", figures=figures)), icon=":material/warning:")
    if answer.grounding.contradictions:
        sentences = " ".join(answer.grounding.contradictions)
        st.warning(plain(words.fill("contradictions", sentences=sentences)), icon=":material/warning:")


def _provenance(answer: Answer, words: Labels) -> str:
    parts = []
    if answer.grounding.numbers_checked:
        parts.append(words.fill("checked", count=answer.grounding.numbers_checked))
    parts.append(words["written_by_builtin"] if answer.model == "builtin" else answer.model.split("#")[0])
    if "total" in answer.timings_ms:
        parts.append(words.fill("took", seconds=f"{answer.timings_ms['total'] / 1000:.2f}"))
    return plain(" · ".join(parts))


def _follow_ups(key: str, follow_ups: tuple[str, ...]) -> None:
    with st.container(horizontal=True, gap="small", key=f"follow-ups-{key}"):
        for at, question in enumerate(follow_ups):
            st.button(plain(question), key=f"follow-{key}-{at}", on_click=session.ask, args=(question,))
