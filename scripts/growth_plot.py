"""Draws how search grows with the library: time above, memory below, both over the number of passages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 760, 230, 70, 150, 40, 60
TIMES = (("p50_ms", "search, median", "#1f77b4"), ("p95_ms", "search, 95th percentile", "#d62728"),
         ("embedding_p50_ms", "of it: query embedding", "#7f7f7f"))  # fmt: skip
MEMORY = (("memory_mb", "resident memory", "#2ca02c"),)
Series = Sequence[tuple[str, str, str]]


def svg(points: Sequence[Mapping[str, Any]]) -> str:
    """Points as `measure` gives them, by size."""
    height = TOP + 2 * PANEL + GAP + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">Search in growing libraries (passages, logarithmic)</text>',
        *_panel(points, TIMES, TOP, "ms"),
        *_panel(points, MEMORY, TOP + PANEL + GAP, "MB"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _panel(points: Sequence[Mapping[str, Any]], series: Series, top: int, unit: str) -> list[str]:
    sizes = [point["passages"] for point in points]
    highest = max(point[name] for point in points for name, _, _ in series)
    step = _step(highest)
    end = step * math.ceil(highest / step)
    right = WIDTH - RIGHT

    def x(size: float) -> float:
        low, high = math.log10(sizes[0]), math.log10(sizes[-1])
        return LEFT + (math.log10(size) - low) / ((high - low) or 1) * (right - LEFT)

    def y(value: float) -> float:
        return top + PANEL - value / end * PANEL

    parts = []
    for tick in range(round(end / step) + 1):
        at = y(tick * step)
        parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        label = f"{tick * step:g} {unit}"
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    for size in sizes:
        parts.append(f'<text x="{x(size):.1f}" y="{top + PANEL + 18}" text-anchor="middle">{size:,}</text>')
    for name, label, colour in series:
        parts += _line(points, name, label, colour, x, y)
    return parts


def _line(
    points: Sequence[Mapping[str, Any]],
    name: str,
    label: str,
    colour: str,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> list[str]:
    places = [(x(point["passages"]), y(point[name])) for point in points]
    path = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
    dots = [f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{colour}"/>' for across, down in places]
    last_x, last_y = places[-1]
    value = f"{points[-1][name]:.0f}"
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        f'<text x="{last_x + 8:.1f}" y="{last_y - 4:.1f}" fill="{colour}">{value}</text>',
        f'<text x="{last_x + 8:.1f}" y="{last_y + 10:.1f}" fill="{colour}" font-size="10">{escape(label)}</text>',
    ]


def _step(highest: float) -> float:
    """A round number of which about five fit."""
    rough = highest / 5 or 1.0
    magnitude = 10 ** math.floor(math.log10(rough))
    return next(magnitude * factor for factor in (1, 2, 5, 10) if magnitude * factor >= rough)
