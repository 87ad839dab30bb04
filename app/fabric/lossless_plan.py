"""What to set on a RoCE link: headroom, ECN thresholds, priorities and NCCL variables, each with its sources.

ECN thresholds are a range over sources; no single value is called right. A plan has five parts, each a Calculation
of its own label; `calculation` joins them into one for the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Calculation, Scalar, Source, Value
from app.fabric.checks import check_choice, check_range
from app.fabric.estimate import Estimate
from app.fabric.lossless import (
    Pattern,
    ack_timeout_s,
    bytes_on_cable,
    dscp_of,
    go_back_n_efficiency,
    packets_in_flight,
    pause_point_bytes,
    peer_response_bytes,
    traffic_class_of,
)
from app.fabric.lossless_catalog import LosslessData, Threshold
from app.fabric.lossless_headroom import REFERENCE_FAMILY, Link, check_link, headrooms, published
from app.fabric.lossless_notes import ecn_notes, headroom_notes, loss_notes, nccl_notes, priority_notes
from app.fabric.lossless_rows import Row, ecn_rows, headroom_rows, nccl_rows, priority_rows

Part = Literal["headroom", "ecn", "priority", "loss", "nccl"]
PARTS: tuple[Part, ...] = ("headroom", "ecn", "priority", "loss", "nccl")
INPUTS: Mapping[Part, tuple[str, ...]] = {
    "headroom": ("gbps", "cable_m", "mtu", "switch_family", "lossless_mtu", "small_packet_percent"),
    "ecn": ("gbps", "switch_family", "pause_point", "shared_buffer"),
    "priority": ("platform", "dscp", "traffic_class"),
    "loss": ("gbps", "loss"),
    "nccl": (),
}
LOSSES = (1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user gave; None takes the catalog's default. Sizes in bytes, speeds in Gbit/s.

    `pause_point`: queue depth at which the switch pauses the peer; or `shared_buffer` with `alpha` (dynamic
    threshold) and the number of `congested` priority groups, from which it follows.
    """

    gbps: int
    cable_m: float
    mtu: int | None = None
    switch_family: str | None = None
    platform: str | None = None
    lossless_mtu: int | None = None
    small_packet_percent: float | None = None
    loss: float | None = None
    round_trip_us: float | None = None
    rdma_mtu: int | None = None
    dscp: int | None = None
    traffic_class: int | None = None
    pause_point: int | None = None
    shared_buffer: int | None = None
    alpha: float = 1.0
    congested: int = 1


