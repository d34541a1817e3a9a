"""Known mistakes of the items on the exercises of S0."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.decoder import scores
from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.mistakes.decoder import wrong_scores
from tests.integration.by_hand.mistakes.formulas import contexts, weights
from tests.oracles.loops import columns, logistic, product, softmax

__all__ = ["ITEMS"]


def _alignment(x: Numbers) -> Numbers:
    W1, W2, h, s = x["W1"], x["W2"], x["h"], x["s"]

    def summed(a: list[float], b: list[float]) -> list[float]:
        return [p + q for p, q in zip(a, b, strict=True)]

    def tanh(vector: list[float]) -> list[float]:
        return [math.tanh(a) for a in vector]

    from_h, from_s = product(W1, h), product(W2, s)
    wrong = {
        "m-no-tanh": summed(from_h, from_s),
        "m-swap-W": tanh(summed(product(W1, s), product(W2, h))),
        "m-transpose": tanh(summed(product(columns(W1), h), product(columns(W2), s))),
        "m-w1-only": tanh(from_h),
        "m-sigmoid-act": [logistic(a) for a in summed(from_h, from_s)],
        "m-tanh-each": summed(tanh(from_h), tanh(from_s)),
    }
    return {"answer": wrong}


def _three_stages(x: Numbers) -> Numbers:
    e = scores(x)
    w = softmax(e)
    return {"e": wrong_scores(x), "w": weights(e), "c": contexts(w, x["H"], e)}


def _first_exercise(x: Numbers) -> Numbers:
    """The printed option (d) comes from no computation that is known."""
    return {"answer": contexts(x["w"], x["H"]) | {"m-unexplained-option": [2.0, 0.4]}}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "l16-alignment-vector": _alignment,
    "l16-ex1-context-vector": _first_exercise,
    "l16-ex3-softmax-weights": lambda x: {"answer": weights(x["e"])},
    "l16-ex5-alignment-vector": _alignment,
    "l16-full-pass": _three_stages,
}
