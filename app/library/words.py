"""Text to index words, for English, Chinese and code-like terms alike.

Chinese is segmented by jieba, helped by the glossary's terms; `NCCL_IB_GID_INDEX` is one word and four; `400
Gb/s`, `400Gbps` and `400G` meet in one word, and so do Traditional and Simplified Chinese. Every word returned is
safe in an FTS5 query when quoted.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.library.chinese import simplified
from app.library.glossary import Glossary
from app.library.language import CJK

WORDS_VERSION = "5"
_CHUNK = re.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:[_\-./+:%][^\W{CJK}]+)*")
_SEPARATOR = re.compile(r"[_\-./+:%]")
_SPEED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(g|t)(?:b/s|bps|bit/s|be|bits?/s|b)?(?![a-z0-9/])")
_SHORT, _KEPT = 200, 10_000  # characters; texts whose words are kept, some 5 MB
_STOP_WORDS = Path(__file__).with_name("stop_words.txt")


class Words:
    """Loads jieba's dictionary at the first Chinese character it meets (0.7 s, 60 MB); its cache lies in
    `cache`.
    """

    def __init__(self, glossary: Glossary, cache: Path):
        self._glossary = glossary
        self._cache = cache
        self._jieba: Any = None
        self._stop = frozenset(_STOP_WORDS.read_text(encoding="utf-8").split())
        self._lock = threading.Lock()
        self._of_short = lru_cache(_KEPT)(lambda text: tuple(word for group in self._groups(text) for word in group))

    @property
    def version(self) -> str:
        """Of the rules and the glossary together: an index of another version is indexed again."""
        return f"{WORDS_VERSION}-{self._glossary.fingerprint}"

    def of(self, text: str) -> list[str]:
        """All words of a text in order, repeated as they occur, without stop words."""
        if len(text) <= _SHORT:  # headings and names of terms come up in every search
            return list(self._of_short(text))
        return [word for group in self._groups(text) for word in group]

    def for_query(self, text: str) -> list[tuple[str, ...]]:
        """The text's words, each once, as one-word names: of a code-like term (`NCCL_IB_GID_INDEX`) only the
        whole, of any other compound (`RoCE/InfiniBand`) only the parts.
        """
        words = []
        for group in self._groups(text):
            if "_" in group[0]:
                words += group[:1]
            else:
                words += group[1:] if len(group) > 1 and _SEPARATOR.search(group[0]) else group
        return list(dict.fromkeys((word,) for word in words))

    def _groups(self, text: str) -> Iterator[list[str]]:
        """Words by the chunk of text that they come from; a chunk with separators as a whole first."""
        text = simplified(unicodedata.normalize("NFKC", text)).lower()
        for number, unit in _SPEED.findall(text):
            yield [f"{number}{unit}"]
        for chunk in _CHUNK.findall(text):
            if "\u3400" <= chunk[0] <= "\ufaff":
                words = list(self._segmenter().cut_for_search(chunk, HMM=False))
            elif _SPEED.fullmatch(chunk):
                continue
            elif _SEPARATOR.search(chunk):
                words = [chunk, *(part for part in _SEPARATOR.split(chunk) if len(part) > 1)]
            else:
                words = [chunk]
            kept = [stem(word) for word in words if word not in self._stop]
            if kept:
                yield kept

    def _segmenter(self) -> Any:
        with self._lock:
            if self._jieba is None:
                self._jieba = _load_jieba(self._glossary.chinese_words, self._cache)
            return self._jieba


def stem(word: str) -> str:
    """English word to a stem, roughly: plurals, -ing, -ed. The same for query and index is what counts."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 3:
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "ls" else rest
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def _singular(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1]


def _load_jieba(terms: tuple[str, ...], cache: Path) -> Any:
    import logging

    import jieba

    jieba.setLogLevel(logging.CRITICAL)
    tokenizer = jieba.Tokenizer()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        tokenizer.tmp_dir = str(cache)
    except OSError:
        pass  # read-only: jieba builds the dictionary in memory, a little slower
    tokenizer.cache_file = "jieba.cache"
    tokenizer.initialize()
    for term in terms:
        for run in re.findall(f"[{CJK}]+", term):
            if len(run) > 1:
                tokenizer.add_word(run)
    return tokenizer
