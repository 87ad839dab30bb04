"""The bar chart of network capex by part, InfiniBand beside RoCE, from values of the cost calculations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.web.labels import Labels

FABRICS = ("infiniband", "roce")
_DOLLAR_AXIS = {"format": "$~s", "tickCount": 6, "labelExpr": "datum.value === 0 ? '$0' : datum.label"}


def draw(key: str, calculations: Sequence[Mapping[str, Any]], words: Labels) -> None:
    """Nothing is drawn where the two fabrics have not both been costed."""
    costs = {one["label"]: one["values"] for one in calculations if one["tool"] == "cost"}
    if not all(fabric in costs for fabric in FABRICS):
        return
    rows = [
        {"part": words.name("parts", part), "fabric": words.name("tools", fabric)}
        | {point: costs[fabric][part][point] for point in ("low", "value", "high")}
        for part in words.words["parts"]
        for fabric in FABRICS
        if costs[fabric].get(part, {}).get("value")
    ]
    st.caption(words["chart"])
    st.vega_lite_chart(_specification(rows), key=f"chart-{key}", width="stretch", alt=words["chart"])


def _specification(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    part = {"field": "part", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 160}}
    fabric = {"field": "fabric", "type": "nominal", "sort": None}
    dollars = {"type": "quantitative", "title": None, "axis": _DOLLAR_AXIS}
    tooltip = [
        {"field": "part", "title": " "},
        {"field": "fabric", "title": " "},
        *({"field": point, "format": "$,.3s"} for point in ("low", "value", "high")),
    ]
    shared = {"y": part, "yOffset": fabric, "tooltip": tooltip}
    bars = {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {
            **shared,
            "x": {**dollars, "field": "value"},
            "color": {
                **fabric,
                "title": None,
                "scale": {"range": ["#5b8c5a", "#3b6fb6"]},
                "legend": {"orient": "top"},
            },
        },
    }
    ranges = {
        "mark": {"type": "rule", "color": "#808080", "strokeWidth": 1.5},
        "encoding": {**shared, "x": {**dollars, "field": "low"}, "x2": {"field": "high"}},
    }
    return {"data": {"values": list(rows)}, "layer": [bars, ranges], "height": {"step": 16}}
