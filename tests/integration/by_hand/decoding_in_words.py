"""Items on greedy and beam search: the statements, judged by carrying the searches out."""

from __future__ import annotations

from fractions import Fraction

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import Pick
from tests.oracles.sequences import Table, Words, beam, every_sequence, greedy, probability, ranked

__all__ = ["first_by", "missed", "one_hypothesis", "wider"]

_NO_END = -1


def _finds(table: Table, b: int, best: Words) -> bool:
    return beam(table, 3, b, 3, _NO_END)[0][0] == best


def missed(table: Table) -> Pick:
    """Of a table with which the beam of two misses the best of the 27 sequences."""
    best = ranked(table, every_sequence(3, 3, _NO_END))[0][0]
    kept = {step: [w for w, _ in beam(table, 3, 2, step, _NO_END)] for step in (1, 2, 3)}
    names = {step: " ".join("ABC"[w] for w in best[:step]) for step in (1, 2)}
    lost = next(step for step in (1, 2, 3) if best[:step] not in kept[step])
    by_greedy = greedy(table, 3, _NO_END)
    sums: list[Words] = [()]
    for step in (1, 2, 3):  # as a beam of two, with sums in place of products
        longer = [(*old, w) for old in sums for w in range(3)]
        sums = sorted(longer, key=lambda t: -sum(table[t[:i]][t[i]] for i in range(step)))[:2]
    dropped = {f"The beginning {names[step]} is dropped after step {step}.": step == lost for step in (1, 2)}
    return Pick(
        dropped
        | {
            f"When {names[lost if lost < 3 else 2]} is dropped, the search has not yet": lost < 3,
            "With b = 9 the search would": _finds(table, 9, best),
            "With b = 3 the search would": _finds(table, 3, best),
            "With b = 1 the search would": _finds(table, 1, best),
            "Any b above 1 would find it": all(_finds(table, b, best) for b in range(2, 28)),
            "Greedy search misses": by_greedy != best,
            "begins with the most probable first token": table[()][best[0]] == max(table[()]),
            "Greedy search finds a more probable": probability(table, by_greedy)
            > probability(table, kept[3][0]),
            "Each pruning compares complete sequences": False,
            "A beam of b = 2 that adds probabilities": sums[0] == best,
        }
    )


def first_by(two: str, totals: list[float], means: list[float]) -> Pick:
    """Which hypothesis has the larger total, and which the larger mean; first that of two tokens."""
    names = (two, "Q" if two == "P" else "P")
    total, mean = (names[values.index(max(values))] for values in (totals, means))

    def is_so(text: str) -> bool:
        return text.startswith(f"{total} by the total,") and f"{mean} by the total over" in text

    return Pick(is_so)


def one_hypothesis(x: Numbers) -> Pick:
    """S0, 3.2, with b = 1: of the continuations of one beginning the most probable word decides."""
    V = int(x["V"])
    truth = {
        "same sequence as greedy search": True,
        "appends the most probable next word": True,
        f"In each step it compares {V} candidates": True,
        "All candidates of a step have the same beginning": True,
        "tries all sequences": False,
        "finds the most probable sequence of all": False,
        "at random": False,
        "one word further ahead": False,
        f"In each step it compares {V * V} candidates": False,
        "one hypothesis for each word": False,
        "stops after the first step": False,
    }
    return Pick(truth)


def wider(x: Numbers) -> Pick:
    """S0, 3.2: more hypotheses at more cost; model and encoder stay as they are."""
    factor: Fraction = x["factor"]
    truth = {
        f"runs the decoder for {factor} times as many hypotheses": True,
        f"As many as {x['b'] * factor} decoder states": True,
        "may be found for some sentences": True,
        "no guarantee that the best sequence is found": True,
        "more parameters": False,
        "trained again": False,
        "Each sentence gets": False,
        "only after the number of hypotheses is known": False,
        "share one context vector": False,
        "grows with every step": False,
        f"longer, up to {factor} times": False,
        "vocabulary may have to grow": False,
    }
    return Pick(truth)
