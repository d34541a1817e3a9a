"""Known mistakes of the items on recurrence."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.rnn import ITEMS as RIGHT
from tests.oracles.loops import columns, logistic, product

__all__ = ["ITEMS"]


def _one_step(x: Numbers) -> Numbers:
    own: Callable[[float], float] = logistic if x["function"] == "logistic" else math.tanh
    other: Callable[[float], float] = math.tanh if x["function"] == "logistic" else logistic
    W, U, h, new = x["W"], x["U"], x["h"], x["x"]
    nothing = [0, 0]

    def step(f: Callable[[float], float], *pairs: tuple[list[list[float]], list[float]]) -> list[float]:
        terms = [product(A, v) for A, v in pairs]
        return [f(sum(entries)) for entries in zip(*terms, strict=True)]

    def plain(z: float) -> float:
        return z

    each = [step(own, (W, h)), step(own, (U, new))]
    return {
        "answer": {
            "m-no-activation": step(plain, (W, h), (U, new)),
            "m-other-activation": step(other, (W, h), (U, new)),
            "m-swap-rnn": step(own, (W, new), (U, h)),
            "m-no-rec": step(own, (W, nothing), (U, new)),
            "m-no-input": step(own, (W, h), (U, nothing)),
            "m-transpose": step(own, (columns(W), h), (columns(U), new)),
            "m-activation-each": [a + b for a, b in zip(*each, strict=True)],
        }
    }


def _grid(x: Numbers) -> Numbers:
    n, L, t, layer = (int(x[name]) for name in ("n", "L", "t", "layer"))

    def counts(tokens: int, layers: int) -> Numbers:
        return {
            "m-rnn-all-before": tokens * layers,
            "m-rnn-time-only": tokens,
            "m-rnn-layers-only": layers,
            "m-rnn-corner-twice": tokens + layers,
            "m-rnn-parallel-still": tokens + layers - 1,
            "m-depth-1": 1,
        }

    return {"one": counts(t, layer), "all": counts(n, L), "single": counts(n, L)}


def _between(x: Numbers) -> Numbers:
    i, j, n = (int(x[name]) for name in ("i", "j", "n"))
    return {
        "rnn": {
            "m-hop": j - i + 1,
            "m-hop-between": j - i - 1,
            "m-hop-from-start": j,
            "m-hop-whole": n,
            "m-hop-one": 1,
        },
        "attention": {"m-hop-as-rnn": j - i, "m-hop-whole": n, "m-hop-none": 0},
        "longest": {"m-hop": n, "m-hop-half": n // 2},
    }


def _shortcut(x: Numbers) -> Numbers:
    T, j, r, w, h, c, g = (float(x[name]) for name in ("T", "j", "r", "w", "h", "c", "g"))
    chain = r ** (T - j)
    return {
        "without": {"m-chain-all": r**T, "m-chain-off": chain * r, "m-chain-linear": r * (T - j)},
        "direct": {"m-chain-factor": chain, "m-value-not-slope": w * h, "m-slope-one": 1},
        "both": {
            "m-fixed-weights": w,
            "m-own-weight-only": w + g * w * (1 - w) * h,
            "m-score-path-only": g * w * (h - c),
            "m-weights-independent": w + g * h,
        },
    }


def _factor(x: Numbers) -> Numbers:
    w, u, steps = x["w"], x["u"], int(x["T"]) - 1
    wrong = {
        "m-power-one-more": w ** (steps + 1),
        "m-power-as-product": steps * w,
        "m-power-loss": 1 - w**steps,
        "m-power-input": u**steps,
        "m-power-once": w,
    }
    return {"answer": wrong}


def _least_steps(x: Numbers) -> Numbers:
    steps, k, w = RIGHT["vanishing-steps-threshold"](x)["answer"], int(x["k"]), float(x["w"])
    wrong = {
        "m-decay-floor": steps - 1,
        "m-decay-base": math.ceil(-k / math.log(w)),
        "m-decay-linear": math.floor((1 - Fraction(1, 10**k)) / (1 - x["w"])) + 1,
        "m-decay-more": steps + 1,
    }
    return {"answer": wrong}


def _both_ways(x: Numbers) -> Numbers:
    n, j, d = x["n"], x["j"], x["d"]
    return {
        "forward": {"m-word-left-out": j - 1, "m-whole-sentence": n},
        "backward": {"m-word-left-out": n - j, "m-same-direction": j, "m-whole-sentence": n},
        "entries": {"m-one-direction": d, "m-state-for-each-word": n * d},
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "bidirectional-states": _both_ways,
    "gradient-shortcut": _shortcut,
    "interaction-distance": _between,
    "rnn-sequential-count": _grid,
    "rnn-step-value": _one_step,
    "vanishing-gradient-factor": _factor,
    "vanishing-steps-threshold": _least_steps,
}
