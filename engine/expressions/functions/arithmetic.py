"""Elementwise functions, sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.expressions.functions.registry import FunctionGroup, Rounded
from engine.expressions.values import Array, as_float, as_tensor, away_from_jump
from reference.rnn import logistic
from reference.tangents import plain

function = FunctionGroup("Arithmetic")


def _check_product(left: Array, right: Array) -> None:
    # numpy would take more axes and broadcast them; no exercise means that
    if not (1 <= left.ndim <= 2 and 1 <= right.ndim <= 2):
        raise TypeError(f"@ needs vectors or matrices, got {left.shape} and {right.shape}")
    if left.shape[-1] != right.shape[0]:
        raise TypeError(f"@ can't multiply shapes {left.shape} and {right.shape}")


def product(left: Any, right: Any) -> Array:
    """Return the matrix product of vectors or matrices."""
    a, b = as_tensor(left), as_tensor(right)
    _check_product(a, b)
    return a @ b


def product_by_hand(rounded: Rounded, left: Any, right: Any) -> Array:
    """Return the matrix product, every single product written down.

    Adding up what has been written down is exact, so that the sum itself isn't rounded.
    """
    a, b = as_tensor(left), as_tensor(right)
    _check_product(a, b)
    if b.ndim == 1:
        return rounded(a * b, added=-1)
    return rounded(a[..., np.newaxis] * b, added=-2)  # (..., n, k, m) -> (..., n, m)


@function(by_hand=product_by_hand)
def matmul(left: Any, right: Any) -> Array:
    """Return the product of two matrices."""
    return product(left, right)


@function(by_hand=product_by_hand)
def matvec(W: Any, x: Any) -> Array:
    """Return the product of a matrix and a vector."""
    return product(W, x)


@function(by_hand=product_by_hand)
def dot(x: Any, y: Any) -> Array:
    """Return the inner product of two vectors."""
    a, b = as_tensor(x), as_tensor(y)
    if a.ndim != 1 or a.shape != b.shape:
        raise TypeError(f"two vectors of one size are needed, got {a.shape} and {b.shape}")
    return a @ b


@function()
def outer(x: Any, y: Any) -> Array:
    """Return the matrix x y^T."""
    return np.outer(as_tensor(x), as_tensor(y))


def _elementwise(name: str, act: Callable[[Any], Any], words: str) -> None:
    def call(x: Any) -> Array:
        return act(as_tensor(x))

    call.__doc__ = f"Return {words}."
    function(name)(call)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


_ELEMENTWISE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "tanh": (np.tanh, "the hyperbolic tangent of every entry"),
    "sigmoid": (logistic, "the logistic sigmoid of every entry"),
    "relu": (_relu, "every entry, negative ones as 0"),
    "exp": (np.exp, "the exponential of every entry"),
    "log": (np.log, "the natural logarithm of every entry"),
    "log2": (np.log2, "the logarithm to base 2 of every entry"),
    "log10": (np.log10, "the logarithm to base 10 of every entry"),
    "sqrt": (np.sqrt, "the square root of every entry"),
}
for _name, (_act, _words) in _ELEMENTWISE.items():
    _elementwise(_name, _act, _words)


@function("abs", exact=True)
def absolute(x: Any) -> Any:
    """Return the absolute value of every entry."""
    return abs(x) if isinstance(x, int | float) else np.abs(as_tensor(x))


@function("round")
def rounded_to(x: Any, decimals: int = 0) -> Array:
    """Return every entry rounded to `decimals` places, halves to the even digit."""
    values = plain(as_tensor(x)) * 10.0 ** int(decimals)
    # halves are where rounding jumps
    away_from_jump("round", (values - np.floor(values)) - 0.5, values)
    return np.round(as_tensor(x), int(decimals))


@function(exact=True)
def floor(x: Any) -> Any:
    """Return the greatest whole number at or below; an `int` for a number."""
    return _whole("floor", x, np.floor)


@function(exact=True)
def ceil(x: Any) -> Any:
    """Return the least whole number at or above; an `int` for a number."""
    return _whole("ceil", x, np.ceil)


def _whole(name: str, x: Any, act: Any) -> Any:
    values = plain(as_tensor(x))
    away_from_jump(name, values - np.round(values), values)
    result = act(values)
    if result.ndim:
        return result
    # int(inf) raises an OverflowError, which would be a fault of the expression and not of these numbers
    if not np.isfinite(result):
        raise ZeroDivisionError("no whole number next to an infinite one")
    return int(result)


@function("sum", exact=True)
def total(x: Any, axis: int | None = None) -> Array:
    """Return the sum of all entries, or along an axis."""
    return np.sum(as_tensor(x), None if axis is None else int(axis))


def _mean_by_hand(rounded: Rounded, x: Any, axis: int = 0) -> Any:
    values = as_tensor(x)
    return rounded(np.sum(values, int(axis)) / values.shape[int(axis)])


@function(by_hand=_mean_by_hand)
def mean(x: Any, axis: int = 0) -> Array:
    """Return the mean along the first axis: of a vector's entries, or of a matrix's rows."""
    return np.mean(as_tensor(x), int(axis))


@function()
def prod(x: Any) -> Array:
    """Return the product of all entries."""
    return np.prod(as_tensor(x))


@function("max", exact=True)
def maximum(*values: Any) -> Any:
    """Return the largest entry of one tensor, or the largest of several numbers."""
    return np.max(as_tensor(values[0])) if len(values) == 1 else max(values, key=as_float)


@function("min", exact=True)
def minimum(*values: Any) -> Any:
    """Return the smallest entry of one tensor, or the smallest of several numbers."""
    return np.min(as_tensor(values[0])) if len(values) == 1 else min(values, key=as_float)


@function(exact=True)
def argmax(x: Any) -> int:
    """Return the position of the largest entry, from 0; the first of equals."""
    return int(np.argmax(as_tensor(x)))


@function(exact=True)
def argmin(x: Any) -> int:
    """Return the position of the smallest entry, from 0; the first of equals."""
    return int(np.argmin(as_tensor(x)))


def _norm_by_hand(rounded: Rounded, x: Any) -> Any:
    values = as_tensor(x)
    return rounded(np.sqrt(np.sum(rounded(values * values))))


@function(by_hand=_norm_by_hand)
def norm(x: Any) -> Array:
    """Return the Euclidean length of all entries together."""
    return np.sqrt(np.sum(as_tensor(x) ** 2))


@function()
def row_norms(H: Any) -> Array:
    """Return the Euclidean length of every row."""
    return np.sqrt(np.sum(as_tensor(H) ** 2, -1))


@function()
def cumsum(x: Any) -> Array:
    """Return the running sums along the first axis."""
    return np.cumsum(as_tensor(x), 0)
