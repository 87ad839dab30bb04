"""Is the answer written in the language it was asked for in, as a whole and in every sentence?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.advisor.answer import Citation
from eval.metrics.sentences import claims, squeezed

_CODE = re.compile(r"```.*?```|`[^`]*`", re.S)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def han_share(text: str) -> float:
    """Chinese characters / (Chinese characters + Latin words), code left out; 0 for a text with neither."""
    han, latin = _counts(text)
    return han / (han + latin) if han + latin else 0.0


def is_in_language(text: str, language: str) -> bool:
    """Chinese prose on networks is full of Latin names, so half is enough; English has next to no Chinese."""
    return han_share(text) >= 0.5 if language == "zh" else han_share(text) <= 0.05


def foreign_sentences(text: str, language: str, citations: Sequence[Citation] = ()) -> list[str]:
    """Sentences of the other language, table rows left out.

    A quotation may be foreign where its document exists in one language only, so a user's own file, not a note.
    """
    own_documents = [squeezed(c.passage) for c in citations if not re.search(r"\.(?:en|zh)\.md$", c.document)]
    return [
        claim.text
        for claim in claims(text)
        if not claim.text.startswith("|")
        and _is_foreign(claim.bare, language)
        and not any(squeezed(claim.bare) in passage for passage in own_documents)
    ]


def _is_foreign(sentence: str, language: str) -> bool:
    """A few words of the other language are names; six or more with next to none of the right one are not."""
    han, latin = _counts(sentence)
    return (latin >= 6 and han < latin / 2) if language == "zh" else (han >= 6 and han > latin / 2)


def _counts(text: str) -> tuple[int, int]:
    prose = _CODE.sub(" ", text)
    return len(_HAN.findall(prose)), len(_LATIN_WORD.findall(prose))
