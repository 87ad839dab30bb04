"""The typed rows of the catalog, and how to look one up. Reading the files is the job of app/knowledge.py."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Source
from app.fabric.estimate import Estimate

NO_NOTE = Bilingual("", "")


@dataclass(frozen=True, slots=True)
class Row:
    """What every row has: an id to name it by, a name to show, and the sources of its values."""

    id: str
    name: str
    sources: tuple[Source, ...]
    note: Bilingual = NO_NOTE


@dataclass(frozen=True, slots=True)
class Switch(Row):
    """`ports` maps a link speed in Gbit/s to how many links of that speed the box carries."""

    fabric: str = ""
    ports: Mapping[int, int] = field(default_factory=dict)
    cages: int = 0
    cage_gbps: int = 0
    rack_units: int = 1
    power_typical_w: float | None = None
    power_max_w: float | None = None
    max_includes_optics: bool = True
    latency_ns: Estimate | None = None
    buffer_mb: float | None = None

    def radix(self, link_gbps: int) -> int:
        """Links of `link_gbps` that the box carries, 0 if none; a slow link may sit on a faster port."""
        speeds = [speed for speed in self.ports if speed >= link_gbps]
        return self.ports[min(speeds)] if speeds else 0

    def links_per_cage(self, link_gbps: int) -> int:
        return self.radix(link_gbps) // self.cages


@dataclass(frozen=True, slots=True)
class Nic(Row):
    fabrics: tuple[str, ...] = ()
    gbps: int = 0
    form: str = ""
    power_typical_w: float = 0.0
    power_max_w: float = 0.0


@dataclass(frozen=True, slots=True)
class Optic(Row):
    """A transceiver at the `end` switch or node; `cage_gbps` is what its cage carries, `form` the cage of the NIC."""

    end: str = ""
    cage_gbps: int = 0
    fiber: str = ""
    reach_m: float = 0.0
    power_typical_w: float = 0.0
    power_max_w: float = 0.0
    form: str = "OSFP"


@dataclass(frozen=True, slots=True)
class Cable(Row):
    """`kind` fiber (needs a module at each end; carries `links`) or copper (both ends included)."""

    kind: str = ""
    fiber: str = ""
    use: str = ""
    links: int = 1
    cage_gbps: int = 0
    reach_m: float = 0.0
    switch_end_w: float = 0.0
    node_end_w: float = 0.0


@dataclass(frozen=True, slots=True)
class Gpu(Row):
    gpus_per_node: int = 8
    gbps_per_gpu: int = 400


@dataclass(frozen=True, slots=True)
class Server(Row):
    gpu: str = ""
    gpus: int = 8
    power_max_w: float = 0.0
    includes_nics: bool = True


@dataclass(frozen=True, slots=True)
class Service(Row):
    kind: str = ""
    unit: str = ""
    power_typical_w: float = 0.0
    power_max_w: float = 0.0


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one `item`; cables add `usd_per_m` for each metre."""

    item: str
    usd: Estimate
    usd_per_m: Estimate
    sources: tuple[Source, ...]
    note: Bilingual

    def at(self, metres: float) -> Estimate:
        """The price of one piece of this length."""
        return self.usd if not self.usd_per_m.high or not metres else self.usd + self.usd_per_m * metres


@dataclass(frozen=True, slots=True)
class Default:
    """What a calculator uses when the user says nothing."""

    id: str
    value: Estimate
    unit: str
    sources: tuple[Source, ...]
    note: Bilingual


R = TypeVar("R")
Part: TypeAlias = Switch | Nic | Optic | Cable | Service


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """All rows by id, in the order of the files; `parts` are those that can stand on a bill.

    Two catalogs are the same only if they are one object, so that what follows from one can be cached.
    """

    switches: Mapping[str, Switch]
    nics: Mapping[str, Nic]
    optics: Mapping[str, Optic]
    cables: Mapping[str, Cable]
    gpus: Mapping[str, Gpu]
    servers: Mapping[str, Server]
    services: Mapping[str, Service]
    prices: Mapping[str, Price]
    defaults: Mapping[str, Default]
    sources: Mapping[str, Source]
    parts: Mapping[str, Part] = field(init=False)

    def __post_init__(self) -> None:
        tables = (self.switches, self.nics, self.optics, self.cables, self.services)
        object.__setattr__(self, "parts", {id: row for table in tables for id, row in table.items()})

    def switch(self, id: str) -> Switch:
        return find(self.switches, id, "switch")

    def nic(self, id: str) -> Nic:
        return find(self.nics, id, "NIC")

    def server(self, id: str) -> Server:
        return find(self.servers, id, "server")

    def service(self, id: str) -> Service:
        return find(self.services, id, "service")

    def gpu(self, id: str) -> Gpu:
        return find(self.gpus, id, "GPU")

    def price(self, item: str) -> Price | None:
        """The price of an item, or None where no source gives one (the bill then says so)."""
        return self.prices.get(item)

    def default(self, id: str) -> Default:
        return find(self.defaults, id, "default")


def find(rows: Mapping[str, R], id: str, kind: str) -> R:
    """The row with this id (case, blanks, _ and - are forgiven); AdvisorError with close matches."""
    row = rows.get(id)
    if row is not None:
        return row
    folded = {fold(key): key for key in rows}
    wanted = fold(id)
    if wanted in folded:
        return rows[folded[wanted]]
    close = [folded[key] for key in difflib.get_close_matches(wanted, list(folded), n=3, cutoff=0.5)]
    close = close or [key for key in rows if wanted and (wanted in fold(key) or fold(key) in wanted)][:3]
    hint = f"Did you mean {', '.join(close)}?" if close else f"Known: {', '.join(rows)}."
    raise AdvisorError(
        f"There is no {kind} {id[:60]!r} in the catalog.",
        hint,
        code=f"unknown_{kind.lower()}",
        values={kind.lower(): id[:60], "known": ", ".join(close or rows)},
    )


def fold(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
