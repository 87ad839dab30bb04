"""Reads the catalog's YAML files into the typed Catalog. The only place where the domain touches files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import yaml

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Source
from app.fabric.catalog import (
    NO_NOTE,
    Cable,
    Catalog,
    Default,
    Gpu,
    Nic,
    Optic,
    Price,
    Server,
    Service,
    Switch,
)
from app.fabric.estimate import Estimate

T = TypeVar("T")
Sources = Mapping[str, Source]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUSTS = frozenset(
    {"vendor", "standard", "paper", "source-code", "measurement", "secondary", "estimate", "article", "ours"}
)
_ZERO = (0.0, 0.0, 0.0)


def load_catalog(folder: Path) -> Catalog:
    """The catalog in `folder` (knowledge/catalog, or a knowledge folder that holds one); cached per folder.

    Raises AdvisorError that names the file and the row of the first bad datum.
    """
    inner = folder / "catalog"
    return _load((inner if inner.is_dir() else folder).resolve())


@lru_cache(maxsize=8)
def _load(folder: Path) -> Catalog:
    sources = _read_sources(folder / "sources.yaml")

    def rows(name: str, make: Callable[[dict[str, Any]], T], key: str = "id") -> Mapping[str, T]:
        return _read_rows(folder / f"{name}.yaml", make, key, sources)

    return Catalog(
        switches=rows("switches", _switch),
        nics=rows("nics", lambda row: Nic(**{**row, "fabrics": tuple(row["fabrics"])})),
        optics=rows("optics", lambda row: Optic(**row)),
        cables=rows("cables", lambda row: Cable(**row)),
        gpus=rows("gpus", lambda row: Gpu(**row)),
        servers=rows("servers", lambda row: Server(**row)),
        services=rows("services", lambda row: Service(**row)),
        prices=rows("prices", _price, "item"),
        defaults=rows("defaults", lambda row: Default(**{**row, "value": _estimate(row["value"])})),
        sources=sources,
    )


def _switch(row: dict[str, Any]) -> Switch:
    latency = row.pop("latency_ns", None)
    row["ports"] = MappingProxyType({int(speed): int(count) for speed, count in row["ports"].items()})
    if not row["ports"] or row["cages"] <= 0 or min(row["ports"].values()) < row["cages"]:
        raise ValueError("a switch needs ports, and at least one port in each cage")
    return Switch(**row, latency_ns=None if latency is None else _estimate(latency))


def _price(row: dict[str, Any]) -> Price:
    per_m = _estimate(row.pop("usd_per_m", _ZERO))
    return Price(**{**row, "usd": _estimate(row["usd"]), "usd_per_m": per_m})


def _estimate(points: Any) -> Estimate:
    low, typical, high = (float(point) for point in points)
    if low < 0:
        raise ValueError(f"negative value {low:g}")
    return Estimate(low, typical, high)


def _read_sources(path: Path) -> Sources:
    found: dict[str, Source] = {}
    for id, row in _read_yaml(path, dict).items():
        try:
            if row["trust"] not in _TRUSTS:
                raise ValueError(f"unknown trust {row['trust']!r}")
            found[id] = Source(**{key: str(value) for key, value in row.items()})
        except (TypeError, KeyError, ValueError) as error:
            raise _bad(path, id, error) from None
    return MappingProxyType(found)


def _read_rows(
    path: Path, make: Callable[[dict[str, Any]], T], key: str, sources: Sources
) -> Mapping[str, T]:
    content = _read_yaml(path, dict)
    if not isinstance(content.get("rows"), list):
        raise _bad(path, "rows", ValueError("expected a list under 'rows'"))
    made: dict[str, T] = {}
    for number, raw in enumerate(content["rows"], 1):
        name = str(raw.get(key, f"number {number}")) if isinstance(raw, dict) else f"number {number}"
        try:
            row = dict(raw)
            if not row.get("sources"):
                raise ValueError("no sources")
            row["sources"] = tuple(sources[id] for id in row["sources"])
            row["note"] = Bilingual(**row["note"]) if "note" in row else NO_NOTE
            if row[key] in made:
                raise ValueError("the id stands twice")
            made[row[key]] = make(row)
        except (TypeError, KeyError, ValueError) as error:
            raise _bad(path, name, error) from None
    return MappingProxyType(made)


def _read_yaml(path: Path, expected: type[T]) -> T:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise AdvisorError(
            f"The catalog file {path.name} is missing.", "Restore it, or set FABRIC_ADVISOR_KNOWLEDGE."
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _bad(path, "the file", error) from None
    if not isinstance(content, expected):
        raise _bad(path, "the file", ValueError(f"expected a {expected.__name__}"))
    return content


def _bad(path: Path, row: str, error: Exception) -> AdvisorError:
    detail = f"missing {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return AdvisorError(
        f"Bad data in catalog/{path.name}, row {row}: {detail}.",
        "Correct that row.",
        code="bad_catalog",
        values={"file": path.name, "row": row},
    )
