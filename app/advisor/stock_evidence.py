"""The calculation for growth on switches that are there, from a cluster as it was said."""

from __future__ import annotations

import re
from typing import Any

from app.advisor.spec import ClusterSpec
from app.advisor.vocabulary import vocabulary
from app.fabric.calculation import Calculation
from app.fabric.catalog import Catalog
from app.fabric.stock import StockPlan, plan_stock
from app.fabric.topology import Fabric

_PRODUCT = re.compile(r"[A-Za-z]+-?\d[\w-]*")


def growth_calculation(spec: ClusterSpec, text: str, catalog: Catalog) -> Calculation:
    """What breaks at `spec.gpus` GPUs on the switches of `spec.keep`; without a number, at the most that they carry.

    A fabric that the question's text names alone is what is planned, whatever the switches are.
    """
    prose = _PRODUCT.sub(" ", text)  # "QM9700" names a switch, not what is planned
    fabrics = {name for name, pattern in vocabulary().fabrics.items() if pattern.search(prose)}
    named: Fabric | None = None
    if len(fabrics & {"infiniband", "roce"}) == 1:
        named = "infiniband" if "infiniband" in fabrics else "roce"
    there = spec.gpus_there or 0

    def at(gpus: int) -> StockPlan:
        design: dict[str, Any] = {
            "gpus_per_node": spec.gpus_per_node,
            "gbps_per_gpu": spec.gbps_per_gpu,
            "planes": spec.planes,
            "topology": "fat-tree" if spec.topology == "fat-tree" else "rail-optimized",
            "oversubscription": spec.oversubscription,
        }
        known = min(there, gpus)
        return plan_stock(
            catalog, keep=spec.keep or "", add_gpus=gpus - known, gpus_there=known, fabric=named, **design
        )

    if spec.gpus is not None:
        return at(spec.gpus).calculation()
    return at(at(spec.gpus_per_node).max_gpus or spec.gpus_per_node).calculation()
