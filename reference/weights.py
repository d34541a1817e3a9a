"""From scores to weights: softmax, plain and masked."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.errors import ArgumentError
from reference.shapes import ArrayLike, boolean, fit_mask, floating, normal_axis, number

__all__ = ["masked_softmax", "softmax"]


def softmax(x: ArrayLike, axis: int = -1, temperature: float = 1.0) -> Tensor:
    """Return the weights exp(x_j / T) / sum_k exp(x_k / T) along one axis.

    The largest score is subtracted first, so no finite score overflows.

    Parameters
    ----------
    x : array_like, (...)
        Finite scores, or minus infinity, which gets the weight 0 where another score is finite.
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
        If the temperature isn't positive and finite, the axis isn't a whole number, or softmax isn't defined
        for these scores: one is NaN or plus infinity, or all along the axis are minus infinity.

    Notes
    -----
    S0 (2)=(5), S2 step 2, S3 (9). The temperature is background, in none of the lectures.
    """
    (x,) = floating(x=x)
    axis = normal_axis("x", x, axis)
    temperature = number("temperature", temperature)
    if temperature == 1.0:
        return _defined("x", torch.softmax(x, axis))  # subtracts the maximum itself
    if not 0.0 < temperature < math.inf:
        raise ArgumentError(f"temperature is {temperature}, expected a positive finite number")
    shifted = x - x.amax(axis, keepdim=True).detach()  # before the division, which could overflow
    return _defined("x", torch.softmax(shifted / temperature, axis))


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
    ArgumentError
        If softmax isn't defined for the visible scores of a row: see :func:`reference.softmax`.
    """
    (scores,) = floating(scores=scores)
    normal_axis("scores", scores, -1)
    visible = boolean("mask", mask, scores)
    fit_mask(visible, scores.shape)
    weights = torch.softmax(torch.where(visible, scores, -math.inf), -1)
    return _defined("scores", torch.where(visible, weights, 0.0))  # the NaN of fully hidden rows becomes 0


def _defined(name: str, weights: Tensor) -> Tensor:
    """Return the weights if none is NaN, which is what softmax makes of an infinity minus itself."""
    if not weights.is_meta and torch.isnan(weights).any():
        raise ArgumentError(
            f"{name} holds NaN or +inf, or nothing but -inf in a row of weights; softmax isn't defined there"
        )
    return weights
