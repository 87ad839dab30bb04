"""Text to index words, for English, Chinese and code-like terms alike.

Chinese is segmented by jieba, helped by the glossary's terms; `NCCL_IB_GID_INDEX` is one word and four; `400 Gb/s`,
`400Gbps` and `400G` meet in one word. Every word returned is safe in an FTS5 query when quoted.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.library.glossary import Glossary
from app.library.language import CJK

WORDS_VERSION = "1"
_CHUNK = re.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:[_\-./+:%][^\W{CJK}]+)*")
_SEPARATOR = re.compile(r"[_\-./+:%]")
_SPEED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(g|t)(?:b/s|bps|bit/s|be|bits?/s|b)?(?![a-z0-9/])")
_STOP_WORDS = frozenset(
    """a about all also am an and any are as at be been being but by can could did do does doing for from had has have
    he her his how i if in into is it its just me more my no not of on or our out s should so some such t than that the
    their them then there these they this those to too up us was we were what when where which who whom whose why will
    with would you your please tell explain between
    的 了 是 和 与 及 或 在 有 也 就 都 而 吗 呢 吧 啊 么 什么 怎么 怎样 如何 为什么 为何 哪些 哪个 哪 请 请问 我 我们 你 你们 它 它们 他 她
    这 那 这个 那个 一个 一下 会 能 可以 应该 需要 要 把 被 对 从 到 用 让 给 其 之 并 不 很 多少 几 是否 有没有 上 下 中 里 个 着 过""".split()
)


class Words:
    """Loads jieba's dictionary at the first Chinese character it meets (0.7 s, 60 MB); its cache lies in `cache`."""

    def __init__(self, glossary: Glossary, cache: Path):
        self._glossary = glossary
        self._cache = cache
        self._jieba: Any = None
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """Of the rules and the glossary together: an index of another version is indexed again."""
        return f"{WORDS_VERSION}-{self._glossary.fingerprint}"

    def of(self, text: str) -> list[str]:
        """All words of a text in order, repeated as they occur, without stop words."""
        return [word for word in self._all(text) if word not in _STOP_WORDS]

    def _all(self, text: str) -> Iterator[str]:
        text = unicodedata.normalize("NFKC", text).lower()
        for number, unit in _SPEED.findall(text):
            yield f"{number}{unit}"
        for chunk in _CHUNK.findall(text):
            if "\u3400" <= chunk[0] <= "\ufaff":
                yield from self._segmenter().cut_for_search(chunk, HMM=False)
                continue
            parts = _SEPARATOR.split(chunk)
            if len(parts) == 1:
                if not _SPEED.fullmatch(chunk):
                    yield singular(chunk)
                continue
            yield chunk
            yield from (singular(part) for part in parts if len(part) > 1)

    def _segmenter(self) -> Any:
        with self._lock:
            if self._jieba is None:
                self._jieba = _load_jieba(self._glossary.chinese_words, self._cache)
            return self._jieba


def singular(word: str) -> str:
    """English plural to singular, roughly; the same for query and index is what counts."""
    if len(word) < 4 or not word.isascii() or not word.isalpha() or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is")):
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
