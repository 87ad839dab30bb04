"""The glossary: English and Chinese names of one thing, with abbreviations. It lets words cross languages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from app.errors import AdvisorError
from app.library.chinese import simplified
from app.library.language import has_cjk

_AMBIGUOUS = frozenset(re.findall(r"\w+", "ar as at it is in on or to us be so do we he an am pm sm"))


@dataclass(frozen=True, slots=True)
class Term:
    """One thing and all its names, the English one first. `general`: a company or a word of every trade, which does
    not make a question one of our field.
    """

    names: tuple[str, ...]
    general: bool = False

    def full_name(self, language: str) -> str:
        """The name to say in a language: names begin with the English and the Chinese one."""
        return next((name for name in self.names[:2] if has_cjk(name) == (language == "zh")), self.names[0])


class Glossary:
    def __init__(self, terms: Iterable[Term]):
        self.terms = tuple(terms)

    @classmethod
    def load(cls, path: Path) -> Glossary:
        """Read the YAML list of {en, zh, abbreviations?, en_variants?, zh_variants?, general?}; no file: an empty
        glossary.
        """
        if not path.is_file():
            return cls(())
        try:
            entries = yaml.load(path.read_text(encoding="utf-8"), Loader=_YAML_LOADER) or []
            if isinstance(entries, dict):
                entries = entries["terms"]
            return cls(_term(entry) for entry in entries)
        except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
            raise AdvisorError(
                f"The glossary {path.name} is not a list of terms: {str(error).splitlines()[0]}.",
                "Each entry needs en and zh; see the entries that are there.",
            ) from None

    @cached_property
    def fingerprint(self) -> str:
        """Changes when a term does: words are indexed with the glossary's help."""
        text = "\n".join("\t".join(term.names) for term in self.terms)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def chinese_words(self) -> tuple[str, ...]:
        """Names that word segmentation must not cut."""
        return tuple(sorted({name for term in self.terms for name in term.names if has_cjk(name)}))

    @cached_property
    def _patterns(self) -> tuple[tuple[Term, tuple[str, ...], re.Pattern[str]], ...]:
        """Each term with the longest part of each of its names, without one of which the pattern cannot match."""
        return tuple((term, _parts(term.names), _pattern(term.names)) for term in self.terms)

    def find(self, text: str) -> list[tuple[Term, tuple[tuple[int, int], ...]]]:
        """Terms that occur in the text under any of their names, each with the spans where it does.

        A name of one Chinese character counts only outside longer names: a GPU is a 卡, but 网卡 and 卡死 are not.
        """
        found = []
        folded = text.casefold()
        for term, parts, pattern in self._patterns:
            if not any(part in folded for part in parts):  # as for nearly all of 300 terms: 1 ms of patterns saved
                continue
            spans = tuple(match.span() for match in pattern.finditer(text) if not _is_plain_word(match.group()))
            if spans:
                found.append((term, spans))
        longer = [(start, end) for _, spans in found for start, end in spans if end - start > 1]
        alone = []
        for term, spans in found:
            kept = tuple(span for span in spans if not (_is_one_character(text, span) and _inside(span, longer)))
            if kept:
                alone.append((term, kept))
        return alone


def _is_one_character(text: str, span: tuple[int, int]) -> bool:
    return span[1] - span[0] == 1 and has_cjk(text[slice(*span)])


def _inside(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in others)


def _is_plain_word(name: str) -> bool:
    """A lower-case "ar" or "it" is a word, not the abbreviation."""
    return name.islower() and name in _AMBIGUOUS


def _term(entry: dict[str, Any]) -> Term:
    names = [entry["en"], entry["zh"]]
    for key in ("abbreviations", "en_variants", "zh_variants"):
        more = entry.get(key) or []
        names += [more] if isinstance(more, str) else more
    names += [simplified(str(name)) for name in names]
    distinct = dict.fromkeys(str(name).strip() for name in names if str(name).strip())
    return Term(tuple(distinct), bool(entry.get("general")))


def _parts(names: Iterable[str]) -> tuple[str, ...]:
    return tuple({max(re.split(r"[ -]+", name.casefold()), key=len) for name in names})


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    parts = []
    for name in sorted(names, key=len, reverse=True):
        body = re.escape(name).replace(r"\ ", r"[\s-]+").replace(r"\-", r"[\s-]?")
        if name[0].isascii() and name[0].isalnum():
            body = r"(?<![A-Za-z0-9_])" + body
        if name[-1].isascii() and name[-1].isalnum():
            body += r"(?:e?s)?(?![A-Za-z0-9_])"
        parts.append(body)
    return re.compile("|".join(parts), re.IGNORECASE)


_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