@dataclass(frozen=True, slots=True)
class LosslessPlan:
    data: LosslessData
    asked: Asked
    link: Link

    def calculation(self) -> Calculation:
        """All parts in one; each row says in `part` where it belongs."""
        parts = [self.part(name) for name in PARTS]
        values: dict[str, Value] = {}
        for one in parts:
            values |= one.values
        return Calculation(
            tool="lossless",
            inputs=_inputs(self.asked, self.link),
            values=values,
            assumptions=tuple(dict.fromkeys(note for one in parts for note in one.assumptions)),
            sources=tuple(dict.fromkeys(source for one in parts for source in one.sources)),
            rows=tuple({"part": one.label, **row} for one in parts for row in one.rows),
        )

    def part(self, name: Part) -> Calculation:
        made = {
            "headroom": self._headroom,
            "ecn": self._ecn,
            "priority": self._priority,
            "loss": self._loss,
            "nccl": self._nccl,
        }
        return made[name]()

    def _headroom(self) -> Calculation:
        link, formula = self.link, self.data.formula
        values = {
            "bytes_on_cable": Value(round(bytes_on_cable(formula, link.gbps, link.cable_m)), "B"),
            "peer_response_bytes": Value(peer_response_bytes(formula, link.gbps), "B"),
        }
        found = headrooms(self.data, link)
        typical = next((one for one in found if one.asic.id == (link.family or REFERENCE_FAMILY)), found[0])
        xoff = Estimate(
            min(one.xoff_bytes.low for one in found),
            typical.xoff_bytes.typical,
            max(one.xoff_bytes.high for one in found),
        )
        values["headroom_xoff_bytes"] = Value(int(xoff.typical), "B", xoff.low, xoff.high)
        if detail := typical.detail:
            values |= {
                "mac_phy_bytes": Value(round(detail.mac_phy_bytes), "B"),
                "tile_bytes": Value(round(detail.tile_bytes), "B"),
                "propagation_bytes": Value(round(detail.propagation_bytes), "B"),
                "cell_occupancy": Value(round(detail.cell_occupancy, 4), "ratio"),
                "headroom_xon_bytes": Value(detail.xon_bytes, "B"),
                "headroom_size_bytes": Value(detail.size_bytes, "B"),
            }
        origins = [*formula.sources, *(source for one in found for source in one.sources)]
        origins += [table.source for table, _, _ in published(self.data, link)]
        return self._part(
            "headroom", values, headroom_rows(self.data, link, found), headroom_notes(link, typical), origins
        )

    def _ecn(self) -> Calculation:
        chosen = [one for one in self.data.thresholds if self._applies(one)]
        stated = [one for one in chosen if one.kmin_bytes is not None and one.kmax_bytes is not None]
        values: dict[str, Value] = {}
        if stated:  # a range in words: no value within it is the right one
            values["ecn_kmin_bytes"] = _span([one.kmin_bytes or 0 for one in stated])
            values["ecn_kmax_bytes"] = _span([one.kmax_bytes or 0 for one in stated])
        pause = self.pause_point
        late: list[Threshold] = []
        if pause is not None:
            late = [one for one in stated if one.lossless and (one.kmax_bytes or 0) >= pause]
            values["pause_point_bytes"] = Value(round(pause), "B")
            values["ecn_sources_after_pfc"] = Value(len(late), "sources")
        origins = [*(one.source for one in chosen), self.data.ecn_rule]
        if self.asked.shared_buffer is not None:
            origins.append(self.data.alpha_rule)
        return self._part("ecn", values, ecn_rows(chosen, pause), ecn_notes(stated, late, pause), origins)

    def _priority(self) -> Calculation:
        chosen = [one for one in self.data.conventions if self.asked.platform in (None, one.platform)]
        values: dict[str, Value] = {}
        dscp, traffic_class = self.asked.dscp, self.asked.traffic_class
        if traffic_class is not None:
            dscp = dscp_of(traffic_class)
        elif dscp is not None:
            traffic_class = traffic_class_of(dscp)
        if dscp is not None and traffic_class is not None:
            values = {"roce_dscp": Value(dscp, "DSCP"), "nccl_ib_tc": Value(traffic_class, "traffic class")}
        sources = [*(one.source for one in chosen), self.data.nccl.source]
        return self._part("priority", values, priority_rows(chosen), priority_notes(traffic_class), sources)

    def _loss(self) -> Calculation:
        defaults = self.data.defaults
        rtt = defaults.round_trip_us if self.asked.round_trip_us is None else self.asked.round_trip_us
        mtu = self.asked.rdma_mtu or defaults.rdma_mtu_bytes
        loss = defaults.loss if self.asked.loss is None else self.asked.loss
        flight = packets_in_flight(self.link.gbps, rtt, mtu)
        values = {
            "packets_in_flight": Value(round(flight, 1), "packets"),
            "go_back_n_efficiency": Value(round(go_back_n_efficiency(loss, flight), 4), "ratio"),
        }
        rows = [
            {"lost_per_million": round(one * 1e6), "efficiency": round(go_back_n_efficiency(one, flight), 4)}
            for one in LOSSES
        ]
        return self._part("loss", values, rows, loss_notes(rtt, mtu, loss), [defaults.source])

    def _nccl(self) -> Calculation:
        nccl = self.data.nccl
        timeout = ack_timeout_s(nccl.timeout_unit_us, nccl.timeout_exponent)
        values = {
            "ack_timeout_s": Value(round(timeout, 3), "s"),
            "time_to_failure_s": Value(round(timeout * nccl.retries, 2), "s"),
        }
        return self._part("nccl", values, nccl_rows(nccl), nccl_notes(), [one.source for one in nccl.settings])

    @property
    def pause_point(self) -> float | None:
        asked = self.asked
        if asked.pause_point is not None or asked.shared_buffer is None:
            return asked.pause_point
        return pause_point_bytes(asked.shared_buffer, asked.alpha, asked.congested)

    def _applies(self, one: Threshold) -> bool:
        family = self.link.family
        deep_fits = not one.deep_buffer if family is None else self.data.asics[family].deep_buffer == one.deep_buffer
        generic = not one.gbps or self.link.gbps in one.gbps
        return generic and (deep_fits or (not one.deep_buffer and not one.gbps))

    def _part(
        self,
        name: Part,
        values: Mapping[str, Value],
        rows: Iterable[Row],
        notes: Iterable[Bilingual],
        sources: Iterable[Source],
    ) -> Calculation:
        return Calculation(
            tool="lossless",
            label=name,
            inputs={key: given for key, given in _inputs(self.asked, self.link).items() if key in INPUTS[name]},
            values=dict(values),
            assumptions=tuple(notes),
            sources=tuple(dict.fromkeys(sources)),
            rows=tuple(rows),
        )


