"""The words by which a text says what a figure is of: the price, the cost to own, power, time and so on.

`NAMED` are those that name a quantity outright and nothing else; `METRICS` also those that hint at one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TCO = r"\btco\b|total cost of ownership|cost to own|\bto own\b|总拥有成本|持有成本"
_CAPEX = r"\bcapex\b|purchase price|price to buy|capital cost|\bupfront\b|\bto buy\b|采购成本|购置成本"
_ENERGY = r"\belectricity\b|energy cost|电费"

NAMED: Mapping[str, re.Pattern[str]] = {
    "tco": re.compile(_TCO, re.IGNORECASE),
    "capex": re.compile(_CAPEX, re.IGNORECASE),
    "energy": re.compile(_ENERGY, re.IGNORECASE),
    "staff": re.compile(r"\bstaff(?:ing)? costs?\b|人力成本", re.IGNORECASE),
    "support": re.compile(r"\bsupport (?:costs?|contracts?)\b|维保", re.IGNORECASE),
    "algbw": re.compile(r"\balgbw\b|algorithm bandwidth|算法带宽", re.IGNORECASE),
    "busbw": re.compile(r"\bbusbw\b|bus bandwidth|总线带宽", re.IGNORECASE),
}
METRICS: Mapping[str, re.Pattern[str]] = {
    "power": re.compile(rf"\bpower\b|\bdraws?\b|\b(?:kilo)?watts?\b|耗电|功耗|省电|费电|{_ENERGY}", re.IGNORECASE),
    "tco": re.compile(rf"{_TCO}|total cost|\bown(?:ing|ership)?\b|总拥有|运营|持有", re.IGNORECASE),
    "capex": re.compile(rf"{_CAPEX}|purchase|hardware|采购|购置|硬件", re.IGNORECASE),
    "bandwidth": re.compile(r"\b(?:bus|algorithm) bandwidth\b|\b(?:bus|alg)bw\b|(?:总线|算法)带宽", re.IGNORECASE),
    "time": re.compile(
        r"\btime\b|\bfast|\bslow|\bsooner|\bquicker|\btakes?\b|\bfinish|耗时|时间|快|慢|提速|集合通信", re.IGNORECASE
    ),
    "price": re.compile(
        r"\bcosts?\b|\bprices?d?\b|\bcheap|\bdear|expensive|\bmoney\b|afford|成本|价格|造价|花费|贵|便宜|省钱",
        re.IGNORECASE,
    ),
    "switches": re.compile(r"\bswitch(?:es)?\b|\bboxes\b|交换机", re.IGNORECASE),
}


def metric_of(text: str) -> str:
    """The key of METRICS that the words are about; "" where nothing tells."""
    return next((metric for metric, words in METRICS.items() if words.search(text)), "")
