"""Items on recurrence: steps, distances, and gradients on their way back."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import READ, Pick
from tests.oracles.loops import dot

__all__ = ["ITEMS"]

_NUDGE = 1e-30


def _one_step(x: Numbers) -> Numbers:
    """S3 (5), the first one: W belongs to the state before, U to the input."""
    sums = [dot(w, x["h"]) + dot(u, x["x"]) for w, u in zip(x["W"], x["U"], strict=True)]
    logistic = x["function"] == "logistic"
    return {"answer": [1 / (1 + math.exp(-z)) if logistic else math.tanh(z) for z in sums]}


def _grid(x: Numbers) -> Numbers:
    """When each state is there: one operation after the later of the two that it needs."""
    ready: dict[tuple[int, int], int] = {}
    for layer in range(1, int(x["L"]) + 1):
        for t in range(1, int(x["n"]) + 1):
            ready[layer, t] = 1 + max(ready.get((layer - 1, t), 0), ready.get((layer, t - 1), 0))
    one = ready[int(x["layer"]), int(x["t"])]
    return {"one": one, "all": max(ready.values()), "single": len(ready)}


def _between(x: Numbers) -> Numbers:
    """Walk from word i to word j, a state at a time; attention gets there at once."""
    i, j, n = (int(x[name]) for name in ("i", "j", "n"))

    def walked(start: int, end: int) -> int:
        steps = 0
        while start + steps < end:
            steps += 1
        return steps

    return {"rnn": walked(i, j), "attention": 1, "longest": max(walked(1, word) for word in range(1, n + 1))}


def slope(w: Fraction, steps: int) -> Fraction:
    """The last state with a first state of 1 less that with 0: the network is linear."""
    ends = []
    for state in (Fraction(0), Fraction(1)):
        for _ in range(steps):
            state = w * state  # inputs of 0
        ends.append(state)
    return ends[1] - ends[0]


def _shortcut(x: Numbers) -> Numbers:
    """The chain as a walk; the rest by a complex step through a softmax of this position and all others.

    The others together have the weight 1 - w and one state that gives the drawn context vector.
    """
    w, h, g, c = (float(x[name]) for name in ("w", "h", "g", "c"))
    others = (c - w * h) / (1 - w)

    def context(state: complex, g: float) -> complex:
        power = w * cmath.exp(g * (state - h))
        return (power * state + (1 - w) * others) / (power + 1 - w)

    nudged = complex(h, _NUDGE)
    return {
        "without": slope(x["r"], int(x["T"] - x["j"])),
        "direct": context(nudged, 0.0).imag / _NUDGE,
        "both": context(nudged, g).imag / _NUDGE,
        "meaning": READ,
    }


def _fate(x: Numbers) -> Numbers:
    """What becomes of a gradient of 1 at the last state, and of the inputs on their way there."""
    w, steps = x["w"], int(x["T"]) - 1
    arrives, longer = slope(w, steps), slope(w, steps + 1)
    truth = {
        "much smaller than": arrives < Fraction(1, 50),
        "Hardly any of it is left": arrives < Fraction(1, 50),
        "it gets smaller, by the same factor": longer < arrives,
        "as large as": arrives == 1,
        "counts for the loss as much": arrives == 1,
        "doesn't depend on the number of steps": longer == arrives,
        "much larger than": arrives > 20,
        "It has exploded": arrives > 20,
        "it gets larger, by the same factor": longer > arrives,
        f"It is {float(steps * w):g} times the gradient at the last state.": arrives == steps * w,
        "however many steps there are": arrives == w,
        "changes its sign": arrives * longer < 0,
        "sum of the inputs": False,
        "depends on the inputs": False,
    }
    return {"answer": Pick(truth)}


def _least_steps(x: Numbers) -> Numbers:
    left, steps = Fraction(1), 0
    while left >= Fraction(1, 10 ** int(x["k"])):
        left, steps = left * x["w"], steps + 1
    return {"answer": steps}


def _both_ways(x: Numbers) -> Numbers:
    words = range(1, int(x["n"]) + 1)
    j = int(x["j"])
    return {
        "forward": len([word for word in words if word <= j]),
        "backward": len([word for word in reversed(words) if word >= j]),
        "entries": int(x["d"]) + int(x["d"]),
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "bidirectional-states": _both_ways,
    "exploding-case": _fate,
    "gradient-shortcut": _shortcut,
    "interaction-distance": _between,
    "rnn-sequential-count": _grid,
    "rnn-step-value": _one_step,
    "vanishing-gradient-factor": lambda x: {"answer": slope(x["w"], int(x["T"]) - 1)},
    "vanishing-steps-threshold": _least_steps,
}
