"""Keys of the items on scores and weights, worked out from their drawn numbers by plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.oracles.loops import (
    additive_scores,
    bilinear_scores,
    context,
    dot_scores,
    masked_softmax,
    matmul,
    product,
    softmax,
)

__all__ = ["SCORES_AND_WEIGHTS"]

Numbers = dict[str, Any]


def plain(value: Any) -> Any:
    """Return nested lists of fractions as nested lists of floats; words stay."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value if isinstance(value, str) else float(value)


def _additive(x: Numbers) -> Numbers:
    pre = [a + b for a, b in zip(product(x["W"], x["s"]), product(x["U"], x["h"]), strict=True)]
    return {
        "pre": pre,
        "z": [math.tanh(p) for p in pre],
        "e": additive_scores(x["s"], [x["h"]], x["W"], x["U"], x["v"]),
    }


def _additive_all(x: Numbers) -> Numbers:
    e = additive_scores(x["s"], x["H"], x["W"], x["U"], x["v"])
    return {"e": e, "w": softmax(e)}


def _two_matrices(x: Numbers) -> Numbers:
    """What multiplies each entry of the query, and of the key, found with unit vectors."""
    size, total = int(x["d_q"]), int(x["d_q"] + x["d_k"])
    unit = [[float(i == j) for i in range(total)] for j in range(total)]
    images = [product(x["W1"], u) for u in unit]  # one per column of W1
    rows = [[image[r] for image in images] for r in range(2)]
    return {
        "W": [row[:size] for row in rows],
        "U": [row[size:] for row in rows],
        "pre": product(x["W1"], x["q"] + x["k"]),
    }


def _scale(x: Numbers) -> Numbers:
    scaled = [r / math.sqrt(x["d"]) for r in x["r"]]
    return {
        "plain": softmax(x["r"]),
        "w": softmax(scaled),
        "ratio": [max(softmax(scaled)) / min(softmax(scaled))],
    }


def _padded(x: Numbers) -> list[float]:
    words = int(x["n"] - x["pad"])
    return masked_softmax(x["e"], [j < words for j in range(int(x["n"]))])


def _pass(x: Numbers) -> Numbers:
    e = dot_scores(x["s"], x["H"])
    a = context(softmax(e), x["H"])
    return {"e": e, "alpha": softmax(e), "a": a, "o": [*a, *x["s"]]}


def _outside(x: Numbers) -> list[float]:
    """The point with one negative weight, which stands at place ``turn``."""
    weights = [x["part"], 1 + x["minus"] - x["part"]]
    weights.insert(int(x["turn"]), -x["minus"])
    return context(weights, x["H"])


def _softmax_ratio(x: Numbers) -> list[float]:
    w = softmax(x["e"])
    return [w[int(x["i"]) - 1] / w[int(x["j"]) - 1]]


def _back_to_scores(x: Numbers) -> Numbers:
    first, second, third = (math.log(w) for w in x["w"])
    shift = x["known"] - second
    return {"gap": [first - second], "e": [first + shift, x["known"], third + shift]}


def _spread(x: Numbers) -> Numbers:
    terms = [x["a"] * x["b"] for _ in range(int(2 * x["half"]))]
    return {"var": [sum(terms)], "dev": [math.sqrt(sum(terms) / len(terms))]}


def _missing(x: Numbers) -> Numbers:
    gap = int(x["gap"]) - 1
    others = sum(w for j, w in enumerate(x["w"]) if j != gap)
    weights = [1 - others if j == gap else w for j, w in enumerate(x["w"])]
    return {"a": [1 - others], "c": context(weights, x["H"])}


def _from_context(x: Numbers) -> list[float]:
    """Solve for the first weight with the last entries of the vectors."""
    c = context([x["a"], 1 - x["a"]], [x["h1"], x["h2"]])
    first = (c[-1] - x["h2"][-1]) / (x["h1"][-1] - x["h2"][-1])
    return [first, 1 - first]


def _counts(x: Numbers) -> Numbers:
    """Entries of the matrices and vectors, written out."""
    size, hidden = int(x["d"]), int(x["d_a"])
    additive = [[0] * size] * hidden + [[0] * size] * hidden + [[0] * hidden]
    return {"counts": [0, size**2, sum(len(row) for row in additive)]}


_ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "dot-scores": lambda x: {"answer": dot_scores(x["s"], x["H"])},
    "bilinear-score": lambda x: {"answer": bilinear_scores(x["q"], [x["k"]], x["W"])},
    "additive-score": _additive,
    "additive-all-positions": _additive_all,
    "concat-equals-two-matrices": _two_matrices,
    "scale-effect": _scale,
    "softmax-ratio": lambda x: {"answer": _softmax_ratio(x)},
    "masked-weights": lambda x: {"answer": _padded(x)},
    "full-attention-pass": _pass,
    "context-bounds": lambda x: {"answer": _outside(x)},
    "find-the-index-error": lambda x: {
        "literal": [math.exp(e) / sum(math.exp(e) for _ in x["e"]) for e in x["e"]],
        "w": softmax(x["e"]),
    },
    "softmax-inverse": _back_to_scores,
    "softmax-temperature": lambda x: {"w": softmax(x["e"], x["T"])},
    "variance-of-dot": _spread,
    "context-missing-weight": _missing,
    "context-inverse": lambda x: {"answer": _from_context(x)},
    "score-params-table": _counts,
    "context-lost-index": lambda x: {"C": matmul([x["A1"], x["A2"]], x["H"])},
}


def _on_plain(work: Callable[[Numbers], Numbers]) -> Callable[[Numbers], Numbers]:
    return lambda x: work({name: plain(value) for name, value in x.items()})


SCORES_AND_WEIGHTS = {item: _on_plain(work) for item, work in _ITEMS.items()}
