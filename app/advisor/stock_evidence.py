"""The calculation for growth on switches that are there, from a cluster as it was said."""

from __future__ import annotations

import re
from typing import Any

from app.advisor.spec import ClusterSpec
from app.advisor.vocabulary import vocabulary
from app.fabric.accelerator import Accelerators
from app.fabric.calculation import Calculation
from app.fabric.catalog import Catalog
from app.fabric.stock import GpuKind, StockPlan, plan_stock
from app.fabric.topology import Fabric

_PRODUCT = re.compile(r"[A-Za-z]+-?\d[\w-]*")


def growth_calculation(spec: ClusterSpec, text: str, catalog: Catalog, gpus: Accelerators) -> Calculation:
    """What breaks at `spec.gpus` GPUs on the switches of `spec.keep`; without a number, at the most that they carry.

    A fabric that the question's text names alone is what is planned, whatever the switches are. `gpus` tell
    where the servers there and those added differ in network speed.
    """
    prose = _PRODUCT.sub(" ", text)  # "QM9700" names a switch, not what is planned
    fabrics = {name for name, pattern in vocabulary().fabrics.items() if pattern.search(prose)}
    named: Fabric | None = None
    if len(fabrics & {"infiniband", "roce"}) == 1:
        named = "infiniband" if "infiniband" in fabrics else "roce"
    there = spec.gpus_there or 0
    kinds = _two_speeds(spec, gpus) if there else None

    def at(number: int) -> StockPlan:
        design: dict[str, Any] = {
            "gpus_per_node": spec.gpus_per_node,
            "gbps_per_gpu": max(kind.gbps for kind in kinds) if kinds else spec.gbps_per_gpu,
            "kinds": kinds,
            "planes": spec.planes,
            "topology": "fat-tree" if spec.topology == "fat-tree" else "rail-optimized",
            "oversubscription": spec.oversubscription,
        }
        known = min(there, number)
        return plan_stock(
            catalog, keep=spec.keep or "", add_gpus=number - known, gpus_there=known, fabric=named, **design
        )

    if spec.gpus is not None:
        return at(spec.gpus).calculation()
    return at(at(spec.gpus_per_node).max_gpus or spec.gpus_per_node).calculation()


def _two_speeds(spec: ClusterSpec, gpus: Accelerators) -> tuple[GpuKind, GpuKind] | None:
    """The GPUs there and those added, where their servers differ in speed and nobody has said another."""
    if spec.gpu_model_there is None:
        return None
    there, added = (
        GpuKind(name.upper(), int(gpus.find(name).nic_gbps_per_gpu)) for name in (spec.gpu_model_there, spec.gpu_model)
    )
    return (there, added) if there.gbps != added.gbps and spec.gbps_per_gpu == added.gbps else None
