"""Scores: how well a query fits each key.

Always query first, then keys (the lectures differ, D-4). ``q (..., dq)``, ``K (..., n, dk)`` give
``(..., n)``. Leading axes are none, or the same number everywhere; so one set of keys serves many
queries, ``q (m, d)`` with ``K (n, d)`` -> ``(m, n)``. Weight matrices may be batched alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from reference.errors import ArgumentError, ShapeError
from reference.shapes import Array, ArrayLike, bind, floating, is_array, join, matvec, namespace

__all__ = [
    "SCORES",
    "Score",
    "additive_scores",
    "alignment_vector",
    "bilinear_scores",
    "concat_scores",
    "dot_scores",
    "scaled_dot_scores",
    "score_with",
    "take",
]

Score: TypeAlias = str | Callable[[Array, Array], Array]


def dot_scores(q: ArrayLike, K: ArrayLike) -> Array:
    """Return the scores q · k_j.

    Parameters
    ----------
    q : array_like, (..., d)
    K : array_like, (..., n, d)

    Returns
    -------
    array, (..., n)

    Raises
    ------
    ShapeError
        If query and keys differ in size.

    Notes
    -----
    S1 "Attention: In Equations" and variant 3; S2 step 1.
    """
    q, K = floating(q=q, K=K)
    bind(("q", q, ("d",)), ("K", K, ("n", "d")))
    return matvec(K, q)


def scaled_dot_scores(q: ArrayLike, K: ArrayLike) -> Array:
    """Return the scores q · k_j / sqrt(d), d being the number of features of a key.

    Parameters
    ----------
    q : array_like, (..., d)
    K : array_like, (..., n, d)

    Returns
    -------
    array, (..., n)

    Notes
    -----
    S1 variant 4, where |k| means that number (F-19); S4 "scaled dot product".
    """
    q, K = floating(q=q, K=K)
    return dot_scores(q / math.sqrt(q.shape[-1] if q.ndim and q.shape[-1] else 1), K)


def bilinear_scores(q: ArrayLike, K: ArrayLike, W: ArrayLike) -> Array:
    """Return the scores q^T W k_j ("multiplicative", "general").

    Parameters
    ----------
    q : array_like, (..., dq)
    K : array_like, (..., n, dk)
    W : array_like, (..., dq, dk)

    Returns
    -------
    array, (..., n)

    Raises
    ------
    ShapeError
        If W isn't dq x dk.

    Notes
    -----
    S1 variant 2; S2 step 1.
    """
    q, K, W = floating(q=q, K=K, W=W)
    bind(("q", q, ("dq",)), ("K", K, ("n", "dk")), ("W", W, ("dq", "dk")))
    return matvec(K, matvec(W.mT, q))


def additive_scores(
    q: ArrayLike,
    K: ArrayLike,
    W: ArrayLike,
    U: ArrayLike,
    v: ArrayLike | None = None,
    *,
    l16_literal: bool = False,
) -> Array:
    """Return the scores v^T tanh(W q + U k_j).

    In a decoder, q is the decoder state and the keys are the encoder states.

    Parameters
    ----------
    q : array_like, (..., dq)
    K : array_like, (..., n, dk)
    W : array_like, (..., da, dq)
    U : array_like, (..., da, dk)
    v : array_like, (..., da)
    l16_literal : bool
        Take S0 (3)=(4) as printed, without v; possible only where W and U have one row.

    Returns
    -------
    array, (..., n)

    Raises
    ------
    ShapeError
        For shapes that don't fit; naming F-01 if v is missing, or if ``l16_literal`` meets more
        than one row.
    ArgumentError
        If v is given together with ``l16_literal``.

    Notes
    -----
    S2 step 1; S4 "Bahdanau"; S0 (3)=(4) repaired.
    """
    if l16_literal:
        if v is not None:
            raise ArgumentError("l16_literal leaves v out; give one of the two")
        return _unprojected_scores(q, K, W, U)
    if v is None:
        note = "v is missing, and without it tanh(W q + U k) is a vector, not a score (F-01)"
        raise ShapeError("v", (), "as many entries as W has rows", note)
    q, K, W, U, v = floating(q=q, K=K, W=W, U=U, v=v)
    bind(
        ("q", q, ("dq",)), ("K", K, ("n", "dk")), ("W", W, ("da", "dq")), ("U", U, ("da", "dk")),
        ("v", v, ("da",)),
    )  # fmt: skip
    hidden = namespace(K).tanh(matvec(W, q)[..., None, :] + K @ U.mT)  # (..., n, da)
    return matvec(hidden, v)


def _unprojected_scores(q: ArrayLike, K: ArrayLike, W: ArrayLike, U: ArrayLike) -> Array:
    W, U = floating(W=W, U=U)
    for name, matrix in (("W", W), ("U", U)):
        if matrix.ndim < 2 or matrix.shape[-2] != 1:
            note = "S0 (3)=(4) gives a number only for matrices of one row (F-01)"
            raise ShapeError(name, matrix.shape, "one row", note)
    return additive_scores(q, K, W, U, namespace(W).ones(1, dtype=W.dtype, device=W.device))


def concat_scores(q: ArrayLike, K: ArrayLike, W1: ArrayLike, w2: ArrayLike) -> Array:
    """Return the scores w2^T tanh(W1 [q ; k_j]).

    The same function as :func:`additive_scores` with W1 = [W | U] and w2 = v.

    Parameters
    ----------
    q : array_like, (..., dq)
    K : array_like, (..., n, dk)
    W1 : array_like, (..., da, dq + dk)
        The query's columns first.
    w2 : array_like, (..., da)

    Returns
    -------
    array, (..., n)

    Raises
    ------
    ShapeError
        If W1 doesn't have dq + dk columns, and for other shapes that don't fit.

    Notes
    -----
    S1 variant 1.
    """
    q, K, W1, w2 = floating(q=q, K=K, W1=W1, w2=w2)
    sizes = bind(
        ("q", q, ("dq",)), ("K", K, ("n", "dk")), ("W1", W1, ("da", "dq + dk")), ("w2", w2, ("da",))
    )  # fmt: skip
    if sizes["dq + dk"] != sizes["dq"] + sizes["dk"]:
        raise ShapeError("W1", W1.shape, f"(..., {sizes['da']}, {sizes['dq']} + {sizes['dk']})")
    pairs = join(q[..., None, :], K)  # (..., n, dq + dk)
    hidden = namespace(K).tanh(pairs @ W1.mT)  # (..., n, da)
    return matvec(hidden, w2)


def alignment_vector(h: ArrayLike, s: ArrayLike, W_h: ArrayLike, W_s: ArrayLike) -> Array:
    """Return tanh(W_h h + W_s s), which S0 (3)=(4) prints as if it were a score.

    It is a vector with as many entries as the matrices have rows (F-01), so no softmax over
    positions can follow; :func:`additive_scores` projects it with v.

    Parameters
    ----------
    h : array_like, (..., dh)
        Encoder state; first here, as in the lecture.
    s : array_like, (..., ds)
        Previous decoder state.
    W_h : array_like, (..., da, dh)
        W1 of the lecture.
    W_s : array_like, (..., da, ds)
        W2 of the lecture.

    Returns
    -------
    array, (..., da)

    Raises
    ------
    ShapeError
        For shapes that don't fit.

    Notes
    -----
    S0 (3)=(4), exercise 5.
    """
    h, s, W_h, W_s = floating(h=h, s=s, W_h=W_h, W_s=W_s)
    bind(("h", h, ("dh",)), ("s", s, ("ds",)), ("W_h", W_h, ("da", "dh")), ("W_s", W_s, ("da", "ds")))
    return namespace(h).tanh(matvec(W_h, h) + matvec(W_s, s))


def _literal(q: Array, K: Array, W: Array, U: Array) -> Array:
    return additive_scores(q, K, W, U, l16_literal=True)


# name -> (function, names of its parameters)
SCORES: Mapping[str, tuple[Callable[..., Array], tuple[str, ...]]] = {
    "dot": (dot_scores, ()),
    "scaled_dot": (scaled_dot_scores, ()),
    "bilinear": (bilinear_scores, ("W",)),
    "additive": (additive_scores, ("W", "U", "v")),
    "concat": (concat_scores, ("W1", "w2")),
    "l16_literal": (_literal, ("W", "U")),
}


def score_with(score: Score, q: Array, K: Array, params: Mapping[str, ArrayLike] | None = None) -> Array:
    """Return the scores by the name of the score, with its parameters from ``params``.

    Parameters
    ----------
    score : str or callable
        A name in :data:`SCORES`, or a function of (q, K).
    q : array, (..., dq)
    K : array, (..., n, dk)
    params : mapping, optional
        Holds at least the parameters that the score needs.

    Raises
    ------
    ArgumentError
        For an unknown name or a missing parameter.
    ShapeError
        If a callable returns anything but one score a key.
    """
    if callable(score):
        scores = score(q, K)
        if not is_array(scores) or not scores.ndim or scores.shape[-1] != K.shape[-2]:
            shape = scores.shape if is_array(scores) else ()
            raise ShapeError("score(q, K)", shape, f"an array (..., {K.shape[-2]})")
        return scores
    if score not in SCORES:
        raise ArgumentError(f"score is {score!r}, expected one of {', '.join(SCORES)} or a function")
    function, names = SCORES[score]
    return function(q, K, *take(params or {}, names, f"the {score} score"))


def take(params: Mapping[str, ArrayLike], names: tuple[str, ...], purpose: str) -> list[ArrayLike]:
    """Return the named parameters in order.

    Raises
    ------
    ArgumentError
        Names the missing ones.
    """
    missing = [name for name in names if params.get(name) is None]
    if missing:
        raise ArgumentError(f"params lacks {', '.join(missing)}, which {purpose} needs")
    return [params[name] for name in names]
