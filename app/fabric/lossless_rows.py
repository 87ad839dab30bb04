"""The tables of a lossless plan: one row a switch, source, platform or setting. `note_zh` is `note` in Chinese."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.fabric.calculation import Scalar
from app.fabric.lossless import traffic_class_of
from app.fabric.lossless_catalog import Convention, LosslessData, NcclDefaults, Threshold
from app.fabric.lossless_headroom import FamilyHeadroom, Link, published

Row = Mapping[str, Scalar]


def headroom_rows(data: LosslessData, link: Link, found: Iterable[FamilyHeadroom]) -> list[Row]:
    """Ours for every family, then what SONiC ships for this speed at the lengths of its tables."""
    rows: list[Row] = [
        {
            "name": one.asic.name,
            "method": "formula" if one.detail else "shipped table",
            "cable_m": link.cable_m,
            "xoff_bytes": int(one.xoff_bytes.typical),
            "low": int(one.xoff_bytes.low),
            "high": int(one.xoff_bytes.high),
            "source": one.sources[0].title,
        }
        for one in found
    ]
    for table, metres, size in published(data, link):
        rows.append(
            {
                "name": table.switch,
                "method": "published",
                "cable_m": metres,
                "xoff_bytes": size,
                "low": None,
                "high": None,
                "source": table.source.title,
            }
        )
    return rows


def ecn_rows(chosen: Iterable[Threshold], pause_point: float | None) -> list[Row]:
    return [
        {
            "name": one.name,
            "kmin_bytes": one.kmin_bytes,
            "kmax_bytes": one.kmax_bytes,
            "pmax_percent": one.pmax_percent,
            "pfc_behind": one.lossless,
            "ecn_before_pfc": _before(one, pause_point),
            "note": one.note.en,
            "note_zh": one.note.zh,
            "source": one.source.title,
        }
        for one in chosen
    ]


def priority_rows(chosen: Iterable[Convention]) -> list[Row]:
    return [
        {
            "name": one.name,
            "roce_dscp": one.roce_dscp,
            "nccl_ib_tc": _traffic_classes(one.roce_dscp),
            "roce_class": one.roce_class,
            "pfc": one.pfc,
            "cnp_dscp": one.cnp_dscp,
            "cnp_class": one.cnp_class,
            "note": one.note.en,
            "note_zh": one.note.zh,
            "source": one.source.title,
        }
        for one in chosen
    ]


def nccl_rows(nccl: NcclDefaults) -> list[Row]:
    return [
        {
            "name": one.name,
            "default": one.default,
            "note": one.note.en,
            "note_zh": one.note.zh,
            "source": one.source.title,
        }
        for one in nccl.settings
    ]


def _before(one: Threshold, pause_point: float | None) -> bool | None:
    """Whether ECN marks fully before PFC pauses; None where it was not asked, or no PFC stands behind."""
    if pause_point is None or one.kmax_bytes is None or not one.lossless:
        return None
    return one.kmax_bytes < pause_point


def _traffic_classes(dscps: str | None) -> str | None:
    """The NCCL_IB_TC of each: `3, 4` gives `12, 16`."""
    return dscps and ", ".join(str(traffic_class_of(int(one))) for one in dscps.split(","))
