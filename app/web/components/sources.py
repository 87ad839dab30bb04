"""Where an answer has things from: a strip of links under it, and a dialog with the passage or the calculation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import streamlit as st

from app.advisor.answer import Citation
from app.errors import AdvisorError
from app.web import resources, session
from app.web.components import calculations
from app.web.inert import citation_links, outbound, passage_query, plain
from app.web.labels import Labels
from app.web.reader import around, document_html

# A citation is an ordinary link to its passage on the Documents page, a figure one to its calculation in the chat. A
# plain click is caught here and opens the dialog instead, without loading a page; a new tab works as with every link.
_CATCH_CLICKS = """
export default function ({ setTriggerValue }) {
  const onClick = (event) => {
    const link = event.target.closest?.('a[href*="&cite="], a[href*="&calculation="]');
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const asked = new URL(link.href).searchParams;
    for (const name of ["cite", "calculation"]) if (asked.has(name)) setTriggerValue(name, asked.get(name));
  };
  document.addEventListener("click", onClick, true);
  return () => document.removeEventListener("click", onClick, true);
}
"""


def strip(key: str, turn: int, citations: tuple[Citation, ...], words: Labels) -> None:
    """One line of links, each titled as its document."""
    link = citation_links(turn, {one.marker: one for one in citations})
    links = [
        f"[\\[{one.marker}\\] {plain(one.title)}]({address})"
        for one in citations
        if (address := link(one.marker)) is not None
    ]
    with st.container(key=f"sources-{key}"):
        st.markdown(f"**{words['sources']}:** " + " · ".join(links))


@cache
def _citation_links() -> Any:
    return st.components.v2.component("citation_links", js=_CATCH_CLICKS)


@st.fragment
def opener(chat: str) -> None:
    """Opens the dialog of a citation or figure that is clicked, or that the address of the page names.

    A fragment, so that no running answer is stopped.
    """
    clicked = _citation_links()(key="citation-links", on_cite_change=lambda: None, on_calculation_change=lambda: None)
    named = st.query_params.pop("calculation", None)
    if asked := clicked.calculation or named:
        _open_calculation(chat, str(asked))
    if clicked.cite:
        found = _find(chat, str(clicked.cite))
        if found:
            language, citation = found
            words = session.answer_labels(language)
            st.dialog(words.fill("source", marker=citation.marker), width="medium")(_show)(citation, words)


def _open_calculation(chat: str, asked: str) -> None:
    """The calculation named `turn.T3.value`, with the value that was clicked above the others."""
    turn_number, _, rest = asked.partition(".")
    identity, _, value = rest.partition(".")
    for turn in resources.chats().turns(chat):
        for one in turn.answer.calculations:
            if str(turn.number) == turn_number and one["id"] == identity:
                words = session.answer_labels(turn.answer.language)
                title = f"{identity} {calculations.title(one, words)}"
                draw = st.dialog(plain(title), width="large")(calculations.draw_alone)
                draw(f"clicked-{turn_number}-{identity}", one, value, words)
                return


def _find(chat: str, cite: str) -> tuple[str, Citation] | None:
    """The citation named `turn.marker`."""
    turn_number, _, marker = cite.partition(".")
    for turn in resources.chats().turns(chat):
        if str(turn.number) == turn_number:
            for citation in turn.answer.citations:
                if str(citation.marker) == marker:
                    return turn.answer.language, citation
    return None


def _show(citation: Citation, words: Labels) -> None:
    place = [citation.section] if citation.section else []
    if citation.page:
        place.append(words.fill("page_number", page=citation.page))
    st.markdown(f"**{plain(citation.title)}**")
    st.caption(plain(" · ".join([citation.document, *place])))
    text = current_text(citation)
    if text is None:
        st.info(words["source_gone"])
        extract = around(citation.passage, 0, len(citation.passage))
        st.html(document_html(citation.passage, extract, (0, len(citation.passage))))
        origins({}, citation.sources, citation.url, words)
    else:
        named = resources.advisor().library.note_sources(citation.document_id)
        extract = around(text, citation.start, citation.end)
        st.html(document_html(text, extract, (citation.start, citation.end), named))
        origins(named, citation.sources, citation.url, words)
    if text is not None:
        st.page_link(
            session.DOCUMENTS_PAGE,
            label=words["open_document"],
            icon=":material/open_in_full:",
            query_params=passage_query(citation),
        )


def current_text(citation: Citation) -> str | None:
    """The document's text, or None where it is gone or no longer holds the passage at its place."""
    try:
        text = resources.advisor().library.text(citation.document_id)
    except AdvisorError:
        return None
    return text if text[citation.start : citation.end] == citation.passage else None


def origins(
    named: Mapping[str, Mapping[str, str]], sources: Iterable[Mapping[str, str]], url: str, words: Labels
) -> None:
    """The works that a text rests on, with date and trust; else its own address. `named`: by footnote."""
    footnotes = {source["title"]: name for name, source in named.items()}
    lines = [
        (f"- {plain(footnotes[one['title']])}: " if one["title"] in footnotes else "- ")
        + f"{outbound(one['title'], one['url'])} "
        + f"({plain(one['date'] or words['undated'])}, {words.name('trust', one['trust'])})"
        for one in sources
    ]
    if lines:
        st.markdown(f"**{words['origins']}**")
        st.markdown("\n".join(lines))
    elif url:
        st.markdown(outbound(url, url))
