"""The catalog's prices with their ranges, dates and trust."""

from __future__ import annotations

import streamlit as st

from app.fabric.catalog import Catalog
from app.web.labels import Labels


def draw(catalog: Catalog, words: Labels) -> None:
    names = {
        item: row.name
        for rows in (catalog.switches, catalog.nics, catalog.optics, catalog.cables, catalog.servers)
        for item, row in rows.items()
    }
    st.markdown(f"#### {words['prices']}")
    st.dataframe(
        [
            {
                words["price_item"]: names.get(price.item, price.item),
                words["low"]: price.usd.low,
                words["typical"]: price.usd.typical,
                words["high"]: price.usd.high,
                words["sources"]: "; ".join(source.title for source in price.sources),
                words["date"]: max((source.date for source in price.sources), default=""),
                words["trust"]: ", ".join(dict.fromkeys(words.name("trust", source.trust) for source in price.sources)),
            }
            for price in catalog.prices.values()
        ],
        hide_index=True,
        column_config={
            words[point]: st.column_config.NumberColumn(format="dollar") for point in ("low", "typical", "high")
        },
    )
