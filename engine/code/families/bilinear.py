"""``bilinear_scores(q, K, W)``: S1 variant 2, q^T W k ("multiplicative", "general")."""

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
from engine.code.families.random_values import ExactValues, draw_specs, unlike
from engine.code.families.shared_cases import add_key_relations
from engine.code.plan import InputPlan, PlanBuilder

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]

Sizes = tuple[int, int, int]  # n keys, dq, dk
Drawn = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, slots=True)
class BilinearSizes:
    """What hypothesis draws: sizes of the hidden inputs, unequal within one, and of the square ones."""

    first: Sizes
    second: Sizes
    square: int
    other: int


def _shapes() -> SearchStrategy[BilinearSizes]:
    from hypothesis import strategies as st

    sizes = st.permutations([2, 3, 4, 5]).map(lambda drawn: (drawn[0], drawn[1], drawn[2]))
    return st.builds(BilinearSizes, sizes, sizes, st.integers(3, 4), st.integers(2, 4)).filter(
        lambda found: unlike(found.first, found.second)
    )


def _size(arrays: Sequence[Floats]) -> tuple[float, int, float]:
    q, K, W = (np.abs(array) for array in arrays)
    return 1.0, len(q) + K.shape[1], float((K @ (W.T @ q)).max(initial=0.0))


_INPUTS = ArrayInputs(("q", "K", "W"), ("q", "nk", "qk"), "bilinear_scores", _size)


class _Bilinear(ArrayFamily):
    def plan(self, seed: bytes) -> InputPlan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], ExactValues(seed)
        plan = PlanBuilder("bilinear", self.expected)
        public = add_public(plan, {"square": _SQUARE, "rect": _RECT})
        a, b = shapes.square, shapes.other
        drawn = [_draw(values, sizes) for sizes in (shapes.first, shapes.second, (a, a, a), (b + 1, b, b))]
        members = add_ordinary(plan, drawn)
        _add_special(plan, drawn)
        _add_relations(plan, members, drawn, values)
        _add_linearity(plan, members, drawn, values)
        _add_large(plan, drawn)
        add_contract(plan, _SQUARE, drawn[2], drawn[:2])
        add_gradients(plan, _INPUTS, _SQUARE, drawn[:2], values)
        q, K, W = _RECT
        refused = {"query-too-short": (q[:2], K, W), "matrix-transposed": (q, K, np.ascontiguousarray(W.T))}
        add_refusals(plan, refused, _INPUTS.letters, _RECT)
        add_longer(plan, partial(_draw, values), longer(shapes.first, values))
        plan.judge("pure", public[0], plan.case("square-again", *_SQUARE, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())


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


def _draw(values: ExactValues, sizes: Sizes) -> Drawn:
    n, dq, dk = sizes
    W = values.distinct(2, (dq, dk))
    W[0] += np.arange(dk)  # far from symmetric
    return values.distinct(2, (dq,)), values.distinct(2, (n, dk)), W


def _add_special(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    """The unit matrix gives dot products, a single 1 in W the product of two entries."""
    for place, (q, K, W) in enumerate([_SQUARE, *drawn]):
        public = place == 0
        if len(q) == K.shape[1]:
            member = plan.case(f"unit-{place}", q, K, np.eye(len(q)), public=public)
            plan.judge("agrees", member, cases="unit", due=K @ q)
        last = np.zeros_like(W)
        last[0, -1] = 1.0
        member = plan.case(f"one-entry-{place}", q, K, last, public=public)
        plan.judge("agrees", member, cases="one-entry", due=q[0] * K[:, -1])
        doubled = plan.case(f"sevenths-{place}", q / 7, K, W, public=public)
        plan.judge("agrees", doubled, cases="sevenths", due=np.einsum("a,ab,nb->n", q, W, K) / 7)


def _add_relations(plan: PlanBuilder, members: list[int], drawn: list[Drawn], values: ExactValues) -> None:
    for place, (member, (q, K, W)) in enumerate(zip(members, drawn, strict=True)):
        add_key_relations(plan, member, place, (q, K, W), values)
        one = plan.case(f"one-key-{place}", q, K[:1], W)
        turned = plan.case(f"turned-{place}", K[0].copy(), q[np.newaxis].copy(), np.ascontiguousarray(W.T))
        plan.judge("shift", one, turned, cases="roles")


def _add_linearity(plan: PlanBuilder, members: list[int], drawn: list[Drawn], values: ExactValues) -> None:
    """The scores are linear in each argument by itself."""
    for place, (member, arguments) in enumerate(zip(members, drawn, strict=True)):
        for index, name in enumerate(("query", "keys", "matrix")):
            other, mixed = list(arguments), list(arguments)
            other[index] = values.eighths(2, arguments[index].shape)
            mixed[index] = 2 * arguments[index] + other[index]
            second = plan.case(f"other-{name}-{place}", *other)
            third = plan.case(f"mixed-{name}-{place}", *mixed)
            plan.judge("linear-v", member, second, third, cases=name, factors=(2.0, 1.0))


def _add_large(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    for place, (q, K, W) in enumerate([_SQUARE, *drawn]):
        member = plan.case(f"large-{place}", 1024 * q, K, W, aspect="large", public=place == 0)
        plan.judge("agrees", member, cases="large", due=1024 * np.einsum("a,ab,nb->n", q, W, K))


def _candidates() -> Iterator[tuple[Argument, ...]]:
    one = np.array([1.0])
    for q, k, w in ((1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 2.0, 1.0), (1.0, 1.0, 2.0), (2.0, 3.0, 1.0)):
        yield q * one, np.array([[k]]), np.array([[w]])
    yield one, np.array([[1.0], [0.0]]), np.array([[1.0]])
    unit = np.array([1.0, 0.0])
    for W in (np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])):
        for key in (unit, unit[::-1], np.array([3.0, 4.0])):
            yield unit, key[np.newaxis].copy(), W
    yield one, np.array([[1.0, 0.0]]), np.array([[1.0, 2.0]])
    yield _SQUARE
    yield _RECT
    yield tuple(single(one, np.array([[1.0]]), np.array([[1.0]])))
    yield tuple(single(*_SQUARE))


FAMILY = _Bilinear(_INPUTS)
