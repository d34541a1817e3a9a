"""Formulas of the registry that several items use: ``problems/misconceptions.yaml`` in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tests.oracles.loops import context, dot, logistic, softmax

__all__ = ["contexts", "one_at_largest", "scale", "weights"]

Table = dict[str, Any]


def one_at_largest(e: Sequence[float]) -> list[float]:
    """Hard attention: all weight at the (only) largest score."""
    best = max(range(len(e)), key=lambda j: e[j])
    return [float(j == best) for j in range(len(e))]


def _shares(parts: Sequence[float]) -> list[float] | None:
    total = float(sum(parts))
    return [float(p) / total for p in parts] if total else None


def weights(e: Sequence[float]) -> Table:
    """What each mistake makes of scores where the softmax is asked for."""
    return {
        "m-linear-norm": _shares(e),
        "m-rank-norm": _shares([x - min(e) + 1 for x in e]),
        "m-base2": _shares([2 ** float(x) for x in e]),
        "m-sigmoid-norm": _shares([logistic(float(x)) for x in e]),
        "m-sigmoid-only": [logistic(float(x)) for x in e],
        "m-neg": softmax([-x for x in e]),
        "m-argmax": one_at_largest(e),
        "m-equal-weights": [1 / len(e)] * len(e),
        "m-ones": [1.0] * len(e),
    }


def contexts(
    w: Sequence[float], states: Sequence[Sequence[float]], e: Sequence[float] | None = None
) -> Table:
    """What each mistake makes of weights (and scores) and states where their mixture is asked for."""
    n = len(states)
    return {
        "m-no-softmax": context(e, states) if e is not None else None,
        "m-argmax": context(one_at_largest(w), states),
        "m-uniform": context([1 / n] * n, states),
        "m-last": list(states[-1]),
        "m-sum": context([1] * n, states),
        "m-swap-w": context(list(reversed(w)), states),
    }


def scale(q: Sequence[float], keys: Sequence[Sequence[float]]) -> Table:
    """Scores of one query where the scaled dot product is asked for."""
    raw = [dot(q, k) for k in keys]
    return {
        "m-unscaled": raw,
        "m-div-d": [r / len(q) for r in raw],
        "m-sqrt-n": [r / math.sqrt(len(keys)) for r in raw],
        "m-l2": [r / math.sqrt(dot(k, k)) for r, k in zip(raw, keys, strict=True)],
        "m-weights-early": softmax([r / math.sqrt(len(q)) for r in raw]),
    }
