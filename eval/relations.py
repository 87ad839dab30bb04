"""Arithmetic that must hold between the values of an answer: "cost.roce.tco_usd >= cost.roce.capex_usd".

A relation is one comparison of sums, differences, products and quotients of numbers and value paths. Both
sides of `==` agree within 1e-6.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: lambda left, right: abs(left - right) <= 1e-6 * max(abs(left), abs(right), 1e-12),
}


@dataclass(frozen=True, slots=True)
class Relation:
    text: str

    @classmethod
    def parse(cls, text: str) -> Relation:
        """Checks the form; raises ValueError that says what is wrong."""
        comparison = _comparison(text)
        _evaluate(comparison.left, lambda path: 1.0)
        _evaluate(comparison.comparators[0], lambda path: 1.0)
        return cls(text)

    def holds(self, value_of: Callable[[str], float]) -> tuple[bool, str]:
        """Whether it holds, and both sides as numbers. `value_of` raises KeyError for an unknown path."""
        comparison = _comparison(self.text)
        left = _evaluate(comparison.left, value_of)
        right = _evaluate(comparison.comparators[0], value_of)
        return _COMPARISONS[type(comparison.ops[0])](left, right), f"{left:.6g} against {right:.6g}"


def _comparison(text: str) -> ast.Compare:
    try:
        body = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"'{text}' is not a comparison") from None
    if not isinstance(body, ast.Compare) or len(body.ops) != 1 or type(body.ops[0]) not in _COMPARISONS:
        raise ValueError(f"'{text}' must be one comparison with <, <=, >, >= or ==")
    return body


def _evaluate(node: ast.expr, value_of: Callable[[str], float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Attribute | ast.Name):
        return value_of(ast.unparse(node))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_evaluate(node.left, value_of), _evaluate(node.right, value_of))
    raise ValueError(f"'{ast.unparse(node)}' is not a number, a value or a + - * / of them")
