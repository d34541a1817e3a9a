"""Arrays that carry their derivatives: forward differentiation for whatever is written in numpy.

A :class:`TangentArray` goes through numpy's operators and functions, and so through :mod:`reference`, like an
array; beside the values it computes how each of them changes with each of some *sources*. An operation that
isn't known here raises a ``TypeError``, so no derivative is ever lost silently.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

__all__ = ["TangentArray", "gradients_of", "plain"]

Floats = NDArray[np.float64]


class TangentArray(NDArrayOperatorsMixin):
    """Numbers, and how they change with each source.

    Parameters
    ----------
    values : ndarray of float64, (...)
    tangents : ndarray of float64, (sources, ...)
        Derivatives by each source. Sources that come behind the last one here change nothing.
    """

    __slots__ = ("tangents", "values")

    device = "cpu"  # as numpy's own arrays say

    def __init__(self, values: Any, tangents: Floats) -> None:
        self.values: Floats = np.asarray(values)
        shape = (len(tangents), *self.values.shape)
        self.tangents = tangents if tangents.shape == shape else np.broadcast_to(tangents, shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Size of each axis."""
        return self.values.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.values.ndim

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.values.size

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Dtype of the values."""
        return self.values.dtype

    @property
    def mT(self) -> TangentArray:  # noqa: N802 - as the array API standard has it
        """The matrix with rows and columns exchanged."""
        return TangentArray(self.values.mT, self.tangents.mT)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np  # whose functions come back to this class

    def __getitem__(self, key: Any) -> TangentArray:
        behind = key if isinstance(key, tuple) else (key,)
        return TangentArray(self.values[key], self.tangents[(slice(None), *behind)])

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)

    def reshape(self, *shape: Any) -> TangentArray:
        """Return the same entries in another shape."""
        values = self.values.reshape(*shape)
        return TangentArray(values, self.tangents.reshape(len(self.tangents), *values.shape))

    def sum(self) -> TangentArray:
        """Return the sum of all entries."""
        return _sum(self)

    def flatten(self) -> TangentArray:
        """Return the same entries along one axis."""
        return self.reshape(-1)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in _SLOPES:
            (values,) = map(plain, inputs)
            result = ufunc(values)
            return TangentArray(result, self.tangents * _SLOPES[ufunc](values, result))
        if ufunc is np.matmul:
            return _product(*inputs)
        if ufunc in _PAIRED:
            return _paired(ufunc, *inputs)
        if ufunc in _UNCHANGED:
            return TangentArray(ufunc(*map(plain, inputs)), np.zeros((0,) + (1,) * self.ndim))
        return ufunc(*map(plain, inputs)) if ufunc in _TESTS else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, options: Mapping[str, Any]) -> Any:
        if function in _MOVING:
            return _moved(function, args, options)
        rule = _FUNCTIONS.get(function)
        return NotImplemented if rule is None else rule(*args, **options)


def plain(value: Any) -> Any:
    """Return the values of a :class:`TangentArray`, and anything else as it is."""
    return value.values if isinstance(value, TangentArray) else value


def gradients_of(function: Callable[..., Any], arrays: Sequence[Floats], cotangent: Floats) -> list[Floats]:
    """Return the gradients of the sum of ``function(*arrays) * cotangent`` with respect to every array.

    Parameters
    ----------
    function : callable
        Written in numpy, or over the array API standard.
    arrays : sequence of ndarray
    cotangent : ndarray
        Of the shape of the function's result.
    """
    sources = sum(array.size for array in arrays)
    followed, first = [], 0
    for array in arrays:
        tangents = np.zeros((sources, array.size))
        tangents[first : first + array.size] = np.eye(array.size)
        followed.append(TangentArray(array.astype(np.float64), tangents.reshape(sources, *array.shape)))
        first += array.size
    result = function(*followed)
    # of a function that uses none of its arguments all are 0
    tangents = result.tangents if isinstance(result, TangentArray) else np.zeros((0, *cotangent.shape))
    total = np.zeros(sources)
    total[: len(tangents)] = (tangents * cotangent).reshape(len(tangents), cotangent.size).sum(1)
    parts = np.split(total, np.cumsum([array.size for array in arrays])[:-1])
    return [part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)]


# Functions of one number: the derivative from the number and the function's value.
_SLOPES: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    np.negative: lambda x, y: -1.0,
    np.positive: lambda x, y: 1.0,
    np.absolute: lambda x, y: np.sign(x),
    np.square: lambda x, y: 2.0 * x,
    np.sqrt: lambda x, y: 0.5 / y,
    np.reciprocal: lambda x, y: -y * y,
    np.exp: lambda x, y: y,
    np.exp2: lambda x, y: y * math.log(2),
    np.log: lambda x, y: 1.0 / x,
    np.log2: lambda x, y: 1.0 / (x * math.log(2)),
    np.log10: lambda x, y: 1.0 / (x * math.log(10)),
    np.tanh: lambda x, y: 1.0 - y * y,
    np.sin: lambda x, y: np.cos(x),
    np.cos: lambda x, y: -np.sin(x),
}
# Steps: they don't change with small changes of their arguments.
_UNCHANGED = frozenset({np.floor, np.ceil, np.rint, np.trunc, np.sign, np.floor_divide})
_TESTS = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite, np.isnan}
)


def _power_slopes(a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    # the second one is of use only where the exponent has sources, and then the base is positive
    return b * np.power(a, np.where(np.equal(b, 0), 1.0, b - 1.0)), y * np.log(
        np.where(np.less(a, 0), 1.0, a)
    )


def _larger_slopes(a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    first = np.equal(a, y) / (1.0 * np.equal(a, y) + np.equal(b, y))  # half of it each where they are equal
    return first, 1.0 - first


# Functions of two numbers: both derivatives, from the numbers and the function's value.
_PAIRED: dict[np.ufunc, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    np.add: lambda a, b, y: (1.0, 1.0),
    np.subtract: lambda a, b, y: (1.0, -1.0),
    np.multiply: lambda a, b, y: (b, a),
    np.true_divide: lambda a, b, y: (1.0 / b, -y / b),
    np.remainder: lambda a, b, y: (1.0, -np.floor_divide(a, b)),
    np.power: _power_slopes,
    np.maximum: _larger_slopes,
    np.minimum: _larger_slopes,
}


def _paired(ufunc: np.ufunc, left: Any, right: Any) -> TangentArray:
    a, b = plain(left), plain(right)
    result = ufunc(a, b)
    changes = [
        _spread(side, np.ndim(result)) * slope
        for side, slope in zip((left, right), _PAIRED[ufunc](a, b, result), strict=True)
        if isinstance(side, TangentArray)
    ]
    return TangentArray(result, reduce(_added, changes))


def _product(left: Any, right: Any) -> Any:
    if left.ndim == 1:
        return (left[np.newaxis] @ right)[..., 0, :] if right.ndim > 1 else (left * right).sum()
    if right.ndim == 1:
        return (left @ right[:, np.newaxis])[..., 0]
    ndim = max(left.ndim, right.ndim)
    changes = []
    if isinstance(left, TangentArray):
        changes.append(_spread(left, ndim) @ plain(right))
    if isinstance(right, TangentArray):
        changes.append(plain(left) @ _spread(right, ndim))
    return TangentArray(plain(left) @ plain(right), reduce(_added, changes))


def _spread(array: TangentArray, ndim: int) -> Floats:
    """Return the tangents with axes of one behind the sources, so that they broadcast as the values do."""
    return array.tangents.reshape(len(array.tangents), *(1,) * (ndim - array.ndim), *array.shape)


def _added(first: Floats, second: Floats) -> Floats:
    if len(first) == len(second):
        return first + second
    shorter, longer = sorted((first, second), key=len)
    shape = np.broadcast_shapes(shorter.shape[1:], longer.shape[1:])
    total = np.array(np.broadcast_to(longer, (len(longer), *shape)))
    total[: len(shorter)] += shorter
    return total


# Functions that only move entries: what they do to the positions, they do to the tangents.
_MOVING = frozenset(
    {
        np.reshape, np.ravel, np.transpose, np.matrix_transpose, np.moveaxis, np.swapaxes, np.permute_dims,
        np.expand_dims, np.squeeze, np.broadcast_to, np.flip, np.roll, np.take, np.repeat, np.tile,
        np.concatenate, np.stack, np.hstack, np.vstack, np.atleast_1d, np.atleast_2d, np.diagonal,
    }
)  # fmt: skip


def _moved(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> TangentArray:
    source, *others = args
    if isinstance(source, list | tuple):
        return _gathered(source, lambda *positions: function(positions, *others, **options))
    return _gathered([source], lambda positions: function(positions, *others, **options))


def _where(condition: Any, yes: Any, no: Any) -> Any:
    if isinstance(yes, TangentArray) or isinstance(no, TangentArray):
        return _gathered((yes, no), lambda first, second: np.where(plain(condition), first, second))
    return np.where(plain(condition), yes, no)


def _gathered(parts: Sequence[Any], choose: Callable[..., Any]) -> TangentArray:
    """Return the entries of several arrays that `choose` chooses among their positions, side by side."""
    pool = [part if isinstance(part, TangentArray) else np.asarray(part) for part in parts]
    starts = np.cumsum([0, *(part.size for part in pool)])
    sources = max(len(part.tangents) for part in pool if isinstance(part, TangentArray))
    values = np.concatenate([np.ravel(plain(part)) for part in pool])
    tangents = np.zeros((sources, len(values)))
    positions = []
    for start, part in zip(starts[:-1], pool, strict=True):
        positions.append(np.arange(start, start + part.size).reshape(part.shape))
        if isinstance(part, TangentArray):
            rows = len(part.tangents)
            tangents[:rows, start : start + part.size] = part.tangents.reshape(rows, part.size)
    chosen = choose(*positions)
    return TangentArray(values[chosen], tangents[:, chosen])


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(1, ndim + 1))
    return tuple(place % ndim + 1 for place in (axis if isinstance(axis, tuple) else (axis,)))


def _sum(x: TangentArray, axis: Any = None, *, keepdims: bool = False) -> TangentArray:
    tangents = x.tangents.sum(axis=_axes(axis, x.ndim), keepdims=keepdims)
    return TangentArray(x.values.sum(axis=axis, keepdims=keepdims), tangents)


def _mean(x: TangentArray, axis: Any = None, *, keepdims: bool = False) -> TangentArray:
    tangents = x.tangents.mean(axis=_axes(axis, x.ndim), keepdims=keepdims)
    return TangentArray(x.values.mean(axis=axis, keepdims=keepdims), tangents)


def _cumsum(x: TangentArray, axis: int) -> TangentArray:
    return TangentArray(np.cumsum(x.values, axis), np.cumsum(x.tangents, axis % x.ndim + 1))


def _prod(x: TangentArray, axis: int | None = None) -> Any:
    order = [x.flatten()[place] for place in range(x.size)] if axis is None else _split(x, axis)
    return reduce(operator.mul, order)


def _split(x: Any, axis: int) -> list[Any]:
    along = np.moveaxis(x, axis, 0)
    return [along[place] for place in range(len(along))]


def _extreme(function: Callable[..., Any]) -> Callable[..., TangentArray]:
    def extreme(x: TangentArray, axis: Any = None, *, keepdims: bool = False) -> TangentArray:
        result = function(x.values, axis=axis, keepdims=True)
        shares = np.equal(x.values, result) / np.equal(x.values, result).sum(axis=axis, keepdims=True)
        tangents = (x.tangents * shares).sum(axis=_axes(axis, x.ndim), keepdims=keepdims)
        return TangentArray(result if keepdims else function(x.values, axis=axis), tangents)

    return extreme


def _sort(x: TangentArray, axis: int = -1) -> Any:
    order = np.argsort(x.values, axis=axis, kind="stable")
    return TangentArray(
        np.take_along_axis(x.values, order, axis),
        np.take_along_axis(x.tangents, order[np.newaxis], axis % x.ndim + 1),
    )


def _diag(x: TangentArray) -> Any:
    if x.ndim == 1:
        return x[:, np.newaxis] * np.eye(len(x))
    return np.diagonal(x)  # type: ignore[call-overload]


def _round(x: TangentArray, decimals: int = 0) -> TangentArray:
    return TangentArray(np.round(x.values, decimals), np.zeros((0,) + (1,) * x.ndim))


def _of_values(function: Any) -> Callable[..., Any]:
    return lambda x, *args, **options: function(plain(x), *args, **options)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where, np.sum: _sum, np.mean: _mean, np.cumsum: _cumsum, np.prod: _prod, np.sort: _sort,
    np.max: _extreme(np.max), np.min: _extreme(np.min), np.amax: _extreme(np.max), np.amin: _extreme(np.min),
    np.diag: _diag, np.round: _round,
    np.outer: lambda x, y: x.reshape(-1, 1) * y.reshape(1, -1),
    np.clip: lambda x, low, high: np.minimum(np.maximum(x, low), high),
} | {
    function: _of_values(function)
    for function in (np.argmax, np.argmin, np.argsort, np.zeros_like, np.ones_like, np.full_like, np.shape)
}  # fmt: skip
