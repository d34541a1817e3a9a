"""``additive_scores(s, H, W, U, v)``: S2 step 1, S4 "Bahdanau"; S0 (3)=(4) with the v that it leaves out."""

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
    add_key_relations,
    add_saturated,
    add_tanh_relations,
    beyond_blocks,
    draw_sizes,
    integers,
    single,
    spread,
    unequal_sizes,
)

Sizes = tuple[int, int, int, int]  # n states, dh, ds, da
Sample = tuple[Floats, Floats, Floats, Floats, Floats]


def _size(arrays: Sequence[Floats]) -> Rounding:
    s, H, W, U, v = (np.abs(array) for array in arrays)
    largest = float((W @ s + H @ U.T).max(initial=0.0))
    return Rounding(largest, len(s) + H.shape[1], len(v) * float(v.max(initial=0.0)))


_INPUTS = ArrayInputs(("s", "H", "W", "U", "v"), ("s", "nh", "as", "ah", "a"), "additive_scores", _size)


class _Additive(ArrayExercise):
    inputs = _INPUTS

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        first, second, square, other = draw_sizes(
            seed, unequal_sizes(4), unequal_sizes(4), integers(3, 4), integers(2, 4), different=2
        )
        public = plan.add_public({"square": _SQUARE, "rect": _RECT})
        # two of unequal sizes and two with square matrices, one of them with as many states
        square_sizes = [(square,) * 4, (other + 1, other, other, other)]
        samples = [_draw(values, sizes) for sizes in (first, second, *square_sizes)]
        members = plan.add_ordinary(samples)
        _add_bounds(plan, [*public, *members])
        _add_silent(plan, samples)
        for place, (member, arrays) in enumerate(zip(members, samples, strict=True)):
            add_key_relations(plan, member, place, arrays, values)
            add_tanh_relations(plan, member, place, arrays, values)
        add_saturated(plan, [_SQUARE, *samples])
        plan.add_contract(_SQUARE, samples[2], samples[:2])
        self.add_gradients(plan, _SQUARE, samples[:2], values)
        s, H, W, U, v = _RECT
        refusals = {
            "state-too-short": (s[:2], H, W, U, v),
            "matrices-exchanged": (s, H, U, W, v),
            "too-few-rows": (s, H, W, U[:3], v),
            "v-too-short": (s, H, W, U, v[:3]),
        }
        plan.add_refusals(refusals, _INPUTS.letters, _RECT)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(first, values))
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_S, _H = np.array([1.0, 0.0]), np.array([[0.5, 1.0], [1.0, -1.0], [0.0, 0.5]])
_W, _U = np.array([[0.5, 1.0], [-1.0, 0.25]]), np.array([[1.0, 0.5], [0.0, 2.0]])
_SQUARE = (_S, _H, _W, _U, np.array([2.0, -0.5]))
_RECT = (
    np.array([1.0, -1.0, 0.5]),
    _H,
    np.array([[0.5, 0.0, 1.0], [0.0, 1.0, -1.0], [1.0, 0.5, 0.0], [0.0, -0.5, 0.5]]),
    np.array([[1.0, 0.0], [0.5, 0.5], [-1.0, 1.0], [0.0, 0.25]]),
    np.array([1.0, 0.5, -1.0, 2.0]),
)


def _draw(values: ExactValues, sizes: Sizes) -> Sample:
    """Return arguments whose sums stay where tanh is neither straight nor flat."""
    n, dh, ds, da = sizes
    s, H = values.distinct(1, (ds,)), values.eighths(1, (n, dh))
    H[:, 0] = spread(n) / 4 - 0.5  # no two states are equal
    W, U = values.eighths(1, (da, ds)), values.eighths(1, (da, dh))
    W[:, 0] += spread(da) / 8 + 0.125
    return s, H, W, U, values.distinct(2, (da,))


def _add_bounds(plan: PlanBuilder, members: list[int]) -> None:
    # no tanh leaves [-1, 1], so no score leaves the sum of |v|
    for member in members:
        bound = float(np.abs(plan.argument(member, 4)).sum())
        plan.judge("within", member, low=-bound, high=bound)


def _add_silent(plan: PlanBuilder, samples: list[Sample]) -> None:
    # one of the two parts is left out: what remains has a formula of its own
    for place, (s, H, W, U, v) in enumerate([_SQUARE, *samples]):
        public = place == 0
        member = plan.case(f"no-keys-{place}", s, H, W, 0 * U, v, public=public)
        plan.judge("equal-scores", member)
        plan.judge("agrees", member, cases="state-alone", due=np.full(len(H), v @ np.tanh(W @ s)))
        member = plan.case(f"no-state-{place}", s, H, 0 * W, U, v, public=public)
        plan.judge("agrees", member, cases="keys-alone", due=np.tanh(H @ U.T) @ v)
        other = plan.case(f"no-state-other-{place}", s + 1.0, H, 0 * W, U, v, public=public)
        plan.judge("mask-irrel", member, other)
        opposite = plan.case(f"opposite-{place}", s, np.tile(s, (len(H), 1)), W, -W, v, public=public)
        plan.judge("agrees", opposite, cases="opposite", due=np.zeros(len(H)))


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones, mat = np.array([1.0]), np.array([[1.0]])
    unit, column = np.array([1.0, 0.0]), np.array([[1.0], [0.0]])
    numbers = ((1, 0, 1, 0, 1), (0, 1, 0, 1, 1), (1, 1, 1, 1, 1), (1, 1, 1, 0, 1), (1, 2, 2, 1, 2))
    for s, h, w, u, v in numbers:
        yield s * ones, h * mat, w * mat, u * mat, v * ones
    yield ones, column, mat, mat, ones
    yield ones, column, column, column[::-1].copy(), np.array([2.0, 1.0])
    yield unit, mat, np.array([[0.0, 1.0], [1.0, 0.0]]), column, np.array([1.0, 2.0])
    yield unit, mat, np.array([[0.0, 1.0], [0.0, 0.0]]), 0 * column, np.array([1.0, 1.0])
    yield ones, unit[np.newaxis], mat, np.array([[0.0, 1.0]]), ones
    yield _SQUARE
    yield _RECT
    for height in (1000.0, -1000.0):
        yield height * ones, mat, mat, mat, ones
    yield single(ones, mat, mat, mat, ones)
    yield single(*_SQUARE)


exercise = _Additive()
