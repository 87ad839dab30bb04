"""Which modules and cable a link of some length and speed needs: copper when short, else fibre by reach."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from app.errors import AdvisorError
from app.fabric.catalog import Catalog, Switch

Ends = Literal["node", "switch"]
_TWIN = (800, 1600)  # cages whose module has two MPO connectors


@dataclass(frozen=True, slots=True)
class Media:
    """What one kind of link is made of. Empty names: nothing there (copper ends are part of the cable).

    `cable_w` is the power of one cable's active ends, `module_max_w` that of one switch module.
    """

    cable: str
    cables_per_link: float
    module: str
    module_max_w: float
    node_module: str
    links_per_node_module: int
    cable_w: float


def choose_media(
    catalog: Catalog,
    switch: Switch,
    link_gbps: int,
    metres: float,
    *,
    ends: Ends,
    twin: bool = False,
    nic_form: str = "OSFP",
) -> Media:
    """The cheapest class of cable that spans `metres` between a switch and a node, or between two switches.

    `twin`: the node has twin-port cages, one for two NICs. `nic_form`: the cage of the NIC otherwise. Raises
    AdvisorError if nothing reaches that far.
    """
    return _choose(catalog, switch.id, link_gbps, metres, ends, twin, nic_form)


@lru_cache(maxsize=1024)
def _choose(
    catalog: Catalog, id: str, link_gbps: int, metres: float, ends: Ends, twin: bool, nic_form: str
) -> Media:
    switch = catalog.switches[id]
    per_cage, cage, link = switch.links_per_cage(link_gbps), switch.cage_gbps, link_gbps
    use = "switch-node" if ends == "node" else "switch-switch"
    for cable in catalog.cables.values():
        fits = cable.kind == "copper" and cable.use == use and cable.cage_gbps == cage and per_cage == 2
        if fits and metres <= cable.reach_m and not (twin and ends == "node"):
            watts = cable.switch_end_w + (2 * cable.node_end_w if ends == "node" else cable.switch_end_w)
            return Media(cable.id, 0.5, "", 0.0, "", 1, watts)
    modules = [
        o
        for o in catalog.optics.values()
        if o.end == "switch" and o.cage_gbps == cage and o.reach_m >= metres
    ]
    for module in modules:
        mpos = 2 if cage in _TWIN and module.fiber != "lc" else 1
        if module.fiber == "lc":
            mpos = 2
        links_per_fiber = per_cage / mpos
        if ends == "switch":
            cable_id = _straight(module.fiber)
            return Media(cable_id, 1 / links_per_fiber, module.id, module.power_max_w, "", 1, 0.0)
        node = _node_module(catalog, module.id, module.fiber, link, cage, metres, twin, nic_form)
        if node is None:
            continue
        cable_id = f"mpo12-split-{module.fiber}" if links_per_fiber == 2 else _straight(module.fiber)
        fiber = catalog.cables.get(cable_id)
        if fiber is None or metres > fiber.reach_m:
            continue
        return Media(
            cable_id,
            1 / links_per_fiber,
            module.id,
            module.power_max_w,
            node,
            2 if twin and link == 400 else 1,
            0.0,
        )
    raise AdvisorError(
        f"No cable in the catalog spans {metres:g} m at {link}G between {switch.name} and a {ends}.",
        "Shorten the link, or choose another switch.",
        code="no_cable",
        values={"metres": f"{metres:g}", "gbps": link, "switch": switch.name},
    )


def _straight(fiber: str) -> str:
    return "lc-os2" if fiber == "lc" else f"mpo12-{fiber}"


def _node_module(
    catalog: Catalog,
    switch_module: str,
    fiber: str,
    link: int,
    cage: int,
    metres: float,
    twin: bool,
    nic_form: str,
) -> str | None:
    """The module in the NIC (or twin-port node cage) that speaks to a switch module of this fibre.

    Where the catalog has none of the NIC's form for this fibre, that of another form stands for it.
    """
    if (twin and link == 400 and cage == 800) or (link == 800 and cage == 800):
        return switch_module
    wanted = 800 if link == 800 else 400
    fitting = [
        optic
        for optic in catalog.optics.values()
        if optic.end == "node" and optic.cage_gbps == wanted and optic.fiber == fiber and optic.reach_m >= metres
    ]
    return min(fitting, key=lambda optic: optic.form != nic_form).id if fitting else None
