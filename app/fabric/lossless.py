"""The physics of a lossless Ethernet class: PFC headroom, what go-back-N costs under loss, DSCP and traffic class.

The headroom follows SONiC's buffer_headroom_mellanox.lua, which quotes the pause quanta of IEEE 802.3 31B.3.7. It
holds for ASICs whose cell size is known; others have shipped tables only. Nothing here knows of vendors' defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from app.fabric.calculation import Source

KIB = 1024
DSCP_BITS = 2  # the two low bits of the traffic class byte are ECN


@dataclass(frozen=True, slots=True)
class Formula:
    """Constants of the headroom formula. `pause_quanta`: link speed in Gbit/s -> pause quanta of the peer."""

    light_m_per_s: float
    minimal_packet_bytes: int
    quantum_bytes: int
    tile_bits_per_mbps: float
    pause_quanta: Mapping[int, int]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Asic:
    """A switch chip. `cell_bytes` None: the formula does not apply, see the shipped tables."""

    id: str
    name: str
    fastest_gbps: int
    deep_buffer: bool
    source: Source
    cell_bytes: int | None = None
    mac_phy_kib: float = 0.0
    pipeline_kib: float = 0.0
    tile: bool = False
    extra_kib: int = 0
    eight_lane_gbps: int | None = None  # speed of its ports that use eight lanes


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the lossless class is assumed to carry: its MTU, and the share of 64-byte packets by number."""

    id: str
    lossless_mtu_bytes: int
    small_packet_percent: float
    source: Source


@dataclass(frozen=True, slots=True)
class Headroom:
    """Headroom of one priority on one port, with every term (bytes) that enters it."""

    bytes_on_cable: float
    peer_response_bytes: int
    mac_phy_bytes: float
    tile_bytes: float
    propagation_bytes: float
    cell_occupancy: float
    xoff_bytes: int
    xon_bytes: int
    size_bytes: int


def bytes_on_cable(formula: Formula, gbps: float, cable_m: float) -> float:
    """Bytes in flight on a cable, there and back: 2 * length * speed / (8 * speed of light in it)."""
    return 2 * cable_m * gbps * 1e9 / (8 * formula.light_m_per_s)


def peer_response_bytes(formula: Formula, gbps: int) -> int:
    """Bytes that the neighbour may still send before it obeys a pause (IEEE 802.3 31B.3.7)."""
    return formula.pause_quanta[gbps] * formula.quantum_bytes


def cell_occupancy(formula: Formula, cell_bytes: int, pattern: Pattern) -> float:
    """Buffer taken over bytes received, because a packet fills whole cells; as SONiC's script computes it.

    The script takes 100 * 64 / (mean packet) for the share of small packets by bytes; it does not weigh that by
    their number, so a share of 50% counts as if all packets were small in the numerator.
    """
    smallest = formula.minimal_packet_bytes
    ratio = cell_bytes / smallest if cell_bytes > 2 * smallest else 2 * cell_bytes / (1 + cell_bytes)
    small = pattern.small_packet_percent
    mean_packet = (small * smallest + (100 - small) * pattern.lossless_mtu_bytes) / 100
    by_bytes = 100 * smallest / mean_packet
    return (100 - by_bytes + by_bytes * ceil(ratio)) / 100


def headroom(
    formula: Formula,
    asic: Asic,
    pattern: Pattern,
    *,
    gbps: int,
    cable_m: float,
    port_mtu_bytes: int,
) -> Headroom:
    """Headroom without a shared headroom pool: size = xoff + xon (and one MTU more on ports of eight lanes).

    Raises ValueError for an ASIC without a cell size. No gearbox delay is included.
    """
    if asic.cell_bytes is None:
        raise ValueError(f"{asic.id} has no cell size: the formula does not apply")
    cable, peer = bytes_on_cable(formula, gbps, cable_m), peer_response_bytes(formula, gbps)
    mac_phy, eight_lanes = asic.mac_phy_kib * KIB, gbps == asic.eight_lane_gbps
    tile = gbps * 1000 * formula.tile_bits_per_mbps / 8 if asic.tile else 0.0
    propagation = port_mtu_bytes + cable + mac_phy + peer + tile
    occupancy = cell_occupancy(formula, asic.cell_bytes, pattern)
    xoff = round_up(pattern.lossless_mtu_bytes + propagation * occupancy) + asic.extra_kib * KIB
    xon = round_up(asic.pipeline_kib * KIB * (2 if eight_lanes else 1))
    size = round_up(xoff + xon + (port_mtu_bytes if eight_lanes else 0))
    return Headroom(cable, peer, mac_phy, tile, propagation, occupancy, xoff, xon, size)


def round_up(byte_count: float) -> int:
    """Up to whole KiB. Sums that differ from a whole KiB by rounding error only stay there."""
    return ceil(round(byte_count / KIB, 9)) * KIB


def interpolated(xoff_bytes_by_metres: Mapping[int, int], cable_m: float) -> int | None:
    """Headroom from a shipped table: straight lines between its lengths, its first below them, None beyond."""
    lengths = sorted(xoff_bytes_by_metres)
    if cable_m > lengths[-1]:
        return None
    if cable_m <= lengths[0]:
        return xoff_bytes_by_metres[lengths[0]]
    above = next(length for length in lengths if length >= cable_m)
    below = lengths[lengths.index(above) - 1]
    low, high = xoff_bytes_by_metres[below], xoff_bytes_by_metres[above]
    return ceil(low + (high - low) * (cable_m - below) / (above - below))


def packets_in_flight(gbps: float, round_trip_us: float, packet_bytes: int) -> float:
    """Packets sent during one round trip."""
    return gbps * 1e3 * round_trip_us / 8 / packet_bytes


def go_back_n_efficiency(loss: float, in_flight: float) -> float:
    """Share of the line rate that is useful when every lost packet makes the window be sent again.

    (1 - p) / (1 - p + p W), p the loss probability of a packet and W the packets in flight. Time-outs come on top.
    """
    return (1 - loss) / (1 - loss + loss * in_flight)


def ack_timeout_s(unit_us: float, exponent: int) -> float:
    """Local ACK time-out of an InfiniBand or RoCE queue pair: unit * 2^exponent."""
    return unit_us * 2.0**exponent / 1e6


def dscp_of(traffic_class: int) -> int:
    """DSCP of a traffic class byte such as NCCL_IB_TC: its upper six bits."""
    return traffic_class >> DSCP_BITS


def traffic_class_of(dscp: int) -> int:
    """Traffic class byte of a DSCP with the ECN bits at zero; the NIC sets those itself."""
    return dscp << DSCP_BITS


def pause_point_bytes(shared_bytes: float, alpha: float, congested: int) -> float:
    """Where a priority group is paused in steady state, if `congested` of them share a buffer of dynamic threshold.

    Each may take alpha times what is free: T = alpha (B - n T), so T = alpha B / (1 + n alpha).
    """
    return alpha * shared_bytes / (1 + congested * alpha)
