"""Cases that several exercises share: scores beyond what exp can hold, alignment scores, search models."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.code.plan_builder import ExactValues, PlanBuilder
from engine.code.planned_exercise import Arrays, Floats, draw_specs
from engine.code.step_table import StepTable

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# how far below 0 visible scores lie while hidden ones are near it: beyond the numbers that are used to hide
LOW = (4e4, 4e5, 4e9)
_CLOSE = 1e-6  # relative: closer products of probabilities may be taken for equal, or not, by right code
_ROUNDS = 2000  # one in ten is taken, or one in thirty: to run out of rounds never happens


def billions() -> tuple[Floats, Floats, Floats, Floats]:
    """Return X, Wq, Wk and Wv with scores of billions, of which the second token has the larger ones.

    Both tokens get its value alone: where scores are cut off at a bound, they get the mean.
    """
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    Wq, Wk = np.array([[2.0**31, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    return X, Wq, Wk, np.array([[2.0, 0.0], [1.0, -1.0]])


def add_key_relations(plan: PlanBuilder, member: int, place: int, args: Arrays, values: ExactValues) -> None:
    """Reorder the keys, and change one: each score belongs to its own key."""
    q, K, *rest = args
    order = values.order(len(K))
    permuted = plan.case(f"permuted-{place}", q, K[order], *rest)
    plan.judge("perm-eq", member, permuted, order=order, axis=0)
    changed = K.copy()
    changed[0] += 1.0
    plan.judge("rowind", member, plan.case(f"one-changed-{place}", q, changed, *rest), changed=0)


def add_tanh_relations(plan: PlanBuilder, member: int, place: int, args: Arrays, values: ExactValues) -> None:
    """Turn all signs, and mix two of the vectors that come last: scores are odd, and linear in that one."""
    q, K, *matrices, v = args
    plan.judge("negated", member, plan.case(f"negated-{place}", -q, -K, *matrices, v))
    other = values.distinct(2, v.shape)
    second = plan.case(f"other-vector-{place}", q, K, *matrices, other)
    mixed = plan.case(f"mixed-vector-{place}", q, K, *matrices, 2 * v + other)
    plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))


def add_saturated(plan: PlanBuilder, inputs: Sequence[Arrays]) -> None:
    """Add sums of thousands, where tanh is 1 or -1 and exponentials overflow; the first is public.

    The third argument is the matrix whose first column belongs to the query's first entry.
    """
    for place, (q, K, matrix, *rest) in enumerate(inputs):
        v = rest[-1]
        # 1.5 times 2000: tanh of it is 1 in every dtype, and an exponential of it overflows in float64
        loud = np.where(np.arange(len(v)) % 2 == 0, 2000.0, -2000.0)
        first, column = q.copy(), matrix.copy()
        first[0], column[:, 0] = 1.5, loud
        member = plan.case(f"large-{place}", first, K, column, *rest, kind="large", public=place == 0)
        plan.judge("agrees", member, cases="large", due=np.full(len(K), np.sign(loud) @ v))


@dataclass(frozen=True, slots=True)
class SearchSizes:
    """Number of tokens, the end symbol, the largest length, the width of a beam."""

    vocabulary: int
    eos: int
    most: int
    width: int = 1


def draw_searches(seed: bytes, count: int, most: int, *, beam: bool) -> list[SearchSizes]:
    """Return searches of three tokens and lengths up to `most` or one more, or of four and `most`."""
    from hypothesis import strategies as st

    def of(vocabulary: int) -> SearchStrategy[SearchSizes]:
        # the table has a row for every sequence: with four tokens, one more would make it four times as long
        lengths = st.integers(most, most + 1) if vocabulary == 3 else st.just(most)
        widths = [st.integers(2, 3)] if beam else []
        return st.builds(SearchSizes, st.just(vocabulary), st.integers(0, vocabulary - 1), lengths, *widths)

    return draw_specs(st.integers(3, 4).flatmap(of), count, seed)


def draw_table(values: ExactValues, vocabulary: int, depth: int) -> StepTable:
    """Return a model with rows of its own after all sequences of less than `depth` tokens.

    Probabilities are multiples of 1/64, no two in a row are equal. There are rows behind every token,
    so that a search that goes on after the end symbol gets an answer too.
    """
    prefixes = [
        prefix for size in range(depth) for prefix in itertools.product(range(vocabulary), repeat=size)
    ]
    # as far apart as possible while what is left over of 64 is still the largest entry
    step, noise = (10, 3) if vocabulary <= 3 else (6, 2)
    chances = values.weights((len(prefixes) + 1, vocabulary), step=step, noise=noise, total=64)
    rows = [tuple(map(float, row)) for row in chances]
    return StepTable(tuple(zip(prefixes, rows[:-1], strict=True)), rows[-1])


def draw_accepted(draw: Callable[[], StepTable], accept: Callable[[StepTable], bool]) -> StepTable:
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


def is_clear(table: StepTable, b: int, eos: int, most: int, *, mean: bool = False) -> bool:
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
        candidates.sort(key=lambda candidate: (-value(candidate[1]), candidate[0]))
        for (_, first), (_, second) in itertools.pairwise(candidates[: b + 1]):
            if first != second and value(second) > value(first) * (1 - _CLOSE):
                return False
        beam = candidates[:b]
    return True
