"""What the exercises on search share: models drawn as tables, and the ties that they must not have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from engine.code.plans.draws import Values
from engine.code.step_table import StepTable

__all__ = ["accepted", "clear", "draw_table"]

_CLOSE = 1e-6  # relative: closer products of probabilities may be taken for equal, or not, by right code
_ROUNDS = 2000  # one in ten is taken, or one in thirty: to run out of rounds never happens


def draw_table(values: Values, vocabulary: int, depth: int) -> StepTable:
    """Return a model with rows of its own after all sequences of less than `depth` tokens.

    Probabilities are multiples of 1/64, no two in a row are equal. There are rows behind every token,
    so that a search that goes on after the end symbol gets an answer too.
    """
    prefixes = [
        prefix for size in range(depth) for prefix in itertools.product(range(vocabulary), repeat=size)
    ]
    step, noise = (10, 3) if vocabulary <= 3 else (6, 2)
    drawn = values.weights((len(prefixes) + 1, vocabulary), step=step, noise=noise, total=64)
    rows = [tuple(map(float, row)) for row in drawn]
    return StepTable(tuple(zip(prefixes, rows[:-1], strict=True)), rows[-1])


def accepted(draw: Callable[[], StepTable], accept: Callable[[StepTable], bool]) -> StepTable:
    """Return the first table that is accepted.

    Raises
    ------
    RuntimeError
        None of some thousand is.
    """
    for _ in range(_ROUNDS):
        table = draw()
        if accept(table):
            return table
    raise RuntimeError(f"none of {_ROUNDS} drawn tables is accepted")


def clear(table: StepTable, b: int, eos: int, most: int, *, mean: bool = False) -> bool:
    """Return whether a beam search never has to choose between almost equal hypotheses.

    Equal ones are clear as far as they were made of the same probabilities in the same order: sums of
    logarithms are equal then, in whatever way they are added up. With `mean` hypotheses are ranked by
    the geometric mean of their probabilities instead of the product.
    """

    def value(chances: tuple[float, ...]) -> float:
        return math.prod(chances) ** (1 / len(chances) if mean else 1)

    beam: list[tuple[tuple[int, ...], tuple[float, ...]]] = [((), ())]
    for _ in range(most):
        candidates = []
        for tokens, chances in beam:
            if eos in tokens:
                candidates.append((tokens, chances))
                continue
            row = table.after(tokens)
            candidates += [((*tokens, y), (*chances, p)) for y, p in enumerate(row) if p > 0]
        candidates.sort(key=lambda one: (-value(one[1]), one[0]))
        for (_, first), (_, second) in itertools.pairwise(candidates[: b + 1]):
            if first != second and value(second) > value(first) * (1 - _CLOSE):
                return False
        beam = candidates[:b]
    return True
