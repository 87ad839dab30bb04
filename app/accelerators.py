"""Reads accelerators.yaml and collectives.yaml of the catalog into the typed Accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from app.errors import AdvisorError
from app.fabric.accelerator import (
    Accelerator,
    Accelerators,
    CollectiveConstants,
    Compute,
    Latencies,
    Pipeline,
    Rate,
    StepLatency,
)
from app.fabric.calculation import Source
from app.fabric.estimate import Estimate

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = frozenset(("id", "name", "architecture", "aliases", "two_node_tree"))
_WHOLE = frozenset(("gpus_per_node", "domain_gpus", "nvls_gpus", "nics_per_node", "nic_gbps"))
_ASSUMED = frozenset(("ours", "secondary"))  # trust of a value that was taken from another GPU
_RELATIVE = ("all_to_all", "tree_without_nvls", "sharp")


def load_accelerators(folder: Path) -> Accelerators:
    """The accelerators in `folder` (knowledge/catalog, or the knowledge folder around it); cached.

    Raises AdvisorError that names the file and the entry of the first bad datum.
    """
    inner = folder / "catalog"
    return _load((inner if inner.is_dir() else folder).resolve())


@lru_cache(maxsize=8)
def _load(folder: Path) -> Accelerators:
    by_id = _read_accelerators(folder / "accelerators.yaml")
    names = {alias: one.id for one in by_id.values() for alias in one.aliases}
    constants = _read_constants(folder / "collectives.yaml")
    return Accelerators(MappingProxyType(by_id), constants, MappingProxyType(names))


def _read_accelerators(path: Path) -> dict[str, Accelerator]:
    content = _read_yaml(path)
    made: dict[str, Accelerator] = {}
    entry = "sources"
    try:
        sources = _sources(content)
        entry = "rows"
        for raw in content["rows"]:
            entry = str(raw["id"])
            if entry in made:
                raise ValueError("the id stands twice")
            made[entry] = _accelerator(raw, sources)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, entry, error) from None
    return made


def _accelerator(raw: Mapping[str, Any], sources: Mapping[str, Source]) -> Accelerator:
    values: dict[str, Any] = {key: raw[key] for key in _PLAIN if key in raw}
    values["aliases"] = tuple(str(alias).lower() for alias in raw.get("aliases", ()))
    used: dict[str, Source] = {}
    assumed: set[str] = set()
    for key, datum in raw.items():
        if key not in _PLAIN and key != "compute":
            number = float(datum["value"])
            if number <= 0:
                raise ValueError(f"{key} must be above 0")
            values[key] = int(number) if key in _WHOLE else number
            used[datum["source"]] = sources[datum["source"]]
            if sources[datum["source"]].trust in _ASSUMED and key.endswith("_gbytes_per_s"):
                assumed.add(key)
    if "compute" in raw:
        values["compute"] = Compute(**{**raw["compute"], "source": sources[raw["compute"]["source"]]})
    return Accelerator(**values, sources=tuple(used.values()), assumed=frozenset(assumed))


def _read_constants(path: Path) -> CollectiveConstants:
    content = _read_yaml(path)
    try:
        return _constants(content, _sources(content))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, "the file", error) from None


def _constants(content: Mapping[str, Any], sources: Mapping[str, Source]) -> CollectiveConstants:
    relative = content["relative_efficiency"]
    pipelines = {
        name: Pipeline(**{**row, "source": sources[row["source"]]}) for name, row in content["pipeline"].items()
    }
    latency_factors = {
        (kind, fabric): Rate(_estimate(row[fabric]), (sources[row["source"]],))
        for kind, row in content["latency_factor"].items()
        for fabric in ("infiniband", "roce")
    }
    efficiencies = {
        (tuning, fabric): Rate(_estimate(row["range"]), tuple(sources[id] for id in row["sources"]))
        for tuning, by_fabric in content["efficiency"].items()
        for fabric, row in by_fabric.items()
    }
    return CollectiveConstants(
        latencies=_latencies(content["latency"], sources),
        nic_efficiency=float(content["nic_efficiency"]["value"]),
        nic_source=sources[content["nic_efficiency"]["source"]],
        nvlink_pipeline=pipelines["nvlink"],
        rack_pipeline=pipelines["rack"],
        network_pipeline=pipelines["network"],
        latency_factors=MappingProxyType(latency_factors),
        start_us=MappingProxyType(
            {fabric: _estimate(content["start_us"][fabric]) for fabric in ("infiniband", "roce")}
        ),
        efficiencies=MappingProxyType(efficiencies),
        relative=MappingProxyType(
            {name: (float(relative[name]["value"]), sources[relative[name]["source"]]) for name in _RELATIVE}
        ),
        racks=tuple((float(domains), float(share)) for domains, share in relative["racks"]["points"]),
        racks_source=sources[relative["racks"]["source"]],
        busbw_source=sources["nccl-tests-performance"],
        assumed_plateau=Rate(
            _estimate(content["assumed_plateau"]["range"]), (sources[content["assumed_plateau"]["source"]],)
        ),
    )


def _latencies(raw: Mapping[str, Any], sources: Mapping[str, Source]) -> Latencies:
    collnet, peers = raw["collnet_direct"], raw["all_to_all"]
    return Latencies(
        ring_ll=StepLatency(**raw["ring"]["ll"]),
        ring_simple=StepLatency(**raw["ring"]["simple"]),
        tree_ll=StepLatency(**raw["tree"]["ll"]),
        tree_simple=StepLatency(**raw["tree"]["simple"]),
        nvls=StepLatency(**raw["nvls"]),
        nvls_tree=StepLatency(**raw["nvls_tree"]),
        collnet_direct=StepLatency(nvlink=collnet["nvlink"], net=collnet["net"]),
        collnet_per_gpu=collnet["per_gpu"],
        net_overhead_ll=raw["net_overhead"]["ll"],
        net_overhead_simple=raw["net_overhead"]["simple"],
        ring_plateau=raw["ring_plateau"],
        ll_one_node_gbytes_per_s=MappingProxyType(dict(raw["ll_one_node_gbytes_per_s"])),
        ll_two_nodes_gbytes_per_s=raw["ll_two_nodes_gbytes_per_s"],
        ll_more_nodes_gbytes_per_s=raw["ll_more_nodes_gbytes_per_s"],
        ll_tree_share=raw["ll_tree_share"],
        all_to_all=StepLatency(nvlink=peers["per_peer"], net=peers["net_per_domain"], base=peers["base"]),
        source=sources[raw["source"]],
    )


def _estimate(points: Any) -> Estimate:
    low, typical, high = (float(point) for point in points)
    if low <= 0:
        raise ValueError(f"{low:g} must be above 0")
    return Estimate(low, typical, high)


def _sources(content: Mapping[str, Any]) -> dict[str, Source]:
    return {id: Source(**{key: str(value) for key, value in row.items()}) for id, row in content["sources"].items()}


def _read_yaml(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise AdvisorError(f"The catalog file {path.name} is missing.", "Restore it from the repository.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _bad(path, "the file", error) from None
    if not isinstance(content, dict):
        raise _bad(path, "the file", ValueError("expected a mapping"))
    return content


def _bad(path: Path, entry: str, error: Exception) -> AdvisorError:
    detail = f"missing {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return AdvisorError(
        f"Bad data in catalog/{path.name}, {entry}: {detail}.",
        "Correct that entry.",
        code="bad_catalog",
        values={"file": path.name, "row": entry},
    )
