"""What is published about lossless Ethernet, as read from knowledge/catalog/lossless.yaml: data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.fabric.calculation import Bilingual, Source
from app.fabric.lossless import Asic, Formula, Pattern


@dataclass(frozen=True, slots=True)
class ShippedTable:
    """xoff bytes that SONiC ships for a switch: speed in Gbit/s -> cable length in metres -> bytes."""

    switch: str
    asic: str
    xoff_bytes: Mapping[int, Mapping[int, int]]
    source: Source


@dataclass(frozen=True, slots=True)
class Threshold:
    """ECN marking of one source. `gbps` empty: any speed. kmin and kmax None: given in another unit, see `note`.

    `lossless` False: the source marks lossy queues with it, so that no PFC stands behind.
    """

    id: str
    name: str
    platform: str
    gbps: tuple[int, ...]
    deep_buffer: bool
    lossless: bool
    kmin_bytes: int | None
    kmax_bytes: int | None
    source: Source
    note: Bilingual
    pmax_percent: float | None = None


@dataclass(frozen=True, slots=True)
class Convention:
    """Priorities of one platform. A code point is None where the source names only the class."""

    platform: str
    name: str
    roce_dscp: str | None
    roce_class: str
    pfc: str
    cnp_dscp: str | None
    cnp_class: str
    source: Source
    note: Bilingual


@dataclass(frozen=True, slots=True)
class NcclSetting:
    name: str
    default: str
    source: Source
    note: Bilingual


@dataclass(frozen=True, slots=True)
class NcclDefaults:
    timeout_unit_us: float
    timeout_exponent: int
    retries: int
    settings: tuple[NcclSetting, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class LosslessDefaults:
    """What is assumed where the user says nothing."""

    round_trip_us: float
    rdma_mtu_bytes: int
    port_mtu_bytes: int
    loss: float
    source: Source


@dataclass(frozen=True, slots=True)
class LosslessData:
    """Everything of lossless.yaml. The first pattern is the default; the others bound the range."""

    formula: Formula
    patterns: tuple[Pattern, ...]
    asics: Mapping[str, Asic]
    tables: tuple[ShippedTable, ...]
    thresholds: tuple[Threshold, ...]
    conventions: tuple[Convention, ...]
    nccl: NcclDefaults
    defaults: LosslessDefaults
    ecn_rule: Source
    alpha_rule: Source

    @property
    def platforms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.platform for one in self.conventions))
