"""Keys of the items on decoding, the bottleneck and recurrence, worked out from their drawn numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from tests.oracles.sequences import Table, Words, beam, every_sequence, greedy, probability, ranked

__all__ = ["DECODING_AND_RECURRENCE"]

Numbers = dict[str, Any]
_NO_END = -1


def _table(rows: Any) -> Table:
    """Rows in the order (), (0), (1) … (0, 0) … by their prefixes."""
    prefixes = (p for length in range(8) for p in product(range(len(rows[0])), repeat=length))
    return {prefix: list(row) for prefix, row in zip(prefixes, rows, strict=False)}


def _placed(values: list[Fraction], order: Any) -> list[Fraction]:
    """The value with number order[0] first; ranks of drawn numbers, equals by their place."""
    return [values[i] for i in sorted(range(len(order)), key=lambda i: (order[i], i))]


def _rest(first: Fraction, second: Fraction) -> list[Fraction]:
    return [first, second, 1 - first - second]


def _spelled(words: Words, between: str = " ") -> str:
    return between.join("ABC"[w] for w in words)


def _survivors(x: Numbers) -> Numbers:
    table = _table(x["T"])
    kept = {t: beam(table, 3, 2, t, _NO_END) for t in (1, 2)}
    spelled = {t: ", ".join(_spelled(words, "") for words, _ in found) for t, found in kept.items()}
    return {"one": spelled[1], "two": spelled[2], "p": [kept[2][1][1]]}


def _missed(x: Numbers) -> Numbers:
    table = _table(x["X"])
    table[()] = start = _placed(_rest(x["a"], x["b"]), x["first"])
    table[(start.index(min(start)),)] = _placed(_rest(x["e"], x["f"]), x["second"])
    found = beam(table, 3, 2, 3, _NO_END)[0]
    best = ranked(table, every_sequence(3, 3, _NO_END))[0]
    assert found[1] < best[1], "the item is about a beam that misses the best sequence"
    return {"beam": _spelled(found[0])}


def _worse(x: Numbers) -> Numbers:
    table = _table(x["X"])
    start, after_best, after_other, end = (
        _placed(values, order)
        for values, order in zip(
            (
                _rest(x["a"], x["b"]),
                _rest(x["flat"], x["next"]),
                _rest(x["high"], x["low"]),
                _rest(x["sure"], Fraction("0.02")),
            ),
            x["orders"],
            strict=True,
        )
    )
    by_rank = [word for _, word in sorted((-p, word) for word, p in enumerate(start))]
    table[()], table[(by_rank[0],)], table[(by_rank[1],)] = start, after_best, after_other
    table[(by_rank[0], after_best.index(max(after_best)))] = end
    by_greedy, by_beam = greedy(table, 3, _NO_END), beam(table, 3, 2, 3, _NO_END)[0]
    assert probability(table, by_greedy) > by_beam[1], "the item is about a beam that does worse"
    return {
        "greedy": _spelled(by_greedy),
        "p": [probability(table, by_greedy)],
        "beam": _spelled(by_beam[0]),
        "q": [by_beam[1]],
    }


def _words_that_fit(x: Numbers) -> int:
    vectors, words = 2 ** int(x["d"] * x["bits"]), 2 ** int(x["power"])
    length = 0
    while words ** (length + 1) <= vectors:
        length += 1
    return length


def _recurrent_step(x: Numbers) -> list[float]:
    weights = [w + u for w, u in zip(x["W"], x["U"], strict=True)]
    sums = [sum(a * b for a, b in zip(row, x["h"] + x["x"], strict=True)) for row in weights]
    powers = [math.exp(s) for s in sums]
    return [p / (p + 1) if x["function"] == "logistic" else (p - 1 / p) / (p + 1 / p) for p in powers]


def _grid(x: Numbers) -> Numbers:
    """When each state is there: one operation after the later of the two that it needs."""
    ready: dict[tuple[int, int], int] = {}
    for layer, t in product(range(1, int(x["L"]) + 1), range(1, int(x["n"]) + 1)):
        ready[layer, t] = 1 + max(ready.get((layer - 1, t), 0), ready.get((layer, t - 1), 0))
    one = ready[int(x["layer"]), int(x["t"])]
    return {"one": [one], "all": [max(ready.values())], "single": [len(ready)]}


def _steps_between(x: Numbers) -> Numbers:
    i, j, n = (int(x[name]) for name in ("i", "j", "n"))
    walked = 0
    while i + walked < j:
        walked += 1
    return {"rnn": [walked], "attention": [1], "longest": [len(range(1, n))]}


def _slope(x: Numbers) -> float:
    """The last state with h_1 = 1 less the one with h_1 = 0, all inputs being 0: the network is linear."""
    ends = []
    for state in (Fraction(0), Fraction(1)):
        for _ in range(2, int(x["T"]) + 1):
            state = x["w"] * state
        ends.append(state)
    return float(ends[1] - ends[0])


def _logs(x: Numbers) -> Numbers:
    """The product's logarithm: nothing underflows with so few factors."""
    three = math.prod(x["p"])
    return {"three": [math.log(three)], "four": [math.log(three * x["q"])]}


def _by_length(x: Numbers) -> Numbers:
    """The root of a product has the mean logarithm."""
    roots = {name: float(math.prod(x[name])) ** (1 / len(x[name])) for name in ("p", "q")}
    assert math.prod(x["p"]) > math.prod(x["q"])
    assert roots["p"] < roots["q"], "the item is about an order that turns round"
    return {"short": [math.log(roots["p"])], "long": [math.log(roots["q"])]}


def _candidates(x: Numbers) -> Numbers:
    V, b, hypotheses, scored = int(x["V"]), int(x["b"]), 1, []
    for _ in range(int(x["T"])):
        scored.append(hypotheses * V)
        hypotheses = min(b, scored[-1])
    return {"one": [scored[2]], "all": [sum(scored)]}


def _steps_until_lost(x: Numbers) -> int:
    left, steps = Fraction(1), 0
    while left >= Fraction(1, 10 ** int(x["k"])):
        left *= x["w"]
        steps += 1
    return steps


DECODING_AND_RECURRENCE: dict[str, Callable[[Numbers], Numbers]] = {
    "chain-rule-probability": lambda x: {"answer": [math.prod(x["p"])]},
    "beam-survivors": _survivors,
    "beam-not-optimal": _missed,
    "beam-worse-than-greedy": _worse,
    "bottleneck-capacity": lambda x: {"answer": [_words_that_fit(x)]},
    "rnn-step-value": lambda x: {"answer": _recurrent_step(x)},
    "rnn-sequential-count": _grid,
    "interaction-distance": _steps_between,
    "vanishing-gradient-factor": lambda x: {"answer": [_slope(x)]},
    "vanishing-steps-threshold": lambda x: {"answer": [_steps_until_lost(x)]},
    "log-prob-sum": _logs,
    "beam-length-normalised": _by_length,
    "beam-candidate-count": _candidates,
}
