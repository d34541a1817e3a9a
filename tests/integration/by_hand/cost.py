"""Items that count: numbers to learn, multiplications, numbers to store, steps in a row."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import READ

__all__ = ["ITEMS"]

Size = tuple[int, ...]


def entries(*shapes: Size) -> int:
    """How many numbers arrays of these shapes hold."""
    return sum(len(range(shape[0])) * (entries(shape[1:]) if shape[1:] else 1) for shape in shapes)


def multiplications(rows: int, inner: int, columns: int = 1) -> int:
    """Of a product of two matrices: one for each term of each entry's inner product."""
    return rows * columns * inner


def _learned_score(x: Numbers) -> Numbers:
    """W takes s to the vector inside the tanh, U takes h there, and v weights it."""
    da, ds, dh = (int(x[name]) for name in ("da", "ds", "dh"))
    return {"answer": entries((da, ds), (da, dh), (da,))}


def _learned_decoder(x: Numbers) -> Numbers:
    """S0 (7) and (8)."""
    ds, dh, de, V = (int(x[name]) for name in ("ds", "dh", "de", "V"))
    cell = entries((ds, dh + de), (ds, ds))
    return {"state": cell, "all": cell + entries((V, ds))}


def _kept(x: Numbers) -> Numbers:
    """Walk through the translation: what is computed for which pair of step and position."""
    tx, ty, da, ds, dh = (int(x[name]) for name in ("tx", "ty", "da", "ds", "dh"))
    once = sum(multiplications(da, dh) for _position in range(tx))
    whole = once
    for _step in range(ty):
        whole += multiplications(da, ds)
        whole += sum(multiplications(1, da) for _position in range(tx))
    anew = sum(multiplications(da, dh) for _pair in product(range(ty), range(tx)))
    return {"anew": anew, "once": once, "whole": whole}


def _product(x: Numbers) -> Numbers:
    n, k, d = (int(x[name]) for name in ("n", "k", "d"))
    ready = 0  # the state h_0 is given; each state is there one step after the one before it
    for _token in range(n):
        ready += 1
    return {"outputs": entries((n, d)), "products": multiplications(n, k, d), "depth": ready}


def _stored(x: Numbers) -> Numbers:
    weights = entries((int(x["h"]), int(x["n"]), int(x["n"])))
    return {"weights": weights, "bytes": sum([weights] * int(x["size"]))}


def _heads(x: Numbers) -> Numbers:
    """Each head has three matrices of its own; the output matrix is common to all."""
    d = int(x["h"] * x["size"])

    def layer(heads: int) -> int:
        own = d // heads
        assert own * heads == d
        return sum(entries((d, own), (d, own), (d, own)) for _ in range(heads)) + entries((d, d))

    return {"one": entries((d, int(x["size"]))), "all": layer(int(x["h"])), "changed": layer(int(x["other"]))}


def _scored(x: Numbers) -> Numbers:
    source, target, more = (int(x[name]) for name in ("source", "target", "more"))
    return {"scores": entries((target, source)), "longer": entries((more * target, more * source))}


def _longer(x: Numbers) -> Numbers:
    n, d, f = (int(x[name]) for name in ("n", "d", "f"))

    def both(length: int) -> tuple[int, int]:
        return multiplications(length, d, length), multiplications(length, length, d)

    return {"scores": both(n)[0], "both": sum(both(n)), "growth": sum(both(f * n)) / sum(both(n))}


def _explained(x: Numbers) -> Numbers:
    n, f = int(x["n"]), int(x["f"])
    return {"weights": entries((n, n)), "growth": entries((f * n, f * n)) / entries((n, n)), "why": READ}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "attention-cost-explained": _explained,
    "additive-params": _learned_score,
    "additive-precompute": _kept,
    "decoder-params": _learned_decoder,
    "matmul-parallel": _product,
    "memory-weights": _stored,
    "multi-head-param-count": _heads,
    "score-evaluations": _scored,
    "self-attention-cost": _longer,
}
