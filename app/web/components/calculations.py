"""The calculations behind an answer: inputs, results, assumptions, and where the data are from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from app.advisor.figures import figure, with_range
from app.fabric.calculation import rows_in
from app.web.inert import outbound, plain
from app.web.labels import Labels

Calculation = Mapping[str, Any]


def draw(key: str, calculations: Sequence[Calculation], words: Labels) -> None:
    """One tab a calculation. `key` tells this answer's widgets from those of others."""
    tabs = st.tabs([f"{one['id']} {plain(title(one, words))}" for one in calculations])
    for tab, one in zip(tabs, calculations, strict=True):
        with tab:
            _draw_one(f"{key}-{one['id']}", one, words)


def draw_alone(key: str, calculation: Calculation, value: str, words: Labels) -> None:
    """One calculation, with `value` first in words."""
    if value in calculation["values"]:
        shown = with_range(calculation["values"][value], words.language)
        colon = "：" if words.language == "zh" else ": "
        st.markdown(f"{plain(words.name('values', value))}{colon}**{plain(shown)}**")
    _draw_one(key, calculation, words)


def title(calculation: Calculation, words: Labels) -> str:
    """`Cost · RoCE`; for a calculation of both fabrics its scale, `Comparison · 512 GPUs`."""
    parts = [words.name("tools", calculation["tool"])]
    if calculation["label"]:
        parts.append(words.name("tools", calculation["label"]))
    elif "gpus" in calculation["inputs"]:
        parts.append(figure(calculation["inputs"]["gpus"], "GPUs", words.language))
    return " · ".join(parts)


def _draw_one(key: str, calculation: Calculation, words: Labels) -> None:
    language = words.language
    results = [
        (plain(words.name("values", name)), plain(with_range(value, language)))
        for name, value in calculation["values"].items()
    ]
    inputs = [
        (plain(words.name("values", name)), plain(_shown(name, value, words)))
        for name, value in calculation["inputs"].items()
        if value is not None
    ]
    left, right = st.container(key=f"figures-{key}").columns([3, 2], gap="medium")
    left.markdown(_table((words["results"], words["value"]), results))
    right.markdown(_table((words["inputs"], words["value"]), inputs))
    rows = rows_in(calculation["rows"], language)
    if rows:
        st.dataframe(_named(rows, words), hide_index=True, key=f"rows-{key}")
        st.download_button(
            words["save_csv"],
            lambda: as_csv(rows),
            "-".join(filter(None, (calculation["id"], calculation["tool"], calculation["label"]))) + ".csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
            key=f"csv-{key}",
        )
    if calculation["assumptions"]:
        st.markdown(f"**{words['assumed']}**")
        st.markdown("\n".join(f"- {plain(one)}" for one in calculation["assumptions"]))
    if calculation["sources"]:
        st.markdown(f"**{words['data_from']}**")
        st.markdown("\n".join(f"- {_source(one, words)}" for one in calculation["sources"]))


def _named(rows: Sequence[Mapping[str, Any]], words: Labels) -> list[dict[str, Any]]:
    """Rows with columns named for the reader, the telling ones first. (The CSV keeps the short names.)"""
    present = list(dict.fromkeys(name for row in rows for name in row))
    known = [name for name in words.words["columns"] if name in present]
    order = [*known, *(name for name in present if name not in known)]
    return [{words.name("columns", name): _cell(row, name, words) for name in order} for row in rows]


def _cell(row: Mapping[str, Any], name: str, words: Labels) -> Any:
    """A value as it is; in words where the row says its unit, as then each row of a column has another one."""
    value = row.get(name)
    if "unit" not in row:
        return value
    return "" if value is None else figure(value, row["unit"] or "", words.language)


def as_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """CSV with a header, in UTF-8 with a byte order mark, so that spreadsheets read Chinese."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode("utf-8-sig")


def _shown(name: str, value: Any, words: Labels) -> str:
    if isinstance(value, bool):
        return words["true" if value else "false"]
    if isinstance(value, str) and value in words.words["options"]:
        return words.name("options", value)
    return figure(value, "bytes" if name.endswith("bytes") else "", words.language)


def _table(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    lines = [
        f"| {header[0]} | {header[1]} |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows),
    ]
    return "\n".join(lines)


def _source(source: Mapping[str, str], words: Labels) -> str:
    date = plain(source["date"] or words["undated"])
    return f"{outbound(source['title'], source['url'])} ({date}, {words.name('trust', source['trust'])})"
