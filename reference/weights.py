"""From scores to weights: softmax, plain and masked."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.errors import ArgumentError, ShapeError
from reference.shapes import ArrayLike, boolean, floating, normal_axis

__all__ = ["masked_softmax", "softmax"]


def softmax(x: ArrayLike, axis: int = -1, temperature: float = 1.0) -> Tensor:
    """Return the weights exp(x_j / T) / sum_k exp(x_k / T) along one axis.

    The largest score is subtracted first, so no finite score overflows.

    Parameters
    ----------
    x : array_like, (...)
        Finite scores.
    axis : int
        The axis along which the weights sum to 1.
    temperature : float
        T > 0; small values sharpen, large ones flatten.

    Returns
    -------
    Tensor, shape of ``x``
        Floating dtype of ``x`` (integers give float64), on its device.

    Raises
    ------
    ShapeError
        If ``x`` has no such axis or nothing along it.
    ArgumentError
        If the temperature isn't positive and finite.

    Notes
    -----
    S0 (2)=(5), S2 step 2, S3 (9). The temperature is background, in none of the lectures.
    """
    (x,) = floating(x=x)
    normal_axis("x", x, axis)
    temperature = float(temperature)
    if temperature == 1.0:
        return torch.softmax(x, axis)  # subtracts the maximum itself
    if not 0.0 < temperature < math.inf:
        raise ArgumentError(f"temperature is {temperature}, expected a positive finite number")
    shifted = x - x.amax(axis, keepdim=True).detach()  # before the division, which could overflow
    return torch.softmax(shifted / temperature, axis)


def masked_softmax(scores: ArrayLike, mask: ArrayLike) -> Tensor:
    """Return the softmax over the positions that may be attended to.

    Equals the softmax of the visible scores alone; hidden positions get exactly 0, whatever their
    scores are, NaN included. A row in which everything is hidden gets exact zeros.

    Parameters
    ----------
    scores : array_like, (..., n)
        Finite where visible.
    mask : array_like of bool, broadcastable to ``scores``, last axis n
        True = may attend. A mask ``(n,)`` hides keys from all rows.

    Returns
    -------
    Tensor, (..., n)
        Each row sums to 1, or to 0 where all is hidden.

    Raises
    ------
    ShapeError
        If the mask's last axis isn't n or the rest doesn't broadcast.
    DtypeError
        If the mask isn't boolean.
    """
    (scores,) = floating(scores=scores)
    normal_axis("scores", scores, -1)
    visible = boolean("mask", mask, scores)
    _check_mask(visible, scores)
    weights = torch.softmax(torch.where(visible, scores, -math.inf), -1)
    return torch.where(visible, weights, 0.0)  # also turns the NaN of fully hidden rows into 0


def _check_mask(mask: Tensor, scores: Tensor) -> None:
    shape, full = mask.shape, scores.shape
    if shape == full:
        return
    fits = 1 <= len(shape) <= len(full) and shape[-1] == full[-1]
    if not fits or any(m not in (1, s) for m, s in zip(reversed(shape), reversed(full), strict=False)):
        raise ShapeError("mask", shape, f"{tuple(full)} or a shape that broadcasts to it along the keys")
