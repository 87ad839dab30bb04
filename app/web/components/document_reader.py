"""Reads one document. A passage that is named stands marked, with the rest folded before and after it."""

from __future__ import annotations

import streamlit as st

from app.errors import AdvisorError
from app.library.document import Document
from app.web import resources, session
from app.web.components.sources import origins
from app.web.inert import outbound, plain
from app.web.labels import Labels
from app.web.reader import Extract, Footnotes, around, document_html

SHOWN_AT_ONCE = 20_000  # characters of a document that are open at first, where no passage is named


def draw(document: Document, start: str | None, end: str | None, words: Labels) -> None:
    """`start` and `end` come from the address, so they may be anything."""
    library = resources.advisor().library
    st.subheader(plain(document.title or document.name))
    facts = [plain(document.name), words.count("passages", document.passages)]
    if document.url:
        facts.append(outbound(document.url, document.url))
    st.caption(" · ".join(facts))
    try:
        text = library.text(document.id)
    except AdvisorError as error:
        st.error(session.in_words(error))
        return
    named = library.note_sources(document.id)
    mark = _mark(text, start, end)
    if mark:
        st.caption(words.fill("cited_here", start=f"{mark[0]:,}", end=f"{mark[1]:,}"))
        extract = around(text, *mark)
    else:
        extract = Extract(0, min(len(text), SHOWN_AT_ONCE))
    if extract.start:
        _folded("earlier_text", text, Extract(0, extract.start), named, words)
    st.html(document_html(text, extract, mark, named))
    if extract.end < len(text):
        _folded("later_text", text, Extract(extract.end, len(text)), named, words)
    origins(named, named.values(), "", words)


def _folded(label: str, text: str, extract: Extract, named: Footnotes, words: Labels) -> None:
    panel = st.expander(words.fill(label, count=f"{extract.end - extract.start:,}"), key=label, on_change="rerun")
    if panel.open:
        with panel:
            st.html(document_html(text, extract, None, named))


def _mark(text: str, start: str | None, end: str | None) -> tuple[int, int] | None:
    """The span named in the address, if it is one of this text."""
    if not (start and end and start.isdecimal() and end.isdecimal()):
        return None
    span = int(start), int(end)
    return span if span[0] < span[1] <= len(text) else None
