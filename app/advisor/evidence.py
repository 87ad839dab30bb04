"""What an answer may rest on: passages found and calculations run, gathered before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from app.advisor.answer import Kind, Step
from app.advisor.lossless_evidence import lossless_calculations
from app.advisor.other_accelerators import accelerator, named_in
from app.advisor.question import Question
from app.advisor.question_kind import CALCULATED
from app.advisor.spec import ClusterSpec
from app.advisor.stock_evidence import growth_calculation
from app.advisor.vocabulary import vocabulary
from app.advisor.workload_evidence import serving_calculation, training_calculations, training_steps
from app.errors import AdvisorError
from app.fabric.accelerator import Accelerators
from app.fabric.calculation import Calculation, Language
from app.fabric.catalog import Catalog
from app.fabric.collective import Collective, estimate_collective
from app.fabric.compare import Comparison, compare_fabrics
from app.fabric.cost import Design
from app.fabric.curves import bandwidth_curve
from app.fabric.decision import Decision, Rules, Situation, decide
from app.fabric.goodput import FailureData, estimate_goodput
from app.fabric.inference_data import ServingData
from app.fabric.lossless_catalog import LosslessData
from app.fabric.ratio import capex_ratio
from app.fabric.reach import switch_that_reaches
from app.fabric.stack import Workloads
from app.fabric.terms import default_terms
from app.fabric.topology import Fabric
from app.library.passage import Hit, Passage

FABRICS: tuple[Fabric, ...] = ("infiniband", "roce")
ACCEPTED_WITH = {  # what somebody who follows the verdict takes on, by choice
    "infiniband": "vendor-lock-in",
    "roce": "network-team-skills",
    "naas": "managed-gpu-clouds",
    "either": "operations-models",
}
COST_CLAIM_NOTE = "infiniband-price-premium"  # the article's "2-3x" and what is known of it
_PRODUCT = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{1,12}-?\d[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*(?![A-Za-z0-9_])")
_BRAND = re.compile(  # "Brocade Fibre Channel switch": capitalised words inside a sentence, before a kind of product
    r"(?<=[a-z] )((?:[A-Z][a-z]{3,}\s)+)"
    r"(?=(?:switch|nic|adapter|card|router|director|gpu|chip|asic|cable|fabric)(?:es|s)?\b)"
)
_NO_PRODUCT = re.compile(  # degrees of parallelism (EP32) and devices of a host (eth0, mlx5_0, NCCL's NET/IB)
    r"(?:tp|pp|dp|ep|cp|vp|sp)\d+|(?:eth|ethernet|ens|eno|enp|ib|bond|mlx|wlan|rocep|lo|swp|sw|et|xe|hu|te|port"
    r"|po|vlan|vrf|q|queue|prio|priority|tc|leaf|spine|core|tor|rack|row|node|host|server|gpu|nic|rank|pod|su"
    r"|job|site|dc|phase|q[1-4])[-_]?\d\w*",
    re.IGNORECASE,
)
_LOG_LINE = re.compile(  # pasted output: hosts, addresses and devices in it are no products
    r"^.*(?:NCCL (?:INFO|WARN)|\b\d+:\d+:\d+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bfe80::|\b0x[0-9a-f]+\b"
    r"|^\s*[#$>]).*$",
    re.MULTILINE,
)
CANDIDATES = 24  # found by the library, before the notes written for this kind of question are preferred
PASSAGES_PER_QUESTION = 8
_FABRIC_FOR: Mapping[Language, str] = {
    "en": "RoCE or InfiniBand for {}?",
    "zh": "{} 选 RoCE 还是 InfiniBand？",
}
WEAKEST_SHOWN = 0.25  # a question of our field is answered from the nearest passages, with a notice, from this score
FAR_FROM_DOMAIN_LEXICAL = 0.5  # a question without a word of our field must match a document in most of its words


class Searchable(Protocol):
    """The part of the library that answers need."""

    def search(self, query: str, *, k: int = 5, language: Language | None = None, weak: bool = False) -> list[Hit]: ...

    def note_passages(self, topic: str, language: Language) -> list[Passage]: ...

    def mentions(self, name: str) -> bool: ...

    def note_sources(self, document_id: str) -> Mapping[str, Mapping[str, str]]: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """The data that the calculators work on."""

    catalog: Catalog
    accelerators: Accelerators
    rules: Rules
    lossless: LosslessData
    workloads: Workloads
    failures: FailureData
    serving: ServingData


@dataclass(frozen=True, slots=True)
class Band:
    """The verdict at one size, for a question that states none."""

    gpus: int
    decision: Decision
    comparison: Calculation


@dataclass(frozen=True, slots=True)
class Evidence:
    question: Question
    kind: Kind
    hits: tuple[Hit, ...] = ()
    calculations: tuple[Calculation, ...] = ()
    decision: Decision | None = None
    bands: tuple[Band, ...] = ()
    note_passages: Mapping[str, Sequence[Passage]] = field(default_factory=dict)
    searched: tuple[str, ...] = ()
    unpriced: AdvisorError | None = None  # why there are sizes and no costs: a switch of the question has no price

    def calculation(self, tool: str, label: str = "") -> Calculation | None:
        return next((one for one in self.calculations if one.tool == tool and label in ("", one.label)), None)


def search_evidence(question: Question, library: Searchable) -> tuple[Hit, ...]:
    """The passages for a question; none where the question is far from our field and only resembles a document."""
    if vocabulary().elsewhere(question.text):
        return ()
    query = question.text
    if question.follow_up and question.kind in CALCULATED and question.spec.gpus is not None:
        query = _full_query(question)
    settled = accelerator(question.spec.accelerator)
    if settled and settled.network == "maker" and question.fabrics:
        query = _FABRIC_FOR[question.language].format(settled.name.in_language(question.language))
    hits = library.search(query, k=CANDIDATES, language=question.language, weak=question.in_domain)
    if hits and hits[0].weak and max(hit.score for hit in hits) < WEAKEST_SHOWN:
        hits = []
    if question.kind == "decision" and question.spec.gpus is not None and query == question.text:
        hits = _merged(library.search(_full_query(question), k=CANDIDATES, language=question.language), hits)
    if not question.in_domain:
        hits = [hit for hit in hits if (hit.lexical or 0) >= FAR_FROM_DOMAIN_LEXICAL]
    words = vocabulary()
    purposes = {question.kind, *(question.intents & {"staffing"})}
    preferred = frozenset().union(*(words.preferred_notes.get(purpose, frozenset()) for purpose in purposes))
    return tuple(
        sorted(
            hits,
            key=lambda hit: -hit.score * (words.preferred_factor if hit.passage.topic in preferred else 1),
        )
    )


def _merged(first: Sequence[Hit], second: Sequence[Hit]) -> list[Hit]:
    """Both lists as one by score, each passage once, at the better of its scores."""
    best: dict[str, Hit] = {}
    for hit in (*first, *second):
        held = best.get(hit.passage.id)
        if held is None or hit.score > held.score:
            best[hit.passage.id] = hit
    return sorted(best.values(), key=lambda hit: -hit.score)


def gather(
    question: Question, hits: tuple[Hit, ...], library: Searchable, tools: Tools, step: Callable[[Step], None]
) -> Evidence:
    """Run what the question calls for. Raises AdvisorError where the cluster cannot be built as described."""
    if question.grows:
        step(Step("calculate", "grow"))
        grown = growth_calculation(question.spec, question.text, tools.catalog, tools.accelerators)
        return Evidence(question, "sizing", hits, _numbered([grown]), searched=(question.text,))
    kind = _resolved_kind(question, hits, library)
    evidence = Evidence(question, kind, hits, searched=(question.text,))
    if kind in {"out_of_scope", "no_evidence"}:
        return replace(evidence, hits=())
    if kind == "clarification" or (kind == "cost" and question.spec.gpus is None and len(question.fabrics) >= 2):
        step(Step("calculate", "bands"))
        bands = tuple(_band(gpus, question.spec, tools) for gpus in tools.rules.scales_gpus)
        numbered = _numbered([band.comparison for band in bands])
        bands = tuple(replace(band, comparison=one) for band, one in zip(bands, numbered, strict=True))
        return replace(
            evidence,
            bands=bands,
            calculations=numbered,
            note_passages=_notes(bands[0].decision, library, question),
        )
    if kind == "performance" and question.job == "inference":
        step(Step("calculate", "inference"))
        serving = serving_calculation(question.spec, question.said, tools.accelerators, tools.workloads, tools.serving)
        return replace(evidence, calculations=_numbered([serving]))
    if question.spec.gpus is None or kind not in CALCULATED:
        runs = lossless_calculations(question.text, question.spec, tools.lossless)
        topics = dict.fromkeys(hit.passage.topic for hit in hits if hit.passage.topic)
        return replace(
            evidence,
            calculations=_numbered(runs),
            note_passages={topic: library.note_passages(topic, question.language) for topic in topics},
        )
    step(Step("calculate", kind))
    return _calculated(evidence, library, tools)


def situation(spec: ClusterSpec, comparison: Comparison, time_ratio: float | None) -> Situation:
    sizes = comparison.sizes
    return Situation(
        gpus=spec.gpus or 0,
        workload=spec.workload,
        budget=spec.budget,
        network_team=spec.network_team,
        priority=spec.priority,
        hybrid=spec.hybrid,
        ethernet_estate=spec.ethernet_estate,
        avoid_lock_in=spec.avoid_lock_in,
        excluded=spec.excluded,
        accelerator=spec.accelerator,
        tenancy=spec.tenancy,
        region=spec.region,
        supply=spec.supply,
        time_to_market=spec.time_to_market,
        # by exact counts: a half-empty unit is no price premium
        capex_ratio=capex_ratio(comparison.exact["infiniband"], comparison.exact["roce"]),
        time_ratio=time_ratio,
        infiniband_tiers=int(sizes["infiniband"].values["tiers"].value),
        roce_tiers=int(sizes["roce"].values["tiers"].value),
    )


def compare(spec: ClusterSpec, catalog: Catalog) -> Comparison:
    """Both fabrics sized and priced for one spec; a default switch gives way to a larger one where it must."""
    design, switches = _design(spec, catalog)
    return compare_fabrics(
        catalog,
        infiniband_switch=switches["infiniband"],
        roce_switch=switches["roce"],
        terms=default_terms(catalog, design["gpus"], years=spec.years, usd_per_kwh=spec.usd_per_kwh, pue=spec.pue),
        **design,
    )


def _design(spec: ClusterSpec, catalog: Catalog) -> tuple[dict[str, Any], dict[Fabric, str | None]]:
    """What both fabrics have in common, and the switch of each."""
    design: dict[str, Any] = {
        "gpus": spec.gpus or 0,
        "gpus_per_node": spec.gpus_per_node,
        "gbps_per_gpu": spec.gbps_per_gpu,
        "nics_per_gpu": spec.nics_per_gpu,
        "planes": spec.planes,
        "topology": spec.topology,
        "oversubscription": spec.oversubscription,
    }
    switches = {
        fabric: getattr(spec, f"{fabric}_switch") or switch_that_reaches(catalog, fabric=fabric, **design)
        for fabric in FABRICS
    }
    return design, switches


def _sizes(spec: ClusterSpec, catalog: Catalog) -> list[Calculation]:
    design, switches = _design(spec, catalog)
    return [Design(fabric=fabric, switch=switches[fabric], **design).sized(catalog).calculation() for fabric in FABRICS]


def collectives(spec: ClusterSpec, accelerators: Accelerators) -> dict[str, Collective]:
    """The collective on both fabrics, RoCE tuned as the spec says."""
    return {
        fabric: estimate_collective(
            accelerators,
            op=spec.operation,  # type: ignore[arg-type]
            nodes=spec.nodes,
            gpus_per_node=min(spec.gpus_per_node, spec.gpus or spec.gpus_per_node),
            gpu=spec.gpu_model,
            fabric=fabric,
            nics_per_node=spec.nics_per_node,
            nic_gbps=spec.nic_gbps,
            bytes=spec.message_bytes,
            tuning=spec.tuning if fabric == "roce" else "tuned",  # type: ignore[arg-type]
            oversubscription=spec.oversubscription,
        )
        for fabric in FABRICS
    }


def _calculated(evidence: Evidence, library: Searchable, tools: Tools) -> Evidence:
    question, kind = evidence.question, evidence.kind
    spec = question.spec
    sizes = _sizes(spec, tools.catalog)  # first: it says what is wrong with an impossible cluster
    if kind == "sizing":
        return replace(evidence, calculations=_numbered(sizes))
    if kind == "performance" and question.job == "training":
        steps = training_steps(spec, question.said, tools.accelerators, tools.workloads)
        done = training_calculations(spec, steps, tools.accelerators, tools.workloads, tools.failures, tools.catalog)
        return replace(evidence, calculations=_numbered(done))
    if kind == "performance" and question.job == "goodput":
        return replace(
            evidence, calculations=_numbered([estimate_goodput(tools.failures, gpus=spec.gpus or 0).calculation()])
        )
    timed = {} if kind == "cost" else collectives(spec, tools.accelerators)
    if kind == "performance":
        curve = bandwidth_curve(tuple(timed.values()))
        return replace(evidence, calculations=_numbered([*(one.calculation() for one in timed.values()), curve]))
    try:
        comparison = compare(spec, tools.catalog)
    except AdvisorError as error:
        if error.code != "no_price":
            raise
        return replace(evidence, kind="sizing", calculations=_numbered(sizes), unpriced=error)
    runs = [
        *sizes,
        *(comparison.costs[fabric] for fabric in FABRICS),
        comparison.calculation(),
        *(one.calculation() for one in timed.values()),
    ]
    if kind == "cost":
        notes = {COST_CLAIM_NOTE: library.note_passages(COST_CLAIM_NOTE, question.language)}
        return replace(evidence, calculations=_numbered(runs), note_passages=notes)
    verdict = _decide(spec, comparison, timed, tools)
    runs.append(verdict.calculation())
    return replace(
        evidence,
        calculations=_numbered(runs),
        decision=verdict,
        note_passages=_notes(verdict, library, question),
    )


def _decide(spec: ClusterSpec, comparison: Comparison, timed: Mapping[str, Collective], tools: Tools) -> Decision:
    times = {fabric: one.time_us for fabric, one in timed.items()}
    time_ratio = times["infiniband"] / times["roce"] if times else None

    def at_scale(gpus: int) -> Situation:
        other = spec.changed({"gpus": gpus})
        return situation(other, compare(other, tools.catalog), time_ratio)

    return decide(tools.rules, situation(spec, comparison, time_ratio), at_scale=at_scale)


def _band(gpus: int, spec: ClusterSpec, tools: Tools) -> Band:
    sized = spec.changed({"gpus": gpus})
    comparison = compare(sized, tools.catalog)
    verdict = decide(tools.rules, situation(sized, comparison, None))
    return Band(gpus, verdict, comparison.calculation())


def _notes(decision: Decision, library: Searchable, question: Question) -> dict[str, Sequence[Passage]]:
    topics = {reason.rule.note for reason in decision.reasons} | {
        COST_CLAIM_NOTE,
        *ACCEPTED_WITH.values(),
        "naas",
        "infiniband-lossless",
        "roce-lossless",
        "measured-infiniband-vs-roce",
        "choosing-a-fabric",
    }
    return {topic: library.note_passages(topic, question.language) for topic in sorted(topics) if topic}


def _resolved_kind(question: Question, hits: Sequence[Hit], library: Searchable) -> Kind:
    kind = question.kind
    if not question.in_domain and not hits:
        return "out_of_scope"
    if kind == "decision" and question.spec.gpus is None:
        return "clarification"
    if kind == "sizing" and question.spec.gpus is None:
        return "sizing" if hits else "clarification"
    if kind == "unknown":
        kind = "explanation"
    if question.job or (kind in CALCULATED and question.spec.gpus is not None):
        return kind
    if kind == "cost" and len(question.fabrics) >= 2:
        return kind
    return kind if hits and not _unknown_names(question, library) else "no_evidence"


def _unknown_names(question: Question, library: Searchable) -> list[str]:
    """Product names of the question (ConnectX-9, CN5000) that the library nowhere mentions; to answer about another
    product would be worse than to say that nothing is known."""
    text = _LOG_LINE.sub(" ", re.sub(r"\[[^\]]*\]", " ", question.text))
    names = [name for name in _PRODUCT.findall(text) if not _NO_PRODUCT.fullmatch(name)]
    names += [phrase.split()[0] for phrase in _BRAND.findall(text)]  # Cumulus Linux: the first word is the brand
    return [name for name in names if not library.mentions(name) and named_in(name.lower()) is None]


def _numbered(calculations: Sequence[Calculation]) -> tuple[Calculation, ...]:
    return tuple(one.with_id(f"T{number}") for number, one in enumerate(calculations, 1))


def _full_query(question: Question) -> str:
    gpus = question.spec.gpus
    if question.language == "zh":
        return f"{gpus} 卡集群 InfiniBand 与 RoCE 如何选择"
    return f"InfiniBand or RoCE for a {gpus}-GPU cluster"
