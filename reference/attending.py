"""From weights to the mixture of values: context vectors and whole attention steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from reference.errors import ArgumentError
from reference.scores import Score, score_with
from reference.shapes import Array, ArrayLike, bind, floating, number
from reference.weights import masked_softmax, softmax

__all__ = ["AttentionResult", "attention", "context", "scale_divisor", "sdpa"]


class AttentionResult(NamedTuple):
    """One attention step. The lectures name these three differently (D-8).

    Attributes
    ----------
    scores, weights : array, (..., n)
    output : array, (..., dv)
        The context vector.
    """

    scores: Array
    weights: Array
    output: Array


def context(weights: ArrayLike, values: ArrayLike) -> Array:
    """Return the weighted sum c = sum_j w_j v_j.

    The weights are used as they are: nothing is normalised here.

    Parameters
    ----------
    weights : array_like, (..., n)
    values : array_like, (..., n, d)
        Encoder states, or values in general. Without leading axes they serve all rows of weights.

    Returns
    -------
    array, (..., d)

    Raises
    ------
    ShapeError
        If there isn't one weight a value.

    Notes
    -----
    S0 (1)=(6); S1 "attention output"; S2 step 3; S3 (7).
    """
    weights, values = floating(weights=weights, values=values)
    bind(("weights", weights, ("n",)), ("values", values, ("n", "d")))
    if values.ndim == 2:
        return weights @ values
    return (weights[..., None, :] @ values)[..., 0, :]


def attention(
    q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike | None = None,
    score: Score = "dot",
    mask: ArrayLike | None = None,
    *,
    params: Mapping[str, ArrayLike] | None = None,
) -> AttentionResult:
    """Return softmax(score(q, K)) V with its scores and weights.

    Parameters
    ----------
    q : array_like, (..., dq)
    K : array_like, (..., n, dk)
    V : array_like, (..., n, dv), optional
        The keys if left out (D-9).
    score : str or callable
        ``"dot"``, ``"scaled_dot"``, ``"bilinear"`` (W), ``"additive"`` (W, U, v), ``"concat"``
        (W1, w2), ``"l16_literal"`` (W, U), or a function of (q, K).
    mask : array_like of bool, optional
        True = may attend; see :func:`reference.masked_softmax`. The scores stay unmasked.
    params : mapping, optional
        The parameters that the score needs, by name.

    Returns
    -------
    AttentionResult

    Raises
    ------
    ShapeError, DtypeError, DeviceError, ArgumentError

    Notes
    -----
    S4 "general characterisation"; S1 "general technique".
    """
    q, K, V = floating(q=q, K=K, V=K if V is None else V)
    bind(("q", q, ("dq",)), ("K", K, ("n", "dk")), ("V", V, ("n", "dv")))
    scores = score_with(score, q, K, params)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return AttentionResult(scores, weights, context(weights, V))


def sdpa(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    mask: ArrayLike | None = None,
    scale: float | str | None = "sqrt_dk",
) -> Array:
    """Return scaled dot-product attention softmax(Q K^T / sqrt(dk)) V.

    Parameters
    ----------
    Q : array_like, (..., m, dk)
        Queries in rows.
    K : array_like, (..., n, dk)
    V : array_like, (..., n, dv)
    mask : array_like of bool, broadcastable to (..., m, n), optional
        True = may attend. A query that may attend to nothing gets zeros.
    scale : "sqrt_dk", None or float
        What the scores are *divided* by: sqrt(dk), nothing, or this number.

    Returns
    -------
    array, (..., m, dv)

    Raises
    ------
    ShapeError, DtypeError, DeviceError
    ArgumentError
        For another scale.

    Notes
    -----
    S4 "scaled dot product"; Vaswani et al. 2017, eq. (1). The scale goes into the queries first: in
    half precision Q K^T alone could overflow.
    """
    Q, K, V = floating(Q=Q, K=K, V=V)
    sizes = bind(("Q", Q, ("m", "dk")), ("K", K, ("n", "dk")), ("V", V, ("n", "dv")))
    scores = (Q / scale_divisor(scale, sizes["dk"])) @ K.mT  # (..., m, n)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V


def scale_divisor(scale: float | str | None, dk: int) -> float:
    """Return the number by which scores are divided.

    Raises
    ------
    ArgumentError
        If ``scale`` is neither ``"sqrt_dk"`` nor None nor a finite number other than 0.
    """
    if isinstance(scale, str) and scale == "sqrt_dk":
        return math.sqrt(dk)
    if scale is None:
        return 1.0
    try:
        divisor = number("scale", scale)
    except ArgumentError:
        divisor = math.nan
    if not math.isfinite(divisor) or divisor == 0:
        raise ArgumentError(f'scale is {scale!r}, expected "sqrt_dk", None or a finite number other than 0')
    return divisor
