"""Keys of the items on self-attention, heads and cost: plain loops, and counts of things laid out."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from tests.oracles.loops import causal_mask, context, dot_scores, masked_softmax, matmul, softmax

__all__ = ["ATTENTION_AND_COST"]

Numbers = dict[str, Any]


def _floats(value: Any) -> Any:
    return [_floats(part) for part in value] if isinstance(value, list) else float(value)


def _entries(rows: int, columns: int) -> int:
    """Return how many entries a matrix has, by laying it out."""
    return sum(len([0] * columns) for _ in range(rows))


def _attention(q: list[float], K: list[list[float]], V: list[list[float]]) -> Numbers:
    scores = [score / math.sqrt(len(q)) for score in dot_scores(q, K)]
    return {"e": scores, "w": softmax(scores), "c": context(softmax(scores), V)}


def _one_query(x: Numbers) -> Numbers:
    return _attention(_floats(x["q"]), _floats(x["K"]), _floats(x["V"]))


def _transformed(x: Numbers) -> Numbers:
    values = matmul(_floats(x["H"]), _floats(x["M"]))
    return {"V": values, "c": context(_floats(x["w"]), values)}


def _causal(x: Numbers) -> Numbers:
    tokens = _floats(x["X"])
    rows = [
        masked_softmax([score / 2 for score in dot_scores(token, tokens)], visible)
        for token, visible in zip(tokens, causal_mask(3), strict=True)
    ]
    return {"W": rows, "y": context(rows[int(x["t"]) - 1], tokens)}


def _two_heads(x: Numbers) -> Numbers:
    q, K, V = _floats(x["q"]), _floats(x["K"]), _floats(x["V"])
    outputs = [
        _attention(q[start:stop], [k[start:stop] for k in K], [v[start:stop] for v in V])["c"]
        for start, stop in ((0, 2), (2, 4))
    ]
    (joined,) = matmul([outputs[0] + outputs[1]], _floats(x["Wo"]))
    return {"a1": outputs[0], "a2": outputs[1], "y": joined}


def _head_parameters(x: Numbers) -> Numbers:
    h, size, other = (int(x[name]) for name in ("h", "size", "other"))
    d = h * size

    def layer(heads: int) -> int:
        projections = sum(_entries(d, d // heads) for _ in range(heads) for _ in "qkv")
        return projections + _entries(d, d)

    return {"one": [_entries(d, size)], "all": [layer(h)], "changed": [layer(other)]}


def _additive_parameters(x: Numbers) -> Numbers:
    da, ds, dh = (int(x[name]) for name in ("da", "ds", "dh"))
    return {"answer": [_entries(da, ds) + _entries(da, dh) + da]}


def _decoder_parameters(x: Numbers) -> Numbers:
    ds, dh, de, words = (int(x[name]) for name in ("ds", "dh", "de", "V"))
    state = _entries(ds, len([0] * dh + [0] * de)) + _entries(ds, ds)
    return {"state": [state], "all": [state + _entries(words, ds)]}


def _translation_scores(x: Numbers) -> Numbers:
    source, target, more = (int(x[name]) for name in ("source", "target", "more"))
    pairs = len(list(product(range(target), range(source))))
    longer = len(list(product(range(target * more), range(source * more))))
    return {"scores": [pairs], "longer": [longer]}


def _self_attention_cost(x: Numbers) -> Numbers:
    n, d, f = (int(x[name]) for name in ("n", "d", "f"))

    def both(length: int) -> int:
        scores = sum(d for _ in range(length) for _ in range(length))
        outputs = sum(length for _ in range(length) for _ in range(d))
        return scores + outputs

    only_scores = both(n) - sum(n for _ in range(n * d))
    return {"scores": [only_scores], "both": [both(n)], "growth": [both(n * f) // both(n)]}


def _precomputed(x: Numbers) -> Numbers:
    tx, ty, da, ds, dh = (int(x[name]) for name in ("tx", "ty", "da", "ds", "dh"))
    once = sum(_entries(da, dh) for _ in range(tx))
    whole = once
    for _ in range(ty):
        whole += _entries(da, ds)  # W s
        whole += sum(da for _ in range(tx))  # v
    return {"anew": [once * ty], "once": [once], "whole": [whole]}


def _stored(x: Numbers) -> Numbers:
    h, n, size = (int(x[name]) for name in ("h", "n", "size"))
    weights = sum(_entries(n, n) for _ in range(h))
    return {"weights": [weights], "bytes": [len(bytes(size)) * weights]}


def _mask(x: Numbers) -> Numbers:
    n, longer = int(x["n"]), int(x["N"])
    shown = [[int(j <= i) for j in range(n)] for i in range(n)]
    return {"mask": shown, "pairs": [sum(sum(row) for row in causal_mask(longer))]}


def _head_width(x: Numbers) -> Numbers:
    h, size = int(x["h"]), int(x["size"])
    (root,) = (r for r in range(1, size + 1) if r * r == size)
    return {"head": [size], "scale": [root], "joined": [sum(size for _ in range(h))]}


def _concatenations(x: Numbers) -> Numbers:
    h, dh, ds, de = ([0] * int(x[name]) for name in ("h", "dh", "ds", "de"))
    return {"slides": [len(h + h)], "notes": [len(dh + ds)], "lecture": [len(dh + de)]}


ATTENTION_AND_COST: dict[str, Callable[[Numbers], Numbers]] = {
    "sdpa-output": _one_query,
    "value-transform": _transformed,
    "causal-self-attention": _causal,
    "causal-mask-matrix": _mask,
    "multi-head-output": _two_heads,
    "multi-head-dims": _head_width,
    "multi-head-param-count": _head_parameters,
    "additive-params": _additive_parameters,
    "decoder-params": _decoder_parameters,
    "additive-precompute": _precomputed,
    "score-evaluations": _translation_scores,
    "self-attention-cost": _self_attention_cost,
    "memory-weights": _stored,
    "concat-dimension": _concatenations,
}
