"""Whole networks; counts of their parameters and operations; questions about values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from engine.expressions.functions.arithmetic import product_by_hand
from engine.expressions.functions.registry import FunctionGroup, Rounded
from engine.expressions.functions.scores import context_by_hand, sdpa_by_hand, softmax_by_hand
from engine.expressions.values import Array, as_float, as_tensor, is_tensor
from reference.rnn import logistic
from reference.tangents import plain

function = FunctionGroup("Networks")
count = FunctionGroup("Counting")
test = FunctionGroup("Tests for constraints and invariants")

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"tanh": np.tanh, "logistic": logistic}


def _rnn_by_hand(rounded: Rounded, x: Any, h: Any, W: Any, U: Any, activation: str = "logistic") -> Any:
    inner = product_by_hand(rounded, W, h) + product_by_hand(rounded, U, x)
    return rounded(_ACTIVATIONS[activation](inner))


@function(by_hand=_rnn_by_hand)
def rnn_step(x: Any, h: Any, W: Any, U: Any, activation: str = "logistic") -> Array:
    """Return sigma(W h + U x), S3 (5 first); the activation is "logistic" or "tanh"."""
    if activation not in _ACTIVATIONS:
        raise TypeError(f"the activation is one of {', '.join(_ACTIVATIONS)}")
    x, h, W, U = map(as_tensor, (x, h, W, U))
    return reference.rnn_step(x, h, W, U, activation=activation)  # type: ignore[arg-type]


def _step(y: Any, s: Any, H: Any, W: Any, U: Any, v: Any, Wx: Any, Ws: Any, Wy: Any) -> reference.DecoderStep:
    matrices = {"W": W, "U": U, "v": v, "Wx": Wx, "Ws": Ws, "Wy": Wy}
    params = {name: as_tensor(value) for name, value in matrices.items()}
    return reference.decoder_step(as_tensor(y), as_tensor(s), as_tensor(H), params)


def _step_by_hand(
    rounded: Rounded, y: Any, s: Any, H: Any, W: Any, U: Any, v: Any, Wx: Any, Ws: Any, Wy: Any
) -> tuple[Any, ...]:
    inner = product_by_hand(rounded, W, s) + product_by_hand(rounded, H, as_tensor(U).mT)
    scores = product_by_hand(rounded, rounded(np.tanh(inner)), v)
    weights = softmax_by_hand(rounded, scores)
    c = context_by_hand(rounded, weights, H)
    joint = np.concat([c, as_tensor(y)])
    state = rounded(np.tanh(product_by_hand(rounded, Wx, joint) + product_by_hand(rounded, Ws, s)))
    return scores, weights, c, state, softmax_by_hand(rounded, product_by_hand(rounded, Wy, state))


def _quantity(position: int, name: str, words: str) -> None:
    def call(y: Any, s: Any, H: Any, W: Any, U: Any, v: Any, Wx: Any, Ws: Any, Wy: Any) -> Array:
        result: Array = getattr(_step(y, s, H, W, U, v, Wx, Ws, Wy), name)
        return result

    def by_hand(rounded: Rounded, *args: Any) -> Any:
        return _step_by_hand(rounded, *args)[position]

    call.__doc__ = f"Return the {words} of the decoder step S0 (4)-(8)."
    function(f"decoder_{name}", by_hand=by_hand)(call)


_QUANTITIES = {
    "scores": "alignment scores",
    "weights": "attention weights",
    "context": "context vector",
    "state": "new state",
    "probabilities": "output probabilities",
}
for _position, (_name, _words) in enumerate(_QUANTITIES.items()):
    _quantity(_position, _name, _words)


def _self_by_hand(rounded: Rounded, X: Any, Wq: Any, Wk: Any, Wv: Any, causal: Any = False) -> Any:
    Q, K, V = (product_by_hand(rounded, X, W) for W in (Wq, Wk, Wv))
    mask = reference.causal_mask(Q.shape[0]) if causal else None
    return sdpa_by_hand(rounded, Q, K, V, mask)


@function(by_hand=_self_by_hand)
def self_attention(X: Any, Wq: Any, Wk: Any, Wv: Any, causal: Any = False) -> Array:
    """Return self-attention of the rows of X, projected from the right; `causal` hides later rows."""
    X, Wq, Wk, Wv = map(as_tensor, (X, Wq, Wk, Wv))
    return reference.self_attention(X, Wq, Wk, Wv, causal=bool(causal))


def _in_blocks(W: Array, count: int) -> list[Array]:
    width = W.shape[-1] // count
    return [W[:, first : first + width] for first in range(0, count * width, width)]


def _heads_by_hand(rounded: Rounded, X: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any, h: Any) -> Any:
    heads = int(as_float(h))
    blocks = [_in_blocks(as_tensor(W), heads) for W in (Wq, Wk, Wv)]
    outputs = [_self_by_hand(rounded, X, q, k, v) for q, k, v in zip(*blocks, strict=True)]
    return product_by_hand(rounded, np.concat(outputs, axis=-1), Wo)


@function(by_hand=_heads_by_hand)
def multi_head(X: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any, h: Any) -> Array:
    """Return multi-head attention; heads are consecutive blocks of columns."""
    X, Wq, Wk, Wv, Wo = map(as_tensor, (X, Wq, Wk, Wv, Wo))
    return reference.multi_head(X, Wq, Wk, Wv, Wo, h=int(as_float(h)))


# Counts of parameters, operations and dependent steps; all from the reference.


def _whole_numbers(dims: dict[str, Any]) -> dict[str, int]:
    numbers = {name: as_float(value) for name, value in dims.items()}
    for name, value in numbers.items():
        if value != int(value):
            raise TypeError(f"{name} must be a whole number, got {value:g}")
    return {name: int(value) for name, value in numbers.items()}


@count(exact=True)
def count_params(kind: str, **dims: Any) -> int:
    """Return the number of learned parameters of a kind of layer; its sizes are passed by name."""
    return reference.count_params(kind, **_whole_numbers(dims))


@count(exact=True)
def count_ops(kind: str, **dims: Any) -> int:
    """Return the number of operations of a kind of computation; its sizes are passed by name."""
    return reference.count_ops(kind, **_whole_numbers(dims))


@count(exact=True)
def sequential_depth(kind: str, **dims: Any) -> int:
    """Return the number of steps that must follow one another; the sizes are passed by name."""
    return reference.sequential_depth(kind, **_whole_numbers(dims))


# Questions about values, for constraints and invariants.


@test("all", exact=True)
def all_true(x: Any) -> bool:
    """Return whether every entry is true (not 0)."""
    return bool((as_tensor(x) != 0).all())


@test("any", exact=True)
def any_true(x: Any) -> bool:
    """Return whether some entry is true (not 0)."""
    return bool((as_tensor(x) != 0).any())


@test(exact=True)
def same(x: Any, y: Any, tolerance: Any = 1e-9) -> bool:
    """Return whether shapes agree and all entries do within `tolerance`; words and sequences exactly."""
    if isinstance(x, str | tuple) or isinstance(y, str | tuple):
        return bool(x == y)
    a, b = as_tensor(x), as_tensor(y)
    return a.shape == b.shape and bool((abs(plain(a - b)) <= as_float(tolerance)).all())


@test(exact=True)
def distinct(x: Any, gap: Any = 1e-9) -> bool:
    """Return whether any two entries (or rows, in some entry) differ by more than `gap`."""
    if isinstance(x, tuple):
        return len(set(x)) == len(x)
    values, least = plain(as_tensor(x)), as_float(gap)
    flat = values if values.ndim > 1 else values.reshape(-1, 1)
    # every pair: entries could be sorted, but rows that differ in some entry have no order
    return all(
        float(abs(flat[i] - flat[j]).max()) > least for i in range(len(flat)) for j in range(i + 1, len(flat))
    )


@test(exact=True)
def symmetric(W: Any) -> bool:
    """Return whether a matrix equals its transpose."""
    matrix = plain(as_tensor(W))
    return matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and bool((matrix == matrix.mT).all())


@test(exact=True)
def between(x: Any, low: Any, high: Any) -> bool:
    """Return whether all entries lie between two bounds, both included."""
    values = as_tensor(x)
    return bool(((values >= as_float(low)) & (values <= as_float(high))).all())


@test(exact=True)
def whole(x: Any) -> bool:
    """Return whether all entries are whole numbers."""
    values = plain(as_tensor(x))
    return bool((values == np.round(values)).all())


@test(exact=True)
def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return entries of `yes` where the condition holds, of `no` elsewhere."""
    holds = condition if is_tensor(condition) else as_tensor(condition)
    if holds.dtype != np.bool_:
        holds = holds != 0
    return np.where(holds, as_tensor(yes), as_tensor(no))
