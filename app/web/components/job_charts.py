"""Charts of performance: bandwidth by message size, the parts of a training step, scaling with GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.web.labels import Labels

Row = Mapping[str, Any]
COLOURS = {"infiniband": "#5b8c5a", "roce": "#3b6fb6", "roce (default)": "#c98a2b", "roce (mis-tuned)": "#b5483d"}
HEIGHT = 300
WEAKEST_SHOWN = 0.8  # an axis that starts higher makes a tenth of a per cent look like a fall
_DASH = {"field": "fabric", "type": "nominal", "sort": None, "legend": None}  # equal lines lie on each other
_BUSBW = "_busbw_gbytes_per_s"
_EFFICIENCY = "_efficiency"
_POWER_OF_1024 = "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : datum.value >= 1048576 ? "
_POWER_OF_1024 += "datum.value / 1048576 + ' MiB' : datum.value / 1024 + ' KiB'"


def draw_bandwidth(key: str, rows: Sequence[Row], words: Labels) -> None:
    """Lines of typical bus bandwidth with a band from low to high."""
    points = [
        {
            "x": row["message_bytes"],
            "fabric": words.name("tools", fabric),
            "y": row[f"{fabric}{_BUSBW}"],
            "low": row[f"{fabric}{_BUSBW}_low"],
            "high": row[f"{fabric}{_BUSBW}_high"],
        }
        for row in rows
        for fabric in COLOURS
        if f"{fabric}{_BUSBW}" in row
    ]
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2},
        "title": words["chart_message"],
        "axis": {"labelExpr": _POWER_OF_1024, "tickCount": 7},
    }
    y = {"type": "quantitative", "title": "GB/s"}
    colour = _colour(points, words)
    band = {"x": x, "color": {**colour, "legend": None}, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    line = {"x": x, "color": colour, "strokeDash": _DASH, "y": {**y, "field": "y"}}
    layers = [
        {"mark": {"type": "area", "opacity": 0.15}, "encoding": band},
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": line},
    ]
    _show(key, words["chart_bandwidth"], points, {"layer": layers, "height": HEIGHT})


def draw_step(key: str, rows: Sequence[Row], words: Labels) -> None:
    """One bar a fabric, split into what its step is spent on, seconds."""
    parts = list(words.words["step_parts"])
    points = [
        {
            "fabric": words.name("tools", label_of(row)),
            "part": words.name("step_parts", part),
            "order": parts.index(part),
            "seconds": row[part],
        }
        for row in rows
        for part in parts
        if row.get(part)
    ]
    shown = [part for part in parts if any(row.get(part) for row in rows)]
    encoding = {
        "y": {"field": "fabric", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 160}},
        "x": {"field": "seconds", "type": "quantitative", "title": "s", "stack": "zero"},
        "order": {"field": "order"},
        "color": {
            "field": "part",
            "type": "nominal",
            "title": None,
            "scale": {"domain": [words.name("step_parts", part) for part in shown], "scheme": "tableau10"},
            "legend": {"orient": "top", "columns": 4},
        },
        "tooltip": [
            {"field": "fabric", "title": " "},
            {"field": "part", "title": " "},
            {"field": "seconds", "title": "s", "format": ".3s"},
        ],
    }
    _show(key, words["chart_step"], points, {"mark": {"type": "bar"}, "encoding": encoding, "height": {"step": 26}})


def draw_scaling(key: str, rows: Sequence[Row], words: Labels) -> None:
    """Throughput per GPU against that of the smallest size."""
    points = [
        {"x": row["gpus"], "fabric": words.name("tools", label), "y": value}
        for row in rows
        for name, value in row.items()
        if name.endswith(_EFFICIENCY)
        for label in [_LABELS[name.removesuffix(_EFFICIENCY)]]
    ]
    domain = [min(WEAKEST_SHOWN, *(point["y"] for point in points)), max(1.0, *(point["y"] for point in points))]
    encoding = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "scale": {"type": "log", "base": 2},
            "title": words["chart_gpus"],
            "axis": {"values": [row["gpus"] for row in rows], "format": ",d"},
        },
        "y": {
            "field": "y",
            "type": "quantitative",
            "title": None,
            "axis": {"format": "%"},
            "scale": {"domain": domain},
        },
        "color": _colour(points, words),
        "strokeDash": _DASH,
        "tooltip": [
            {"field": "fabric", "title": " "},
            {"field": "x", "title": words["chart_gpus"], "format": ",d"},
            {"field": "y", "title": " ", "format": ".1%"},
        ],
    }
    mark = {"type": "line", "strokeWidth": 2, "point": True}
    _show(key, words["chart_scaling"], points, {"mark": mark, "encoding": encoding, "height": HEIGHT})


_LABELS = {"infiniband": "infiniband", "roce": "roce", "roce_default": "roce (default)"}


def label_of(row: Row) -> str:
    return str(row["fabric"]) if row["tuning"] == "tuned" else f"{row['fabric']} ({row['tuning']})"


def _colour(points: Sequence[Row], words: Labels) -> dict[str, Any]:
    named = {words.name("tools", label): colour for label, colour in COLOURS.items()}
    present = list(dict.fromkeys(point["fabric"] for point in points))
    return {
        "field": "fabric",
        "type": "nominal",
        "sort": None,
        "title": None,
        "scale": {"domain": present, "range": [named[name] for name in present]},
        "legend": {"orient": "top"},
    }


def _show(key: str, caption: str, points: Sequence[Row], specification: Mapping[str, Any]) -> None:
    st.caption(caption)
    st.vega_lite_chart(
        {"data": {"values": list(points)}, **specification}, key=f"chart-{key}", width="stretch", alt=caption
    )
