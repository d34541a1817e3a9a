"""Items on ideas and alignments, as far as something is drawn and has to be worked out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.words import READ, Pick

__all__ = ["ITEMS", "grid", "origins"]


def grid(x: Numbers) -> list[list[float]]:
    """The matrix of alignment-not-monotone: each row's largest weight is what the others leave."""
    rows = []
    for place, others in zip(x["p"], x["N"], strict=True):
        row = list(others)
        row[int(place) - 1] = 1 - sum(other for j, other in enumerate(others) if j != place - 1)
        rows.append(row)
    return rows


def _largest(row: list[float]) -> int:
    """The place of the only largest number, from 1."""
    assert row.count(max(row)) == 1
    return row.index(max(row)) + 1


def origins(x: Numbers) -> list[int]:
    return [_largest(row) for row in grid(x)]


def _crossings(x: Numbers) -> Numbers:
    found = origins(x)
    crossed = sum(1 for earlier, later in combinations(found, 2) if earlier > later)
    return {"origins": found, "crossed": crossed, "meaning": READ}


def _links(x: Numbers) -> Numbers:
    matrix = [[int(weight >= 0.18) for weight in x[name]] for name in ("A1", "A2", "A3")]
    return {"links_of_word": matrix[int(x["r"]) - 1], "total": sum(map(sum, matrix))}


def _sides(x: Numbers) -> Numbers:
    """The weights of one decoder step sum to 1; the stem shows them as rows, or as columns."""
    steps = [x[f"B{i}"] for i in range(1, 5)]
    shown = [list(column) for column in zip(*steps, strict=True)] if x["flip"] else steps
    by_row = all(sum(row) == 1 for row in shown)
    by_column = all(sum(column) == 1 for column in zip(*shown, strict=True))
    assert by_row != by_column
    truth = {
        "Each row belongs to a word that was written, since": by_row,
        "Each column belongs to a word that was read; its sum need": by_row,
        "The rows are decoder steps": by_row,
        "Each column belongs to a word that was written, since": by_column,
        "Each row belongs to a word that was read; its sum need": by_column,
        "The columns are decoder steps": by_column,
        "Each row belongs to a word that was read, since": False,
        "Each column belongs to a word that was read, since": False,
        "Rows and columns both sum to 1": by_row and by_column,
        "as in every matrix of weights": False,
        "Whichever side holds the largest weight": False,
        # the sums of the words that were read average 1 and aren't all 1, so the smallest is one of theirs
        "The side with the smallest sum": False,
        "The matrix must be wrong": False,
        "The numbers can't tell, since both": False,
    }
    return {"answer": Pick(truth)}


def _longest(x: Numbers) -> Numbers:
    """Count up while all sequences of that many words still find a vector of their own."""
    vectors, words = 2 ** int(x["d"] * x["bits"]), 2 ** int(x["power"])
    n = 0
    while words ** (n + 1) <= vectors:
        n += 1
    return {"answer": n}


def _contexts(x: Numbers) -> Numbers:
    """c_i for each target token i; a_ij for each i and each source token j; h_j for each j."""
    source, target = range(int(x["m"])), range(int(x["n"]))
    pairs = {(i, j) for i in target for j in source}
    return {"counts": [len(source), len(target), len(pairs)], "words": READ}


def _shapes(x: Numbers) -> Numbers:
    """S4, general form: a score for each key, a mixture of values; with several queries one row for each."""
    n, dV, m = (int(x[name]) for name in ("n", "dV", "m"))
    wanted = {
        "scores": f"{m} x {n} matrix",
        "weights": f"vector of size {n}",
        "output": f"vector of size {dV}",
        "outputs": f"{m} x {dV} matrix",
    }[x["what"]]
    return {"answer": Pick(lambda text: text == wanted)}


def _explained(x: Numbers) -> Numbers:
    """S0, 4; S2, 1: what stands between encoder and decoder has a fixed size, whatever was observed."""
    truth = {
        "One vector of fixed size has to hold whatever": True,
        "doesn't grow with the amount that was read": True,
        "A single state is handed over": True,
        "vocabulary": False,
        "memory of the graphics card": False,
        "learning rate": False,
        "too few hypotheses": False,
        "Attention weights": False,
        "wrong order": False,
        "as many words as the input": False,
    }
    return {"answer": Pick(truth)}


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "alignment-many-to-one": _links,
    "alignment-not-monotone": _crossings,
    "alignment-orientation": _sides,
    "alignment-read": lambda x: {"answer": [_largest(x[f"A{i}"]) for i in range(1, 6)]},
    "bottleneck-capacity": _longest,
    "bottleneck-why": _explained,
    "context-per-decoder-step": _contexts,
    "general-attention-shapes": _shapes,
}
