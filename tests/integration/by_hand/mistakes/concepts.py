"""Known mistakes of the items on ideas and alignments."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tests.integration.by_hand.concepts import ITEMS as RIGHT
from tests.integration.by_hand.concepts import origins
from tests.integration.by_hand.drawing import Numbers

__all__ = ["ITEMS"]


def _first_of_largest(numbers: list[float]) -> int:
    return numbers.index(max(numbers)) + 1


def _first_choices(x: Numbers) -> Numbers:
    rows = [x[f"A{i}"] for i in range(1, 6)]
    right = RIGHT["alignment-read"](x)["answer"]
    columns = [list(column) for column in zip(*rows, strict=True)]
    highest = max(range(5), key=lambda i: max(rows[i]))
    wrong = {
        "m-column-max": [_first_of_largest(column) for column in columns],
        "m-diagonal": [1, 2, 3, 4, 5],
        "m-largest-overall": [right[highest]] * 5,
        "m-from-zero": [place - 1 for place in right],
    }
    return {"answer": wrong}


def _crossings(x: Numbers) -> Numbers:
    found, crossed = origins(x), RIGHT["alignment-not-monotone"](x)["crossed"]
    return {
        "origins": {
            "m-inverse-order": [found.index(j) + 1 for j in range(1, 6)],
            "m-diagonal": [1, 2, 3, 4, 5],
        },
        "crossed": {
            "m-displaced-words": sum(1 for i, place in enumerate(found, start=1) if i != place),
            "m-descents-only": sum(1 for a, b in pairwise(found) if a > b),
            "m-uncrossed": 10 - crossed,
        },
    }


def _links(x: Numbers) -> Numbers:
    names = ("A1", "A2", "A3")
    r = int(x["r"])
    weights = x[names[r - 1]]
    linked = [int(w >= 0.18) for w in weights]
    return {
        "links_of_word": {
            "m-argmax": [int(j + 1 == _first_of_largest(weights)) for j in range(5)],
            "m-all-linked": [1] * 5,
            "m-other-row": [int(w >= 0.18) for w in x[names[r % 3]]],
            "m-threshold-inverted": [1 - link for link in linked],
        },
        "total": {"m-one-link-each": 3, "m-all-pairs": 15},
    }


def _longest(x: Numbers) -> Numbers:
    d, bits, power = (int(x[name]) for name in ("d", "bits", "power"))
    wrong = {
        "m-capacity-entries": d // power,
        "m-capacity-word": d * bits // 2**power,
        "m-capacity-ceil": RIGHT["bottleneck-capacity"](x)["answer"] + 1,
        "m-capacity-one-each": d,
    }
    return {"answer": wrong}


def _contexts(x: Numbers) -> Numbers:
    m, n = x["m"], x["n"]
    return {
        "counts": {
            "m-context-per-source": [m, m, m * n],
            "m-one-context": [m, 1, m],
            "m-weights-of-one-step": [m, n, m],
            "m-states-of-both": [m + n, n, m * n],
        }
    }


ITEMS: dict[str, Callable[[Numbers], Numbers]] = {
    "alignment-many-to-one": _links,
    "alignment-not-monotone": _crossings,
    "alignment-read": _first_choices,
    "bottleneck-capacity": _longest,
    "context-per-decoder-step": _contexts,
}
