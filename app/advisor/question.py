"""Reading a question: its language, what is asked for, and what it says of the cluster. No model, no search.

The patterns are data (vocabulary.yaml). What the question does not say is carried over from the conversation, and
otherwise stays a default that `assumptions` lists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.advisor.answer import Answer, Kind
from app.advisor.approximate import spelled_out
from app.advisor.cluster_numbers import cluster_numbers
from app.advisor.constraints import constraints
from app.advisor.dispute import disputed_figure
from app.advisor.follow_up import Restated, carried_spec, goes_on, parts_asked, restated, said_before, wished
from app.advisor.money_said import MoneySaid, budget_said
from app.advisor.numerals import normalise_numbers
from app.advisor.other_accelerators import accelerator
from app.advisor.question_kind import CALCULATED, NOT_OF_A_JOB, kind_of
from app.advisor.reading_notes import ReadingNote
from app.advisor.relative_size import relative_size
from app.advisor.spec import ClusterSpec
from app.advisor.stock_question import asks_growth, stock_said
from app.advisor.vocabulary import Vocabulary, vocabulary
from app.advisor.workload_question import (
    DEFAULT_MODEL,
    ModelNames,
    Subject,
    job_fields,
    subject_before,
    subject_of,
    without_job,
)
from app.errors import AdvisorError
from app.fabric.calculation import Language

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_\-']*")
_CODE_NAME = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as understood. `said` names the spec fields that the user gave, now or earlier in the chat."""

    text: str
    language: Language
    kind: Kind | Literal["unknown"]
    fabrics: frozenset[str]
    spec: ClusterSpec
    said: frozenset[str]
    follow_up: bool
    in_domain: bool
    intents: frozenset[str]
    disputed: str = ""  # a figure that the user holds against ours, see dispute.py
    job: Subject | None = None  # what of a training or serving job is asked, see workload_question.py
    notes: tuple[ReadingNote, ...] = ()  # what had to be chosen in reading; the answer's assumptions end with it
    parts: tuple[str, ...] = ()  # of a bill, as named: energy, optics, … (vocabulary.yaml, focus)
    again: Restated | None = None  # it only asks for the answer before: whether it is sure, in another language, …
    again_text: str = ""  # in these words
    money: MoneySaid | None = None  # set for the network, or asked for it
    grows: bool = False  # on switches that are there: spec.keep, see stock_question.py


def read_question(
    text: str,
    history: Sequence[Answer] = (),
    *,
    gpu_models: Sequence[str] = (),
    gpu_speeds: Mapping[str, int] | None = None,
    switches: Mapping[str, tuple[str, str]] | None = None,
    models: ModelNames | None = None,
    language: Language | Literal["auto"] = "auto",
    max_chars: int = 4000,
) -> Question:
    """Understand one question in its conversation.

    `gpu_speeds` gives the network per GPU, Gb/s, of each GPU's standard server; `switches` maps a lower-case name
    or id to (switch id, fabric). Raises AdvisorError for a question that is empty, too long or has no letters or
    digits in it.
    """
    cleaned = clean(text, max_chars)
    vocab = vocabulary()
    previous = history[-1] if history else None
    if previous and (again := restated(cleaned, previous, vocab)):
        before = read_question(
            previous.question,
            history[:-1],
            gpu_models=gpu_models,
            gpu_speeds=gpu_speeds,
            switches=switches,
            models=models,
            max_chars=max_chars,
        )
        tongue = detect_language(cleaned) if language == "auto" else language
        return replace(_again(before, previous, history, again, tongue), again_text=cleaned)
    disputed = disputed_figure(cleaned, previous)
    job = job_fields(cleaned, models) if models else {}
    spelled, vague = spelled_out(without_job(cleaned.replace(disputed, " ") if disputed else cleaned))
    words = normalise_numbers(spelled)
    carried = carried_spec(history)
    wishes = wished(words, previous)
    follow_up = bool(wishes) or goes_on(words, previous, vocab)

    numbers = cluster_numbers(words, gpu_models, carried, follow_up)
    told = constraints(words, vocab)
    changes = numbers.fields | told.fields | wishes | job
    for name, (switch_id, fabric) in (switches or {}).items():
        if re.search(rf"(?<![a-z0-9]){re.escape(name)}s?(?![a-z0-9])", words.lower()):
            changes[f"{fabric}_switch"] = switch_id
    stock = stock_said(words, switches or {}, gpu_models, carried)
    if stock:  # switches that are there are no choice for the cluster that is planned
        changes = {name: value for name, value in changes.items() if not name.endswith("_switch")} | stock
    spec = carried.changed(changes)
    said = frozenset(changes) | said_before(history)
    if "gpu_model" in changes and "gbps_per_gpu" not in said:  # the network that its standard server has
        spec = spec.changed({"gbps_per_gpu": (gpu_speeds or {}).get(changes["gpu_model"], spec.gbps_per_gpu)})
    intents = frozenset(name for name, pattern in vocab.intents.items() if pattern.search(_unsaid(words, vocab)))
    if previous and relative_size(words.lower(), 1):
        intents -= {"sizing_weak"}  # "four times that size?" asks for no sizing
    prose = _CODE_NAME.sub(" ", words)  # NCCL_IB_TC speaks of a setting, not of InfiniBand
    fabrics = frozenset(name for name, pattern in vocab.fabrics.items() if pattern.search(prose))
    parts = parts_asked(words, vocab)
    kind = kind_of(words, intents, fabrics, changes, previous, follow_up, spec.gpus is not None, parts)
    subject = subject_of(cleaned, spec, "model" in job or (follow_up and spec.model is not None))
    if subject is None and previous and follow_up and kind == previous.kind:
        subject = subject_before(one["tool"] for one in previous.calculations)
    if (kind in NOT_OF_A_JOB and subject != "goodput") or (
        kind == "decision" and subject == "training" and "pick" in intents
    ):
        subject = None
    elif subject:
        kind = "performance"
    unchosen = accelerator(spec.accelerator)
    if unchosen and unchosen.network == "maker" and kind in CALCULATED:
        kind, subject = "explanation", None  # nothing to choose or to size: its maker has settled the network
    if subject == "training" and spec.model is None:
        spec = spec.changed({"model": DEFAULT_MODEL})
    if previous and disputed:
        kind, follow_up = previous.kind, True
    grows = asks_growth(words, kind, intents, changes, previous, follow_up)
    if grows:
        kind, subject = "sizing", None
    in_domain = (
        bool(disputed)
        or grows
        or (
            not vocab.elsewhere(words)
            and bool(
                fabrics
                or vocab.ours(words)
                or (previous and changes)
                or (follow_up and kind in CALCULATED)
                or "gpus" in changes
            )
        )
    )
    return Question(
        text=cleaned,
        language=_language(cleaned, previous, follow_up, vocab) if language == "auto" else language,
        kind=kind,
        fabrics=fabrics,
        spec=spec,
        said=said,
        follow_up=follow_up,
        in_domain=in_domain,
        intents=intents,
        disputed=disputed,
        job=subject,
        notes=vague + numbers.notes + told.notes,
        parts=parts,
        money=None if disputed else budget_said(words.lower()),
        grows=grows,
    )


