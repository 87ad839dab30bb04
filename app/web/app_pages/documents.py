"""The library: its documents, adding and removing them, and reading one, with a cited passage marked."""

from __future__ import annotations

import streamlit as st

from app.errors import AdvisorError
from app.web import resources, session
from app.web.components import document_list, document_reader, upload
from app.web.labels import Labels


def page() -> None:
    words = session.interface_labels()
    wanted = st.query_params.get("document")
    if wanted:
        _read(wanted, words)
        return
    st.title(words["page_documents"])
    st.markdown(words["documents_purpose"])
    upload.draw(words)
    document_list.draw(words)


def _read(wanted: str, words: Labels) -> None:
    st.button(
        words["back_to_documents"],
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=session.close_document,
        key="back",
    )
    try:
        document = resources.advisor().library.document(wanted)
    except AdvisorError as error:
        st.error(session.in_words(error))
        return
    document_reader.draw(document, st.query_params.get("start"), st.query_params.get("end"), words)


page()
