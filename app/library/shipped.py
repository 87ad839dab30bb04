"""Vectors that come with the program, for the shipped notes: knowledge/vectors/MODEL.npz.

Keyed by the SHA-256 of the embedded text, so that an edited note is simply not found and is embedded anew.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def vector_file(knowledge: Path, model_id: str) -> Path:
    return knowledge / "vectors" / (re.sub(r"[^A-Za-z0-9.-]+", "-", model_id) + ".npz")


def key(embedded_text: str) -> str:
    return hashlib.sha256(embedded_text.encode()).hexdigest()


def load(path: Path) -> dict[str, NDArray[np.float32]]:
    """Vectors by key; no file, or one that cannot be read: none."""
    try:
        with np.load(path) as archive:
            keys, vectors = archive["keys"], archive["vectors"].astype(np.float32)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return {}
    return {bytes(one).hex(): vector for one, vector in zip(keys, vectors, strict=True)}


def save(path: Path, vectors: Mapping[str, Any]) -> None:
    """Write vectors as 16-bit floats, in the order of their keys, so that equal content is an equal file."""
    ordered = sorted(vectors)
    keys = np.array([list(bytes.fromhex(one)) for one in ordered], np.uint8).reshape(-1, 32)
    values = np.array([vectors[one] for one in ordered], np.float16)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, keys=keys, vectors=values)
