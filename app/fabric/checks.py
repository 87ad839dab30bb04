"""Refuses bad input to the sizing with one line that names the limit and the nearest possibility."""

from __future__ import annotations

from math import isfinite

from app.errors import AdvisorError
from app.fabric.catalog import Catalog, Switch

SPEEDS = (100, 200, 400, 800)


def link_speed(gbps_per_gpu: int, planes: int, nics_per_gpu: float) -> int:
    link = gbps_per_gpu / planes / nics_per_gpu
    if link not in SPEEDS:
        raise bad_value(
            "gbps_per_gpu",
            gbps_per_gpu,
            f"With {planes} plane(s) and {nics_per_gpu:g} NIC(s) per GPU choose one of "
            f"{', '.join(f'{speed * planes * nics_per_gpu:g}' for speed in SPEEDS)}.",
        )
    return int(link)


def check_switch(catalog: Catalog, row: Switch, fabric: str, link_gbps: int) -> None:
    fit = [one.id for one in catalog.switches.values() if one.fabric == fabric and one.radix(link_gbps)]
    if row.fabric != fabric:
        raise AdvisorError(
            f"{row.name} is not a switch for {fabric} (it is for {row.fabric}).",
            f"Choose one of {', '.join(fit)}.",
            code="switch_of_other_fabric",
            values={"switch": row.id, "fabric": fabric, "choices": ", ".join(fit)},
        )
    if not row.radix(link_gbps):
        raise AdvisorError(
            f"{row.name} has no {link_gbps}G ports (its fastest are {max(row.ports)}G).",
            f"Choose one of {', '.join(fit)}, or split the bandwidth over more planes or NICs.",
            code="bad_value",
            values={"name": "switch", "value": row.id, "choices": ", ".join(fit)},
        )


def out_of_range(
    catalog: Catalog, gpus: int, row: Switch, limit: int, fabric: str, link_gbps: int
) -> AdvisorError:
    values: dict[str, object] = {"gpus": gpus, "limit": limit, "switch": row.id}
    if gpus < 1:
        return AdvisorError(
            f"A cluster has at least 1 GPU, not {gpus}.",
            f"Give a number from 1 to {limit:,} (the most that three tiers of {row.name} carry).",
            code="gpus_out_of_range",
            values=values,
        )
    reach = {
        other.id: other.radix(link_gbps) ** 3 // 4
        for other in catalog.switches.values()
        if other.fabric == fabric and other.radix(link_gbps) > row.radix(link_gbps)
    }
    enough = sorted((size, id) for id, size in reach.items() if size >= gpus)
    if enough:
        advice = f"or a switch of larger radix: {enough[0][1]} carries {enough[0][0]:,}"
    elif reach:
        best = max(reach, key=lambda id: reach[id])
        advice = f"or the largest radix in the catalog: {best} carries {reach[best]:,}"
    else:
        advice = "or build several separate clusters"
    return AdvisorError(
        f"{gpus:,} GPUs are more than the {limit:,} that three tiers of {row.name} carry (radix "
        f"{row.radix(link_gbps)}).",
        f"Use at most {limit:,} GPUs, {advice}.",
        code="gpus_out_of_range",
        values=values,
    )


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise bad_value(name, value, f"Choose one of {', '.join(choices)}.")


def check_range(name: str, value: float, low: float, high: float) -> None:
    if not isfinite(value) or not low <= value <= high:
        raise bad_value(name, value, f"Choose a value from {low:g} to {high:g}.")


def bad_value(name: str, value: object, remedy: str) -> AdvisorError:
    return AdvisorError(
        f"{name} cannot be {value!r}.", remedy, code="bad_value", values={"name": name, "value": str(value)}
    )
