"""RNN steps, decoder steps, self-attention and multi-head attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import reference
from engine.variants.functions.arithmetic import product_by_hand
from engine.variants.functions.registry import Rounded, function
from engine.variants.functions.scores import context_by_hand, sdpa_by_hand, softmax_by_hand
from engine.variants.values import as_float, as_tensor

__all__: list[str] = []

_ACTIVATIONS = {"tanh": torch.tanh, "logistic": torch.sigmoid}


def _rnn_by_hand(rounded: Rounded, x: Any, h: Any, W: Any, U: Any, activation: str = "logistic") -> Any:
    inner = product_by_hand(rounded, W, h) + product_by_hand(rounded, U, x)
    return rounded(_ACTIVATIONS[activation](inner))


@function(by_hand=_rnn_by_hand)
def rnn_step(x: Any, h: Any, W: Any, U: Any, activation: str = "logistic") -> Tensor:
    """Return sigma(W h + U x), S3 (5 first); the activation is "logistic" or "tanh"."""
    if activation not in _ACTIVATIONS:
        raise TypeError(f"the activation is one of {', '.join(_ACTIVATIONS)}")
    x, h, W, U = map(as_tensor, (x, h, W, U))
    return reference.rnn_step(x, h, W, U, activation=activation)  # type: ignore[arg-type]


def _step(y: Any, s: Any, H: Any, W: Any, U: Any, v: Any, Wx: Any, Ws: Any, Wy: Any) -> reference.DecoderStep:
    named = {"W": W, "U": U, "v": v, "Wx": Wx, "Ws": Ws, "Wy": Wy}
    params = {name: as_tensor(value) for name, value in named.items()}
    return reference.decoder_step(as_tensor(y), as_tensor(s), as_tensor(H), params)


def _step_by_hand(
    rounded: Rounded, y: Any, s: Any, H: Any, W: Any, U: Any, v: Any, Wx: Any, Ws: Any, Wy: Any
) -> tuple[Any, ...]:
    inner = product_by_hand(rounded, W, s) + product_by_hand(rounded, H, as_tensor(U).mT)
    scores = product_by_hand(rounded, rounded(torch.tanh(inner)), v)
    weights = softmax_by_hand(rounded, scores)
    c = context_by_hand(rounded, weights, H)
    joint = torch.cat([c, as_tensor(y)])
    state = rounded(torch.tanh(product_by_hand(rounded, Wx, joint) + product_by_hand(rounded, Ws, s)))
    return scores, weights, c, state, softmax_by_hand(rounded, product_by_hand(rounded, Wy, state))


def _quantity(which: str, position: int) -> None:
    def call(*args: Any) -> Tensor:
        result: Tensor = getattr(_step(*args), which)
        return result

    def by_hand(rounded: Rounded, *args: Any) -> Any:
        return _step_by_hand(rounded, *args)[position]

    function(f"decoder_{which}", by_hand=by_hand)(call)


# decoder_state(y, s, H, W, U, v, Wx, Ws, Wy) and its sisters: one quantity of the step S0 (4)-(8)
for _position, _which in enumerate(("scores", "weights", "context", "state", "probabilities")):
    _quantity(_which, _position)


def _self_by_hand(rounded: Rounded, X: Any, Wq: Any, Wk: Any, Wv: Any, causal: Any = False) -> Any:
    Q, K, V = (product_by_hand(rounded, X, W) for W in (Wq, Wk, Wv))
    mask = reference.causal_mask(Q.shape[0]) if causal else None
    return sdpa_by_hand(rounded, Q, K, V, mask)


@function(by_hand=_self_by_hand)
def self_attention(X: Any, Wq: Any, Wk: Any, Wv: Any, causal: Any = False) -> Tensor:
    """Return self-attention of the rows of X, projected from the right; `causal` hides later rows."""
    X, Wq, Wk, Wv = map(as_tensor, (X, Wq, Wk, Wv))
    return reference.self_attention(X, Wq, Wk, Wv, causal=bool(causal))


def _heads_by_hand(rounded: Rounded, X: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any, h: Any) -> Any:
    heads = int(as_float(h))
    blocks = [as_tensor(W).chunk(heads, dim=-1) for W in (Wq, Wk, Wv)]
    outputs = [_self_by_hand(rounded, X, q, k, v) for q, k, v in zip(*blocks, strict=True)]
    return product_by_hand(rounded, torch.cat(outputs, dim=-1), Wo)


@function(by_hand=_heads_by_hand)
def multi_head(X: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any, h: Any) -> Tensor:
    """Return multi-head attention; heads are consecutive blocks of columns."""
    X, Wq, Wk, Wv, Wo = map(as_tensor, (X, Wq, Wk, Wv, Wo))
    return reference.multi_head(X, Wq, Wk, Wv, Wo, h=int(as_float(h)))
