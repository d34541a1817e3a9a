"""Functions that take arrays apart and put them together; they compute no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.expressions.functions.registry import FunctionGroup
from engine.expressions.values import Array, as_float, as_tensor
from engine.text.words import agree, count_noun
from reference.tangents import plain

function = FunctionGroup("Taking apart and putting together")

# Four times the longest side that a parameter may have: enough for products of sizes, too small to fill
# the memory.
_MAX_SIZE = 64


def _small(value: Any, least: int = 1) -> int:
    # sizes are drawn and computed with, so that 3.0 is as good as 3
    number = as_float(value)
    if number != int(number) or not least <= number <= _MAX_SIZE:
        raise TypeError(f"expected a whole number from {least} to {_MAX_SIZE}, got {number:g}")
    return int(number)


def _matrix(value: Any) -> Array:
    tensor = as_tensor(value)
    if tensor.ndim != 2:
        raise TypeError(f"expected a matrix, got shape {tensor.shape}")
    return tensor


@function(exact=True)
def transpose(x: Any) -> Array:
    """Return the transpose of a matrix."""
    return _matrix(x).mT


@function(exact=True)
def reverse(x: Any) -> Array:
    """Return entries (or rows) in reversed order."""
    return as_tensor(x)[::-1]


@function(exact=True)
def sort(x: Any, descending: bool = False) -> Array:
    """Return the entries of a vector in order."""
    ordered = np.sort(as_tensor(x))
    return ordered[::-1] if descending else ordered


@function(exact=True)
def argsort(x: Any, descending: bool = False) -> tuple[int, ...]:
    """Return the positions that put a vector in order, from 0; equals keep their order."""
    # a tuple, because positions are exact: nobody rounds them on paper
    values = plain(as_tensor(x))
    return tuple(np.argsort(-values if descending else values, kind="stable").tolist())


@function(exact=True)
def row(H: Any, i: Any) -> Array:
    """Return row i, from 0; -1 is the last."""
    matrix = _matrix(H)
    return matrix[_position(i, matrix.shape[0])]


@function(exact=True)
def column(x: Any, j: Any = None) -> Array:
    """Return column j of a matrix, from 0; of a vector alone, the matrix with this one column."""
    if j is None:
        tensor = as_tensor(x)
        if tensor.ndim != 1:
            raise TypeError(f"expected a vector, or a column number, got shape {tensor.shape}")
        return tensor[:, np.newaxis]
    matrix = _matrix(x)
    return matrix[:, _position(j, matrix.shape[1])]


def _position(value: Any, size: int) -> int:
    number = as_float(value)
    if number != int(number) or not -size <= number < size:
        raise TypeError(f"position {number:g} isn't within 0 … {size - 1}")
    return int(number)


@function(exact=True)
def entry(x: Any, *position: Any) -> Any:
    """Return one entry, positions from 0."""
    tensor = as_tensor(x)
    if len(position) != tensor.ndim:
        raise TypeError(
            f"{count_noun(tensor.ndim, 'position')} {agree(tensor.ndim, 'are')} needed, got {len(position)}"
        )
    return tensor[tuple(_position(i, size) for i, size in zip(position, tensor.shape, strict=True))]


@function(exact=True)
def take(x: Any, positions: Any) -> Array:
    """Return the entries (or rows) at the given positions, from 0, in that order."""
    tensor = as_tensor(x)
    # argsort and aligned_positions give tuples
    places = positions if isinstance(positions, tuple) else plain(as_tensor(positions)).ravel().tolist()
    if not tensor.ndim or not places:
        raise TypeError("positions of a vector or matrix are needed")
    return tensor[[_position(i, tensor.shape[0]) for i in places]]


@function(exact=True)
def with_row(H: Any, i: Any, x: Any) -> Array:
    """Return the matrix with row i, from 0, replaced by a vector."""
    matrix, new = _matrix(H), as_tensor(x)
    if new.shape != matrix.shape[1:]:
        raise TypeError(f"a row has {count_noun(matrix.shape[1], 'entry')}, got shape {new.shape}")
    place = np.arange(len(matrix)) == _position(i, len(matrix)) % len(matrix)
    return np.where(place[:, np.newaxis], new, matrix)


@function(exact=True)
def first(x: Any) -> Array:
    """Return the first entry or row."""
    return as_tensor(x)[0]


@function(exact=True)
def last(x: Any) -> Array:
    """Return the last entry or row."""
    return as_tensor(x)[-1]


@function(exact=True)
def rows(H: Any, start: Any, stop: Any) -> Array:
    """Return the rows from `start` to before `stop`, from 0."""
    matrix = _matrix(H)
    return _nonempty(matrix[_small(start, 0) : _small(stop)])


@function(exact=True)
def columns(H: Any, start: Any, stop: Any) -> Array:
    """Return the columns from `start` to before `stop`, from 0."""
    matrix = _matrix(H)
    return _nonempty(matrix[:, _small(start, 0) : _small(stop)])


def _nonempty(tensor: Array) -> Array:
    # an empty tensor has a sum and a softmax, from which a key could come that nobody can work out
    if not tensor.size:
        raise TypeError("nothing lies between these positions")
    return tensor


@function(exact=True)
def size(x: Any) -> int:
    """Return the number of entries of a vector, rows of a matrix, or tokens of a sequence."""
    return len(x) if isinstance(x, tuple | str) else int(as_tensor(x).shape[0])


@function(exact=True)
def width(H: Any) -> int:
    """Return the number of columns of a matrix."""
    return int(_matrix(H).shape[1])


@function(exact=True)
def concat(*vectors: Any) -> Any:
    """Return vectors one after the other; sequences of tokens likewise."""
    if vectors and all(isinstance(v, tuple) for v in vectors):
        return tuple(token for v in vectors for token in v)
    return np.concat([t if t.ndim else t.reshape(1) for t in map(as_tensor, vectors)])


@function(exact=True)
def beside(*matrices: Any) -> Array:
    """Return matrices side by side: [A B]."""
    return np.concat([_matrix(m) for m in matrices], axis=1)


@function(exact=True)
def stack(*values: Any) -> Array:
    """Return numbers as a vector, or vectors as the rows of a matrix."""
    if not values:
        raise TypeError("an empty list has no shape")
    return np.stack([as_tensor(value) for value in values])


@function(exact=True)
def diagonal(x: Any) -> Array:
    """Return the diagonal matrix of a vector, or the diagonal of a matrix."""
    return np.diag(as_tensor(x))


@function(exact=True)
def identity(n: Any) -> Array:
    """Return the identity matrix."""
    return np.eye(_small(n))


@function(exact=True)
def zeros(n: Any, m: Any = None) -> Array:
    """Return n zeros, or n rows of m."""
    return np.zeros(_small(n) if m is None else (_small(n), _small(m)))


@function(exact=True)
def ones(n: Any, m: Any = None) -> Array:
    """Return n ones, or n rows of m."""
    return np.ones(_small(n) if m is None else (_small(n), _small(m)))


@function(exact=True)
def one_hot(i: Any, n: Any) -> Array:
    """Return n numbers, 1 at position i (from 0) and 0 elsewhere."""
    result = np.zeros(_small(n))
    result[_position(i, result.shape[0])] = 1.0
    return result


@function(exact=True)
def number(x: Any) -> Array:
    """Return truth values as 1 and 0."""
    return as_tensor(float(x) if isinstance(x, bool) else x)
