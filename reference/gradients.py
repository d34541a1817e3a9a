"""Derivatives written out: of the softmax, and of scaled dot-product attention."""

from __future__ import annotations

from typing import NamedTuple

from reference.attending import scale_divisor
from reference.shapes import Array, ArrayLike, bind, floating, namespace, sum_to
from reference.weights import masked_softmax, softmax

__all__ = ["AttentionGradients", "grad_attention", "softmax_jacobian", "softmax_vjp"]


class AttentionGradients(NamedTuple):
    """Gradients for queries, keys and values, each in the shape of its array."""

    dQ: Array  # noqa: N815
    dK: Array  # noqa: N815
    dV: Array  # noqa: N815


def softmax_jacobian(w: ArrayLike) -> Array:
    """Return dw_i/de_j = w_i (delta_ij - w_j) from the weights w = softmax(e).

    Parameters
    ----------
    w : array_like, (..., n)
        Weights, not scores.

    Returns
    -------
    array, (..., n, n)
        Symmetric; rows sum to 0.

    Raises
    ------
    ShapeError
        If there are no weights.

    Notes
    -----
    Background; differentiates S0 (2)=(5).
    """
    (w,) = floating(w=w)
    bind(("w", w, ("n",)))
    xp, column = namespace(w), w[..., :, None]
    diagonal = xp.eye(w.shape[-1], dtype=xp.bool, device=w.device)
    return xp.where(diagonal, column, xp.zeros_like(column)) - column * w[..., None, :]


def softmax_vjp(w: ArrayLike, g: ArrayLike) -> Array:
    """Return J^T g = w (g - g · w), J being the Jacobian of the softmax.

    Parameters
    ----------
    w : array_like, (..., n)
        Weights; zeros of hidden positions stay zeros.
    g : array_like, (..., n)
        Gradient with respect to the weights.

    Returns
    -------
    array, (..., n)
        Gradient with respect to the scores.

    Raises
    ------
    ShapeError
        If ``w`` and ``g`` differ.
    """
    w, g = floating(w=w, g=g)
    bind(("w", w, ("n",)), ("g", g, ("n",)))
    return w * (g - namespace(w).sum(w * g, axis=-1, keepdims=True))


def grad_attention(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    G: ArrayLike,
    mask: ArrayLike | None = None,
    scale: float | str | None = "sqrt_dk",
) -> AttentionGradients:
    """Return the gradients of sum(G * sdpa(Q, K, V)).

    With P = softmax(Q K^T / c): dV = P^T G, dS = vjp(P, G V^T), dQ = dS K / c, dK = dS^T Q / c.

    Parameters
    ----------
    Q : array_like, (..., m, dk)
    K : array_like, (..., n, dk)
    V : array_like, (..., n, dv)
    G : array_like, (..., m, dv)
        Gradient with respect to the output.
    mask : array_like of bool, broadcastable to (..., m, n), optional
    scale : "sqrt_dk", None or float
        As in :func:`reference.sdpa`.

    Returns
    -------
    AttentionGradients
        Summed over leading axes along which an argument was broadcast.

    Raises
    ------
    ShapeError, DtypeError, DeviceError, ArgumentError
    """
    Q, K, V, G = floating(Q=Q, K=K, V=V, G=G)
    sizes = bind(
        ("Q", Q, ("m", "dk")), ("K", K, ("n", "dk")), ("V", V, ("n", "dv")), ("G", G, ("m", "dv"))
    )  # fmt: skip
    divisor = scale_divisor(scale, sizes["dk"])
    scores = (Q / divisor) @ K.mT  # (..., m, n)
    P = softmax(scores) if mask is None else masked_softmax(scores, mask)
    dS = softmax_vjp(P, G @ V.mT) / divisor
    dQ, dK, dV = dS @ K, dS.mT @ Q, P.mT @ G
    return AttentionGradients(sum_to(dQ, Q.shape), sum_to(dK, K.shape), sum_to(dV, V.shape))
