"""Asks one question: shows the work and the text as they come, and stores the turn whatever happens."""

from __future__ import annotations

import logging
import time

import streamlit as st

from app.advisor.answer import Answer, Step, Text
from app.errors import AdvisorError
from app.fabric.calculation import Language
from app.web import resources, session
from app.web.background import in_background
from app.web.components.answer import draw_question, speaker
from app.web.inert import answer_markdown
from app.web.labels import Labels

WAIT_SECONDS = 0.5  # how long a stop by the reader may take to be noticed
REDRAW_SECONDS = 0.08  # how often the growing text is sent to the browser
log = logging.getLogger(__name__)


def run(request: session.Request, words: Labels) -> None:
    """Ask, stream and store; ends in a rerun of the page, which draws the stored turn.

    When the reader stops it, or leaves, what was written by then is kept as the answer.
    """
    st.session_state.pop("refusal", None)
    chat = session.open_chat() or session.start_chat()
    _show_when_stopped(chat, len(resources.chats().turns(chat)))
    draw_question(request.question)
    with speaker("assistant"):
        try:
            _stream(chat, request, words)
        except AdvisorError as error:
            _refuse(chat, request, session.in_words(error, request.question))
        except Exception:
            log.exception("a question failed")
            _refuse(chat, request, words["unexpected"])
    st.rerun()


@st.fragment(run_every=1.0)
def _show_when_stopped(chat: str, turns: int) -> None:
    """A run that the reader stopped draws nothing more; this draws the turn that it has stored."""
    if len(resources.chats().turns(chat)) > turns:
        st.rerun()


def _stream(chat: str, request: session.Request, words: Labels) -> None:
    store = resources.chats()
    turns = store.turns(chat)
    if request.before is not None:
        turns = [turn for turn in turns if turn.number < request.before]
    history = [turn.answer for turn in turns]
    stage, body = st.empty(), st.empty()
    pieces: list[str] = []
    answer: Answer | None = None
    began = time.monotonic()
    drawn = 0.0
    doing = words["stage_read"]
    stopped = True  # until the advisor has come to an end, in whatever way
    try:
        asked = resources.advisor_for(session.model()).ask(
            request.question, history, changes=request.changes or None, language=session.language_choice()
        )
        for event in in_background(asked, WAIT_SECONDS):
            if event is None:  # any call of Streamlit is where a stop takes effect
                seconds = round(time.monotonic() - began)
                stage.status(f"{doing} {words.fill('took', seconds=seconds)}", state="running")
            elif isinstance(event, Step):
                doing = words[f"stage_{event.stage}"]
                stage.status(doing, state="running")
            elif isinstance(event, Text):
                pieces.append(event.text)
                if time.monotonic() - drawn > REDRAW_SECONDS:
                    body.markdown(answer_markdown("".join(pieces)))
                    drawn = time.monotonic()
            else:
                answer = event
        stopped = False
    except Exception:
        stopped = False
        raise
    finally:  # also when Streamlit ends this run: no session state and no drawing here, only the store
        if answer or stopped:
            kept = answer or _partial(request, "".join(pieces), history, words)
            store.append(chat, kept, request.changes)


def _partial(request: session.Request, text: str, history: list[Answer], words: Labels) -> Answer:
    """What had been written when the reader stopped it. The cluster talked about stays as it was."""
    language: Language = words.language
    spec = history[-1].spec if history else {}
    notice = words["stopped" if text.strip() else "stopped_early"]
    return Answer(request.question, language, "explanation", spec, None, text, notices=(notice,))


def _refuse(chat: str, request: session.Request, message: str) -> None:
    st.session_state["refusal"] = session.Refusal(chat, request.question, message)
