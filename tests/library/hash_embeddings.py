"""Embeddings for tests of everything but the model: words hashed into a vector, the same on every machine."""

from __future__ import annotations

import hashlib
import re
import time

import numpy as np
from langchain_core.embeddings import Embeddings


class HashEmbeddings(Embeddings):
    def __init__(self, model_id: str = "hash-test", *, pause_s: float = 0.0):
        self.model_id = model_id
        self.embedded = 0  # documents so far
        self._pause_s = pause_s

    def embed_query(self, text: str) -> list[float]:
        vector = np.full(64, 0.01)
        for word in re.findall(r"[a-z0-9_]+|[\u4e00-\u9fff]", text.lower()):
            digest = hashlib.md5(word.encode()).digest()
            vector[digest[0] % 64] += 1 if digest[1] % 2 else -1
        return list(map(float, vector / np.linalg.norm(vector)))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += len(texts)
        time.sleep(self._pause_s * len(texts))
        return [self.embed_query(text) for text in texts]
