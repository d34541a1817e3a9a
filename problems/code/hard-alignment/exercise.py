"""``hard_alignment(A)``: S1 and S4 call weights a soft alignment; this is its hard counterpart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from engine.exercises.by_hand import (
    Argument,
    ArrayExercise,
    ArrayInputs,
    ExactValues,
    Floats,
    PlanBuilder,
    Rounding,
    beyond_blocks,
    draw_sizes,
    integers,
    unequal_sizes,
)

_INPUTS = ArrayInputs(("A",), ("mn",), "hard_alignment", lambda arrays: Rounding(1.0, 1, 1.0))


class _HardAlignment(ArrayExercise):
    inputs = _INPUTS

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        """Accept rows of weights: none negative, each with the sum 1."""
        if not _INPUTS.fits(args):
            return False
        (A,) = _INPUTS.arrays(args)
        return bool((A >= 0).all()) and bool((np.abs(A.sum(axis=-1) - 1) < 1e-6).all())

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        sizes = unequal_sizes(2, among=(3, 4, 5, 6))
        first, second, side = draw_sizes(seed, sizes, sizes, integers(3, 5), different=2)
        square = plan.case("square", _SQUARE, public=True)
        rect = plan.case("rect", _RECT, public=True)
        plan.judge("runs", square)
        hidden = [
            plan.case(f"hidden-{place}", _weights(values, sizes))
            for place, sizes in enumerate((first, second, (side, side)))
        ]
        ties = _add_ties(plan, (first, second, first), values)
        plan.judge_each(("shape", "values", "one-hot", "at-largest"), [square, rect, *hidden, *ties])
        plan.judge("at-largest", plan.case("narrowly", _NARROWLY, public=True))
        _add_orders(plan, hidden, values)
        samples = [(plan.argument(member),) for member in hidden]
        plan.add_contract((_RECT,), samples[2], samples[:2])
        plan.add_beyond_blocks(partial(_any, values), beyond_blocks(first, values))
        plan.add_again(square)

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_SQUARE = np.array([[0.25, 0.5, 0.25], [0.625, 0.125, 0.25], [0.125, 0.25, 0.625]])
_RECT = np.array([[0.125, 0.375, 0.25, 0.25], [0.5, 0.125, 0.125, 0.25]])
# nearer to each other than numpy.isclose tells apart, though not than single precision does
_NARROWLY = np.array([[0.5 - 2**-19, 0.5 + 2**-19, 0.0], [0.25, 0.375 - 2**-20, 0.375 + 2**-20]])
_TIE = np.array([[0.375, 0.25, 0.375], [0.125, 0.4375, 0.4375]])


def _weights(values: ExactValues, sizes: tuple[int, int]) -> Floats:
    """Return rows of different multiples of 1/64 that sum to 1, none above a half where n > 3."""
    m, n = sizes
    rows = []
    for _ in range(m):
        parts = np.arange(1, n + 1)[values.order(n)] + 1
        top = int(np.argmax(parts))
        parts = parts + (64 - parts.sum()) // n
        parts[top] += 64 - parts.sum()
        rows.append(parts / 64.0)
    return np.array(rows)


def _any(values: ExactValues, sizes: tuple[int, int]) -> tuple[Floats]:
    # no two weights equal, so that every row has one largest
    weights = values.distinct(4, sizes) + 5.0
    return (weights / weights.sum(axis=1, keepdims=True),)


def _add_ties(plan: PlanBuilder, sizes: Sequence[tuple[int, int]], values: ExactValues) -> list[int]:
    # rows whose largest weight appears twice: the first column gets the 1
    members = [plan.case("tie", _TIE, public=True)]
    for place, (m, n) in enumerate(sizes):
        A = np.zeros((m, n))
        for row in A:
            row[values.order(n)[:2]] = 0.5
        members.append(plan.case(f"tie-{place}", A))
    members.append(plan.case("tie-all", np.full((2, 4), 0.25), public=True))
    for member in members:
        A = plan.argument(member)
        due = np.eye(A.shape[1])[A.argmax(axis=1)]
        plan.judge("agrees", member, cases="tie", due=due)
    return members


def _add_orders(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    for place, member in enumerate(hidden):
        A = plan.argument(member)
        rows, columns = values.order(len(A)), values.order(A.shape[1])
        moved = plan.case(f"rows-moved-{place}", A[rows])
        plan.judge("perm-eq", member, moved, order=rows, axis=0)
        moved = plan.case(f"columns-moved-{place}", np.ascontiguousarray(A[:, columns]))
        plan.judge("perm-eq", member, moved, order=columns, axis=1)
        other = A.copy()
        other[0] = np.eye(A.shape[1])[0]
        plan.judge("rowind", member, plan.case(f"row-changed-{place}", other), changed=0)


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    for row in ([1.0], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5], [0.25, 0.375, 0.375]):
        yield (np.array([row]),)
    yield (np.array([[0.25, 0.75], [0.25, 0.75]]),)
    yield (np.array([[0.375, 0.25, 0.375]]),)
    yield (_TIE,)
    yield (_NARROWLY[:1, :2],)
    yield (_SQUARE,)
    yield (_RECT,)
    yield (np.array([[0.25, 0.75]], dtype=np.float32),)


exercise = _HardAlignment()
