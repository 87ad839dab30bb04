"""Headroom tables that SONiC ships beside the formula: a pure comparison of the rows of eval/reference/lossless.csv.

The tables do not say with which traffic they were made; `lossless_mtu_bytes` and `small_packet_percent` of a row are
those with which the rule reproduces its switch's table (found by trying). Rules:
- current: the formula of app/fabric/lossless.py;
- unrounded: its cell ratio not rounded up, as in earlier releases, with a constant added;
- constant-peer: before pause quanta, the peer response was 3.8 KiB at every speed and every packet was small;
- other: no formula is published; computed is what can arrive (MTU, cable, peer), before any cell overhead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.fabric.lossless import KIB, Pattern, bytes_on_cable, headroom, peer_response_bytes, round_up
from app.fabric.lossless_catalog import LosslessData

FORMER_PEER_KIB = 3.8  # asic_table.j2, peer_response_time


@dataclass(frozen=True, slots=True)
class HeadroomRow:
    """One published headroom in bytes beside ours."""

    id: str
    asic: str
    rule: str
    published: int
    computed: int
    explanation: str
    source: str
    date: str

    @property
    def difference(self) -> int:
        return self.computed - self.published

    @property
    def unexplained(self) -> bool:
        return self.difference != 0 and not self.explanation

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"difference": self.difference}

    def line(self) -> str:
        verdict = "" if not self.difference else f" ({self.explanation or 'UNEXPLAINED'})"
        return f"{self.id}: xoff published {self.published:,}, computed {self.computed:,} by rule {self.rule}{verdict}"


def validate_lossless(rows: Iterable[Mapping[str, str]], data: LosslessData) -> list[HeadroomRow]:
    """Every published headroom beside the computed one."""
    return [
        HeadroomRow(
            id=row["id"],
            asic=row["asic"],
            rule=row["rule"],
            published=int(row["xoff_bytes"]),
            computed=_computed(row, data),
            explanation=row["explained"],
            source=row["source"],
            date=row["date"],
        )
        for row in rows
    ]


def _computed(row: Mapping[str, str], data: LosslessData) -> int:
    formula, asic = data.formula, data.asics[row["asic"]]
    gbps, cable_m, mtu = int(row["gbps"]), float(row["cable_m"]), int(row["port_mtu_bytes"])
    cable, peer = bytes_on_cable(formula, gbps, cable_m), peer_response_bytes(formula, gbps)
    if row["rule"] == "other":
        return round_up(mtu + cable + peer)
    lossless_mtu, small = int(row["lossless_mtu_bytes"]), float(row["small_packet_percent"])
    if row["rule"] == "current":
        pattern = Pattern(row["id"], lossless_mtu, small, asic.source)
        return headroom(formula, asic, pattern, gbps=gbps, cable_m=cable_m, port_mtu_bytes=mtu).xoff_bytes
    cell_ratio = (asic.cell_bytes or 0) / formula.minimal_packet_bytes
    if row["rule"] == "constant-peer":
        peer, share = round(FORMER_PEER_KIB * KIB), small / 100
    else:
        smallest = formula.minimal_packet_bytes
        share = 100 * smallest / (small * smallest + (100 - small) * lossless_mtu)
    propagation = mtu + cable + asic.mac_phy_kib * KIB + peer
    return round_up(lossless_mtu + propagation * (1 + share * (cell_ratio - 1))) + int(row["extra_bytes"])
