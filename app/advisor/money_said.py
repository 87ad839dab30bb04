"""A sum of money that a question sets for the network (a budget, a quotation), held against the computed prices.

Works on lower-case text with number words as digits (numerals.py). Only US dollars are compared: no exchange rate is
known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.advisor.numerals import chinese_value
from app.advisor.phrases import phrases
from app.fabric.calculation import Calculation, Language

MONEY = (  # a sum with its currency
    r"(?:[$€£¥￥]|us\$|usd\s?|eur\s?|gbp\s?|rmb\s?|cny\s?)\d+(?:\.\d+)?\s*(?:k|m|mn|bn|million|billion|thousand)?(?![a-z0-9])"
    r"|(?<![\w.])\d+(?:\.\d+)?\s*(?:k|m|million|billion)?\s*(?:dollars?|usd|euros?|eur|gbp|pounds|yuan|rmb|cny|cents?|pence|yen)(?![a-z])"
    r"|[\d一二两三四五六七八九十百千]+(?:\.\d+)?\s*(?:千万|百万|万|亿|千|角|毛|分)?\s*(?:美元|人民币|元|块钱|欧元|美金|美分)|[\d一二两三四五六七八九]+(?:角|毛)"
)
KWH = r"(?:kwh|kilowatt-?\s?hours?|度|千瓦时)"
_OF_THE_NETWORK = re.compile(  # around a sum: what may be spent, or what somebody asks for it
    r"\b(?:budgets?|(?:may|can|must|should) (?:not )?cost|spend|afford|at most|up to|no more than|within|under|below"
    r"|cap(?:ped)?|limit|ceiling|wants?|quot\w+|asks? for|asking|offer\w*|pay|is that (?:a )?(?:normal|fair|high))\b"
    r"|预算|不超过|以内|之内|上限|最多|报价|要价|只有|够不够|够吗|批了|花",
    re.IGNORECASE,
)
_UNIT_PRICE = re.compile(
    r"\s*(?:each|apiece|a ?piece|per|/|a (?:switch|port|card|gpu|nic|node|server)|一(?:台|张|块|个)|每)"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?|[一二两三四五六七八九十百千]+")
_SCALE = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_SCALE_ZH = {"千万": 1e7, "百万": 1e6, "万": 1e4, "亿": 1e8, "千": 1e3}
_USD = re.compile(r"^(?:\$|us\$|usd)|(?:dollars?|usd|美元|美金)$")
LEAST = 20_000  # below that it is the price of a part


@dataclass(frozen=True, slots=True)
class MoneySaid:
    text: str  # as said
    usd: float | None  # None: in another currency


def budget_said(low: str) -> MoneySaid | None:
    """The first sum that can be one for the whole network; None where there is none."""
    for match in re.finditer(MONEY, low, re.ASCII):
        around = low[max(0, match.start() - 60) : match.start()] + " " + low[match.end() : match.end() + 60]
        behind = low[match.end() :]
        if re.match(rf"\s*(?:/|per|a|每|一)\s*{KWH}", behind) or _UNIT_PRICE.match(behind):
            continue
        amount = _amount(match[0])
        if amount is None or amount < LEAST or not _OF_THE_NETWORK.search(around):
            continue
        said = match[0].strip()
        if not _USD.search(said):
            return MoneySaid(said, None)
        return MoneySaid(re.sub(r"(?<=\d)\s?(?:k|mn?|bn)\b", lambda one: one[0].upper(), said), amount)
    return None


def _amount(text: str) -> float | None:
    found = _NUMBER.search(text)
    if found is None:
        return None
    number = float(found[0]) if found[0][0].isdigit() else float(chinese_value(found[0]))
    rest = text[found.end() :].strip()
    word = re.match(r"[a-z]+", rest)
    if word and word[0] in _SCALE:
        return number * _SCALE[word[0]]
    for name, scale in _SCALE_ZH.items():
        if rest.startswith(name):
            return number * scale
    return number


def held_against(
    said: MoneySaid, price: Callable[[str], Calculation | None], shown: Callable[[str], str], language: Language
) -> str:
    """One paragraph: whether each fabric's purchase lies within the sum; "" where nothing has been priced.

    `price` gives the cost calculation of a fabric, `shown` its purchase price as text.
    """
    words = phrases()["budget"]
    priced = {fabric: one for fabric in ("infiniband", "roce") if (one := price(fabric)) and "capex_usd" in one.values}
    if not priced:
        return ""
    told = words["comma"][language].join(
        words["fabric"][language].format(
            fabric=phrases()["options"][fabric][language],
            price=shown(fabric),
            place=words["places"][_place(said.usd, one)][language] if said.usd is not None else "",
        )
        for fabric, one in priced.items()
    )
    kind = "compared" if said.usd is not None else "not_converted"
    return str(words[kind][language].format(said=said.text, told=told))


def _place(usd: float, one: Calculation) -> str:
    value = one.values["capex_usd"]
    typical = float(value.value)
    low, high = (typical if bound is None else float(bound) for bound in (value.low, value.high))
    if usd >= high:
        return "within"
    if usd >= typical:
        return "within_at_typical"
    return "above_at_typical" if usd >= low else "above"
