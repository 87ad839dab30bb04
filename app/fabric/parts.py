"""One line of a bill, and how it is made from a row of the catalog."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.fabric.calculation import Bilingual, Scalar, Source
from app.fabric.catalog import NO_NOTE, Catalog
from app.fabric.estimate import Estimate

FREE = Estimate.exact(0.0)


class BillLine(NamedTuple):
    """So many of one item. Price in US dollars and power in watts are of one piece.

    A tuple because bills are made by the ten thousand in a sweep, and a frozen dataclass takes thrice as long.

    `role` says where it stands: leaf, spine or core (switches and their modules), node, reserved (modules and
    cables of reserved ports), node-leaf, leaf-spine or spine-core (cables), management, spare.
    """

    item: str
    name: str
    category: str
    quantity: int
    unit_price_usd: Estimate
    power_typical_w: float
    power_max_w: float
    role: str
    serves: Bilingual
    sources: tuple[Source, ...]
    price_note: Bilingual = NO_NOTE
    priced: bool = True

    @property
    def total_usd(self) -> Estimate:
        return self.unit_price_usd * self.quantity

    def spare(self, quantity: int, serves: Bilingual) -> BillLine:
        """So many of the same as spares, which draw no power."""
        return self._replace(
            category="spares", quantity=quantity, power_typical_w=0.0, power_max_w=0.0, role="spare", serves=serves
        )

    def row(self) -> dict[str, Scalar]:
        total = self.total_usd
        return {
            "category": self.category,
            "role": self.role,
            "item": self.item,
            "name": self.name,
            "quantity": self.quantity,
            "unit_usd_low": self.unit_price_usd.low,
            "unit_usd": self.unit_price_usd.typical,
            "unit_usd_high": self.unit_price_usd.high,
            "total_usd_low": total.low,
            "total_usd": total.typical,
            "total_usd_high": total.high,
            "power_typical_w": self.power_typical_w,
            "power_max_w": self.power_max_w,
            "serves": self.serves.en,
            "serves_zh": self.serves.zh,
            "price_note": self.price_note.en,
            "price_note_zh": self.price_note.zh,
            "source": "; ".join(source.title for source in self.sources),
            "date": "; ".join(source.date for source in self.sources),
            "trust": ", ".join(dict.fromkeys(source.trust for source in self.sources)),
        }


def total_usd(lines: Iterable[BillLine]) -> Estimate:
    """The price of all pieces of these lines."""
    low = typical = high = 0.0
    for line in lines:
        price, quantity = line.unit_price_usd, line.quantity
        low += price.low * quantity
        typical += price.typical * quantity
        high += price.high * quantity
    return Estimate(low, typical, high)


class Parts:
    """Makes lines from the catalog's rows and their prices."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    def line(
        self,
        item: str,
        category: str,
        role: str,
        quantity: int,
        serves: Bilingual,
        *,
        metres: float = 0.0,
        watts: tuple[float, float] | None = None,
    ) -> BillLine:
        """A line of `quantity` pieces; `metres` price a cable, `watts` (typical, max) replace the row's."""
        row = self._catalog.parts[item]
        price = self._catalog.price(item)
        if watts is None:
            watts = (getattr(row, "power_typical_w", 0.0) or 0.0, getattr(row, "power_max_w", 0.0) or 0.0)
        return BillLine(
            item=item,
            name=row.name,
            category=category,
            quantity=quantity,
            unit_price_usd=FREE if price is None else price.at(metres),
            power_typical_w=watts[0],
            power_max_w=watts[1],
            role=role,
            serves=serves,
            sources=row.sources if price is None else price.sources,
            price_note=NO_NOTE if price is None else price.note,
            priced=price is not None,
        )