def plan_lossless(data: LosslessData, asked: Asked) -> LosslessPlan:
    """Checks what was asked for. Raises AdvisorError on an impossible speed, length, family, platform or number."""
    given = asked.lossless_mtu is not None or asked.small_packet_percent is not None
    first = data.patterns[0]
    own = Pattern(
        "given",
        asked.lossless_mtu or first.lossless_mtu_bytes,
        first.small_packet_percent if asked.small_packet_percent is None else asked.small_packet_percent,
        data.defaults.source,
    )
    mtu = data.defaults.port_mtu_bytes if asked.mtu is None else asked.mtu
    patterns = (own,) if given else data.patterns
    link = Link(asked.gbps, asked.cable_m, mtu, patterns, asked.switch_family)
    check_link(data, link)
    if asked.platform is not None:
        check_choice("platform", asked.platform, data.platforms)
    for name, value, low, high in (
        ("loss", asked.loss, 0.0, 0.5),
        ("rtt_us", asked.round_trip_us, 0.1, 1e6),
        ("rdma_mtu", asked.rdma_mtu, 256, 16_384),
        ("dscp", asked.dscp, 0, 63),
        ("traffic_class", asked.traffic_class, 0, 255),
        ("pause_point", asked.pause_point, 1, 1e12),
        ("shared_buffer", asked.shared_buffer, 1, 1e12),
        ("alpha", asked.alpha, 1 / 128, 1024),
        ("congested", asked.congested, 1, 10_000),
    ):
        if value is not None:
            check_range(name, value, low, high)
    if None not in (asked.dscp, asked.traffic_class) and dscp_of(asked.traffic_class or 0) != asked.dscp:
        matching = traffic_class_of(asked.dscp or 0)
        raise AdvisorError(
            f"Traffic class {asked.traffic_class} is DSCP {dscp_of(asked.traffic_class or 0)}, not {asked.dscp}.",
            f"Give one of the two; DSCP {asked.dscp} is traffic class {matching}.",
            code="dscp_disagrees",
            values={
                "traffic_class": asked.traffic_class,
                "own": dscp_of(asked.traffic_class or 0),
                "dscp": asked.dscp,
                "matching": matching,
            },
        )
    headrooms(data, link)
    return LosslessPlan(data, asked, link)


def _inputs(asked: Asked, link: Link) -> dict[str, Scalar]:
    return {
        "gbps": link.gbps,
        "cable_m": link.cable_m,
        "mtu": link.port_mtu_bytes,
        "switch_family": link.family,
        "platform": asked.platform,
        "lossless_mtu": link.patterns[0].lossless_mtu_bytes,
        "small_packet_percent": link.patterns[0].small_packet_percent,
        "loss": asked.loss,
        "dscp": asked.dscp,
        "traffic_class": asked.traffic_class,
        "pause_point": asked.pause_point,
        "shared_buffer": asked.shared_buffer,
    }


def _span(sizes: list[int]) -> Value:
    low, high = min(sizes), max(sizes)
    return Value(f"{low:,}–{high:,}" if low < high else f"{low:,}", "B", low, high)
