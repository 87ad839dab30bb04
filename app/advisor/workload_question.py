"""What a question says of a job: the model, its tokens, batch and layout, and whether it asks how the job runs.

Patterns are data (workload_words.yaml). Nothing is calculated here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from app.advisor.spec import ClusterSpec

Subject = Literal["training", "inference", "goodput"]
DEFAULT_MODEL = "llama3-70b"  # of a training whose model nobody names
SIZE_TOLERANCE = 0.1  # "a 70B model" is a model of 63 to 77 billion parameters

_FLAGS = re.IGNORECASE | re.ASCII
_SIZE = re.compile(
    r"(?<![\w.$])(\d+(?:\.\d+)?)\s?(b|t)(?:illion|rillion)?(?![a-z0-9/]|\s*(?:tokens?|词元))"
    r"|(?<![\w.])(\d+(?:\.\d+)?)\s?(百亿|千亿|万亿|亿|億|萬億)(?!\s*(?:个|個)?\s*(?:tokens?|词元|美元|元))",
    _FLAGS,
)
_ROUND_SIZE = re.compile(r"(?<![\d.万千百十])(百亿|千亿|万亿)(?=[^美元]{0,3}(?:参数|模型))")
_BILLIONS = {"b": 1.0, "t": 1e3, "亿": 0.1, "億": 0.1, "百亿": 10.0, "千亿": 100.0, "万亿": 1e3, "萬億": 1e3}
_TOKENS = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)\s?(t|b|trillion|billion|万亿|亿|萬億|億)\s?(?:个|個)?(?:\s|-|training|of)*(?:tokens?|词元)",
    _FLAGS,
)
_TOKEN_SCALE = {"t": 1e12, "trillion": 1e12, "万亿": 1e12, "萬億": 1e12, "b": 1e9, "billion": 1e9, "亿": 1e8, "億": 1e8}
_K_TOKENS = r"(\d{1,7}(?:\.\d+)?)\s?(k)?"
_CONTEXT = re.compile(
    rf"(?<![\w.]){_K_TOKENS}[\s-]*(?:tokens?)?[\s-]*(?:context|sequences?|seq\b|上下文|序列)"
    rf"|(?:context(?: length| window)?|seq(?:uence)?(?:[ _-]?len(?:gth)?)?|上下文|序列(?:长度)?)"
    rf"\s*(?:of|=|:|为|是)?\s*{_K_TOKENS}(?![\w.])",
    _FLAGS,
)
_PROMPT = re.compile(rf"(?<![\w.]){_K_TOKENS}[\s-]*(?:个|個)?\s?(?:prompts?\b|tokens?|词元|提示)", _FLAGS)
_BATCH = re.compile(
    r"(?:global[ -]?batch(?:[ -]size)?|\bgbs|batch[ -]size|全局批次?(?:大小)?|批(?:量|次)?大小)"
    r"\s*(?:of|=|:|为|是)?\s*(\d+)",
    _FLAGS,
)
_DEGREE = re.compile(r"(?<![a-z0-9])(tp|pp|cp|ep|vp)\s?[=:]?\s?(\d{1,4})(?![\d.])", _FLAGS)
_PRECISION = re.compile(r"(?<![a-z0-9])(fp8|bf16)(?![a-z0-9])", _FLAGS)


@dataclass(frozen=True, slots=True)
class ModelNames:
    """Catalog ids of models by family, and the parameters of each in billions."""

    billions: Mapping[str, float]

    def named(self, text: str) -> tuple[str, bool] | None:
        """The id of the model that `text` names, and whether by its name (or only by a size near to it)."""
        words = _words()
        sizes = _sizes(text)
        for family, pattern in words.families.items():
            if not pattern.search(text):
                continue
            members = [id for id in self.billions if id.startswith(family)]
            if near := self._nearest(members, sizes):
                return near, True
            if len(members) == 1:
                return members[0], True
        near = self._nearest(words.typical, sizes) or self._nearest(self.billions, sizes)
        return (near, False) if near else None

    def _nearest(self, ids: Iterable[str], sizes: list[float]) -> str | None:
        gaps = [
            (abs(self.billions[id] - size) / size, id)
            for id in ids
            for size in sizes
            if id in self.billions and abs(self.billions[id] - size) <= SIZE_TOLERANCE * size
        ]
        return min(gaps)[1] if gaps else None


@dataclass(frozen=True, slots=True)
class _Words:
    about: Mapping[Subject, re.Pattern[str]]
    asks: Mapping[Subject, re.Pattern[str]]
    families: Mapping[str, re.Pattern[str]]
    typical: tuple[str, ...]


@cache
def _words() -> _Words:
    data = yaml.safe_load((Path(__file__).parent / "workload_words.yaml").read_text(encoding="utf-8"))
    subjects = data["subjects"]
    return _Words(
        {name: re.compile("|".join(one["about"]), _FLAGS) for name, one in subjects.items()},
        {name: re.compile("|".join(one["asks"]), _FLAGS) for name, one in subjects.items()},
        {name: re.compile(pattern, _FLAGS) for name, pattern in data["families"].items()},
        tuple(data["typical"]),
    )


def job_fields(question: str, names: ModelNames) -> dict[str, Any]:
    """Spec fields that a question gives of the job: model, train_tokens, sequence, prompt_tokens, batch, layout."""
    text = unicodedata.normalize("NFKC", question)
    found: dict[str, Any] = {}
    if model := names.named(text):
        found["model"] = model[0]
    if match := _TOKENS.search(text):
        found["train_tokens"] = float(match[1]) * _TOKEN_SCALE[match[2].lower()]
    rest = _TOKENS.sub(" ", text)
    if match := _CONTEXT.search(rest):
        found["sequence"] = _tokens(match[1] or match[3], match[2] or match[4])
    elif match := _PROMPT.search(rest):
        found["sequence"] = _tokens(match[1], match[2])
    if match := _BATCH.search(rest):
        found["global_batch"] = int(match[1])
    if match := _PRECISION.search(rest):
        found["precision"] = match[1].lower()
    degrees = {name.lower(): int(value) for name, value in _DEGREE.findall(rest)}
    if "tp" in degrees or "pp" in degrees:
        found["layout"] = ",".join(f"{name}={value}" for name, value in sorted(degrees.items()))
    return found


def without_job(question: str) -> str:
    """The question without sizes of models and counts of tokens, so that they are not read as GPUs."""
    text = question
    for pattern in (_TOKENS, _CONTEXT, _BATCH, _DEGREE, _SIZE):
        text = pattern.sub(" ", text)
    return text


def subject_of(question: str, spec: ClusterSpec, named: bool) -> Subject | None:
    """What of a job is asked; None where no calculator of jobs applies. `named`: this question names a model."""
    words = _words()
    known: dict[Subject, bool] = {
        "goodput": spec.gpus is not None,
        "inference": named,
        "training": spec.gpus is not None,
    }
    for subject, enough in known.items():
        if enough and words.about[subject].search(question) and words.asks[subject].search(question):
            return subject
    one_node = spec.gpus is not None and spec.gpus <= spec.gpus_per_node
    if named and one_node and not words.about["training"].search(question) and words.asks["inference"].search(question):
        return "inference"  # "one 8xH100 node for Llama 70B, do I need InfiniBand?"
    return None


def subject_before(tools: Iterable[str]) -> Subject | None:
    """The subject of an earlier answer, by the tools that it called: "what about 1,024?" stays with it."""
    made = set(tools)
    subjects: tuple[Subject, ...] = ("training", "inference", "goodput")
    return next((subject for subject in subjects if subject in made), None)


def degrees(layout: str) -> dict[str, int]:
    """`tp=8,pp=4` as a mapping."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in layout.split(",") if part)}


def _sizes(text: str) -> list[float]:
    """Every size of a model in a text, in billions of parameters."""
    found = []
    for latin, unit, chinese, scale in _SIZE.findall(_TOKENS.sub(" ", text)):
        number, name = (latin, unit) if latin else (chinese, scale)
        found.append(float(number) * _BILLIONS[name.lower()])
    return found + [_BILLIONS[word] for word in _ROUND_SIZE.findall(text)]


def _tokens(number: str, kilo: str) -> int:
    return round(float(number) * (1024 if kilo else 1))
