"""Reading a matrix of weights as an alignment of words."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.errors import ArgumentError
from reference.shapes import ArrayLike, floating, normal_axis, number

__all__ = ["aligned_positions", "hard_alignment", "threshold_alignment"]


def aligned_positions(A: ArrayLike, axis: int = -1) -> Tensor:
    """Return the position of the largest weight, the first of equals.

    Parameters
    ----------
    A : array_like, (...)
        Weights, e.g. target words in rows and source words in columns.
    axis : int
        The axis of the positions to choose from.

    Returns
    -------
    Tensor of int64
        Shape of ``A`` without that axis.

    Raises
    ------
    ShapeError
        If ``A`` has no such axis or nothing along it.
    ArgumentError
        If an entry is NaN: no weight is the largest then.
    """
    (A,) = floating(A=A)
    return _checked(A).argmax(normal_axis("A", A, axis))


def hard_alignment(A: ArrayLike, axis: int = -1) -> Tensor:
    """Return the weights made hard: 1 at the largest, 0 elsewhere, ties to the first.

    Parameters
    ----------
    A : array_like, (...)
    axis : int

    Returns
    -------
    Tensor, shape and dtype of ``A``

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
    best = _checked(A).argmax(axis, keepdim=True)
    return torch.zeros_like(A).scatter(axis, best, 1.0)


def threshold_alignment(A: ArrayLike, threshold: float) -> Tensor:
    """Return which weights reach a threshold; a word may be aligned with several or none.

    Parameters
    ----------
    A : array_like, (...)
    threshold : float
        Between 0 and 1, itself included among those that reach it.

    Returns
    -------
    Tensor of bool, shape of ``A``

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


def _checked(A: Tensor) -> Tensor:
    if not A.is_meta and torch.isnan(A).any():
        raise ArgumentError("A holds NaN, so that no weight is the largest")
    return A
