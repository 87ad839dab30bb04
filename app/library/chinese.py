"""Traditional Chinese folded to Simplified, so that 網路擁塞 and 网络拥塞 are the same words in search.

Characters and Taiwan's terms (軟體 → 软件) come from OpenCC's dictionaries. Only what is searched by is folded;
what is shown and cited stays as it was written.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

_FIRST, _LAST = 0x3400, 0x9FFF  # of the Chinese characters that have a simplified form
_lock = threading.Lock()


def simplified(text: str) -> str:
    """The text in Simplified characters and the mainland's terms; text without Traditional ones as it is."""
    if text.isascii() or text.translate(_characters()) == text:
        return text
    with _lock:
        return str(_converter("tw2sp").convert(text))


@cache
def _characters() -> dict[int, str]:
    """Each Traditional character with its Simplified one, read once from the converter (0.1 s)."""
    every = [chr(code) for code in range(_FIRST, _LAST + 1)]
    with _lock:
        converted = str(_converter("t2s").convert("\n".join(every))).split("\n")
    return {ord(one): other for one, other in zip(every, converted, strict=True) if one != other}


@cache
def _converter(name: str) -> Any:
    from opencc import OpenCC

    return OpenCC(name)
