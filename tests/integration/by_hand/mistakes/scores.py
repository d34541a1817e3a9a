"""Known mistakes of the items on alignment scores."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.mistakes import formulas
from tests.integration.by_hand.scores import ITEMS as RIGHT
from tests.oracles.loops import columns, dot, logistic, product, softmax

__all__ = ["ITEMS"]


def _plus(a: list[float], b: list[float], sign: int = 1) -> list[float]:
    return [p + sign * q for p, q in zip(a, b, strict=True)]


def _tanh(a: list[float]) -> list[float]:
    return [math.tanh(x) for x in a]


def _additive(x: Numbers) -> Numbers:
    from_s, from_h = product(x["W"], x["s"]), product(x["U"], x["h"])
    inside = _plus(from_s, from_h)
    each = _plus(_tanh(from_s), _tanh(from_h))
    return {
        "pre": {
            "m-swap-W": _plus(product(x["W"], x["h"]), product(x["U"], x["s"])),
            "m-transpose": _plus(product(columns(x["W"]), x["s"]), product(columns(x["U"]), x["h"])),
            "m-w1-only": from_h,
            "m-no-encoder-term": from_s,
            "m-minus-term": _plus(from_s, from_h, -1),
            "m-tanh-each": each,
        },
        "z": {
            "m-no-tanh": inside,
            "m-sigmoid-act": [logistic(a) for a in inside],
            "m-tanh-each": each,
            "m-relu-act": [max(0.0, a) for a in inside],
        },
        "e": {
            "m-no-v": sum(_tanh(inside)),
            "m-v-inside": math.tanh(dot(x["v"], inside)),
            "m-no-tanh": dot(x["v"], inside),
            "m-v-reversed": dot(x["v"][::-1], _tanh(inside)),
        },
    }


def _all_positions(x: Numbers) -> Numbers:
    from_s = product(x["W"], x["s"])
    from_h = [product(x["U"], h) for h in x["H"]]
    inside = [_plus(from_s, u) for u in from_h]
    v = x["v"]
    transposed = [_plus(from_s, product(columns(x["U"]), h)) for h in x["H"]]
    e = RIGHT["additive-all-positions"](x)["e"]
    return {
        "e": {
            "m-no-tanh": [dot(v, a) for a in inside],
            "m-no-v": [sum(_tanh(a)) for a in inside],
            "m-v-inside": [math.tanh(dot(v, a)) for a in inside],
            "m-v-reversed": [dot(v[::-1], _tanh(a)) for a in inside],
            "m-w1-only": [dot(v, _tanh(u)) for u in from_h],
            "m-transpose": [dot(v, _tanh(a)) for a in transposed],  # U alone is square
            "m-sigmoid-act": [dot(v, [logistic(y) for y in a]) for a in inside],
        },
        "w": formulas.weights(e),
    }


def _two_matrices(x: Numbers) -> Numbers:
    """The concatenation taken as [k; q]: the first columns meet the key."""
    d_k, q, k = len(x["k"]), x["q"], x["k"]
    return {
        "W": {"m-concat-swapped": [row[d_k:] for row in x["W1"]]},
        "U": {"m-concat-swapped": [row[:d_k] for row in x["W1"]]},
        "pre": {
            "m-concat-swapped": product(x["W1"], [*k, *q]),
            "m-tanh-early": _tanh(product(x["W1"], [*q, *k])),
            "m-no-encoder-term": product(x["W1"], [*q, *[0] * d_k]),
        },
    }


def _bilinear(x: Numbers) -> Numbers:
    q, k, W = x["q"], x["k"], x["W"]
    wrong = {
        "m-transpose": dot(k, product(W, q)),
        "m-no-matrix": dot(q, k),
        "m-matrix-twice": dot(product(W, q), product(W, k)),
        "m-sum-product": sum(product(W, k)),
    }
    return {"answer": wrong}


def _dots(x: Numbers) -> Numbers:
    s, H = x["s"], x["H"]
    raw = [dot(s, h) for h in H]
    wrong = {
        "m-scaled": [r / math.sqrt(len(s)) for r in raw],
        "m-cosine": [r / math.sqrt(dot(s, s) * dot(h, h)) for r, h in zip(raw, H, strict=True)],
        "m-first-product": [s[0] * h[0] for h in H],
        "m-abs-products": [sum(abs(a * b) for a, b in zip(s, h, strict=True)) for h in H],
        "m-weights-early": softmax(raw),
    }
    return {"answer": wrong}


def _one_scaled(x: Numbers) -> Numbers:
    raw = dot(x["q"], x["k"])
    of_one_key = {name: values[0] for name, values in formulas.scale(x["q"], [x["k"]]).items()}
    return {"answer": of_one_key | {"m-sqrt-n": raw / math.sqrt(x["n"])}}


def _spread(x: Numbers) -> Numbers:
    d, a, b = 2 * x["half"], x["a"], x["b"]
    deviation = math.sqrt(d * a * b)
    return {
        "var": {
            "m-variance-sum": d * (a + b),
            "m-deviation": deviation,
            "m-one-product": a * b,
            "m-dimension-squared": d**2 * a * b,
        },
        "dev": {"m-scaled-variance": a * b, "m-unscaled": deviation, "m-div-d": deviation / d},
    }


def _learned(x: Numbers) -> Numbers:
    d, d_a = x["d"], x["d_a"]
    matrices = 2 * d_a * d
    wrong = {
        "m-forgot-v": [0, d * d, matrices],
        "m-dim-add": [0, d * d, matrices + d_a + d_a],  # a bias for each entry of the sum
        "m-one-matrix": [0, d * d, d_a * d + d_a],
        "m-sizes-added": [0, 2 * d, matrices + d_a],
        "m-dot-parameters": [d, d * d, matrices + d_a],
    }
    return {"counts": wrong}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "additive-score": _additive,
    "additive-all-positions": _all_positions,
    "bilinear-score": _bilinear,
    "concat-equals-two-matrices": _two_matrices,
    "dot-scores": _dots,
    "scaled-dot-score": _one_scaled,
    "score-params-table": _learned,
    "variance-of-dot": _spread,
}
