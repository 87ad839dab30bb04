"""Which language a stretch of text is written in: Chinese or English, by counting words of each."""

from __future__ import annotations

import re

from app.fabric.calculation import Language

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’_-]*")
_CHARACTERS_PER_CHINESE_WORD = 1.7
_CHINESE_SHARE = 0.35  # Chinese network text is full of Latin abbreviations; English text has hardly any Chinese


def detect_language(text: str) -> Language:
    """`zh` if at least about a third of the words are Chinese, else `en`."""
    chinese = len(_CJK_CHARACTER.findall(text)) / _CHARACTERS_PER_CHINESE_WORD
    latin = len(_LATIN_WORD.findall(text))
    return "zh" if chinese and chinese / (chinese + latin) >= _CHINESE_SHARE else "en"


def has_cjk(text: str) -> bool:
    return _CJK_CHARACTER.search(text) is not None


def estimated_tokens(text: str) -> float:
    """Tokens of multilingual-e5, estimated without a tokenizer: 0.68 a Chinese character, 0.27 any other."""
    chinese = len(_CJK_CHARACTER.findall(text))
    return 0.68 * chinese + 0.27 * (len(text) - chinese)
