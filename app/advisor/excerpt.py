"""Choosing what to quote of a passage: whole sentences, in the document's own words, best match first.

Quotes are verbatim but for Markdown marks (headings, footnote markers) that mean nothing outside their document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from app.library.passage import Passage

_FOOTNOTE = re.compile(r"\s?\[\^[^\]]+\]")
_HEADING = re.compile(r"^#{1,6}\s.*$", re.MULTILINE)
_ITEM = re.compile(r"^(?:[-*]|\d+\.)\s", re.MULTILINE)
_LEAST_PROSE = 40  # characters that must stay when a list is left out
_SENTENCE_END = re.compile(r"(?<=[。！？])|(?<=[.!?])(?=\s+[A-Z0-9`(\"'])")
_TERM = re.compile(r"[a-z][a-z0-9_+\-]*[a-z0-9]|\d+(?:\.\d+)?|[\u4e00-\u9fff]")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "the a an of to in is are was were be and or for on with by at from as it its that this these those "
        "what how why when who which does do did can could should would will i we you my our your there not "
        "no than then if but have has ",
    )
)
_STOP_ZH = frozenset("的了是在和与或吗呢什么怎如何为有用我们你要会能个到其这那也都就")


@dataclass(frozen=True, slots=True)
class Quote:
    """Sentences of one passage, to show with its citation."""

    passage: Passage
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        joiner = "" if self.passage.language == "zh" else " "
        return joiner.join(self.sentences)


def readable(passage_text: str) -> str:
    """The passage without heading lines and footnote markers; tables and lists keep their lines."""
    return _FOOTNOTE.sub("", _HEADING.sub("", passage_text)).strip()


def sentences(passage_text: str) -> list[str]:
    """The prose of a passage as sentences; tables and long lists are left out, since a part of them would mislead."""
    found: list[str] = []
    text = readable(passage_text)
    for block in lists(passage_text):
        prose = _ITEM.split(block)[0]
        text = text.replace(block, prose) if len(text.replace(block, prose)) > _LEAST_PROSE else text
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        lines = [
            line for line in block.splitlines() if not line.lstrip().startswith("|") and not line.startswith("```")
        ]
        text = " ".join(line.strip() for line in lines)
        text = re.sub(r"^(?:[-*]|\d+\.)\s+", "", text.strip())
        found += [part.strip() for part in _SENTENCE_END.split(text) if len(part.strip()) > 5]
    return found


def tables(passage_text: str) -> list[str]:
    """The Markdown tables of a passage, whole."""
    return [
        block
        for block in re.split(r"\n\s*\n", readable(passage_text))
        if block.lstrip().startswith("|") and block.count("\n") >= 2
    ]


def lists(passage_text: str) -> list[str]:
    """The lists of a passage with three items or more, whole: a few items of a list would mislead."""
    blocks = re.split(r"\n\s*\n", readable(passage_text))
    return [block for block in blocks if len(_ITEM.findall(block)) >= 3]


def items_marked(block: str, marker: str) -> str:
    """A list with the marker of its source behind every item."""
    items = re.split(r"\n(?=(?:[-*]|\d+\.)\s)", block)
    return "\n".join(f"{item.rstrip()} {marker}" if _ITEM.match(item) else item for item in items)


def terms(text: str) -> Counter[str]:
    """Content terms: Latin words and numbers, and for Chinese pairs of neighbouring characters."""
    low = text.lower()
    counted: Counter[str] = Counter()
    previous, previous_end = "", -1
    for match in _TERM.finditer(low):
        token = match[0]
        if "\u4e00" <= token <= "\u9fff":
            if previous and match.start() == previous_end:
                counted[previous + token] += 1
            previous = "" if token in _STOP_ZH else token
            previous_end = match.end()
            continue
        previous = ""
        if token not in _STOP:
            counted[token.rstrip("s") if len(token) > 3 else token] += 1
    return counted


def rank(candidates: Sequence[str], about: str) -> list[float]:
    """How well each sentence speaks of `about`: shared terms, rarer ones counting more."""
    wanted = terms(about)
    bags = [terms(candidate) for candidate in candidates]
    frequency = Counter(term for bag in bags for term in bag)
    return [
        sum(log(1 + len(bags) / frequency[term]) for term in wanted if term in bag) / (1 + 0.02 * sum(bag.values()))
        for bag in bags
    ]


def best_sentences(passage: Passage, about: str, most: int, *, lead: bool = False) -> Quote:
    """Up to `most` sentences of a passage, in its own order; `lead` keeps its first one in any case."""
    candidates = sentences(passage.text)
    scores = rank(candidates, about)
    order = sorted(range(len(candidates)), key=lambda at: (-(scores[at] + (1e6 if lead and at == 0 else 0)), at))
    chosen = sorted(order[:most])
    return Quote(passage, tuple(candidates[at] for at in chosen))


def best_quote(passages: Iterable[Passage], about: str, most: int = 1) -> Quote | None:
    """The passage whose best sentence speaks most of `about`, and that sentence (with up to `most` - 1 more)."""
    best: tuple[float, Passage] | None = None
    for passage in passages:
        candidates = sentences(passage.text)
        if candidates:
            score = max(rank(candidates, about))
            if best is None or score > best[0]:
                best = (score, passage)
    return best_sentences(best[1], about, most) if best else None
