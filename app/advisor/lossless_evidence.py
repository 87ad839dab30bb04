"""Which lossless calculations a question calls for: PFC headroom, ECN thresholds, DSCP and traffic class, loss.

Reads the question's own words, in English and Chinese; knows nothing of passages or of how answers are written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.advisor.spec import ClusterSpec
from app.errors import AdvisorError
from app.fabric.calculation import Bilingual, Calculation
from app.fabric.lossless import dscp_of, traffic_class_of
from app.fabric.lossless_catalog import LosslessData
from app.fabric.lossless_plan import Asked, LosslessPlan, Part, plan_lossless

SWITCH_CLASSES = 8
ASSUMED_GBPS = 400  # where a cluster's speed per GPU is no speed of one link
ASSUMED_CABLE_M = 40.0  # SONiC's table has 5, 40 and 300 m: server, leaf and spine links

_FLAGS = re.IGNORECASE | re.ASCII
_SPEED = re.compile(  # not GB: bytes
    r"(?<![A-Za-z0-9_.])(\d{2,4})\s?[Gg](?:b(?:it)?(?:/s|ps)?|bE|be|E)?(?![A-Za-z0-9])"
)
_LENGTH = re.compile(  # not M: mega
    r"(?<![A-Za-z0-9_.])(\d+(?:\.\d+)?)\s?(k?m|[Kk]ilomet(?:er|re)s?|[Mm]et(?:er|re)s?|公里|千米|米)(?![A-Za-z0-9/])"
)
_TRAFFIC_CLASS = re.compile(
    r"(?:nccl_(?:gin_)?ib_tc|traffic[ -]class|流量类别|\btos\b|(?<![a-z])tc)(?:\s|=|:|：|of|is|为|是|设为|value|值)*"
    r"(\d{1,3})(?![\d.])",
    _FLAGS,
)
_DSCP = re.compile(r"dscp(?:\s|=|:|：|of|is|为|是|设为|value|值)*(\d{1,2})(?![\d.])", _FLAGS)
_LOSS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-\d+)?)\s?(%|％)?", _FLAGS)
_PARTS: dict[Part, re.Pattern[str]] = {
    "headroom": re.compile(
        r"head-?\s?room|\bxoff\b|pause buffer|缓存预留|预留缓存|缓冲预留|余量缓存|"
        r"pfc.{0,20}(buffer|缓存|缓冲|水线|余量)|(buffer|缓存|缓冲).{0,20}pfc",
        _FLAGS,
    ),
    "ecn": re.compile(
        r"\bk_?(min|max)\b|\bwred\b|(?<![a-z])ecn.{0,40}(threshold|value|setting|water)|"
        r"(threshold|value|setting).{0,40}(?<![a-z])ecn(?![a-z])|"
        r"ecn.{0,20}(阈值|门限|水线|参数|配置|设置)|(阈值|门限|水线).{0,20}ecn",
        _FLAGS,
    ),
    "priority": re.compile(
        r"(?<![a-z])dscp(?![a-z])|nccl_(gin_)?ib_tc|traffic[ -]class|流量类别|cnp.{0,20}(priority|class|优先级|队列)|"
        r"(which|what) priority.{0,30}(roce|pfc)|(roce|pfc).{0,20}(哪个|什么)优先级",
        _FLAGS,
    ),
    "loss": re.compile(
        r"go-?back-?n|packet loss.{0,20}\d|\d\S*\s?packet loss|丢包率?.{0,20}\d|\d\S*\s?的?丢包", _FLAGS
    ),
    "nccl": re.compile(r"nccl_ib_(timeout|retry_cnt)", _FLAGS),
}
_LOSSLESS_WORDS = re.compile(
    r"\bpfc\b|lossless|loss-free|\broce|pause|buffer|无损|無損|流控|反压|缓存|(?<![a-z])(pfc|roce)", _FLAGS
)
_PLATFORMS = {
    "sonic": r"\bsonic\b|(?<![a-z])sonic(?![a-z])",
    "cumulus": r"cumulus|\bonyx\b|nvue",
    "eos": r"\beos\b|\barista\b",
    "nx-os": r"nx-?os|\bnexus\b|\bcisco\b|思科",
    "junos": r"junos|juniper|apstra|瞻博",
}


def lossless_calculations(question_text: str, spec: ClusterSpec, data: LosslessData) -> tuple[Calculation, ...]:
    """The parts of a lossless plan that the question asks for; empty where it asks for none.

    A speed and a length with words of lossless Ethernet ask for the headroom. What is not said is assumed and noted:
    the speed per GPU of `spec`, 40 m. Raises AdvisorError for a number out of range, e.g. DSCP 77.
    """
    parts = [part for part, pattern in _PARTS.items() if pattern.search(question_text)]
    gbps, cable_m = _speed(question_text, data), _length(question_text)
    if gbps and cable_m and not parts and _LOSSLESS_WORDS.search(question_text):
        parts = ["headroom"]
    if not parts:
        return ()
    dscp, traffic_class = _number(_DSCP, question_text), _traffic_class(question_text)
    disagree = None not in (dscp, traffic_class) and dscp_of(traffic_class or 0) != dscp
    said = dscp
    if disagree:
        dscp = None
    asked = Asked(
        gbps=gbps or (spec.gbps_per_gpu if spec.gbps_per_gpu in data.formula.pause_quanta else ASSUMED_GBPS),
        cable_m=cable_m or ASSUMED_CABLE_M,
        switch_family=_family(question_text, data),
        platform=_platform(question_text),
        dscp=dscp,
        traffic_class=traffic_class,
        loss=_loss(question_text) if "loss" in parts else None,
    )
    plan, notes = _plan(data, asked)
    notes += _assumed(asked, gbps, cable_m, parts)
    if disagree:
        notes.append(
            Bilingual(
                f"Traffic class {traffic_class} is not DSCP {said}; that would be {traffic_class_of(said or 0)}.",
                f"流量类别 {traffic_class} 与 DSCP {said} 不对应；DSCP {said} 应为 {traffic_class_of(said or 0)}。",
            )
        )
    first, *rest = (plan.part(part) for part in parts)
    return (replace(first, assumptions=(*notes, *first.assumptions)), *rest)


def _plan(data: LosslessData, asked: Asked) -> tuple[LosslessPlan, list[Bilingual]]:
    """A plan; where the family named has no data for this port, over all families with a note that says so."""
    try:
        return plan_lossless(data, asked), []
    except AdvisorError as error:
        if error.code not in {"no_headroom_table", "family_too_slow"} or asked.switch_family is None:
            raise
        name = data.asics[asked.switch_family].name
        note = Bilingual(
            f"No headroom is published for {name} at {asked.gbps}G and {asked.cable_m:g} m: other families are shown.",
            f"{name} 在 {asked.gbps}G、{asked.cable_m:g} m 下没有公开的 headroom：所示为其他系列。",
        )
        return plan_lossless(data, replace(asked, switch_family=None)), [note]


def _assumed(asked: Asked, gbps: int | None, cable_m: float | None, parts: Sequence[Part]) -> list[Bilingual]:
    notes = []
    if gbps is None and {"headroom", "ecn", "loss"} & set(parts):
        notes.append(
            Bilingual(f"No link speed was given: {asked.gbps}G assumed.", f"未给出链路速率：按 {asked.gbps}G 计算。")
        )
    if cable_m is None and "headroom" in parts:
        notes.append(
            Bilingual(
                f"No cable length was given: {asked.cable_m:g} m assumed.",
                f"未给出线缆长度：按 {asked.cable_m:g} m 计算。",
            )
        )
    return notes


def _speed(text: str, data: LosslessData) -> int | None:
    found = (int(digits) for digits in _SPEED.findall(text))
    return next((speed for speed in found if speed in data.formula.pause_quanta), None)


def _length(text: str) -> float | None:
    for digits, unit in _LENGTH.findall(text):
        metres = float(digits) * (1000 if unit.lower().startswith("k") or unit in {"公里", "千米"} else 1)
        if metres > 0:
            return metres
    return None


def _family(text: str, data: LosslessData) -> str | None:
    """An ASIC named as such (Spectrum-4, TH5), or through a switch of the shipped tables (SN5600, Z9864F)."""
    plain = re.sub(r"[\s_-]", "", text.lower())
    for table in data.tables:
        if table.switch.split()[1].lower() in plain:
            return table.asic
    for id in sorted(data.asics, key=len, reverse=True):
        names = {id.replace("-", ""), id.replace("tomahawk-", "th")}
        if any(re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text.lower().replace("-", "")) for name in names):
            return id
        spaced = id.replace("-", r"[ -]?")
        if "-" in id and re.search(rf"(?<![a-z0-9]){spaced}(?![a-z0-9])", text.lower()):
            return id
    return None


def _platform(text: str) -> str | None:
    found = [name for name, pattern in _PLATFORMS.items() if re.search(pattern, text, _FLAGS)]
    return found[0] if len(found) == 1 else None


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found.group(1)) if found else None


def _traffic_class(text: str) -> int | None:
    """The byte that NCCL takes. "TC 3" is a class of the switch (0 to 7), unless a NCCL variable is named."""
    value = _number(_TRAFFIC_CLASS, text)
    return value if value is None or value >= SWITCH_CLASSES or "nccl" in text.lower() else None


def _loss(text: str) -> float | None:
    """The first share written as a percentage or with an exponent."""
    for digits, percent in _LOSS.findall(text):
        if percent:
            return float(digits) / 100
        if "e-" in digits.lower():
            return float(digits)
    return None
