"""``additive_scores(s, H, W, U, v)``: S2 step 1, S4 "Bahdanau"; S0 (3)=(4) with the v that it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from engine.code.arguments import Argument
from engine.code.families.array_family import (
    ArrayFamily,
    ArrayInputs,
    Floats,
    add_contract,
    add_gradients,
    add_longer,
    add_ordinary,
    add_public,
    add_refusals,
    longer,
    single,
)
from engine.code.families.random_values import ExactValues, draw_specs, spread, unlike
from engine.code.families.shared_cases import add_key_relations, add_saturated, add_tanh_relations
from engine.code.plan import InputPlan, PlanBuilder

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]

Sizes = tuple[int, int, int, int]  # n states, dh, ds, da
Drawn = tuple[Floats, Floats, Floats, Floats, Floats]


@dataclass(frozen=True, slots=True)
class AdditiveSizes:
    """What hypothesis draws: sizes of the hidden inputs, all unequal within one, and of the square ones."""

    first: Sizes
    second: Sizes
    square: int
    other: int


def _shapes() -> SearchStrategy[AdditiveSizes]:
    from hypothesis import strategies as st

    sizes = st.permutations([2, 3, 4, 5]).map(lambda drawn: (drawn[0], drawn[1], drawn[2], drawn[3]))
    return st.builds(AdditiveSizes, sizes, sizes, st.integers(3, 4), st.integers(2, 4)).filter(
        lambda found: unlike(found.first, found.second)
    )


def _size(arrays: Sequence[Floats]) -> tuple[float, int, float]:
    s, H, W, U, v = (np.abs(array) for array in arrays)
    largest = float((W @ s + H @ U.T).max(initial=0.0))
    return largest, len(s) + H.shape[1], len(v) * float(v.max(initial=0.0))


_INPUTS = ArrayInputs(("s", "H", "W", "U", "v"), ("s", "nh", "as", "ah", "a"), "additive_scores", _size)


class _Additive(ArrayFamily):
    def plan(self, seed: bytes) -> InputPlan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], ExactValues(seed)
        plan = PlanBuilder("additive", self.expected)
        public = add_public(plan, {"square": _SQUARE, "rect": _RECT})
        drawn = [_draw(values, sizes) for sizes in _all_sizes(shapes)]
        members = add_ordinary(plan, drawn)
        _add_bounds(plan, [*public, *members])
        _add_silent(plan, drawn)
        for place, (member, arrays) in enumerate(zip(members, drawn, strict=True)):
            add_key_relations(plan, member, place, arrays, values)
            add_tanh_relations(plan, member, place, arrays, values)
        add_saturated(plan, [_SQUARE, *drawn])
        add_contract(plan, _SQUARE, drawn[2], drawn[:2])
        add_gradients(plan, _INPUTS, _SQUARE, drawn[:2], values)
        _add_refused(plan)
        add_longer(plan, partial(_draw, values), longer(shapes.first, values))
        plan.judge("pure", public[0], plan.case("square-again", *_SQUARE, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())


def _all_sizes(shapes: AdditiveSizes) -> list[Sizes]:
    """Return two inputs of unequal sizes and two with square matrices, one of them with as many states."""
    a, b = shapes.square, shapes.other
    return [shapes.first, shapes.second, (a, a, a, a), (b + 1, b, b, b)]


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


def _draw(values: ExactValues, sizes: Sizes) -> Drawn:
    """Return arguments whose sums stay where tanh is neither straight nor flat."""
    n, dh, ds, da = sizes
    s, H = values.distinct(1, (ds,)), values.eighths(1, (n, dh))
    H[:, 0] = spread(n) / 4 - 0.5  # no two states are equal
    W, U = values.eighths(1, (da, ds)), values.eighths(1, (da, dh))
    W[:, 0] += spread(da) / 8 + 0.125
    return s, H, W, U, values.distinct(2, (da,))


def _add_bounds(plan: PlanBuilder, members: list[int]) -> None:
    """No tanh leaves [-1, 1], so no score leaves the sum of |v|."""
    for member in members:
        bound = float(np.abs(plan.argument(member, 4)).sum())
        plan.judge("within", member, low=-bound, high=bound)


def _add_silent(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    """Leave one of the two parts out: what remains has a formula of its own."""
    for place, (s, H, W, U, v) in enumerate([_SQUARE, *drawn]):
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


def _add_refused(plan: PlanBuilder) -> None:
    s, H, W, U, v = _RECT
    add_refusals(
        plan,
        {
            "state-too-short": (s[:2], H, W, U, v),
            "matrices-exchanged": (s, H, U, W, v),
            "too-few-rows": (s, H, W, U[:3], v),
            "v-too-short": (s, H, W, U, v[:3]),
        },
        _INPUTS.letters,
        _RECT,
    )


def _candidates() -> Iterator[tuple[Argument, ...]]:
    one = np.array([1.0])
    mat = one[:, np.newaxis]
    for s, h, w, u, v in (
        (1, 0, 1, 0, 1),
        (0, 1, 0, 1, 1),
        (1, 1, 1, 1, 1),
        (1, 1, 1, 0, 1),
        (1, 2, 2, 1, 2),
    ):
        yield s * one, h * mat, w * mat, u * mat, v * one
    yield one, np.array([[1.0], [0.0]]), mat, mat, one
    yield (
        one,
        np.array([[1.0], [0.0]]),
        np.array([[1.0], [0.0]]),
        np.array([[0.0], [1.0]]),
        np.array([2.0, 1.0]),
    )
    yield (
        np.array([1.0, 0.0]),
        mat,
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.array([[1.0], [0.0]]),
        np.array([1.0, 2.0]),
    )
    yield (
        np.array([1.0, 0.0]),
        mat,
        np.array([[0.0, 1.0], [0.0, 0.0]]),
        np.array([[0.0], [0.0]]),
        np.array([1.0, 1.0]),
    )
    yield one, np.array([[1.0, 0.0]]), mat, np.array([[0.0, 1.0]]), one
    yield _SQUARE
    yield _RECT
    for height in (1000.0, -1000.0):
        yield height * one, mat, mat, mat, one
    yield tuple(single(one, mat, mat, mat, one))
    yield tuple(single(*_SQUARE))


FAMILY = _Additive(_INPUTS)
