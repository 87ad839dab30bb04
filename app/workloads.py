"""Reads models.yaml and training.yaml of the catalog, and a model file of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Source
from app.fabric.estimate import Estimate
from app.fabric.goodput import Cause, FailureData
from app.fabric.stack import KINDS, Stack, Workloads
from app.fabric.transformer import Experts, LatentAttention, Transformer

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SIZES = ("layers", "hidden", "heads", "vocabulary", "sequence")
_KEYS = frozenset(
    (*_SIZES, "id", "name", "kv_heads", "head_size", "feedforward", "gated", "tied", "experts", "latent", "sources")
)


def load_workloads(folder: Path) -> Workloads:
    """Models and training constants in `folder` (knowledge/catalog, or the knowledge folder around it);
    cached.

    Raises AdvisorError that names the file and the entry of the first bad datum.
    """
    inner = folder / "catalog"
    return _load((inner if inner.is_dir() else folder).resolve())


def read_model(path: Path) -> Transformer:
    """A model of one's own: the keys of an entry of models.yaml at the top of a YAML file. Raises AdvisorError."""
    content = _read(path)
    try:
        return _model({"id": path.stem, "name": path.stem, **content, "sources": []}, {})
    except (KeyError, TypeError, ValueError) as error:
        raise _bad(path, "the model", error) from None


def load_failures(folder: Path) -> FailureData:
    """What goodput.yaml of the catalog in `folder` says of failures. Raises AdvisorError on bad data."""
    inner = folder / "catalog"
    path = (inner if inner.is_dir() else folder) / "goodput.yaml"
    content = _read(path)
    try:
        sources = _sources(content)
        total = sum(int(row["count"]) for row in content["causes"])
        rate = Estimate(*(float(point) for point in content["interruptions_per_million_gpu_hours"]["range"]))
        return FailureData(
            per_gpu_hour=rate * 1e-6,
            checkpoint_s=Estimate(*(float(point) for point in content["checkpoint_s"]["range"])),
            restart_s=Estimate(*(float(point) for point in content["restart_s"]["range"])),
            causes=tuple(
                Cause(row["id"], Bilingual(row["en"], row["zh"]), int(row["count"]) / total)
                for row in content["causes"]
            ),
            sources=tuple(sources.values()),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise _bad(path, "the file", error) from None


@lru_cache(maxsize=8)
def _load(folder: Path) -> Workloads:
    models = _read_models(folder / "models.yaml")
    path = folder / "training.yaml"
    content, entry = _read(path), "the file"
    try:
        sources = _sources(content)
        stacks = {}
        for entry, row in content["stacks"].items():
            stacks[entry] = _stack(entry, row, sources)
        entry = "the file"
        return Workloads(
            models=MappingProxyType(models),
            stacks=MappingProxyType(stacks),
            kernel_start_us=float(content["kernel_start_us"]["value"]),
            memory_share=float(content["memory_share"]["value"]),
            optimizer_bytes=float(content["optimizer_bytes"]["value"]),
            usable_memory=float(content["usable_memory"]["value"]),
            sources=tuple(sources.values()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, entry, error) from None


def _stack(id: str, row: Mapping[str, Any], sources: Mapping[str, Source]) -> Stack:
    exposed = {kind: float(row["exposed"][kind]) for kind in KINDS}
    if not all(0 <= share <= 1 for share in exposed.values()):
        raise ValueError("exposed shares lie between 0 and 1")
    return Stack(
        id=id,
        sustained=Estimate(*(float(point) for point in row["sustained"])),
        flash_share=MappingProxyType({name: float(value) for name, value in row["flash_share"].items()}),
        expert_layer_ms=float(row["expert_layer_ms"]),
        elementwise_passes=float(row["elementwise_passes"]),
        gradient_bytes=int(row["gradient_bytes"]),
        exposed=MappingProxyType(exposed),
        sources=tuple(sources[one] for one in row["sources"]),
    )


def _read_models(path: Path) -> dict[str, Transformer]:
    content, entry = _read(path), "sources"
    made: dict[str, Transformer] = {}
    try:
        sources = _sources(content)
        for row in content["models"]:
            entry = str(row["id"])
            if entry in made:
                raise ValueError("the id stands twice")
            made[entry] = _model(row, sources)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, entry, error) from None
    return made


def _model(row: Mapping[str, Any], sources: Mapping[str, Source]) -> Transformer:
    unknown = set(row) - _KEYS
    if unknown:
        raise ValueError(f"unknown key {sorted(unknown)[0]!r}")
    values = dict(row)
    heads, hidden = int(values["heads"]), int(values["hidden"])
    values.setdefault("kv_heads", heads)
    values.setdefault("head_size", hidden // heads)
    values.setdefault("feedforward", 4 * hidden)
    for key in (*_SIZES, "kv_heads", "head_size", "feedforward"):
        values[key] = int(values[key])
        if values[key] < 1:
            raise ValueError(f"{key} must be at least 1")
    if values.get("experts") is not None:
        values["experts"] = Experts(**{key: int(value) for key, value in values["experts"].items()})
    if values.get("latent") is not None:
        values["latent"] = LatentAttention(**{key: int(value) for key, value in values["latent"].items()})
    values["sources"] = tuple(sources[one] for one in values["sources"])
    return Transformer(**values)


def _sources(content: Mapping[str, Any]) -> dict[str, Source]:
    return {id: Source(**{key: str(value) for key, value in row.items()}) for id, row in content["sources"].items()}


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise AdvisorError(f"The file {path.name} is missing.", "Give the path of a YAML file.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _bad(path, "the file", error) from None
    if not isinstance(content, dict):
        raise _bad(path, "the file", ValueError("expected a mapping"))
    return content


def _bad(path: Path, entry: str, error: Exception) -> AdvisorError:
    detail = f"missing {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return AdvisorError(f"Bad data in {path.name}, {entry}: {detail}.", "Correct that entry.", code="bad_catalog")
