"""Inputs of attention, and the cases that ask the same formula of other numbers.

These are scores beyond what exp can hold, and single and half precision.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument
from engine.code.families.array_family import Arrays, Floats, single
from engine.code.families.random_values import ExactValues
from engine.code.plan import PlanBuilder
from engine.code.step_table import StepTable

__all__ = [
    "LOW",
    "RECT",
    "Sizes",
    "accepted",
    "add_halves",
    "add_key_relations",
    "add_large",
    "add_precision",
    "add_saturated",
    "add_tanh_relations",
    "billions",
    "clear",
    "draw_arguments",
    "draw_table",
    "read_arguments",
]

Sizes = tuple[int, int, int, int]  # m queries, n keys, d, dv

# how far below 0 visible scores lie while hidden ones are near it: beyond the numbers that are used to hide
LOW = (4e4, 4e5, 4e9)
# public: small numbers that a person can follow
_Q = np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, -1.0, 1.0]])
_K = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, -1.0]])
_V = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 4.0]])
RECT = (_Q, _K, _V)


def billions() -> tuple[Floats, Floats, Floats, Floats]:
    """Return X, Wq, Wk and Wv with scores of billions, of which the second token has the larger ones.

    Both tokens get its value alone: where scores are cut off at a bound, they get the mean.
    """
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    Wq, Wk = np.array([[2.0**31, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    return X, Wq, Wk, np.array([[2.0, 0.0], [1.0, -1.0]])


def read_arguments(
    args: Sequence[Argument],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return Q, K, V and the mask, None if there is none."""
    Q, K, V = args[:3]
    mask = args[3] if len(args) > 3 else None
    assert isinstance(Q, np.ndarray) and isinstance(K, np.ndarray) and isinstance(V, np.ndarray)
    assert mask is None or isinstance(mask, np.ndarray)
    return Q, K, V, mask


def draw_arguments(
    values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()
) -> tuple[Floats, Floats, Floats]:
    """Return drawn Q, K and V, no two entries of V equal."""
    m, n, d, dv = sizes
    Q, K = values.eighths(2, (*lead, m, d)), values.eighths(2, (*lead, n, d))
    return Q, K, values.distinct(8, (*lead, n, dv))


def add_large(plan: PlanBuilder, drawn: Sequence[Sizes], height: float, values: ExactValues) -> None:
    """Add scores beyond what exp can hold: a public case, two of the drawn sizes, a third in float32."""
    members = [plan.case("loud", 1000 * _Q, 2 * _K, _V, aspect="large", public=True)]
    for name, sizes in zip(("loud-more", "loud-other"), drawn[:2], strict=True):
        arrays = _loud(values, sizes, 100.0 * height)
        members.append(plan.case(name, *arrays, aspect="large"))
    arrays = _loud(values, drawn[2], 10.0 * height)
    members.append(plan.case("loud-single", *single(*arrays), aspect="large"))
    plan.judge_each("stable", members)


def _loud(values: ExactValues, sizes: Sizes, height: float) -> tuple[Floats, Floats, Floats]:
    """Return inputs of which every query meets scores at both ends."""
    Q, K, V = draw_arguments(values, sizes)
    Q[:, 0] = np.abs(Q[:, 0]) + 1.0
    K[:, 0] = np.where(np.arange(len(K)) % 2 == 0, 8.0, -8.0)
    Q[:, 0] *= height
    return Q, K, V


def add_precision(plan: PlanBuilder, drawn: Sequence[Sizes], values: ExactValues) -> None:
    """Add float32 inputs: a public case, two of the drawn sizes, the first once more with a mask."""
    arrays = [draw_arguments(values, sizes) for sizes in drawn]
    members = [
        plan.case("rect-single", *single(*RECT), aspect="precision", public=True),
        plan.case("single-single", *single(*arrays[0]), aspect="precision"),
        plan.case("more-single", *single(*arrays[1]), aspect="precision"),
    ]
    mask = values.partial_mask(drawn[0][:2])
    members.append(plan.case("masked-single", *single(*arrays[0]), mask, aspect="masked"))
    plan.judge_each("dtype", members)
    plan.judge_each("precision", members)


def add_halves(plan: PlanBuilder, drawn: Sequence[Sizes], values: ExactValues) -> None:
    """Add float16 and bfloat16 inputs: a public case, two of the drawn sizes, the second with a mask.

    The entries are exact in both.  Scores are mild: a right program may round each product and each step
    of the softmax, and loses eps of a weight for each unit of its score.  With a mask only values are
    judged: -1e9 for a hidden score, which float16 can't hold, is no matter of the result's dtype.
    """
    plain, masked = drawn
    members = [
        plan.case("rect-half", *_halves(*RECT), aspect="half", public=True),
        *_add_both_halves(plan, "plain", _mild(values, plain)),
    ]
    plan.judge_each("dtype", members)
    members += _add_both_halves(plan, "masked", _mild(values, masked), values.partial_mask(masked[:2]))
    plan.judge_each("half", members)


def _mild(values: ExactValues, sizes: Sizes) -> tuple[Floats, Floats, Floats]:
    m, n, d, dv = sizes
    return values.eighths(1, (m, d)), values.eighths(1, (n, d)), values.eighths(2, (n, dv))


def _add_both_halves(plan: PlanBuilder, name: str, arrays: Sequence[Floats], *mask: Argument) -> list[int]:
    return [
        plan.case(f"{name}-half", *_halves(*arrays), *mask, aspect="half"),
        plan.case(f"{name}-brain", *single(*arrays), *mask, aspect="half", narrow="bfloat16"),
    ]


def _halves(*arrays: Floats) -> list[NDArray[np.float16]]:
    return [array.astype(np.float16) for array in arrays]


# ----------------------------------------------------------------------------------------------------
# What the exercises on alignment scores share: relations between keys, and scores that saturate.
#
# Their arguments begin with a query and the keys, one in each row.


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
        loud = np.where(np.arange(len(v)) % 2 == 0, 2000.0, -2000.0)
        first, column = q.copy(), matrix.copy()
        first[0], column[:, 0] = 1.5, loud
        member = plan.case(f"large-{place}", first, K, column, *rest, aspect="large", public=place == 0)
        plan.judge("agrees", member, cases="large", due=np.full(len(K), np.sign(loud) @ v))


# ----------------------------------------------------------------------------------------------------
# What the exercises on search share: models drawn as tables, and the ties that they must not have.

_CLOSE = 1e-6  # relative: closer products of probabilities may be taken for equal, or not, by right code
_ROUNDS = 2000  # one in ten is taken, or one in thirty: to run out of rounds never happens


def draw_table(values: ExactValues, vocabulary: int, depth: int) -> StepTable:
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
