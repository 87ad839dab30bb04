"""The form in which a reader changes what was assumed; submitting it asks the same question again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.advisor.chats import Turn
from app.advisor.figures import figure
from app.web import resources, session
from app.web.inert import plain
from app.web.labels import Labels


def draw(key: str, turn: Turn, words: Labels) -> None:
    """`key` tells this answer's widgets from those of others."""
    answer = turn.answer
    fields = editable(turn)
    if fields:
        with st.form(f"assumptions-{key}", border=False):
            cells = st.columns(2)
            entered = {
                name: _widget(cells[at % 2], f"{key}-{name}", name, answer.spec[name], words)
                for at, name in enumerate(fields)
            }
            submitted = st.form_submit_button(words["recalculate"], icon=":material/calculate:")
        if submitted:
            changed = {name: value for name, value in entered.items() if value != answer.spec[name]}
            if changed:
                session.ask(answer.question, {**turn.changes, **changed}, before=turn.number)
                st.rerun()
            st.info(words["nothing_changed"])
    fixed = [one.text for one in answer.assumptions if one.field not in fields]
    if fixed:
        st.markdown(f"**{words['fixed']}**")
        st.markdown("\n".join(f"- {plain(text)}" for text in fixed))


def editable(turn: Turn) -> tuple[str, ...]:
    """Fields to offer: the scale, what was assumed, and what this reader changed before; no others."""
    answer = turn.answer
    scale = ("gpus",) if answer.spec.get("gpus") is not None else ()
    named = (*scale, *(one.field for one in answer.assumptions), *turn.changes)
    return tuple(name for name in dict.fromkeys(named) if name in answer.spec)


def described(changes: Mapping[str, Any], words: Labels) -> str:
    """`Years of operation = 3, PUE = 1.2`."""
    separator = "，" if words.language == "zh" else ", "
    return separator.join(
        f"{words.name('fields', name)} = {_option(name, value, words)}" for name, value in changes.items()
    )


def _widget(place: Any, key: str, name: str, value: Any, words: Labels) -> Any:
    """The value entered for one field, of the type that the field has."""
    label = words.name("fields", name)
    choices = _choices(name, value, words)
    if choices:
        return place.selectbox(
            label, choices, choices.index(value), format_func=lambda one: _option(name, one, words), key=key
        )
    if isinstance(value, int):
        return place.number_input(label, min_value=1, value=value, step=1, key=key)
    if isinstance(value, float):
        return place.number_input(label, min_value=0.0, value=value, key=key)
    return place.text_input(label, value or "", key=key) or None


def _choices(name: str, value: Any, words: Labels) -> Sequence[Any]:
    """Known values of a field, the present one among them; none for one that takes a number or a word."""
    known = list(words.choices(name))
    if name == "gpu_model":
        known = list(resources.advisor().tools.accelerators.by_id)
    if not known:
        return ()
    if value is None:
        return [None, *known]
    return known if value in known else [value, *known]


def _option(name: str, value: Any, words: Labels) -> str:
    if value is None:
        return words["not_stated"]
    if isinstance(value, bool):
        return words["true" if value else "false"]
    if name == "message_bytes":
        return figure(value, "bytes", words.language)
    if name == "gpu_model":
        return str(value).upper()
    return words.name("options", value) if isinstance(value, str) else figure(value, "", words.language)
