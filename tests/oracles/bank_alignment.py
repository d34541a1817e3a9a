"""Keys of the items on alignments, on counting and on gradients, worked out from their drawn numbers."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

__all__ = ["ALIGNMENT_AND_COUNTING"]

Numbers = dict[str, Any]
_STEP = 1e-30


def _two_ways(x: Numbers) -> Numbers:
    """The chain as a product of its steps; the rest by a complex step through a softmax of two positions.

    All other positions together have weight 1 - w, and one state that gives the drawn context vector.
    """
    w, h, g = (float(x[name]) for name in ("w", "h", "g"))
    others = (float(x["c"]) - w * h) / (1 - w)

    def context_at(state: complex, slope: float) -> complex:
        power = w * cmath.exp(slope * (state - h))
        return (power * state + (1 - w) * others) / (power + 1 - w)

    chain = 1.0
    for _ in range(int(x["j"]), int(x["T"])):
        chain *= float(x["r"])
    nudged = complex(h, _STEP)
    return {
        "without": [chain],
        "direct": [context_at(nudged, 0.0).imag / _STEP],
        "both": [context_at(nudged, g).imag / _STEP],
    }


def _matrix_product(x: Numbers) -> Numbers:
    n, k, d = (range(int(x[name])) for name in ("n", "k", "d"))
    waits = 0
    for _ in n:  # state t is there one step after state t - 1
        waits += 1
    return {
        "outputs": [len(list(product(n, d)))],
        "products": [len(list(product(n, d, k)))],
        "depth": [waits],
    }


def _first_choices(x: Numbers) -> list[int]:
    rows = [x[f"A{i}"] for i in range(1, 6)]
    return [max(range(5), key=lambda j, row=row: row[j]) + 1 for row in rows]  # type: ignore[misc]


def _contexts(x: Numbers) -> Numbers:
    pairs = [(i, j) for i in range(int(x["n"])) for j in range(int(x["m"]))]
    states, steps = {j for _, j in pairs}, {i for i, _ in pairs}
    return {"counts": [len(states), len(steps), len(pairs)]}


def _links(x: Numbers) -> Numbers:
    rows = [[float(weight) >= 0.18 for weight in x[name]] for name in ("A1", "A2", "A3")]
    chosen = rows[int(x["r"]) - 1]
    return {"links_of_word": [int(link) for link in chosen], "total": [sum(map(sum, rows))]}


def _crossings(x: Numbers) -> Numbers:
    origins = []
    for place, row in zip(x["p"], x["N"], strict=True):
        weights = [float(weight) for weight in row]
        weights[int(place) - 1] += 1 - sum(weights)  # what the others leave
        origins.append(weights.index(max(weights)) + 1)
    crossed = [(a, b) for a, b in combinations(origins, 2) if a > b]
    return {"origins": origins, "crossed": [len(crossed)]}


ALIGNMENT_AND_COUNTING: dict[str, Callable[[Numbers], Numbers]] = {
    "gradient-shortcut": _two_ways,
    "matmul-parallel": _matrix_product,
    "alignment-read": lambda x: {"answer": _first_choices(x)},
    "context-per-decoder-step": _contexts,
    "alignment-many-to-one": _links,
    "alignment-not-monotone": _crossings,
}
