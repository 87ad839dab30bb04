"""Which switch to size with where the default of a fabric has too few ports for the cluster."""

from __future__ import annotations

from typing import Any

from app.errors import AdvisorError
from app.fabric.catalog import Catalog
from app.fabric.topology import Fabric, size_fabric


def switch_that_reaches(catalog: Catalog, *, gpus: int, fabric: Fabric, **design: Any) -> str | None:
    """None where the default switch carries the cluster, else the id of the one with the fewest ports that does.

    `design` takes the other arguments of size_fabric. Raises its AdvisorError where no switch of the catalog does.
    """
    try:
        size_fabric(catalog, gpus=gpus, fabric=fabric, **design)
    except AdvisorError as error:
        if error.code != "gpus_out_of_range" or gpus < 1:
            raise
        rows = [row for row in catalog.switches.values() if row.fabric == fabric and row.ports]
        for row in sorted(rows, key=lambda row: max(row.ports.values())):
            try:
                size_fabric(catalog, gpus=gpus, fabric=fabric, switch=row.id, **design)
            except AdvisorError:
                continue
            return row.id
        raise
    return None
