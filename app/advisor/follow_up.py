"""What a question takes over from the chat: the cluster, whether it goes on from the answer before, and whether it only
asks for that answer again ("are you sure?", "and in Chinese?")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from app.advisor.answer import Answer
from app.advisor.relative_size import relative_size
from app.advisor.spec import ClusterSpec
from app.advisor.vocabulary import Vocabulary

Restated = Literal["sure", "zh", "en", "why_not"]
FRAGMENT_WORDS = 6  # "for 1024 with H200?", "over 3 years?"
_FRAGMENT = re.compile(r"^\W*(?:for|over|at|with|on|without|per|using|by|only)\b", re.IGNORECASE | re.ASCII)
_SENTENCE = re.compile(
    r"\b(?:what|which|who|why|how|when|where|is|are|do|does|should|would|can|could|vs|or)\b", re.IGNORECASE
)
_BARE_ENGLISH_WORDS, _BARE_CHINESE_CHARACTERS = 3, 6  # "power?", "电费", "光模块"
_FILLER = re.compile(
    r"^\W*(?:(?:hm+|ok|okay|well|wait|um+|uh|ah|oh|so|but|and|right|yeah|sorry|嗯|呃|哦|啊|那么?|好吧?|等等)(?![a-z])\W*)+",
    re.IGNORECASE,
)
_CHEAPER = re.compile(
    r"^\W*(?:(?:any|a|is there an?y?|what.s an?|and|the|something)\s+)*(?:cheaper|cheapest|less expensive"
    r"|lower[- ]cost)"
    r"(?:\s+(?:option|one|alternative|way|choice|solution|version))?\W*$|^.{0,6}(?:更|再)?便宜(?:一?点|些)?的?(?:方案|选择|办法)?(?:呢|吗|有吗)?\W*$",
    re.IGNORECASE,
)
_FASTER = re.compile(
    r"^\W*(?:(?:any|a|is there an?y?|what.s an?|and|the|something)\s+)*(?:faster|fastest|quicker)"
    r"(?:\s+(?:option|one|alternative|way|choice|solution|version))?\W*$|^.{0,6}(?:更|再)快(?:一?点|些)?的?(?:方案|选择|办法)?(?:呢|吗|有吗)?\W*$",
    re.IGNORECASE,
)


def carried_spec(history: Sequence[Answer]) -> ClusterSpec:
    """The cluster of the last answer that has one."""
    for answer in reversed(history):
        if answer.spec:
            return ClusterSpec.from_json(answer.spec)
    return ClusterSpec()


def said_before(history: Sequence[Answer]) -> frozenset[str]:
    """Spec fields that somebody gave, and that are no assumptions."""
    for answer in reversed(history):
        if answer.spec:
            assumed = {assumption.field for assumption in answer.assumptions}
            default = ClusterSpec().to_json()
            return frozenset(
                name
                for name, value in answer.spec.items()
                if name in default and value != default[name] and name not in assumed
            )
    return frozenset()


def goes_on(words: str, previous: Answer | None, vocab: Vocabulary) -> bool:
    """Whether a question is to be read as going on from the answer before."""
    if previous is None:
        return False
    if vocab.follow_up.search(words) or relative_size(words.lower(), 1):
        return True
    count = len(words.split())
    chinese = len(re.sub(r"\W", "", words)) <= _BARE_CHINESE_CHARACTERS and bool(re.search(r"[\u3400-\u9fff]", words))
    if _FRAGMENT.search(words) and count <= FRAGMENT_WORDS:
        return True
    return not _SENTENCE.search(words) and (chinese or (words.isascii() and count <= _BARE_ENGLISH_WORDS))


def restated(question: str, previous: Answer | None, vocab: Vocabulary) -> Restated | None:
    """What of the answer before is asked for again; None where the question is one of its own."""
    if previous is None:
        return None
    question = _FILLER.sub("", question)
    names: tuple[Restated, ...] = ("sure", "zh", "en")
    for name in names:
        if vocab.restate[name].search(question):
            return name
    return "why_not" if previous.verdict is not None and vocab.restate["why_not"].search(question) else None


def wished(words: str, previous: Answer | None) -> dict[str, Any]:
    """`cheaper option?` and `faster one?` after a recommendation ask for one with that first."""
    if previous is None or previous.kind not in {"decision", "comparison"}:
        return {}
    if _CHEAPER.search(words):
        return {"priority": "cost"}
    return {"priority": "performance"} if _FASTER.search(words) else {}


def parts_asked(words: str, vocab: Vocabulary) -> tuple[str, ...]:
    """The parts of a bill that a question names, in the order of vocabulary.yaml."""
    return tuple(name for name, pattern in vocab.focus.items() if pattern.search(words))
