"""Counting: parameters, operations, and steps that must follow one another.

All counts are exact whole numbers. Dimensions are given by name; axes as everywhere: da attention,
dq, dk, dv query, key, value, ds, dh decoder and encoder state, de embedding, d model, V vocabulary.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TypeAlias

from reference.errors import ArgumentError
from reference.shapes import whole

__all__ = ["count_ops", "count_params", "sequential_depth"]

Formula: TypeAlias = Callable[..., int]

_PARAMS: Mapping[str, Formula] = {
    "dot": lambda: 0,
    "scaled_dot": lambda: 0,
    "bilinear": lambda dq, dk: dq * dk,
    "additive": lambda da, ds, dh: da * (ds + dh) + da,
    "concat": lambda da, dq, dk: da * (dq + dk) + da,
    "rnn": lambda dh, dx: dh * dh + dh * dx,
    "decoder": lambda ds, dh, de, V: ds * (dh + de) + ds * ds + V * ds,
    "self_attention": lambda d, dk, dv: 2 * d * dk + d * dv,
    "multi_head": lambda d, h: 4 * d * _per_head(d, h) * h,
}

_OPS: Mapping[str, Formula] = {
    "score_evaluations": lambda tx, ty: tx * ty,
    "dot": lambda n, d: n * d,
    "bilinear": lambda n, dq, dk: dq * dk + n * dk,
    "additive_per_score": lambda tx, ty, da, ds, dh: tx * ty * (da * ds + da * dh + da),
    "additive_per_step": lambda tx, ty, da, ds, dh: ty * (da * ds + tx * (da * dh + da)),
    "additive_precomputed": lambda tx, ty, da, ds, dh: tx * da * dh + ty * (da * ds + tx * da),
    "matmul": lambda n, k, d: n * k * d,
    "matmul_outputs": lambda n, d: n * d,
    "self_attention": lambda n, dk, dv: n * n * dk + n * n * dv,
    "stored_weights": lambda h, n: h * n * n,
    "stored_weights_bytes": lambda h, n, bytes_each: h * n * n * bytes_each,
    "rnn": lambda n, dh, dx: n * (dh * dh + dh * dx),
    "greedy_candidates": lambda V, T: V * T,
    "beam_candidates": lambda V, T, b: sum(min(b, V ** (t - 1)) * V for t in range(1, T + 1)),
    "exhaustive_candidates": lambda V, T: V**T,
    "bottleneck_tokens": lambda d, V, bits: _tokens_that_fit(d * bits, V),
}

_DEPTH: Mapping[str, Formula] = {
    "rnn": lambda n: n,
    "rnn_state": lambda t, layer: t + layer - 1,
    "self_attention": lambda layers: layers,
    "rnn_distance": lambda i, j: abs(j - i),
    "attention_distance": lambda i, j: 1,
}


def count_params(kind: str, **dims: int) -> int:
    """Return the number of learned parameters; no biases, as the lectures have none.

    Parameters
    ----------
    kind : str
        ``dot``, ``scaled_dot`` (none); ``bilinear`` (dq, dk); ``additive`` (da, ds, dh);
        ``concat`` (da, dq, dk); ``rnn`` (dh, dx); ``decoder`` (ds, dh, de, V), S0 (7)-(8) without
        the score; ``self_attention`` (d, dk, dv); ``multi_head`` (d, h), Wq, Wk, Wv, Wo of d x d.
    **dims : int
        At least 1 each.

    Raises
    ------
    ArgumentError
        For an unknown kind, missing or unknown dimensions, or a head count that doesn't divide d.

    Notes
    -----
    S0 (4), (7), (8); S1 variants; S2 step 1; multi-head is background.
    """
    return _count(_PARAMS, kind, dims)


def count_ops(kind: str, **dims: int) -> int:
    """Return a number of operations, candidates or stored numbers.

    Parameters
    ----------
    kind : str
        Scalar multiplications: ``dot`` (n, d), ``bilinear`` (n, dq, dk; W^T q once),
        ``matmul`` (n, k, d), ``rnn`` (n, dh, dx), ``self_attention`` (n, dk, dv; Q K^T and P V without
        projections), and for the additive scores of a whole sequence (tx, ty, da, ds, dh)
        ``additive_per_score`` (nothing reused), ``additive_per_step`` (W s once a step),
        ``additive_precomputed`` (U h_j once a sentence, too).
        Others: ``score_evaluations`` (tx, ty); ``matmul_outputs`` (n, d); ``stored_weights`` (h, n)
        and ``stored_weights_bytes`` (h, n, bytes_each); candidates scored in T steps by
        ``greedy_candidates`` (V, T), ``beam_candidates`` (V, T, b); sequences of
        ``exhaustive_candidates`` (V, T); ``bottleneck_tokens`` (d, V, bits): the longest sequence
        whose V^n possibilities fit into d numbers of that many bits.
    **dims : int
        At least 1 each.

    Raises
    ------
    ArgumentError
        For an unknown kind, missing or unknown dimensions.

    Notes
    -----
    S0 sections 3.2 and 7.2; S2 sections 1 and 4; S3 "limited parallelisation".
    """
    return _count(_OPS, kind, dims)


def sequential_depth(kind: str, **dims: int) -> int:
    """Return how many steps must follow one another.

    Parameters
    ----------
    kind : str
        ``rnn`` (n): states of n tokens; ``rnn_state`` (t, layer): steps before the state of token t
        in a layer is there, both from 1, embeddings being free; ``self_attention`` (layers);
        ``rnn_distance`` (i, j): transitions between two positions; ``attention_distance`` (i, j): 1.
    **dims : int
        At least 1 each.

    Raises
    ------
    ArgumentError
        For an unknown kind, missing or unknown dimensions.

    Notes
    -----
    S3 figure 3 and "linear locality"; S1 "Issues with RNN"; S2 section 4.
    """
    return _count(_DEPTH, kind, dims)


def _count(formulas: Mapping[str, Formula], kind: str, dims: Mapping[str, int]) -> int:
    if kind not in formulas:
        raise ArgumentError(f"kind is {kind!r}, expected one of {', '.join(formulas)}")
    formula = formulas[kind]
    names = list(inspect.signature(formula).parameters)
    if set(names) != set(dims):
        given = ", ".join(dims) or "nothing"
        raise ArgumentError(f"{kind} needs {', '.join(names) or 'no dimensions'}, got {given}")
    return formula(**{name: whole(name, dims[name], least=1) for name in names})


def _per_head(d: int, h: int) -> int:
    if d % h:
        raise ArgumentError(f"h is {h}, which doesn't divide d = {d}")
    return d // h


def _tokens_that_fit(bits: int, V: int) -> int:
    """Return the largest n with V^n <= 2^bits, in whole numbers: logarithms round."""
    if V < 2:
        raise ArgumentError("V is 1, expected at least 2 words")
    low, high = bits // V.bit_length(), bits // (V.bit_length() - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if V**middle <= 1 << bits:
            low = middle
        else:
            high = middle - 1
    return low
