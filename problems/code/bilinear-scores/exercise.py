"""``bilinear_scores(q, K, W)``: S1 variant 2, q^T W k ("multiplicative", "general")."""

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
    beyond_blocks,
    draw_sizes,
    integers,
    single,
    unequal_sizes,
)

Sizes = tuple[int, int, int]  # n keys, dq, dk
Sample = tuple[Floats, Floats, Floats]


def _size(arrays: Sequence[Floats]) -> Rounding:
    q, K, W = (np.abs(array) for array in arrays)
    return Rounding(1.0, len(q) + K.shape[1], float((K @ (W.T @ q)).max(initial=0.0)))


_INPUTS = ArrayInputs(("q", "K", "W"), ("q", "nk", "qk"), "bilinear_scores", _size)


class _Bilinear(ArrayExercise):
    inputs = _INPUTS

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        first, second, square, other = draw_sizes(
            seed, unequal_sizes(3), unequal_sizes(3), integers(3, 4), integers(2, 4), different=2
        )
        public = plan.add_public({"square": _SQUARE, "rect": _RECT})
        square_sizes = [(square,) * 3, (other + 1, other, other)]
        samples = [_draw(values, sizes) for sizes in (first, second, *square_sizes)]
        members = plan.add_ordinary(samples)
        _add_special(plan, samples)
        _add_relations(plan, members, samples, values)
        _add_linearity(plan, members, samples, values)
        _add_large(plan, samples)
        plan.add_contract(_SQUARE, samples[2], samples[:2])
        self.add_gradients(plan, _SQUARE, samples[:2], values)
        q, K, W = _RECT
        refusals = {"query-too-short": (q[:2], K, W), "matrix-transposed": (q, K, np.ascontiguousarray(W.T))}
        plan.add_refusals(refusals, _INPUTS.letters, _RECT)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(first, values))
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_SQUARE = (
    np.array([1.0, 2.0]),
    np.array([[1.0, 0.0], [0.0, 3.0], [2.0, -1.0]]),
    np.array([[1.0, 2.0], [0.0, -1.0]]),
)
_RECT = (
    np.array([1.0, -1.0, 2.0]),
    np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.0, 3.0]]),
    np.array([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]),
)


def _draw(values: ExactValues, sizes: Sizes) -> Sample:
    n, dq, dk = sizes
    W = values.distinct(2, (dq, dk))
    W[0] += np.arange(dk)  # far from symmetric
    return values.distinct(2, (dq,)), values.distinct(2, (n, dk)), W


def _add_special(plan: PlanBuilder, samples: list[Sample]) -> None:
    # the unit matrix gives dot products, a single 1 in W the product of two entries
    for place, (q, K, W) in enumerate([_SQUARE, *samples]):
        public = place == 0
        if len(q) == K.shape[1]:
            member = plan.case(f"unit-{place}", q, K, np.eye(len(q)), public=public)
            plan.judge("agrees", member, cases="unit", due=K @ q)
        last = np.zeros_like(W)
        last[0, -1] = 1.0
        member = plan.case(f"one-entry-{place}", q, K, last, public=public)
        plan.judge("agrees", member, cases="one-entry", due=q[0] * K[:, -1])
        sevenths = plan.case(f"sevenths-{place}", q / 7, K, W, public=public)
        plan.judge("agrees", sevenths, cases="sevenths", due=np.einsum("a,ab,nb->n", q, W, K) / 7)


def _add_relations(plan: PlanBuilder, members: list[int], samples: list[Sample], values: ExactValues) -> None:
    for place, (member, (q, K, W)) in enumerate(zip(members, samples, strict=True)):
        add_key_relations(plan, member, place, (q, K, W), values)
        lone = plan.case(f"one-key-{place}", q, K[:1], W)
        turned = plan.case(f"turned-{place}", K[0].copy(), q[np.newaxis].copy(), np.ascontiguousarray(W.T))
        plan.judge("shift", lone, turned, cases="roles")


def _add_linearity(plan: PlanBuilder, members: list[int], samples: list[Sample], values: ExactValues) -> None:
    # the scores are linear in each argument by itself
    for place, (member, arguments) in enumerate(zip(members, samples, strict=True)):
        for index, name in enumerate(("query", "keys", "matrix")):
            other, mixed = list(arguments), list(arguments)
            other[index] = values.eighths(2, arguments[index].shape)
            mixed[index] = 2 * arguments[index] + other[index]
            second = plan.case(f"other-{name}-{place}", *other)
            third = plan.case(f"mixed-{name}-{place}", *mixed)
            plan.judge("linear-v", member, second, third, cases=name, factors=(2.0, 1.0))


def _add_large(plan: PlanBuilder, samples: list[Sample]) -> None:
    for place, (q, K, W) in enumerate([_SQUARE, *samples]):
        member = plan.case(f"large-{place}", 1024 * q, K, W, kind="large", public=place == 0)
        plan.judge("agrees", member, cases="large", due=1024 * np.einsum("a,ab,nb->n", q, W, K))


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones = np.array([1.0])
    for q, k, w in ((1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 2.0, 1.0), (1.0, 1.0, 2.0), (2.0, 3.0, 1.0)):
        yield q * ones, np.array([[k]]), np.array([[w]])
    yield ones, np.array([[1.0], [0.0]]), np.array([[1.0]])
    unit = np.array([1.0, 0.0])
    for W in (np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])):
        for key in (unit, unit[::-1], np.array([3.0, 4.0])):
            yield unit, key[np.newaxis].copy(), W
    yield ones, np.array([[1.0, 0.0]]), np.array([[1.0, 2.0]])
    yield _SQUARE
    yield _RECT
    yield single(ones, np.array([[1.0]]), np.array([[1.0]]))
    yield single(*_SQUARE)


exercise = _Bilinear()
