"""Similarities of one query to passages, made comparable between languages.

multilingual-e5 gives a passage in the language of the query 0.02 to 0.09 more than one in the other, whatever they
say. What the crowd of a language's nearest passages reaches is that language's baseline; how far a passage stands
out from it is its `contrast`, and `similarity` is the cosine that it would have in the query's language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.fabric.calculation import Language
from app.library.vector_table import Similarities

_AT_ONCE = 20  # nearest passages of each language
_CROWD = slice(8, _AT_ONCE)  # of these, the ones that are near without being about it


@dataclass(frozen=True, slots=True)
class Near:
    """`cosine` as it is; `similarity` and `contrast` made comparable. Without a baseline, contrast is 0."""

    cosine: float
    similarity: float
    contrast: float


class Nearest:
    """The passages nearest to one query vector."""

    def __init__(self, similarities: Similarities, asked_in: Language):
        self._similarities = similarities
        self._asked_in = asked_in
        self._nearest: dict[str, list[tuple[str, float]]] = {}
        self._baselines: dict[str, float] = {}
        for language in ("en", "zh"):
            found = self._nearest[language] = similarities.best(_AT_ONCE, language=language)
            crowd = [cosine for _, cosine in found[_CROWD]]
            if len(crowd) >= _AT_ONCE // 3:
                self._baselines[language] = sum(crowd) / len(crowd)

    def best(self, kind: str | None, *, language: str = "", documents: frozenset[str] | None = None) -> dict[str, Near]:
        """The nearest passages by id; of one kind, one language and some documents if asked."""
        nearest: dict[str, Near] = {}
        for own in (language,) if language else ("en", "zh"):
            found = self._nearest[own]
            if kind or documents is not None:
                found = self._similarities.best(_AT_ONCE, language=own, kind=kind, documents=documents)
            nearest |= {id_: self._near(cosine, own) for id_, cosine in found}
        return nearest

    def of(self, languages: Mapping[str, str]) -> dict[str, Near]:
        """Any passages, given their languages by id."""
        return {id_: self._near(cosine, languages[id_]) for id_, cosine in self._similarities.of(languages).items()}

    def _near(self, cosine: float, language: str) -> Near:
        own, wanted = self._baselines.get(language), self._baselines.get(self._asked_in)
        shift = wanted - own if own is not None and wanted is not None else 0.0
        return Near(cosine, cosine + shift, cosine - own if own is not None else 0.0)


def strongest(nears: Iterable[Near]) -> tuple[float, float]:
    """The greatest similarity and the greatest contrast; zeros if there are none."""
    found = list(nears)
    return max((one.similarity for one in found), default=0.0), max((one.contrast for one in found), default=0.0)
