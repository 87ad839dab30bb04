"""Reads inference.yaml of the catalog into the typed ServingData."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from app.errors import AdvisorError
from app.fabric.accelerator import Rate
from app.fabric.calculation import Source
from app.fabric.estimate import Estimate
from app.fabric.inference_data import ExpertLatency, ExpertTable, ServingData

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RATES = ("prefill_share", "memory_share", "usable_memory", "enough_transfer", "enough_load")
_TRANSFER = ("rdma_share", "start_ms", "tcp_share", "tcp_node_gbytes_per_s")


def load_serving(folder: Path) -> ServingData:
    """The constants in `folder` (knowledge/catalog, or the knowledge folder around it); cached.

    Raises AdvisorError that names the file.
    """
    inner = folder / "catalog"
    return _load((inner if inner.is_dir() else folder).resolve())


@lru_cache(maxsize=8)
def _load(folder: Path) -> ServingData:
    path = folder / "inference.yaml"
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
        sources = {
            id: Source(**{key: str(value) for key, value in row.items()}) for id, row in content["sources"].items()
        }
        rates = {name: _rate(content[name], sources) for name in _RATES}
        rates |= {name: _rate(content["kv_transfer"][name], sources) for name in _TRANSFER}
        return ServingData(**rates, experts=_experts(content["moe_latency"], sources))
    except FileNotFoundError:
        raise AdvisorError(f"The catalog file {path.name} is missing.", "Restore it from the repository.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        detail = f"missing {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise AdvisorError(
            f"Bad data in catalog/{path.name}: {detail}.",
            "Correct that entry.",
            code="bad_catalog",
            values={"file": path.name, "row": "the file"},
        ) from None


def _rate(row: Mapping[str, Any], sources: Mapping[str, Source]) -> Rate:
    low, typical, high = (float(point) for point in row["range"])
    if low <= 0:
        raise ValueError(f"{low:g} must be above 0")
    return Rate(Estimate(low, typical, high), tuple(dict.fromkeys(sources[id] for id in row["sources"])))


def _experts(raw: Mapping[str, Any], sources: Mapping[str, Source]) -> ExpertTable:
    rows = tuple(
        ExpertLatency(int(row["gpus"]), float(row["dispatch_us"]), float(row["combine_us"])) for row in raw["rows"]
    )
    if [row.gpus for row in rows] != sorted({row.gpus for row in rows}):
        raise ValueError("the rows of moe_latency must ascend in GPUs")
    return ExpertTable(
        rows=rows,
        architecture=str(raw["architecture"]),
        nic_gbps_per_gpu=float(raw["nic_gbps_per_gpu"]),
        tokens=int(raw["tokens"]),
        hidden=int(raw["hidden"]),
        per_token=int(raw["per_token"]),
        source=sources[raw["source"]],
    )
