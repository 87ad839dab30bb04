"""Published fabric sizes beside ours: a pure comparison of the rows of eval/reference/fabrics.csv.

Each row gives a design's inputs and whichever counts its source states. Published cables may hold several
links (`links_per_cable`); ours are divided by that before they are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.fabric.bill import Bill, bill_of_materials
from app.fabric.catalog import Catalog
from app.fabric.topology import Topology, size_fabric


@dataclass(frozen=True, slots=True)
class Row:
    """One published figure. `computed` is None where the source does not say enough to compute it."""

    id: str
    design: str
    quantity: str
    published: int
    computed: int | None
    explanation: str
    note: str
    source: str
    date: str

    @property
    def difference(self) -> int | None:
        return None if self.computed is None else self.computed - self.published

    @property
    def matches(self) -> bool:
        return self.difference == 0

    @property
    def unexplained(self) -> bool:
        return not self.matches and not self.explanation

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"difference": self.difference}

    def line(self) -> str:
        """The row as one line of a report."""
        computed = "-" if self.computed is None else f"{self.computed:,}"
        verdict = "" if self.matches else f" ({self.explanation or 'UNEXPLAINED'})"
        return f"{self.design}: {self.quantity} published {self.published:,}, computed {computed}{verdict}"


def validate_fabrics(rows: Iterable[Mapping[str, str]], catalog: Catalog) -> list[Row]:
    """Every stated figure beside the computed one. Raises AdvisorError where a design is impossible."""
    return [found for row in rows for found in _figures(row, catalog)]


def _figures(row: Mapping[str, str], catalog: Catalog) -> list[Row]:
    return published_figures(row, QUANTITIES, _computed(row, catalog) if row["nodes"] else {})


def published_figures(row: Mapping[str, str], quantities: Iterable[str], computed: Mapping[str, int]) -> list[Row]:
    """A Row for each quantity that this row of a reference file states."""
    reasons = dict(_explained(row["explained"]))
    return [
        Row(
            id=row["id"],
            design=row["design"],
            quantity=quantity,
            published=int(row[quantity]),
            computed=computed.get(quantity),
            explanation=reasons.get(quantity, ""),
            note=row["note"],
            source=row["source"],
            date=row["date"],
        )
        for quantity in quantities
        if row[quantity] != ""
    ]


QUANTITIES = (
    "gpus",
    "tiers",
    "switches",
    "leaf",
    "spine",
    "core",
    "leaf_per_plane",
    "node_leaf_cables",
    "node_leaf_and_reserved_cables",
    "leaf_spine_cables",
    "spine_core_cables",
    "fibres",
    "switch_modules",
    "node_modules",
    "reserved_modules",
)


def _explained(text: str) -> Iterable[tuple[str, str]]:
    """'gpus: misprint; leaf: a rule of racks' -> pairs."""
    for part in text.split("; "):
        if ": " in part:
            quantity, reason = part.split(": ", 1)
            yield quantity, reason


def _computed(row: Mapping[str, str], catalog: Catalog) -> dict[str, int]:
    nodes, per_node = int(row["nodes"]), int(row["gpus_per_node"])
    sized = size_fabric(
        catalog,
        gpus=nodes * per_node,
        fabric=row["fabric"],  # type: ignore[arg-type]
        switch=row["switch"],
        gpus_per_node=per_node,
        gbps_per_gpu=int(row["gbps_per_gpu"]),
        planes=int(row["planes"]),
        topology=row["topology"],  # type: ignore[arg-type]
        oversubscription=float(row["oversubscription"]),
        whole_units=row["whole_units"] == "yes",
        reserved_ports=int(row["reserved_ports"]),
    )
    bill = bill_of_materials(
        catalog,
        sized,
        leaf_spine_m=float(row["leaf_spine_m"]),
        spine_core_m=float(row["leaf_spine_m"]),
        twin_port_nodes=row["twin_port_nodes"] == "yes",
        spares_percent=0,
    )
    return _counts(sized, int(row["links_per_cable"])) | _parts(bill)


def _counts(t: Topology, links_per_cable: int) -> dict[str, int]:
    return {
        "gpus": t.nodes * t.gpus_per_node,
        "tiers": t.tiers,
        "switches": t.switches,
        "leaf": t.leaf_switches,
        "spine": t.spine_switches,
        "core": t.core_switches,
        "leaf_per_plane": t.leaf_switches // t.planes,
        "node_leaf_cables": t.node_leaf_links // links_per_cable,
        "node_leaf_and_reserved_cables": (t.node_leaf_links + t.reserved_ports) // links_per_cable,
        "leaf_spine_cables": t.leaf_spine_links // links_per_cable,
        "spine_core_cables": t.spine_core_links // links_per_cable,
    }


def _parts(bill: Bill) -> dict[str, int]:
    """Modules and fibres of the bill, told apart by where they stand."""

    def pieces(category: str, *roles: str) -> int:
        lines = [line for line in bill.lines if line.category == category and line.role in roles]
        return sum(line.quantity for line in lines if not line.item.startswith(("dac", "acc")))

    return {
        "switch_modules": pieces("optics", "leaf", "spine", "core"),
        "node_modules": pieces("optics", "node"),
        "reserved_modules": pieces("optics", "reserved"),
        "fibres": pieces("cables", "node-leaf", "leaf-spine", "spine-core"),
    }
