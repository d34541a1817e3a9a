"""Reading a matrix of weights as an alignment of words."""

from __future__ import annotations

from reference.errors import ArgumentError
from reference.shapes import Array, ArrayLike, floating, is_abstract, namespace, normal_axis, number

__all__ = ["aligned_positions", "hard_alignment", "threshold_alignment"]


def aligned_positions(A: ArrayLike, axis: int = -1) -> Array:
    """Return the position of the largest weight, the first of equals.

    Parameters
    ----------
    A : array_like, (...)
        Weights, e.g. target words in rows and source words in columns.
    axis : int
        The axis of the positions to choose from.

    Returns
    -------
    array of int64
        Shape of ``A`` without that axis.

    Raises
    ------
    ShapeError
        If ``A`` has no such axis or nothing along it.
    ArgumentError
        If an entry is NaN: no weight is the largest then.
    """
    (A,) = floating(A=A)
    axis = normal_axis("A", A, axis)
    # [...]: of a single number numpy makes a scalar, and this an array again
    return namespace(A).argmax(_checked(A), axis=axis)[...]


def hard_alignment(A: ArrayLike, axis: int = -1) -> Array:
    """Return the weights made hard: 1 at the largest, 0 elsewhere, ties to the first.

    Parameters
    ----------
    A : array_like, (...)
    axis : int

    Returns
    -------
    array, shape and dtype of ``A``

    Raises
    ------
    ShapeError
        If ``A`` has no such axis or nothing along it.
    ArgumentError
        If an entry is NaN: no weight is the largest then.

    Notes
    -----
    S1 "soft alignment"; S4 "soft word alignments"; "hard attention" is background.
    """
    (A,) = floating(A=A)
    axis = normal_axis("A", A, axis)
    xp = namespace(A)
    best = xp.argmax(_checked(A), axis=axis, keepdims=True)
    along = [1] * A.ndim
    along[axis] = A.shape[axis]
    positions = xp.reshape(xp.arange(A.shape[axis], device=A.device), tuple(along))
    return xp.astype(positions == best, A.dtype)


def threshold_alignment(A: ArrayLike, threshold: float) -> Array:
    """Return which weights reach a threshold; a word may be aligned with several or none.

    Parameters
    ----------
    A : array_like, (...)
    threshold : float
        Between 0 and 1, itself included among those that reach it.

    Returns
    -------
    array of bool, shape of ``A``

    Raises
    ------
    ArgumentError
        If the threshold isn't between 0 and 1.
    """
    threshold = number("threshold", threshold)
    if not 0.0 <= threshold <= 1.0:
        raise ArgumentError(f"threshold is {threshold}, expected a number between 0 and 1")
    (A,) = floating(A=A)
    return threshold <= A


def _checked(A: Array) -> Array:
    xp = namespace(A)
    if not is_abstract(A) and bool(xp.isnan(A).any()):
        raise ArgumentError("A holds NaN, so that no weight is the largest")
    return A
