"""Is the answer written in the language it was asked for in?"""

from __future__ import annotations

import re

_CODE = re.compile(r"```.*?```|`[^`]*`", re.S)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def han_share(text: str) -> float:
    """Chinese characters / (Chinese characters + Latin words), code left out; 0 for a text with neither."""
    prose = _CODE.sub(" ", text)
    han, latin = len(_HAN.findall(prose)), len(_LATIN_WORD.findall(prose))
    return han / (han + latin) if han + latin else 0.0


def is_in_language(text: str, language: str) -> bool:
    """Chinese prose on networks is full of Latin names, so half is enough; English has next to no Chinese."""
    return han_share(text) >= 0.5 if language == "zh" else han_share(text) <= 0.05
