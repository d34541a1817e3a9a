"""Items on greedy and beam search, on tables of probabilities in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from tests.integration.by_hand import decoding_in_words as words
from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import READ, Cards
from tests.oracles.sequences import Table, Words, beam, every_sequence, greedy, probability, ranked

__all__ = ["ITEMS", "NO_END", "best_of", "missed_table", "spelled", "table_of", "worse_table"]

NO_END = -1  # the tables have no end token: all sequences are of full length


def table_of(rows: Any) -> Table:
    """Rows in the order of the stem: (start), A, B, C, AA, AB …"""
    prefixes = (p for length in range(8) for p in product(range(len(rows[0])), repeat=length))
    return {prefix: list(row) for prefix, row in zip(prefixes, rows, strict=False)}


def spelled(tokens: Words, between: str = " ") -> str:
    return between.join("ABC"[t] for t in tokens)


def best_of(table: Table, length: int) -> Words:
    """The most probable of all sequences."""
    return ranked(table, every_sequence(3, length, NO_END))[0][0]


def _placed(first: Fraction, second: Fraction, order: list[Fraction]) -> list[Fraction]:
    """A row of two drawn numbers and the rest, in the drawn order (equals by their place)."""
    row = [first, second, 1 - first - second]
    return [row[i] for i in sorted(range(3), key=lambda i: (order[i], i))]


def missed_table(x: Numbers) -> Table:
    """The table that the stem shows: two rows of it are made to measure."""
    table = table_of(x["X"])
    table[()] = start = _placed(x["a"], x["b"], x["first"])
    table[(start.index(min(start)),)] = _placed(x["e"], x["f"], x["second"])
    return table


def worse_table(x: Numbers) -> Table:
    """The table that the stem shows: four rows of it are made to measure."""
    table, orders = table_of(x["X"]), x["orders"]
    table[()] = start = _placed(x["a"], x["b"], orders[0])
    first, second, _ = sorted(range(3), key=lambda word: -start[word])
    table[(first,)] = row = _placed(x["flat"], x["next"], orders[1])
    table[(second,)] = _placed(x["high"], x["low"], orders[2])
    table[(first, row.index(max(row)))] = _placed(x["sure"], Fraction("0.02"), orders[3])
    return table


def _survivors(x: Numbers) -> Numbers:
    table = table_of(x["T"])
    one, two = (beam(table, 3, 2, step, NO_END) for step in (1, 2))
    names = [", ".join(spelled(tokens, "") for tokens, _ in kept) for kept in (one, two)]
    return {"one": names[0], "two": names[1], "p": two[1][1]}


def _both_searches(x: Numbers) -> Numbers:
    table = table_of(x["T"])
    by_greedy, (by_beam, p) = greedy(table, 2, NO_END), beam(table, 3, 2, 2, NO_END)[0]
    assert p > probability(table, by_greedy), "the searches differ, and the beam does better"
    return {"greedy": spelled(by_greedy), "beam": spelled(by_beam), "p": p}


def _missed(x: Numbers) -> Numbers:
    table = missed_table(x)
    (kept, p), best = beam(table, 3, 2, 3, NO_END)[0], best_of(table, 3)
    assert p < probability(table, best), "the item is about a beam that misses the best sequence"
    return {"beam": spelled(kept), "why": words.missed(table)}


def _worse(x: Numbers) -> Numbers:
    table = worse_table(x)
    by_greedy, (by_beam, q) = greedy(table, 3, NO_END), beam(table, 3, 2, 3, NO_END)[0]
    p = probability(table, by_greedy)
    assert p > q, "the item is about a beam that does worse"
    return {"greedy": spelled(by_greedy), "p": p, "beam": spelled(by_beam), "q": q, "lesson": READ}


def _candidates(x: Numbers) -> Numbers:
    """Step by step: every hypothesis of the beam with every word."""
    held, scored = 1, []
    for _ in range(int(x["T"])):
        scored.append(held * int(x["V"]))
        held = min(int(x["b"]), scored[-1])
    return {"one": scored[2], "all": sum(scored)}


def _lengths(x: Numbers) -> Numbers:
    totals = [sum(math.log(p) for p in x[name]) for name in ("p", "q")]
    means = [totals[0] / 2, totals[1] / 4]
    return {"short": means[0], "long": means[1], "first": words.first_by(x["two"], totals, means)}


def _logarithms(x: Numbers) -> Numbers:
    three = math.log(math.prod(x["p"]))
    return {"three": three, "four": math.log(math.prod(x["p"]) * x["q"])}


# S0 (4)-(8): each operation needs what the one before it makes
_STEP = (
    "compute the alignment score",
    "turn the scores into attention weights",
    "form the context vector",
    "update the decoder state",
    "compute the output probabilities",
    "choose the most probable token",
)

ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "beam-candidate-count": _candidates,
    "beam-length-normalised": _lengths,
    "beam-not-optimal": _missed,
    "beam-survivors": _survivors,
    "beam-vs-greedy-sequence": _both_searches,
    "beam-width-one": lambda x: {"answer": words.one_hypothesis(x)},
    "beam-worse-than-greedy": _worse,
    "chain-rule-probability": lambda x: {"answer": math.prod(x["p"])},
    "decode-cost-tradeoff": lambda x: {"answer": words.wider(x)},
    "greedy-path": lambda x: {"answer": spelled(greedy(table_of(x["T"]), 3, NO_END))},
    "greedy-trace-order": lambda x: {"answer": Cards(_STEP)},
    "log-prob-sum": _logarithms,
}
