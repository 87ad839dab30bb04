"""What the figures rest on, and how to check them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.web import resources, session
from app.web.components import prices
from app.web.inert import answer_markdown, plain


def page() -> None:
    words = session.interface_labels()
    st.title(words["page_about"])
    text = (Path(__file__).parent.parent / f"about.{words.language}.md").read_text(encoding="utf-8")
    st.markdown(answer_markdown(text))
    advisor = resources.advisor()
    ready = [document for document in advisor.library.documents() if document.status == "ready"]
    passages = sum(document.passages for document in ready)
    st.caption(plain(words.fill("library_state", documents=len(ready), passages=passages)))
    prices.draw(advisor.tools.catalog, words)


page()
