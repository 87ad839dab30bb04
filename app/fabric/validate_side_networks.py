"""Published storage, in-band and out-of-band networks beside ours: the rows of eval/reference/networks.csv."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.fabric.catalog import Catalog
from app.fabric.cost import Design
from app.fabric.side_bill import side_costs
from app.fabric.side_networks import size_side_networks
from app.fabric.terms import default_terms
from app.fabric.validate_fabrics import Row, published_figures

QUANTITIES = (
    "storage_switches",
    "storage_fibres",
    "storage_device_cables",
    "storage_switch_modules",
    "storage_node_modules",
    "in_band_switches",
    "in_band_node_cables",
    "in_band_leaf_core_cables",
    "in_band_peer_cables",
    "in_band_site_cables",
    "oob_switches",
    "oob_node_cables",
    "oob_fabric_switch_cables",
    "oob_server_cables",
    "oob_power_strip_cables",
    "oob_uplinks",
)


def validate_side_networks(rows: Iterable[Mapping[str, str]], catalog: Catalog) -> list[Row]:
    """Every stated figure beside the computed one. Raises AdvisorError where a design is impossible."""
    return [found for row in rows for found in published_figures(row, QUANTITIES, _computed(row, catalog))]


def _computed(row: Mapping[str, str], catalog: Catalog) -> dict[str, int]:
    gpus = int(row["nodes"]) * 8
    compute = Design(
        gpus=gpus,
        fabric=row["fabric"],  # type: ignore[arg-type]
        switch=row["switch"],
        reserved_ports=int(row["reserved_ports"]),
    ).sized(catalog)
    networks = size_side_networks(catalog, compute, storage_links=int(row["storage_links"] or 0) or None)
    storage, in_band, out = networks.all()
    lines = side_costs(catalog, networks, default_terms(catalog, gpus, spares_percent=0.0))[0].lines

    def pieces(*items: str) -> int:
        return sum(line.quantity for line in lines if line.item in items)

    return {
        "storage_switches": storage.switches,
        "storage_fibres": pieces("mpo12-om4"),
        "storage_device_cables": storage.links["storage"],
        "storage_switch_modules": pieces("osfp-800-2xsr4"),
        "storage_node_modules": pieces("qsfp112-400-sr4"),
        "in_band_switches": in_band.switches,
        "in_band_node_cables": in_band.links["node_leaf"],
        "in_band_leaf_core_cables": in_band.links["leaf_core"],
        "in_band_peer_cables": in_band.links["between"],
        "in_band_site_cables": in_band.links["site"],
        "oob_switches": out.switches,
        "oob_node_cables": out.links["node"],
        "oob_fabric_switch_cables": out.links["fabric_switch"],
        "oob_server_cables": out.links["server"],
        "oob_power_strip_cables": out.links["power_strip"],
        "oob_uplinks": out.links["uplink"],
    }
