"""Network as a service: monthly ports and data to reach a site or cloud. It joins sites; it is no GPU fabric."""

from __future__ import annotations

from dataclasses import dataclass

from app.fabric.calculation import Bilingual, Source
from app.fabric.catalog import Catalog
from app.fabric.checks import check_range
from app.fabric.estimate import Estimate

GB_PER_TB = 1000


@dataclass(frozen=True, slots=True)
class Naas:
    """Ports by speed, and terabytes (10^12 bytes) a month out of the cloud; data into it is free."""

    ports_10g: int = 0
    ports_100g: int = 0
    egress_tb_per_month: float = 0.0

    def __post_init__(self) -> None:
        for name, value, high in (
            ("naas_ports_10g", self.ports_10g, 10_000),
            ("naas_ports_100g", self.ports_100g, 10_000),
            ("naas_egress_tb_per_month", self.egress_tb_per_month, 1_000_000),
        ):
            check_range(name, value, 0, high)

    @property
    def chosen(self) -> bool:
        return bool(self.ports_10g or self.ports_100g or self.egress_tb_per_month)

    def usd_per_year(self, catalog: Catalog) -> Estimate:
        month = Estimate.total(catalog.prices[item].usd * pieces for item, pieces in self._bought())
        return month * 12

    def sources(self, catalog: Catalog) -> tuple[Source, ...]:
        found = (source for item, pieces in self._bought() if pieces for source in catalog.prices[item].sources)
        return tuple(dict.fromkeys(found))

    def note(self) -> Bilingual:
        return Bilingual(
            f"NaaS: {self.ports_10g} ports of 10G, {self.ports_100g} of 100G and "
            f"{self.egress_tb_per_month:g} TB a month out, at published cloud interconnect prices; the carriers' own "
            "prices are quoted by location.",
            f"NaaS：{self.ports_10g} 个 10G 端口、{self.ports_100g} 个 100G 端口，每月出向 "
            f"{self.egress_tb_per_month:g} TB，按公开的云专线价格；运营商价格按地点询价。",
        )

    def _bought(self) -> tuple[tuple[str, float], ...]:
        return (
            ("naas-port-10g", self.ports_10g),
            ("naas-port-100g", self.ports_100g),
            ("naas-egress-gb", self.egress_tb_per_month * GB_PER_TB),
        )
