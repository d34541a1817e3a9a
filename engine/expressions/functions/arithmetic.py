"""Elementwise functions, sums and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.expressions.functions.registry import FunctionGroup, Rounded
from engine.expressions.values import as_float, as_tensor, away_from_jump, torch

if TYPE_CHECKING:
    from torch import Tensor

function = FunctionGroup("Arithmetic")


def _check_product(left: Tensor, right: Tensor) -> None:
    # torch would take more axes and broadcast them; no exercise means that
    if not (1 <= left.ndim <= 2 and 1 <= right.ndim <= 2):
        raise TypeError(f"@ needs vectors or matrices, got {tuple(left.shape)} and {tuple(right.shape)}")
    if left.shape[-1] != right.shape[0]:
        raise TypeError(f"@ can't multiply shapes {tuple(left.shape)} and {tuple(right.shape)}")


def product(left: Any, right: Any) -> Tensor:
    """Return the matrix product of vectors or matrices."""
    a, b = as_tensor(left), as_tensor(right)
    _check_product(a, b)
    return a @ b


def product_by_hand(rounded: Rounded, left: Any, right: Any) -> Tensor:
    """Return the matrix product, every single product written down.

    Adding up what has been written down is exact, so that the sum itself isn't rounded.
    """
    a, b = as_tensor(left), as_tensor(right)
    _check_product(a, b)
    if b.ndim == 1:
        return rounded(a * b).sum(-1)
    return rounded(a.unsqueeze(-1) * b).sum(-2)  # (..., n, k, m) -> (..., n, m)


@function(by_hand=product_by_hand)
def matmul(left: Any, right: Any) -> Tensor:
    """Return the product of two matrices."""
    return product(left, right)


@function(by_hand=product_by_hand)
def matvec(W: Any, x: Any) -> Tensor:
    """Return the product of a matrix and a vector."""
    return product(W, x)


@function(by_hand=product_by_hand)
def dot(x: Any, y: Any) -> Tensor:
    """Return the inner product of two vectors."""
    a, b = as_tensor(x), as_tensor(y)
    if a.ndim != 1 or a.shape != b.shape:
        raise TypeError(f"two vectors of one size are needed, got {tuple(a.shape)} and {tuple(b.shape)}")
    return a @ b


@function()
def outer(x: Any, y: Any) -> Tensor:
    """Return the matrix x y^T."""
    return torch.outer(as_tensor(x), as_tensor(y))


def _elementwise(name: str, words: str) -> None:
    def call(x: Any) -> Tensor:
        result: Tensor = getattr(torch, name)(as_tensor(x))
        return result

    call.__doc__ = f"Return {words}."
    function(name)(call)


_ELEMENTWISE = {
    "tanh": "the hyperbolic tangent of every entry",
    "sigmoid": "the logistic sigmoid of every entry",
    "relu": "every entry, negative ones as 0",
    "exp": "the exponential of every entry",
    "log": "the natural logarithm of every entry",
    "log2": "the logarithm to base 2 of every entry",
    "log10": "the logarithm to base 10 of every entry",
    "sqrt": "the square root of every entry",
}
for _name, _words in _ELEMENTWISE.items():
    _elementwise(_name, _words)


@function("abs", exact=True)
def absolute(x: Any) -> Any:
    """Return the absolute value of every entry."""
    return abs(x) if isinstance(x, int | float) else as_tensor(x).abs()


@function("round")
def rounded_to(x: Any, decimals: int = 0) -> Tensor:
    """Return every entry rounded to `decimals` places, halves to the even digit."""
    values = as_tensor(x).detach() * 10.0 ** int(decimals)
    # halves are where rounding jumps
    away_from_jump("round", (values - values.floor()) - 0.5, values)
    return torch.round(as_tensor(x), decimals=int(decimals))


@function(exact=True)
def floor(x: Any) -> Any:
    """Return the greatest whole number at or below; an `int` for a number."""
    return _whole("floor", x, torch.floor)


@function(exact=True)
def ceil(x: Any) -> Any:
    """Return the least whole number at or above; an `int` for a number."""
    return _whole("ceil", x, torch.ceil)


def _whole(name: str, x: Any, act: Any) -> Any:
    values = as_tensor(x).detach()
    away_from_jump(name, values - values.round(), values)
    result = act(values)
    if result.ndim:
        return result
    # int(inf) raises an OverflowError, which would be a fault of the expression and not of these numbers
    if not bool(result.isfinite()):
        raise ZeroDivisionError("no whole number next to an infinite one")
    return int(result)


@function("sum", exact=True)
def total(x: Any, axis: int | None = None) -> Tensor:
    """Return the sum of all entries, or along an axis."""
    return as_tensor(x).sum() if axis is None else as_tensor(x).sum(int(axis))


def _mean_by_hand(rounded: Rounded, x: Any, axis: int = 0) -> Any:
    values = as_tensor(x)
    return rounded(values.sum(int(axis)) / values.shape[int(axis)])


@function(by_hand=_mean_by_hand)
def mean(x: Any, axis: int = 0) -> Tensor:
    """Return the mean along the first axis: of a vector's entries, or of a matrix's rows."""
    return as_tensor(x).mean(int(axis))


@function()
def prod(x: Any) -> Tensor:
    """Return the product of all entries."""
    return as_tensor(x).prod()


@function("max", exact=True)
def maximum(*values: Any) -> Any:
    """Return the largest entry of one tensor, or the largest of several numbers."""
    return as_tensor(values[0]).max() if len(values) == 1 else max(values, key=as_float)


@function("min", exact=True)
def minimum(*values: Any) -> Any:
    """Return the smallest entry of one tensor, or the smallest of several numbers."""
    return as_tensor(values[0]).min() if len(values) == 1 else min(values, key=as_float)


@function(exact=True)
def argmax(x: Any) -> int:
    """Return the position of the largest entry, from 0; the first of equals."""
    return int(as_tensor(x).detach().flatten().argmax())


@function(exact=True)
def argmin(x: Any) -> int:
    """Return the position of the smallest entry, from 0; the first of equals."""
    return int(as_tensor(x).detach().flatten().argmin())


def _norm_by_hand(rounded: Rounded, x: Any) -> Any:
    values = as_tensor(x)
    return rounded(torch.sqrt(rounded(values * values).sum()))


@function(by_hand=_norm_by_hand)
def norm(x: Any) -> Tensor:
    """Return the Euclidean length of all entries together."""
    return torch.sqrt((as_tensor(x) ** 2).sum())


@function()
def row_norms(H: Any) -> Tensor:
    """Return the Euclidean length of every row."""
    return torch.sqrt((as_tensor(H) ** 2).sum(-1))


@function()
def cumsum(x: Any) -> Tensor:
    """Return the running sums along the first axis."""
    return as_tensor(x).cumsum(0)
