"""The table of documents: filter, open, remove after a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from app.library.document import Document
from app.web import resources, session
from app.web.inert import plain
from app.web.labels import Labels

ROWS_PER_PAGE = 20
_KINDS: dict[str, Callable[[Document], bool]] = {
    "kind_all": lambda document: True,
    "kind_note": lambda document: document.kind == "note",
    "kind_document": lambda document: document.kind == "document",
    "kind_failed": lambda document: document.status == "failed" or bool(document.error),
}


def draw(words: Labels) -> None:
    gone = st.session_state.pop("removed", None)
    if gone:
        st.success(plain(words.fill("removed", name=gone)), icon=":material/delete:")
    documents = resources.advisor().library.documents()
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    wanted = left.text_input(words["filter"], key="filter", icon=":material/search:")
    kind = right.segmented_control(
        words["page_documents"],
        tuple(_KINDS),
        format_func=lambda one: f"{words[one]} ({sum(map(_KINDS[one], documents))})",
        default="kind_all",
        required=True,
        key="kind",
        label_visibility="collapsed",
    )
    chosen = matching(documents, wanted, _KINDS[kind or "kind_all"])
    if not chosen:
        st.caption(words["none_found"])
        return
    pages = -(-len(chosen) // ROWS_PER_PAGE)
    page = st.pagination(pages, key="page") if pages > 1 else 1
    with st.container(key="document-list"):
        for document in chosen[(page - 1) * ROWS_PER_PAGE : page * ROWS_PER_PAGE]:
            _row(document, words)


def matching(documents: Sequence[Document], wanted: str, of_kind: Callable[[Document], bool]) -> list[Document]:
    """Documents whose title or name holds every word wanted; readers' own first, then by name."""
    parts = wanted.casefold().split()
    found = [
        document
        for document in documents
        if of_kind(document) and all(part in f"{document.title} {document.name}".casefold() for part in parts)
    ]
    return sorted(found, key=lambda document: (document.kind == "note", document.name.casefold()))


def _row(document: Document, words: Labels) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None):
            st.button(
                plain(document.title or document.name),
                icon=":material/article:" if document.kind == "note" else ":material/description:",
                type="tertiary",
                on_click=session.open_document,
                args=(document.id,),
                disabled=document.status == "failed",
                key=f"open-{document.id}",
            )
            st.caption(_facts(document, words))
        if document.error and document.status == "ready":
            st.button(
                words["dismiss"],
                icon=":material/notifications_off:",
                key=f"dismiss-{document.id}",
                on_click=_dismiss,
                args=(document.id,),
            )
        if document.kind == "document" or document.status == "failed":
            with st.popover(words["remove"], icon=":material/delete:", key=f"remove-{document.id}"):
                st.markdown(plain(words.fill("remove_sure", name=document.name)))
                st.button(
                    words["remove"],
                    key=f"remove-now-{document.id}",
                    type="primary",
                    on_click=_remove,
                    args=(document,),
                )


def _facts(document: Document, words: Labels) -> str:
    if document.status == "failed":
        return f":red[{words['failed']}] {plain(document.name)}: {plain(document.error)}"
    facts = [
        document.name,
        document.language,
        words.count("passages", document.passages),
        words.fill("added_on", date=document.added_at[:10]),
    ]
    shown = plain(" · ".join(facts))
    return f"{shown} :orange[{plain(words.fill('older_version', reason=document.error))}]" if document.error else shown


def _remove(document: Document) -> None:
    resources.advisor().library.remove(document.id)
    st.session_state["removed"] = document.name
    st.session_state.pop("upload-results", None)  # what was said of earlier uploads may no longer be true


def _dismiss(document_id: str) -> None:
    resources.advisor().library.dismiss(document_id)
