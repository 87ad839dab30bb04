"""What surrounds every page: title, style, navigation and sidebar."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.web import session
from app.web.components import sidebar

HERE = Path(__file__).parent


def draw() -> None:
    """Draw the page that the address names."""
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
    if page.url_path == "":
        session.find_chat()
    sidebar.draw(words)
    page.run()
