"""Known mistakes of the items on the decoder step."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.decoder import full_step, scores
from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.mistakes.formulas import contexts, weights
from tests.oracles.loops import columns, dot, logistic, product, softmax

__all__ = ["ITEMS", "states", "wrong_scores"]


def wrong_scores(x: Numbers) -> Numbers:
    """W_h belongs to the encoder states, W_s to the decoder state."""
    inside = [
        [a + b for a, b in zip(product(x["W_h"], h), product(x["W_s"], x["s"]), strict=True)] for h in x["H"]
    ]
    turned = x | {"W_h": columns(x["W_h"]), "W_s": columns(x["W_s"])}
    return {
        "m-swap-W": scores(x | {"W_h": x["W_s"], "W_s": x["W_h"]}),
        "m-no-v": scores(x | {"v": [1, 1]}),
        "m-transpose": scores(turned),
        "m-w1-only": scores(x | {"s": [0, 0]}),
        "m-no-tanh": [dot(x["v"], a) for a in inside],
        "m-v-inside": [math.tanh(dot(x["v"], a)) for a in inside],
    }


def states(x: Numbers, c: list[float]) -> Numbers:
    def inside(joined: list[float], s: list[float]) -> list[float]:
        return [dot(a, joined) + dot(b, s) for a, b in zip(x["Wx"], x["Ws"], strict=True)]

    def new(joined: list[float], s: list[float]) -> list[float]:
        return [math.tanh(a) for a in inside(joined, s)]

    y, s = x["y"], x["s"]
    return {
        "m-no-tanh": inside([*c, *y], s),
        "m-concat-order": new([*y, *c], s),
        "m-no-rec": new([*c, *y], [0] * len(s)),
        "m-no-ctx": new([*[0] * len(c), *y], s),
        "m-sigmoid-act": [logistic(a) for a in inside([*c, *y], s)],
    }


def _outputs(x: Numbers, old: list[float], new: list[float]) -> Numbers:
    logits = product(x["Wy"], new)
    return weights(logits) | {"m-logits": logits, "m-out-prev": softmax(product(x["Wy"], old))}


def _full_step(x: Numbers) -> Numbers:
    right = full_step(x)
    return {
        "e": wrong_scores(x),
        "w": weights(right["e"]),
        "c": contexts(right["w"], x["H"], right["e"]),
        "s_new": states(x, right["c"]),
        "P": _outputs(x, x["s"], right["s_new"]),
    }


def _lengths(x: Numbers) -> Numbers:
    h, dh, ds, de = (x[name] for name in ("h", "dh", "ds", "de"))
    return {
        "slides": {"m-one-part": h, "m-sizes-product": h * h},
        "notes": {"m-sizes-product": dh * ds, "m-one-part": dh, "m-both-alike": 2 * ds},
        "lecture": {"m-state-for-context": ds + de, "m-all-three": dh + ds + de, "m-sizes-product": dh * de},
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "concat-dimension": _lengths,
    "decoder-full-step": _full_step,
    "decoder-output": lambda x: {"answer": _outputs(x, x["s_old"], x["s_new"])},
    "decoder-state": lambda x: {"answer": states(x, x["c"])},
}
