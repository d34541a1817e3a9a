"""Items on the exercises of S0 and on its equations."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.decoder import scores
from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import Pick
from tests.oracles.loops import context, dot, softmax

__all__ = ["ITEMS"]


def _alignment(x: Numbers) -> Numbers:
    """S0 (3): W_1 belongs to the encoder state; a vector, not a score."""
    rows = zip(x["W1"], x["W2"], strict=True)
    return {"answer": [math.tanh(dot(a, x["h"]) + dot(b, x["s"])) for a, b in rows]}


def _three_stages(x: Numbers) -> Numbers:
    e = scores(x)
    w = softmax(e)
    return {"e": e, "w": w, "c": context(w, x["H"])}


def _fits(x: Numbers) -> Numbers:
    """S0 (2) and (3) fit if the tanh has one entry, and it has as many as the matrices have rows."""
    m = int(x["m"])
    zeros = [[0] * m for _ in ("W1 h", "W2 s")]
    one = len([math.tanh(a + b) for a, b in zip(*zeros, strict=True)]) == 1
    truth = {
        f"a vector with {m} entries per position, but (2) needs": not one,
        f"There are {m} numbers for each position": not one,
        f"A vector v with {m} entries is missing; v": not one,
        "gives one number per position": one,
        "every score is a single number": one,
        "Nothing is missing": one,
        "into their sum": False,
        "runs over the": False,
        "used up": False,
        f"a vector with {x['d_h']} entries for each position, but (2) needs": False,
        "with several entries is missing": False,
        "a tanh may be negative": False,
        "a bias is missing": False,
        "does not exist": False,
        "cannot be added": False,
    }
    return {"answer": Pick(truth)}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "l16-alignment-vector": _alignment,
    "l16-ex1-context-vector": lambda x: {"answer": context(x["w"], x["H"])},
    "l16-ex3-softmax-weights": lambda x: {"answer": softmax(x["e"])},
    "l16-ex5-alignment-vector": _alignment,
    "l16-full-pass": _three_stages,
    "l16-type-error": _fits,
}
