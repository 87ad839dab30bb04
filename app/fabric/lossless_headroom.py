"""PFC headroom of one port for one switch family, or the range over all of them: formula where it applies, else the
shipped tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.errors import AdvisorError
from app.fabric.calculation import Source
from app.fabric.checks import bad_value, between, check_choice, check_range, one_of
from app.fabric.estimate import Estimate
from app.fabric.lossless import Asic, Headroom, Pattern, headroom, interpolated
from app.fabric.lossless_catalog import LosslessData, ShippedTable

REFERENCE_FAMILY = "spectrum-4"  # typical where no family is named: the formula reproduces its shipped tables
LONGEST_M = 100_000


@dataclass(frozen=True, slots=True)
class Link:
    """One port and its cable. `patterns`: what the lossless class may carry, the typical one first."""

    gbps: int
    cable_m: float
    port_mtu_bytes: int
    patterns: tuple[Pattern, ...]
    family: str | None = None


@dataclass(frozen=True, slots=True)
class FamilyHeadroom:
    """Headroom of one family in bytes; `detail` holds the formula's terms, None where a table was read."""

    asic: Asic
    xoff_bytes: Estimate
    detail: Headroom | None
    sources: tuple[Source, ...]


def check_link(data: LosslessData, link: Link) -> None:
    """AdvisorError unless the speed has pause quanta, and length, MTU and family make sense."""
    if link.gbps not in data.formula.pause_quanta:
        raise bad_value("gbps", link.gbps, one_of(str(speed) for speed in sorted(data.formula.pause_quanta)))
    if not 0 < link.cable_m <= LONGEST_M:
        raise bad_value("cable_m", link.cable_m, between(0.5, LONGEST_M))
    check_range("mtu", link.port_mtu_bytes, 256, 16_384)
    for pattern in link.patterns:
        check_range("lossless_mtu", pattern.lossless_mtu_bytes, 256, 16_384)
        check_range("small_packet_percent", pattern.small_packet_percent, 0, 100)
    if link.family is None:
        return
    check_choice("switch_family", link.family, tuple(data.asics))
    asic = data.asics[link.family]
    if link.gbps > asic.fastest_gbps:
        raise AdvisorError(
            f"{asic.name} has no {link.gbps}G ports (its fastest are {asic.fastest_gbps}G).",
            f"Choose {asic.fastest_gbps}G or slower, or another switch family.",
            code="family_too_slow",
            values={"family": asic.name, "gbps": link.gbps, "fastest": asic.fastest_gbps},
        )


def headrooms(data: LosslessData, link: Link) -> tuple[FamilyHeadroom, ...]:
    """Of the family named, or of every family with data for this speed and length.

    Raises AdvisorError where the family named has no table that reaches so far.
    """
    families = [data.asics[link.family]] if link.family else list(data.asics.values())
    found = tuple(one for asic in families if (one := _of_family(data, link, asic)) is not None)
    if not found and link.family:
        raise _no_table(data, link)
    return found


def published(data: LosslessData, link: Link) -> Iterator[tuple[ShippedTable, int, int]]:
    """Rows of shipped tables for this speed (and family): table, metres, bytes."""
    for table in data.tables:
        if link.family in (None, table.asic):
            for metres, size in table.xoff_bytes.get(link.gbps, {}).items():
                yield table, metres, size


def _of_family(data: LosslessData, link: Link, asic: Asic) -> FamilyHeadroom | None:
    if link.gbps > asic.fastest_gbps:
        return None
    if asic.cell_bytes is not None:
        port = {"gbps": link.gbps, "port_mtu_bytes": link.port_mtu_bytes}
        made = [headroom(data.formula, asic, one, cable_m=link.cable_m, **port) for one in link.patterns]
        sizes = [one.xoff_bytes for one in made]
        origins = (*data.formula.sources, asic.source, *(pattern.source for pattern in link.patterns))
        return FamilyHeadroom(asic, Estimate(min(sizes), sizes[0], max(sizes)), made[0], tuple(dict.fromkeys(origins)))
    tables = [one for one in data.tables if one.asic == asic.id and link.gbps in one.xoff_bytes]
    read = [(interpolated(one.xoff_bytes[link.gbps], link.cable_m), one) for one in tables]
    sizes = [size for size, _ in read if size is not None]
    if not sizes:
        return None
    # the largest, since too little headroom loses packets; first of all those published for this very length
    exact = [one.xoff_bytes[link.gbps][int(link.cable_m)] for _, one in read if _states(one, link)]
    origins = tuple(dict.fromkeys(one.source for size, one in read if size is not None))
    return FamilyHeadroom(asic, Estimate(min(sizes), max(exact or sizes), max(sizes)), None, origins)


def _states(table: ShippedTable, link: Link) -> bool:
    return link.cable_m in table.xoff_bytes[link.gbps]


def _no_table(data: LosslessData, link: Link) -> AdvisorError:
    assert link.family
    asic = data.asics[link.family]
    known = [table for table in data.tables if table.asic == asic.id]
    speeds = sorted({speed for table in known for speed in table.xoff_bytes})
    reach = max((metres for _, metres, _ in published(data, link)), default=0)
    return AdvisorError(
        f"No shipped table gives the headroom of {asic.name} at {link.gbps}G and {link.cable_m:g} m.",
        f"Tables exist for {', '.join(f'{speed}G' for speed in speeds)}"
        + (f", up to {reach:,} m at this speed." if reach else "."),
        code="no_headroom_table",
        values={
            "family": asic.name,
            "gbps": link.gbps,
            "metres": f"{link.cable_m:g}",
            "speeds": ", ".join(f"{speed}G" for speed in speeds),
            "reach": f"；该速率最长到 {reach:,} m" if reach else "",
        },
    )
