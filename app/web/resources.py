"""What all sessions of the page share: the advisor and the chat store, opened once in the process."""

from __future__ import annotations

import streamlit as st

from app.advisor.advisor import Advisor
from app.advisor.chats import ChatStore
from app.settings import Settings, load_settings


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    return load_settings()


@st.cache_resource(show_spinner=False)
def advisor() -> Advisor:
    """Raises AdvisorError where the home folder, the knowledge or the model cannot be used."""
    return Advisor.open(settings())


@st.cache_resource(show_spinner=False)
def advisor_for(model: str) -> Advisor:
    """The advisor that writes with one of the offered models."""
    return advisor().with_model(model)


@st.cache_resource(show_spinner=False)
def chats() -> ChatStore:
    return ChatStore.open(settings())
