"""The page: sidebar, navigation, one clear message where something fails. Run by `fabric-advisor serve`."""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st

from app.errors import AdvisorError
from app.web import session
from app.web.components import sidebar

HERE = Path(__file__).parent
log = logging.getLogger(__name__)


def main() -> None:
    words = session.interface_labels()
    st.set_page_config(words["product"], HERE / "icon.svg", layout="wide")
    st.html(HERE / "style.css")
    page = st.navigation(
        [
            st.Page(session.ASK_PAGE, title=words["page_ask"], icon=":material/forum:", default=True),
            st.Page(session.DOCUMENTS_PAGE, title=words["page_documents"], icon=":material/library_books:"),
            st.Page(session.ABOUT_PAGE, title=words["page_about"], icon=":material/straighten:"),
        ]
    )
    try:
        if page.url_path == "":
            session.find_chat()
        sidebar.draw(words)
        page.run()
    except AdvisorError as error:
        st.error(session.in_words(error), icon=":material/error:")
    except Exception:
        log.exception("page %s failed", page.url_path or "ask")
        st.error(words["unexpected"], icon=":material/error:")


main()
