"""Scores, weights, contexts and attention: the reference's own functions, by hand, and as known mistakes.

A function ``…_by_hand`` computes the same as on paper, to know how far honest rounding of every intermediate
can move the result (:mod:`engine.expressions.precision`). It must equal the reference when nothing is
rounded, which a test asserts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import reference
from engine.expressions.functions.arithmetic import product_by_hand
from engine.expressions.functions.registry import FunctionGroup, Rounded
from engine.expressions.values import Array, as_float, as_tensor, away_from_jump, is_tensor
from reference.rnn import logistic
from reference.tangents import plain

function = FunctionGroup("Scores, weights, attention")
mistake = FunctionGroup("What known mistakes give")


def mask_of(value: Any) -> Array:
    """Return a mask as truth values: True (or not 0) may be attended."""
    mask = plain(value)
    return mask if is_tensor(mask) and mask.dtype == np.bool_ else as_tensor(mask) != 0


def softmax_by_hand(
    rounded: Rounded, x: Any, axis: int = -1, temperature: Any = 1.0, mask: Any = None
) -> Any:
    """Return softmax by exponentials, their sum, and divisions.

    Exponentials are taken of the scores as they are where all are below 0, and of the scores minus
    their maximum otherwise: whichever of the two ways loses more to rounding.
    """
    scores = as_tensor(x)
    if (heat := as_float(temperature)) != 1.0:
        scores = rounded(scores / heat)  # a division by 1 isn't a step that anybody writes down
    if mask is not None:
        scores = np.where(mask_of(mask), scores, -math.inf)
    # the shift is exact and the same for all, so that it gets no disturbance
    shift = np.maximum(np.max(plain(scores), axis, keepdims=True), 0.0)
    powers = np.exp(scores - shift)
    # a hidden position is an exact 0, whose power nobody rounds
    powers = rounded(powers) if mask is None else rounded(powers) * mask_of(mask)
    return rounded(powers / np.sum(powers, axis, keepdims=True))


@function(by_hand=softmax_by_hand)
def softmax(x: Any, axis: int = -1, temperature: Any = 1.0) -> Array:
    """Return softmax along an axis, S0 (2=5)."""
    return reference.softmax(as_tensor(x), axis=int(axis), temperature=as_float(temperature))


def _masked_by_hand(rounded: Rounded, scores: Any, mask: Any) -> Any:
    return softmax_by_hand(rounded, scores, mask=mask)


@function(by_hand=_masked_by_hand)
def masked_softmax(scores: Any, mask: Any) -> Array:
    """Return softmax over the visible positions; a mask entry other than 0 is visible."""
    return reference.masked_softmax(as_tensor(scores), mask_of(mask))


def _dot_by_hand(rounded: Rounded, q: Any, K: Any) -> Any:
    return product_by_hand(rounded, as_tensor(q), as_tensor(K).mT)


@function(by_hand=_dot_by_hand)
def dot_scores(q: Any, K: Any) -> Array:
    """Return the inner products of one query (or each row of queries) with the keys."""
    return reference.dot_scores(as_tensor(q), as_tensor(K))


def _scaled_by_hand(rounded: Rounded, q: Any, K: Any) -> Any:
    keys = as_tensor(K)
    # 1.41 for the square root of 2 is written down before anything is divided by it
    scale = rounded(np.sqrt(np.float64(keys.shape[-1])))
    return rounded(_dot_by_hand(rounded, q, keys) / scale)


@function(by_hand=_scaled_by_hand)
def scaled_dot_scores(q: Any, K: Any) -> Array:
    """Return inner products over the square root of the key size (Vaswani et al. 2017, eq. (1))."""
    return reference.scaled_dot_scores(as_tensor(q), as_tensor(K))


def _bilinear_by_hand(rounded: Rounded, q: Any, K: Any, W: Any) -> Any:
    return product_by_hand(rounded, as_tensor(K), product_by_hand(rounded, as_tensor(W).mT, q))


@function(by_hand=_bilinear_by_hand)
def bilinear_scores(q: Any, K: Any, W: Any) -> Array:
    """Return q^T W k for every key."""
    return reference.bilinear_scores(as_tensor(q), as_tensor(K), as_tensor(W))


def _additive_by_hand(rounded: Rounded, q: Any, K: Any, W: Any, U: Any, v: Any) -> Any:
    inner = product_by_hand(rounded, W, q) + product_by_hand(rounded, K, as_tensor(U).mT)
    return product_by_hand(rounded, rounded(np.tanh(inner)), v)


@function(by_hand=_additive_by_hand)
def additive_scores(q: Any, K: Any, W: Any, U: Any, v: Any) -> Array:
    """Return v^T tanh(W q + U k) for every key; W belongs to the query, U to the keys."""
    return reference.additive_scores(*map(as_tensor, (q, K, W, U, v)))


def _concat_by_hand(rounded: Rounded, q: Any, K: Any, W1: Any, w2: Any) -> Any:
    # W1 [q; k] is the sum of two products, which is how it is worked out on paper
    joint, split = as_tensor(W1), as_tensor(q).shape[-1]
    return _additive_by_hand(rounded, q, K, joint[:, :split], joint[:, split:], w2)


@function(by_hand=_concat_by_hand)
def concat_scores(q: Any, K: Any, W1: Any, w2: Any) -> Array:
    """Return w2^T tanh(W1 [q; k]) for every key, S1 variant 1."""
    return reference.concat_scores(*map(as_tensor, (q, K, W1, w2)))


def _alignment_by_hand(rounded: Rounded, h: Any, s: Any, W_h: Any, W_s: Any) -> Any:
    return rounded(np.tanh(product_by_hand(rounded, W_h, h) + product_by_hand(rounded, W_s, s)))


@function(by_hand=_alignment_by_hand)
def alignment_vector(h: Any, s: Any, W_h: Any, W_s: Any) -> Array:
    """Return tanh(W_h h + W_s s): S0 (3=4) as printed, a vector and no score."""
    return reference.alignment_vector(*map(as_tensor, (h, s, W_h, W_s)))


def context_by_hand(rounded: Rounded, weights: Any, H: Any) -> Any:
    """Return the weighted sum of the rows of H, every product written down."""
    return product_by_hand(rounded, weights, H)


@function(by_hand=context_by_hand)
def context(weights: Any, H: Any) -> Array:
    """Return the weighted sum of the rows of H, S0 (1=6); one row for each row of weights."""
    return reference.context(as_tensor(weights), as_tensor(H))


def sdpa_by_hand(rounded: Rounded, Q: Any, K: Any, V: Any, mask: Any = None) -> Any:
    """Return scaled dot-product attention stage by stage."""
    weights = softmax_by_hand(rounded, _scaled_by_hand(rounded, Q, K), mask=mask)
    return product_by_hand(rounded, weights, V)


@function(by_hand=sdpa_by_hand)
def sdpa(Q: Any, K: Any, V: Any, mask: Any = None) -> Array:
    """Return scaled dot-product attention (Vaswani et al. 2017, eq. (1)) of one query or rows of queries."""
    queries, keys, values = as_tensor(Q), as_tensor(K), as_tensor(V)
    # the reference takes rows of queries only, as in the paper
    visible = None if mask is None else mask_of(mask)
    if queries.ndim == 1:
        visible = None if visible is None else visible[np.newaxis]
        return reference.sdpa(queries[np.newaxis], keys, values, visible)[0]
    return reference.sdpa(queries, keys, values, visible)


@function(exact=True)
def causal_mask(n: Any) -> Array:
    """Return the n x n mask in which a position sees itself and the earlier ones, as 1 and 0."""
    return as_tensor(reference.causal_mask(int(as_float(n))))


@function(exact=True)
def hard_alignment(A: Any, axis: int = -1) -> Array:
    """Return 1 at the largest weight of every row (axis -1) or column (axis 0), 0 elsewhere."""
    return reference.hard_alignment(plain(as_tensor(A)), axis=int(axis))


@function(exact=True)
def aligned_positions(A: Any, axis: int = -1) -> tuple[int, ...]:
    """Return the position of the largest weight of every row (axis -1) or column (axis 0), from 0."""
    return tuple(int(i) for i in reference.aligned_positions(plain(as_tensor(A)), axis=int(axis)).ravel())


@function(exact=True)
def threshold_alignment(A: Any, threshold: Any) -> Array:
    """Return 1 where a weight reaches the threshold, 0 elsewhere."""
    away_from_jump("threshold_alignment", plain(as_tensor(A)) - as_float(threshold), as_float(threshold))
    return as_tensor(reference.threshold_alignment(plain(as_tensor(A)), as_float(threshold)))


@function()
def softmax_jacobian(w: Any) -> Array:
    """Return diag(w) - w w^T, the derivative of softmax at weights w."""
    return reference.softmax_jacobian(as_tensor(w))


@function()
def softmax_vjp(w: Any, g: Any) -> Array:
    """Return the gradient for the scores, from weights w and the gradient g for the weights."""
    return reference.softmax_vjp(as_tensor(w), as_tensor(g))


def _gradient(position: int, name: str, operand: str) -> None:
    def call(Q: Any, K: Any, V: Any, G: Any) -> Array:
        Q, K, V, G = map(as_tensor, (Q, K, V, G))
        return reference.grad_attention(Q, K, V, G)[position]

    call.__doc__ = f"Return the gradient for the {operand}, from the gradient G for the output of sdpa."
    function(name)(call)


for _position, (_name, _operand) in enumerate(
    (("grad_q", "queries"), ("grad_k", "keys"), ("grad_v", "values"))
):
    _gradient(_position, _name, _operand)


# Weights that known mistakes compute; the registry ``problems/misconceptions.yaml`` has a sentence for each.


def _shares(values: Array, axis: int = -1) -> Array:
    return values / np.sum(values, axis, keepdims=True)


@mistake()
def base2(e: Any) -> Array:
    """Return the weights that powers of 2 give (m-base2)."""
    scores = as_tensor(e)
    return _shares(np.exp2(scores - np.max(scores, -1, keepdims=True)))


@mistake()
def linear_norm(e: Any) -> Array:
    """Return the scores divided by their sum (m-linear-norm)."""
    return _shares(as_tensor(e))


@mistake()
def rank_norm(e: Any) -> Array:
    """Return weights that grow in equal steps with the scores (m-rank-norm)."""
    scores = as_tensor(e)
    return _shares(scores - np.min(scores, -1, keepdims=True) + 1)


@mistake()
def sigmoid_norm(e: Any) -> Array:
    """Return sigmoids of the scores, divided by their sum (m-sigmoid-norm)."""
    return _shares(logistic(as_tensor(e)))


@mistake(exact=True)
def hard(e: Any) -> Array:
    """Return 1 at the largest score of every row and 0 elsewhere (m-argmax)."""
    return reference.hard_alignment(plain(as_tensor(e)))


@mistake()
def softmax_all(E: Any) -> Array:
    """Return exponentials over the sum of all entries of a matrix (m-all)."""
    scores = as_tensor(E)
    return reference.softmax(scores.flatten(), 0).reshape(scores.shape)
