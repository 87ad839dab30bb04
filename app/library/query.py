"""How a query is understood: its language, its words as concepts, the codes it names, and misspelt words mended.

A query is taken as *concepts*: a glossary term with all its names in both languages is one concept, any other word
is one of its own. A passage has a concept if it has any of its names; so an English question matches Chinese words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from app.fabric.calculation import Language
from app.library.chinese import simplified
from app.library.glossary import Glossary
from app.library.language import detect_language
from app.library.words import Words, stem

_SHORT_QUERY = 24  # characters
_MOST_CONCEPTS = 64  # of a long query; glossary terms come first
_LONGEST_QUERY = 2_000  # characters; the model reads 512 tokens anyway
_CODE = re.compile(r"(?<![\w])(?:[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Za-z]*[a-z][A-Z][A-Za-z]*)(?![\w])")
_WORD = re.compile(r"(?<![\w.+/:%-])[A-Za-z]+(?![\w+/:%-])")
_LEAST_LETTERS = 6  # of a word worth mending; of one in capitals (an abbreviation with letters swapped) 4
_LEAST_PASSAGES = 3  # that have the word which was meant
_GENERAL = 0.5  # of a term of our field, for the name of a company or a word of every trade
_COMPARISON = re.compile(
    r"^(?P<one>.{2,60}?)\s*(?:\bvs\b\.?|\bversus\b|对比|相比)\s*(?P<other>.{2,60})$"
    r"|\bdifferences? between (?P<one_en>.{2,60}?) and (?P<other_en>.{2,60})$"
    r"|^(?P<one_zh>.{2,30}?)(?:和|与|跟)(?P<other_zh>.{2,30}?)(?:之间)?(?:的|有什么|有啥|有何|是什么)?(?:区别|差别|不同|差异)",
    re.IGNORECASE,
)
_MOST_MENDED = 8  # words of a query


@dataclass(frozen=True, slots=True)
class Concept:
    """Names of one thing, each a tuple of index words. `weight`: how much of a term of our field it is."""

    names: tuple[tuple[str, ...], ...]
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Query:
    """`embedded`: the text to embed. `terms`: how many terms of our field it has; a counter or setting that some
    passage names counts for two. `sides`: what it compares, each a query of its own.
    """

    text: str
    embedded: str
    language: Language
    concepts: tuple[Concept, ...]
    terms: int
    sides: tuple[Query, ...] = ()

    @property
    def names(self) -> list[tuple[str, ...]]:
        """All names of all concepts, each once."""
        return list(dict.fromkeys(name for concept in self.concepts for name in concept.names))


class QueryReader:
    """`frequency`: in how many passages index words occur; `beginning`: the index words that begin so, with that."""

    def __init__(
        self,
        words: Words,
        glossary: Glossary,
        frequency: Callable[[Iterable[str]], Mapping[str, int]],
        beginning: Callable[[str], Mapping[str, int]],
    ):
        self._words = words
        self._find = lru_cache(maxsize=256)(glossary.find)  # asked several times of one text
        self._frequency = frequency
        self._beginning = beginning

    def read(self, text: str) -> Query | None:
        """None where there is nothing to search for."""
        text = simplified(" ".join(text.split())[:_LONGEST_QUERY])
        if not any(character.isalnum() for character in text):
            return None
        codes = self._frequency(code.lower() for code in _CODE.findall(text) if not self._find(code))
        text = self._mended(text)
        if text.isupper() and " " in text:  # the model takes shouting for another subject
            text = text.lower()
        whole = self._query(text, detect_language(text))
        sides = [self._query(side, whole.language) for side in _sides(text)]
        return replace(
            whole,
            terms=whole.terms + (2 if codes else 0),
            sides=tuple(sides) if sides and all(side.terms for side in sides) else (),
        )

    def _query(self, text: str, language: Language) -> Query:
        concepts = self._concepts(text)
        terms = int(sum(concept.weight for concept in concepts))
        return Query(text, self._spelt_out(text, language), language, concepts, terms)

    def _concepts(self, text: str) -> tuple[Concept, ...]:
        terms = self._find(text)
        covered = [span for _, spans in terms for span in spans]
        concepts = []
        for term, _ in terms:
            names = {tuple(self._words.of(name)) for name in term.names}
            concepts.append(Concept(tuple(sorted(name for name in names if name)), _GENERAL if term.general else 1.0))
        rest = _without(text, covered)
        concepts += [Concept((word,)) for word in self._words.for_query(rest)]
        return tuple([concept for concept in concepts if concept.names][:_MOST_CONCEPTS])

    def _spelt_out(self, text: str, language: Language) -> str:
        """A short query with the names of its abbreviations: the model knows few of them ("DLB", "AR")."""
        if len(text) > _SHORT_QUERY:
            return text
        full = [
            term.full_name(language)
            for term, spans in self._find(text)
            if any(_is_abbreviation(text[start:end]) for start, end in spans)
        ]
        missing = [name for name in dict.fromkeys(full) if name.lower() not in text.lower()]
        return f"{text} ({', '.join(missing)})" if missing else text

    def _mended(self, text: str) -> str:
        """Words that no passage has, replaced by one that is a slip of a finger away and that several have."""
        covered = [span for _, spans in self._find(text) for span in spans]
        slips = [
            match
            for match in _WORD.finditer(text)
            if len(match.group()) >= (4 if match.group().isupper() else _LEAST_LETTERS)
            and not any(start < match.end() and match.start() < end for start, end in covered)
        ][:_MOST_MENDED]
        known = self._frequency(stem(match.group().lower()) for match in slips)
        for match in reversed(slips):
            word = match.group()
            index_word = stem(word.lower())
            if index_word not in known and self._words.of(word):
                meant = self._meant(index_word, swapped_only=word.isupper())
                text = text[: match.start()] + (meant or word) + text[match.end() :]
        return text

    def _meant(self, word: str, *, swapped_only: bool) -> str:
        """The commonest index word with the same two first letters and one slip between; "" if there is none."""
        close = is_swapped if swapped_only else one_slip_apart
        found = {
            other: count
            for other, count in self._beginning(word[:2]).items()
            if count >= _LEAST_PASSAGES and other.isascii() and other.isalpha() and close(word, other)
        }
        return max(found, key=lambda other: (found[other], other), default="")


def _sides(text: str) -> list[str]:
    """What a question compares: "credits vs PFC", "DAC 和 AOC 的区别"; nothing if it does not."""
    found = _COMPARISON.search(text.strip(" ?？。.!！"))
    return [side.strip() for side in found.groups() if side] if found else []


def one_slip_apart(one: str, other: str) -> bool:
    """One letter missing, added, wrong, or two neighbours swapped."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if len(one) == len(other):
        return one[start + 1 :] == other[start + 1 :] or is_swapped(one, other)
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer[start + 1 :] == shorter[start:]


def is_swapped(one: str, other: str) -> bool:
    """Two neighbouring letters changed places."""
    if len(one) != len(other):
        return False
    differ = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return (
        len(differ) == 2
        and differ[1] == differ[0] + 1
        and one[differ[0]] == other[differ[1]]
        and (one[differ[1]] == other[differ[0]])
    )


def _is_abbreviation(name: str) -> bool:
    return len(name) <= 6 and name.isascii() and name.isalnum()


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept = list(text)
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)
