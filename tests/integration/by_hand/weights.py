"""Items on attention weights and context vectors: the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.integration.by_hand import weights_in_words as words
from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import READ
from tests.oracles.loops import context, dot, softmax

__all__ = ["ITEMS"]


def _missing(x: Numbers) -> Numbers:
    """The weights of a step sum to 1."""
    lost = int(x["gap"]) - 1
    others = [w for j, w in enumerate(x["w"]) if j != lost]
    a = 1 - sum(others)
    return {"a": a, "c": context([*others[:lost], a, *others[lost:]], x["H"])}


def _back_to_weights(x: Numbers) -> Numbers:
    """From the context vector that the stem shows: c = h2 + w (h1 - h2), in an entry where they differ."""
    c = [x["a"] * p + (1 - x["a"]) * q for p, q in zip(x["h1"], x["h2"], strict=True)]
    i = next(i for i in range(2) if x["h1"][i] != x["h2"][i])
    w = (c[i] - x["h2"][i]) / (x["h1"][i] - x["h2"][i])
    return {"answer": [w, 1 - w]}


def _pass(x: Numbers) -> Numbers:
    """S1, "In Equations": scores, distribution, output, concatenation."""
    e = [dot(x["s"], h) for h in x["H"]]
    alpha = softmax(e)
    a = context(alpha, x["H"])
    return {"e": e, "alpha": alpha, "a": a, "o": a + x["s"]}


def _padded(x: Numbers) -> Numbers:
    """Padding stands behind the words and gets nothing."""
    n, pad = int(x["n"]), int(x["pad"])
    powers = [math.exp(e) if j < n - pad else 0.0 for j, e in enumerate(x["e"])]
    return {"answer": [p / sum(powers) for p in powers]}


def _scales(x: Numbers) -> Numbers:
    scaled = softmax([float(r) / math.sqrt(x["d"]) for r in x["r"]])
    return {"plain": softmax(x["r"]), "w": scaled, "ratio": max(scaled) / min(scaled)}


def _back_to_scores(x: Numbers) -> Numbers:
    """w_i / w_j = exp(e_i - e_j); the known score is that of position 2."""
    logs = [math.log(w) for w in x["w"]]
    return {"gap": logs[0] - logs[1], "e": [float(x["known"]) + g - logs[1] for g in logs]}


def _as_printed(x: Numbers) -> Numbers:
    """S3, display A and (9): with one j everywhere the sum has T times the same term."""
    literal = [math.exp(e) / sum(math.exp(e) for _ in x["e"]) for e in x["e"]]
    return {"fault": words.index_fault(x), "literal": literal, "w": softmax(x["e"])}


def _one_step_each(x: Numbers) -> Numbers:
    c = [
        [sum(a * h[i] for a, h in zip(row, x["H"], strict=True)) for i in range(2)]
        for row in (x["A1"], x["A2"])
    ]
    return {"difference": READ, "C": c}


def _ratio(x: Numbers) -> Numbers:
    w = softmax(x["e"])
    return {"answer": w[int(x["i"]) - 1] / w[int(x["j"]) - 1]}


def _warm(x: Numbers) -> Numbers:
    """Softmax of e / T; the limit is looked at near 0, or far out."""
    return {"w": softmax([e / x["T"] for e in x["e"]]), "limit_of": words.limit(x)}


def _slope(w: list[float], i: int, j: int) -> float:
    """How weight i grows with score j, by a small step to both sides; logarithms give the scores."""
    h = 1e-5
    scores = [math.log(entry) for entry in w]
    above, below = ([s + step * (k == j) for k, s in enumerate(scores)] for step in (h, -h))
    return (softmax(above)[i] - softmax(below)[i]) / (2 * h)


def _answers_to_scores(x: Numbers) -> Numbers:
    w = [x["w1"], x["w2"], 1 - x["w1"] - x["w2"]]
    rest = 1 - x["far"]
    far = [x["far"], rest / 2, rest / 2]  # how the rest is shared plays no part
    return {
        name: round(_slope(*at), 8)
        for name, at in (("own", (w, 0, 0)), ("other", (w, 0, 1)), ("saturated", (far, 0, 0)))
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "context-bounds": lambda x: {"answer": words.no_mixture(x)},
    "context-inverse": _back_to_weights,
    "context-lost-index": _one_step_each,
    "context-missing-weight": _missing,
    "context-vector": lambda x: {"answer": context(x["w"], x["H"])},
    "find-the-index-error": _as_printed,
    "full-attention-pass": _pass,
    "hard-vs-soft": lambda x: {"kinds": words.kinds(x), "why": READ},
    "high-weight-reading": lambda x: {"answer": words.what_follows(x)},
    "limiting-cases": lambda x: {"answer": words.limits_of_outputs(x)},
    "masked-weights": _padded,
    "scale-effect": _scales,
    "softmax-derivatives": _answers_to_scores,
    "softmax-inverse": _back_to_scores,
    "softmax-ratio": _ratio,
    "softmax-shift": lambda x: {"answer": words.shifted(x)},
    "softmax-stability": lambda x: {"answer": words.survives(x)},
    "softmax-temperature": _warm,
    "softmax-weights": lambda x: {"answer": softmax(x["e"])},
}
