"""Checks of ``softmax(x, axis=-1)``."""

from __future__ import annotations

import numpy as np
from checks import Call, check, near

_rng = np.random.default_rng(0)
X = _rng.normal(size=(3, 4)) * 3
SQUARE = _rng.normal(size=(3, 3)) * 3
CUBE = _rng.normal(size=(2, 3, 4)) * 3
ROW = _rng.normal(size=5)
BIG = np.array([[1e4, 0.0, -1e4], [30.0, 800.0, 0.0]])
APART = np.array([[1e4, 1e4 - 1, 1e4 - 2], [-1e4, -1e4 - 1, -1e4 - 2]])


def expected(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@check
def shape(call: Call) -> None:
    for x in (X, SQUARE, CUBE, ROW):
        assert call(x).shape == x.shape


@check
def values(call: Call) -> None:
    for x in (X, SQUARE, CUBE, ROW):
        near(call(x), expected(x))


@check
def nonneg(call: Call) -> None:
    for x in (X, SQUARE, ROW):
        assert (call(x) >= 0).all()


@check
def sum1(call: Call) -> None:
    for x in (X, SQUARE, CUBE):
        near(call(x).sum(-1), np.ones(x.shape[:-1]))


@check
def order(call: Call) -> None:
    for x in (X, SQUARE, ROW):
        ranked = np.take_along_axis(call(x), np.argsort(x, -1), -1)
        assert (np.diff(ranked, axis=-1) > 0).all()


@check
def logratio(call: Call) -> None:
    for x in (X, SQUARE, ROW):
        weights = call(x)
        assert (weights > 0).all()
        near(np.diff(np.log(weights), axis=-1), np.diff(x, axis=-1), rtol=1e-6, atol=1e-8)


@check
def hot(call: Call) -> None:
    near(call(X * 1e-3), np.full((3, 4), 0.25), rtol=2e-2)


@check
def perm_eq(call: Call) -> None:
    turn = [2, 0, 3, 1]
    near(call(X[:, turn]), call(X)[:, turn])


@check
def rowind(call: Call) -> None:
    other = SQUARE.copy()
    other[1] += [1.0, -2.0, 0.5]
    near(call(other)[[0, 2]], call(SQUARE)[[0, 2]])


@check
def axis(call: Call) -> None:
    for x, along in ((X, 0), (CUBE, 1), (CUBE, 0), (CUBE, -2)):
        near(call(x, along), expected(x, along))


@check
def shift(call: Call) -> None:
    for constant in (64.0, 1000.0):
        near(call(X + constant), call(X))


@check
def stable(call: Call) -> None:
    near(call(BIG), expected(BIG))


@check
def rows_apart(call: Call) -> None:
    near(call(APART), expected(APART))


@check
def dtype(call: Call) -> None:
    for name in ("float32", "float64"):
        result = call(X.astype(name))
        assert result.dtype == name, result.dtype
        assert np.isfinite(result).all()


@check
def single_precision(call: Call) -> None:
    x = X.astype(np.float32)
    near(call(x).astype(np.float64), expected(x), rtol=1e-5, atol=1e-7)


@check
def pure(call: Call) -> None:
    x = call.native(X)
    first = np.array(call.raw(x))
    np.testing.assert_array_equal(np.array(x), X)
    np.testing.assert_array_equal(np.array(call.raw(x)), first)
