"""Known mistakes of the items on greedy and beam search."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

from tests.integration.by_hand.decoding import ITEMS as RIGHT
from tests.integration.by_hand.decoding import best_of, missed_table, spelled, table_of, worse_table
from tests.integration.by_hand.drawing import Numbers
from tests.oracles.sequences import Table, Words, greedy, probability

__all__ = ["ITEMS"]


def _step_max(table: Table, length: int) -> tuple[Words, float]:
    """In each step the largest number, after whatever it stands: the words, and the numbers' product."""
    tokens: Words = ()
    total = 1.0
    for step in range(length):
        cells = [(table[p][w], p, w) for p in product(range(3), repeat=step) for w in range(3)]
        top = max(value for value, _, _ in cells)
        tokens += (next(w for value, _, w in cells if value == top),)
        total *= float(top)
    return tokens, total


def _second_choice(table: Table, length: int) -> Words:
    tokens: Words = ()
    while len(tokens) < length:
        row = table[tokens]
        tokens += (row.index(sorted(row)[-2]),)
    return tokens


def _continued(table: Table, tokens: Words) -> list[Words]:
    """The continuations of one hypothesis, best first."""
    return sorted(((*tokens, w) for w in range(3)), key=lambda t: (-probability(table, t), t))


def _best_only(table: Table, length: int) -> Words:
    """Of two kept hypotheses only the better one goes on."""
    best: Words = ()
    for _ in range(length):
        best = _continued(table, best)[0]
    return best


def _sequences(table: Table, length: int) -> Numbers:
    return {
        "m-greedy-is-opt": spelled(best_of(table, length)),
        "m-second-choice": spelled(_second_choice(table, length)),
        "m-step-max": spelled(_step_max(table, length)[0]),
        "m-beam-best": spelled(_best_only(table, length)),
    }


def _steps(table: Table, sentence: str) -> Numbers:
    """Mistakes in the probability of a sequence, written as words."""
    tokens = tuple("ABC".index(word) for word in sentence.split())
    steps = [table[tokens[:t]][tokens[t]] for t in range(len(tokens))]
    return {"m-beam-sum": sum(steps), "m-beam-last": steps[-1]}


def _survivors(x: Numbers) -> Numbers:
    table = table_of(x["T"])
    kept = sorted(range(3), key=lambda w: -table[()][w])[:2]
    of_each = [_continued(table, (w,)) for w in kept]
    candidates = sorted((t for found in of_each for t in found), key=lambda t: (-probability(table, t), t))
    by_last = sorted(candidates, key=lambda t: (-table[t[:1]][t[1]], t))
    four = sorted((t for found in of_each for t in found[:2]), key=lambda t: (-probability(table, t), t))

    def listed(found: list[Words]) -> str:
        return ", ".join(spelled(t, "") for t in found)

    return {
        "one": {"m-survivors-order": listed([(kept[1],), (kept[0],)])},
        "two": {
            "m-survivors-order": listed(candidates[:2][::-1]),
            "m-beam-best": listed(of_each[0][:2]),
            "m-beam-per": listed(four),
            "m-beam-last": listed(by_last[:2]),
        },
        "p": _steps(table, spelled(candidates[1]))
        | {
            "m-first-survivor": probability(table, candidates[0]),
            "m-best-dropped": probability(table, candidates[2]),
        },
    }


def _both_searches(x: Numbers) -> Numbers:
    table, right = table_of(x["T"]), RIGHT["beam-vs-greedy-sequence"](x)
    tokens = _sequences(table, 2)
    of_p = _steps(table, right["beam"]) | {"m-step-max": _step_max(table, 2)[1]}
    by_greedy = {"m-beam-is-greedy": spelled(greedy(table, 2, -1))}
    return {"greedy": tokens, "beam": by_greedy, "p": of_p}


def _worse(x: Numbers) -> Numbers:
    table, right = worse_table(x), RIGHT["beam-worse-than-greedy"](x)
    tokens = _sequences(table, 3)
    return {
        "greedy": tokens,
        "p": _steps(table, right["greedy"]),
        "beam": tokens,
        "q": _steps(table, right["beam"]),
    }


def _chain(x: Numbers) -> Numbers:
    p = x["p"]
    wrong = {
        "m-beam-sum": sum(p),
        "m-prob-mean": sum(p) / len(p),
        "m-beam-last": p[-1],
        "m-prob-min": min(p),
        "m-prob-max": max(p),
        "m-prob-root": math.prod(map(float, p)) ** (1 / len(p)),
    }
    return {"answer": wrong}


def _candidates(x: Numbers) -> Numbers:
    b, V, T = (int(x[name]) for name in ("b", "V", "T"))
    return {
        "one": {
            "m-no-prune": V**3,
            "m-beam-all": b**2 * V,
            "m-count-kept": b,
            "m-count-greedy": V,
            "m-beam-per": b * b,
        },
        "all": {
            "m-count-first-full": T * b * V,
            "m-no-prune": V**T,
            "m-count-greedy": T * V,
            "m-count-kept": T * b,
        },
    }


def _of_mean(p: list[float]) -> Numbers:
    total = sum(math.log(a) for a in p)
    return {
        "m-len": total,
        "m-logp-of-mean": math.log(sum(p) / len(p)),
        "m-prob-root": math.exp(total / len(p)),
    }


def _lengths(x: Numbers) -> Numbers:
    short, long = (_of_mean([float(a) for a in x[name]]) for name in ("p", "q"))
    return {"short": short, "long": long | {"m-len-other": long["m-len"] / 2}}


def _logarithms(x: Numbers) -> Numbers:
    p, q = [float(a) for a in x["p"]], float(x["q"])
    three = sum(math.log(a) for a in p)
    return {
        "three": {
            "m-logp-of-sum": math.log(sum(p)),
            "m-logp-ten": three / math.log(10),
            "m-logp-two": three / math.log(2),
            "m-logp-sign": -three,
            "m-logp-mean": three / 3,
            "m-logp-none": math.prod(p),
        },
        "four": {
            "m-logp-times": three * math.log(q),
            "m-logp-plain-token": three + q,
            "m-logp-minus": three - math.log(q),
        },
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "beam-candidate-count": _candidates,
    "beam-length-normalised": _lengths,
    "beam-not-optimal": lambda x: {"beam": _sequences(missed_table(x), 3)},
    "beam-survivors": _survivors,
    "beam-vs-greedy-sequence": _both_searches,
    "beam-worse-than-greedy": _worse,
    "chain-rule-probability": _chain,
    "greedy-path": lambda x: {"answer": _sequences(table_of(x["T"]), 3)},
    "log-prob-sum": _logarithms,
}
