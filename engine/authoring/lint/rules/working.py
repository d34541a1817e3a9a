"""A student with pencil and paper: evaluates an expression and rounds every intermediate.

Shares no code with the reference or with :mod:`engine.variants.expressions`: it walks the
expression itself and works the sums out in numpy.  What it doesn't know (searches on tables,
say) is taken from the engine, unrounded.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["HandWork", "known_calls"]

Values = Any  # float, ndarray of float64, str, tuple


class HandWork:
    """Evaluates expressions, every intermediate rounded.

    Parameters
    ----------
    names : mapping
        Values by name: numbers, nested lists, numpy arrays, tensors, words.
    decimals : int
        The working precision.
    engine : callable
        ``engine(expression)`` evaluates a subexpression that isn't known here.
    """

    def __init__(self, names: Mapping[str, Any], decimals: int, engine: Callable[[str], Any]) -> None:
        self.names = names
        self.decimals = decimals
        self.engine = engine

    def evaluate(self, expression: str) -> Any:
        """Return the value as a numpy array, rounded to the working precision.

        Raises
        ------
        ValueError
            The expression holds something that is no arithmetic.
        """
        tree = ast.parse(expression.strip(), mode="eval")
        return self.rounded(self._value(tree.body))

    def rounded(self, value: Any) -> Any:
        """Round to the working precision."""
        return np.round(np.asarray(value, dtype=np.float64), self.decimals) + 0.0

    def _value(self, node: ast.AST) -> Values:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return _plain(self.names[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._value(node.operand)
        if isinstance(node, ast.BinOp) and (type(node.op) in _OPERATORS or isinstance(node.op, ast.MatMult)):
            left, right = self._value(node.left), self._value(node.right)
            if isinstance(node.op, ast.MatMult):
                return _product(self.rounded, left, right)
            return self.rounded(_OPERATORS[type(node.op)](left, right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node)
        if isinstance(node, ast.List):
            return np.array([self._value(entry) for entry in node.elts])
        if isinstance(node, ast.Subscript):
            return _plain(self._value(node.value)[int(self._value(node.slice))])
        raise ValueError(f"not arithmetic: {ast.unparse(node)}")

    def _call(self, name: str, node: ast.Call) -> Values:
        work = _CALLS.get(name)
        if work is None or node.keywords:
            return _plain(self.engine(ast.unparse(node)))
        return work(self.rounded, *(self._value(argument) for argument in node.args))


def _plain(value: Any) -> Values:
    if isinstance(value, str | int | float):
        return value
    if hasattr(value, "detach"):
        return value.detach().numpy()
    if isinstance(value, tuple) and all(isinstance(x, str) for x in value):
        return value
    return np.asarray(value, dtype=np.float64)


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


# --- the sums, each with the rounding that a careful student would do ------------------------
# r rounds to the working precision


def _softmax(r: Any, scores: Any) -> Any:
    powers = r(np.exp(np.asarray(scores, dtype=np.float64)))
    return r(powers / r(powers.sum(axis=-1, keepdims=True)))


def _context(r: Any, weights: Any, states: Any) -> Any:
    return r(r(np.asarray(weights)[..., :, None] * np.asarray(states)).sum(axis=-2))


def _dot_scores(r: Any, queries: Any, keys: Any) -> Any:
    return r(np.asarray(queries) @ np.asarray(keys).swapaxes(-1, -2))


def _scaled_dot_scores(r: Any, queries: Any, keys: Any) -> Any:
    return r(_dot_scores(r, queries, keys) / r(np.sqrt(np.asarray(keys).shape[-1])))


def _matvec(r: Any, matrix: Any, vector: Any) -> Any:
    return r(r(np.asarray(matrix) * np.asarray(vector)).sum(axis=-1))


def _product(r: Any, left: Any, right: Any) -> Any:
    left, right = np.asarray(left), np.asarray(right)
    if right.ndim == 1:
        return _matvec(r, left, right)
    return _context(r, left, right)  # each row of the left side mixes the rows of the right one


def _alignment_vector(r: Any, h: Any, s: Any, w_h: Any, w_s: Any) -> Any:
    return r(np.tanh(r(_matvec(r, w_h, h) + _matvec(r, w_s, s))))


def _additive_scores(r: Any, s: Any, states: Any, w: Any, u: Any, v: Any) -> Any:
    inner = [_alignment_vector(r, h, s, u, w) for h in np.asarray(states)]
    return r(np.array([r(np.asarray(v) * t).sum() for t in inner]))


def _sdpa(r: Any, queries: Any, keys: Any, values: Any) -> Any:
    return _context(r, _softmax(r, _scaled_dot_scores(r, queries, keys)), values)


def _dot(r: Any, a: Any, b: Any) -> Any:
    return r(r(np.asarray(a) * np.asarray(b)).sum())


_CALLS: Mapping[str, Callable[..., Any]] = {
    "additive_scores": _additive_scores,
    "alignment_vector": _alignment_vector,
    "concat": lambda r, *parts: np.concatenate([np.atleast_1d(p) for p in parts]),
    "context": _context,
    "dot": _dot,
    "dot_scores": _dot_scores,
    "exp": lambda r, x: r(np.exp(x)),
    "log": lambda r, x: r(np.log(x)),
    "scaled_dot_scores": _scaled_dot_scores,
    "sdpa": _sdpa,
    "softmax": _softmax,
    "sqrt": lambda r, x: r(np.sqrt(x)),
    "sum": lambda r, x: r(np.sum(x)),
    "tanh": lambda r, x: r(np.tanh(x)),
}


def known_calls() -> frozenset[str]:
    """Return the functions that are worked out here, step by step."""
    return frozenset(_CALLS)
