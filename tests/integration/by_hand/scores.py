"""Items on alignment scores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import Cards, Pairs, Pick
from tests.oracles.loops import dot, product

__all__ = ["ITEMS"]


def _additive(x: Numbers) -> Numbers:
    """S2, step 1: v_a^T tanh(W_a s + U_a h)."""
    inside = [dot(w, x["s"]) + dot(u, x["h"]) for w, u in zip(x["W"], x["U"], strict=True)]
    after = [math.tanh(a) for a in inside]
    return {"pre": inside, "z": after, "e": sum(v * t for v, t in zip(x["v"], after, strict=True))}


def _all_positions(x: Numbers) -> Numbers:
    e = [_additive({**x, "h": h})["e"] for h in x["H"]]
    powers = [math.exp(score) for score in e]
    return {"e": e, "w": [p / sum(powers) for p in powers]}


def _two_matrices(x: Numbers) -> Numbers:
    """S1, variant 1: the concatenation starts with the query, so the first columns meet it."""
    d_q = len(x["q"])
    return {
        "W": [row[:d_q] for row in x["W1"]],
        "U": [row[d_q:] for row in x["W1"]],
        "pre": product(x["W1"], [*x["q"], *x["k"]]),
    }


def _shapes(x: Numbers) -> Numbers:
    s, h, a, n = (int(x[name]) for name in ("d_s", "d_h", "d_a", "n"))
    in_tanh = f"vector with {a} entries"
    shapes = {
        "Wₐ of the multiplicative score": f"{s} x {h} matrix",
        "Wₐ of the additive score": f"{a} x {s} matrix",
        "Uₐ": f"{a} x {h} matrix",
        "vₐ": in_tanh,
        "Wₐ hⱼ in the multiplicative score": f"vector with {s} entries",
        "Uₐ hⱼ in the additive score": in_tanh,
        "the argument of the tanh": in_tanh,
        "eₜⱼ in the additive score": "one number",
        "eₜⱼ in the multiplicative score": "one number",
        "all scores of one decoder step together": f"vector with {n} entries",
    }
    return {"answer": Pairs(shapes)}


def _computable(x: Numbers) -> Numbers:
    """Which formula has factors that fit: every matrix with the sizes that stand beside it."""
    q, k = int(x["d_q"]), int(x["d_k"])

    def fits(text: str) -> bool:
        formula, _, sizes = text.partition(" with ")
        given = {m: (int(r), int(c)) for r, c, m in re.findall(r"(\d+) x (\d+) for (\w)", sizes)}
        rows, columns = given.get("W", (0, 0))
        if "W [q; k]" in formula:
            return columns == q + k
        if "W q + U k" in formula:
            return columns == q and given["U"] == (rows, k)
        if "W q + W k" in formula:
            return columns == q == k
        if "qᵀ W k" in formula:
            return (rows, columns) == (q, k)
        if "(W q)ᵀ k" in formula:
            return (rows, columns) == (k, q)
        assert "qᵀ k" in formula or "(q + k)" in formula
        return q == k

    return {"answer": Pick(fits)}


def _under_the_root(x: Numbers) -> Numbers:
    """S1, Variants, with Vaswani et al.: |k| is the key's dimension, and no other number on offer is."""
    size = len(x["k"])

    def is_dimension(text: str) -> bool:
        value, _, words = text.partition(", ")
        meant = words in {
            "the number of entries of the key",
            "the dimension of the keys",
            "the size of queries and keys",
        }
        assert meant == (float(value) == size)
        return meant

    return {"answer": Pick(is_dimension)}


def _spread(x: Numbers) -> Numbers:
    """A sum of d independent products, each with the product of the variances."""
    d = 2 * x["half"]
    variance = sum(x["a"] * x["b"] for _ in range(int(d)))
    return {"var": variance, "dev": math.sqrt(variance / d)}


def _learned(x: Numbers) -> Numbers:
    """Count the entries of the arrays that each score brings along."""
    d, d_a = range(int(x["d"])), range(int(x["d_a"]))
    bilinear = sum(1 for _row in d for _column in d)
    additive = sum(1 for _matrix in "WU" for _row in d_a for _column in d) + len(d_a)
    counts = {"dot product": 0, "bilinear score": bilinear, "additive score": additive}
    return {"counts": list(counts.values()), "rank": Cards(tuple(sorted(counts, key=counts.__getitem__)))}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "additive-score": _additive,
    "additive-all-positions": _all_positions,
    "bilinear-score": lambda x: {
        "answer": sum(x["q"][i] * x["W"][i][j] * x["k"][j] for i in range(2) for j in range(2))
    },
    "bilinear-shapes": _shapes,
    "concat-equals-two-matrices": _two_matrices,
    "dot-needs-equal-dims": _computable,
    "dot-scores": lambda x: {"answer": [dot(x["s"], h) for h in x["H"]]},
    "scale-symbol": _under_the_root,
    "score-params-table": _learned,
    "scaled-dot-score": lambda x: {"answer": dot(x["q"], x["k"]) / math.sqrt(len(x["k"]))},
    "variance-of-dot": _spread,
}
