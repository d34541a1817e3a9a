"""From scores to weights: softmax, plain and masked."""

from __future__ import annotations

import math

import numpy as np

from reference.errors import ArgumentError
from reference.shapes import (
    Array,
    ArrayLike,
    boolean,
    fit_mask,
    floating,
    is_abstract,
    namespace,
    normal_axis,
    number,
)

__all__ = ["masked_softmax", "softmax"]


def softmax(x: ArrayLike, axis: int = -1, temperature: float = 1.0) -> Array:
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
    array, shape of ``x``
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
    if not 0.0 < temperature < math.inf:
        raise ArgumentError(f"temperature is {temperature}, expected a positive finite number")
    return _shares("x", x, axis, temperature)


def masked_softmax(scores: ArrayLike, mask: ArrayLike) -> Array:
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
    array, (..., n)
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
    return _shares("scores", scores, -1, visible=visible)


def _shares(name: str, x: Array, axis: int, temperature: float = 1.0, visible: Array | None = None) -> Array:
    xp, dtype = namespace(x), x.dtype
    if dtype.itemsize < 4:  # differences of scores overflow in half precision
        x = xp.astype(x, xp.float32)
    shown = x if visible is None else xp.where(visible, x, xp.full_like(x, -math.inf))
    # numpy's own functions take longer to call their ufuncs than these take for the scores of an exercise
    is_numpy = type(x) is np.ndarray
    peak = (np.maximum.reduce if is_numpy else xp.max)(shown, axis=axis, keepdims=True)
    if not is_abstract(x):
        defined = xp.isfinite(peak)  # an infinity minus itself is NaN
        if visible is not None:
            defined = defined | ~xp.any(visible, axis=axis, keepdims=True)
        if not bool(defined.all()):
            raise ArgumentError(
                f"{name} holds NaN or +inf, or nothing but -inf in a row of weights; "
                "softmax isn't defined there"
            )
    if visible is not None:  # where everything is hidden: exp(-inf - 0) is 0
        peak = xp.where(peak == -math.inf, xp.zeros_like(peak), peak)
    with np.errstate(over="ignore"):  # a difference of -inf has the weight 0, which is what it should be
        difference = shown - peak  # before the division, which could overflow
        powers = xp.exp(difference if temperature == 1.0 else difference / temperature)
    total = (np.add.reduce if is_numpy else xp.sum)(powers, axis=axis, keepdims=True)
    if visible is not None:
        total = xp.where(total == 0.0, xp.ones_like(total), total)
    weights = powers / total
    return weights if weights.dtype == dtype else xp.astype(weights, dtype)