def _again(
    before: Question, previous: Answer, history: Sequence[Answer], again: Restated, tongue: Language
) -> Question:
    """The question before, asked once more: with the cluster that its answer had, and in the language that is asked
    for, else that of the asking (`tongue`)."""
    language: Language = again if again in ("zh", "en") else tongue
    spec = ClusterSpec.from_json(previous.spec) if previous.spec else before.spec
    return replace(before, language=language, spec=spec, said=said_before(history), in_domain=True, again=again)


def _language(text: str, previous: Answer | None, follow_up: bool, vocab: Vocabulary) -> Language:
    """That of the question; one that has no words of a language ("H200?", "512?") is in that of the answer before."""
    bare = not _CJK.search(text) and not vocab.english_words.search(text) and not re.search(r"\b[a-z]{4,}", text)
    if previous and follow_up and bare and len(_LATIN_WORD.findall(text)) <= 1:
        return previous.language
    return detect_language(text)


def clean(text: str, max_chars: int) -> str:
    """The question without control characters; raises AdvisorError where nothing readable is left, or too much."""
    if len(text) > max_chars:
        raise AdvisorError(
            f"The question has {len(text):,} characters; {max_chars:,} are accepted.",
            "Shorten it, or ingest the long text as a document and ask about it.",
            code="question_too_long",
            values={"length": f"{len(text):,}", "limit": f"{max_chars:,}"},
        )
    kept = "".join(c if unicodedata.category(c)[0] != "C" or c in "\n\t" else " " for c in text).strip()
    if not any(c.isalnum() for c in kept):
        raise AdvisorError(
            "The question has no words in it.",
            "Ask, for example: RoCE or InfiniBand for 64 GPUs?",
            code="question_empty",
        )
    return kept


def detect_language(text: str) -> Language:
    """The language that the sentence is built in, not that of its terms: `RoCE 还是 IB` is Chinese."""
    cjk = len(_CJK.findall(text))
    if not cjk:
        return "en"
    vocab = vocabulary()
    chinese, english = (len(pattern.findall(text)) for pattern in (vocab.chinese_words, vocab.english_words))
    if chinese != english:
        return "zh" if chinese > english else "en"
    return "zh" if cjk >= len(_LATIN_WORD.findall(text)) else "en"


def _unsaid(words: str, vocab: Vocabulary) -> str:
    """The question without what it says of the cluster, so that "tight budget" does not ask for a price."""
    for field in ("budget", "network_team", "priority"):
        for pattern in vocab.spec[field].values():
            words = pattern.sub(" ", words)
        if field in vocab.denied:
            words = vocab.denied[field].sub(" ", words)
    return words
