"""Refuses bad input with one line that names the limit and the nearest possibility, in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual
from app.fabric.catalog import Catalog, Switch

SPEEDS = (100, 200, 400, 800)


def link_speed(gbps_per_gpu: int, planes: int, nics_per_gpu: float) -> int:
    """Speed of one link in Gbit/s; AdvisorError unless it is one of SPEEDS."""
    link = gbps_per_gpu / planes / nics_per_gpu
    if link not in SPEEDS:
        fit = ", ".join(f"{speed * planes * nics_per_gpu:g}" for speed in SPEEDS)
        raise bad_value(
            "gbps_per_gpu",
            gbps_per_gpu,
            Bilingual(
                f"With {planes} plane(s) and {nics_per_gpu:g} NIC(s) per GPU choose one of {fit}.",
                f"在 {planes} 个平面、每 GPU {nics_per_gpu:g} 个网卡端口时，可选 {fit}。",
            ),
        )
    return int(link)


def check_switch(catalog: Catalog, row: Switch, fabric: str, link_gbps: int) -> None:
    """AdvisorError unless the switch is of this fabric and has links of this speed."""
    if row.fabric == fabric and row.radix(link_gbps):
        return
    fit = [one.id for one in catalog.switches.values() if one.fabric == fabric and one.radix(link_gbps)]
    if row.fabric != fabric:
        raise AdvisorError(
            f"{row.name} is not a switch for {fabric} (it is for {row.fabric}).",
            f"Choose one of {', '.join(fit)}.",
            code="switch_of_other_fabric",
            values={"switch": row.name, "fabric": fabric, "own": row.fabric, "choices": ", ".join(fit)},
        )
    raise AdvisorError(
        f"{row.name} has no {link_gbps}G ports (its fastest are {max(row.ports)}G).",
        f"Choose one of {', '.join(fit)}, or split the bandwidth over more planes or NICs.",
        code="switch_too_slow",
        values={"switch": row.name, "gbps": link_gbps, "fastest": max(row.ports), "choices": ", ".join(fit)},
    )


def out_of_range(
    catalog: Catalog, gpus: int, row: Switch, limit: int, fabric: str, link_gbps: int
) -> AdvisorError:
    """The error for a cluster of less than one GPU, or of more than `limit`, with what would carry it."""
    radix = row.radix(link_gbps)
    if gpus < 1:
        advice = Bilingual(
            f"Give a number from 1 to {limit:,} (the most that three tiers of {row.name} carry).",
            f"集群至少要有 1 块 GPU：请给出 1 到 {limit:,} 之间的数（{row.name} 三层所能容纳的上限）。",
        )
        message = f"A cluster has at least 1 GPU, not {gpus:,}."
    else:
        more = _larger(catalog, gpus, radix, fabric, link_gbps)
        advice = Bilingual(
            f"Use at most {limit:,} GPUs, {more.en}.",
            f"{row.name}（端口数 {radix}）三层最多容纳 {limit:,} 块：请减少 GPU，{more.zh}。",
        )
        message = (
            f"{gpus:,} GPUs are more than the {limit:,} that three tiers of {row.name} carry (radix {radix})."
        )
    return AdvisorError(
        message,
        advice.en,
        code="gpus_out_of_range",
        values={"gpus": gpus, "limit": limit, "switch": row.name, "advice": advice.zh},
    )


def _larger(catalog: Catalog, gpus: int, radix: int, fabric: str, link_gbps: int) -> Bilingual:
    """Switches of a larger radix at 1:1, the smallest that suffices first."""
    reach = {
        other.id: other.radix(link_gbps) ** 3 // 4
        for other in catalog.switches.values()
        if other.fabric == fabric and other.radix(link_gbps) > radix
    }
    if not reach:
        return Bilingual("or build several separate clusters", "或建成几个独立的集群")
    enough = sorted((size, id) for id, size in reach.items() if size >= gpus)
    if enough:
        size, id = enough[0]
        return Bilingual(
            f"or a switch of larger radix: {id} carries {size:,}", f"或改用端口数更多的 {id}，可容纳 {size:,} 块"
        )
    best = max(reach, key=lambda id: reach[id])
    return Bilingual(
        f"or the largest radix in the catalog: {best} carries {reach[best]:,}",
        f"或改用目录中端口数最多的 {best}，可容纳 {reach[best]:,} 块",
    )


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise bad_value(name, value, one_of(choices))


def check_range(name: str, value: float, low: float, high: float) -> None:
    if not isfinite(value) or not low <= value <= high:
        raise bad_value(name, value, between(low, high))


def between(low: float, high: float) -> Bilingual:
    return Bilingual(
        f"Choose a value from {low:,.10g} to {high:,.10g}.", f"请给出 {low:,.10g} 到 {high:,.10g} 之间的值。"
    )


def one_of(choices: Iterable[str]) -> Bilingual:
    listed = ", ".join(choices)
    return Bilingual(f"Choose one of {listed}.", f"可选：{listed}。")


def bad_value(name: str, value: object, remedy: Bilingual) -> AdvisorError:
    shown = value if isinstance(value, str) else f"{value:,.10g}" if isinstance(value, float | int) else repr(value)
    return AdvisorError(
        f"{name} cannot be {value!r}.",
        remedy.en,
        code="bad_value",
        values={"name": name, "value": shown, "advice": remedy.zh},
    )
