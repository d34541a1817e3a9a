"""Known mistakes of the items on multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.mistakes.formulas import one_at_largest
from tests.integration.by_hand.multi_head import head
from tests.oracles.loops import columns, context, dot, matmul, softmax

__all__ = ["ITEMS"]


def _two_heads(x: Numbers) -> Numbers:
    (w1, a1), (w2, a2) = head(x, 1), head(x, 2)
    values = [[v[:2] for v in x["V"]], [v[2:] for v in x["V"]]]
    one = softmax([dot(x["q"], k) / math.sqrt(len(x["q"])) for k in x["K"]])
    single = context(one, x["V"])

    def of_head(number: int, w: list[float]) -> Numbers:
        V = values[number - 1]
        return {
            "m-d-model": head(x, number, math.sqrt(len(x["q"])))[1],
            "m-unscaled": head(x, number, 1.0)[1],
            "m-single-head": single[:2] if number == 1 else single[2:],
            "m-uniform": context([1 / 2] * 2, V),
            "m-argmax": context(one_at_largest(w), V),
        }

    def out(joined: list[float], Wo: list[list[float]] = x["Wo"]) -> list[float]:
        return matmul([joined], Wo)[0]

    mean = [(a + b) / 2 for a, b in zip(a1, a2, strict=True)]
    return {
        "a1": of_head(1, w1),
        "a2": of_head(2, w2) | {"m-one-pattern": context(w1, values[1])},
        "y": {
            "m-no-output-matrix": a1 + a2,
            "m-head-order": out(a2 + a1),
            "m-transpose": out(a1 + a2, columns(x["Wo"])),
            "m-heads-averaged": out(mean + mean),
            "m-single-head": out(single),
        },
    }


def _widths(x: Numbers) -> Numbers:
    d, h, size, n = (int(v) for v in (x["h"] * x["size"], x["h"], x["size"], x["n"]))
    return {
        "head": {"m-model-width": d, "m-width-times-heads": d * h, "m-root-of-width": math.sqrt(d)},
        "scale": {"m-div-d": size, "m-d-model": math.sqrt(d), "m-sqrt-n": math.sqrt(n)},
        "joined": {"m-one-head-only": size, "m-width-times-heads": d * h},
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "multi-head-dims": _widths,
    "multi-head-output": _two_heads,
}
