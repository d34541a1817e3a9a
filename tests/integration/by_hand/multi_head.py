"""Items on multi-head attention: every head on its own block of columns."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.oracles.loops import context, dot, matmul, softmax

__all__ = ["ITEMS", "head"]


def head(x: Numbers, number: int, divisor: float | None = None) -> tuple[list[float], list[float]]:
    """Return weights and output of head 1 or 2: scaled by the root of its own key size."""
    own = slice(2 * number - 2, 2 * number)
    q, K, V = x["q"][own], [k[own] for k in x["K"]], [v[own] for v in x["V"]]
    w = softmax([dot(q, k) / (divisor or math.sqrt(len(q))) for k in K])
    return w, context(w, V)


def _two_heads(x: Numbers) -> Numbers:
    a1, a2 = head(x, 1)[1], head(x, 2)[1]
    (y,) = matmul([a1 + a2], x["Wo"])
    return {"a1": a1, "a2": a2, "y": y}


def _widths(x: Numbers) -> Numbers:
    """The stem shows the width of a token vector, which the heads share."""
    width = int(x["h"] * x["size"])
    blocks = [range(width)[start :: int(x["h"])] for start in range(int(x["h"]))]
    return {"head": len(blocks[0]), "scale": math.sqrt(len(blocks[0])), "joined": sum(map(len, blocks))}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "multi-head-dims": _widths,
    "multi-head-output": _two_heads,
}
