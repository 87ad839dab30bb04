"""Reads lossless.yaml of the catalog: constants, shipped tables, thresholds and conventions of lossless Ethernet."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Source
from app.fabric.lossless import Asic, Formula, Pattern
from app.fabric.lossless_catalog import (
    Convention,
    LosslessData,
    LosslessDefaults,
    NcclDefaults,
    NcclSetting,
    ShippedTable,
    Threshold,
)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Sources = Mapping[str, Source]


def load_lossless(folder: Path) -> LosslessData:
    """What lossless.yaml says in `folder` (knowledge/catalog, or the knowledge folder around it); cached.

    Raises AdvisorError that names the section of the first bad datum.
    """
    inner = folder / "catalog"
    return _load((inner if inner.is_dir() else folder).resolve())


@lru_cache(maxsize=8)
def _load(folder: Path) -> LosslessData:
    path = folder / "lossless.yaml"
    content = _read(path)
    section = "sources"
    try:
        sources = {
            id: Source(**{key: str(value) for key, value in row.items()}) for id, row in content["sources"].items()
        }
        section = "formula"
        formula = _formula(content, sources)
        section = "patterns"
        patterns = tuple(Pattern(**_sourced(row, sources)) for row in content["patterns"])
        section = "asics"
        asics = {row["id"]: Asic(**_sourced(row, sources)) for row in content["asics"]}
        section = "tables"
        tables = tuple(_table(row, asics, sources) for row in content["tables"])
        section = "ecn"
        thresholds = tuple(_threshold(row, sources) for row in content["ecn"])
        section = "priorities"
        conventions = tuple(Convention(**_noted(row, sources)) for row in content["priorities"])
        section = "nccl"
        nccl = NcclDefaults(
            timeout_unit_us=float(content["nccl"]["timeout_unit_us"]),
            timeout_exponent=int(content["nccl"]["timeout_exponent"]),
            retries=int(content["nccl"]["retries"]),
            settings=tuple(NcclSetting(**_noted(row, sources)) for row in content["nccl"]["settings"]),
            source=sources[content["nccl"]["source"]],
        )
        section = "defaults"
        defaults = LosslessDefaults(**_sourced(content["defaults"], sources))
        section = "patterns"
        if not patterns or not asics:
            raise ValueError("the list is empty")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, section, error) from None
    return LosslessData(
        formula=formula,
        patterns=patterns,
        asics=MappingProxyType(asics),
        tables=tables,
        thresholds=thresholds,
        conventions=conventions,
        nccl=nccl,
        defaults=defaults,
        ecn_rule=sources["sonic-ecn-rule"],
        alpha_rule=sources["dynamic-alpha"],
    )


def _formula(content: Mapping[str, Any], sources: Sources) -> Formula:
    constants, quanta = dict(content["formula"]), content["pause_quanta"]
    used = dict.fromkeys((sources[constants.pop("source")], sources[quanta["source"]]))
    table = MappingProxyType({int(speed): int(count) for speed, count in quanta["values"].items()})
    return Formula(**constants, pause_quanta=table, sources=tuple(used))


def _table(row: Mapping[str, Any], asics: Mapping[str, Asic], sources: Sources) -> ShippedTable:
    values = _sourced(row, sources)
    if values["asic"] not in asics:
        raise ValueError(f"{values['switch']} has the unknown ASIC {values['asic']!r}")
    values["xoff_bytes"] = MappingProxyType(
        {
            int(speed): MappingProxyType({int(metres): int(size) for metres, size in lengths.items()})
            for speed, lengths in values["xoff_bytes"].items()
        }
    )
    return ShippedTable(**values)


def _threshold(row: Mapping[str, Any], sources: Sources) -> Threshold:
    made = Threshold(**{**_noted(row, sources), "gbps": tuple(row["gbps"])})
    if (made.kmin_bytes is None) != (made.kmax_bytes is None) or (made.kmin_bytes or 0) > (made.kmax_bytes or 0):
        raise ValueError(f"{made.id}: kmin and kmax do not fit together")
    return made


def _sourced(row: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    return {**row, "source": sources[row["source"]]}


def _noted(row: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    return {**_sourced(row, sources), "note": Bilingual(**row["note"])}


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _bad(path, "the file", error) from None
    if not isinstance(content, dict):
        raise _bad(path, "the file", ValueError("expected a mapping"))
    return content


def _bad(path: Path, section: str, error: Exception) -> AdvisorError:
    detail = f"missing {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return AdvisorError(
        f"Bad data in catalog/{path.name}, section {section}: {detail}.",
        "Correct that entry.",
        code="bad_catalog",
        values={"file": path.name, "row": section},
    )
