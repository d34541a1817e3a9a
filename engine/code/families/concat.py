"""``concat_scores(q, K, W1, w2)``: S1 variant 1, a network of two layers on [q; k_j]."""

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

Sizes = tuple[int, int, int, int]  # n keys, dq, dk, da
Drawn = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True, slots=True)
class ConcatSizes:
    """What hypothesis draws: sizes of the hidden inputs, unequal within one, and of those with dq = dk."""

    first: Sizes
    second: Sizes
    even: int
    other: int


def _shapes() -> SearchStrategy[ConcatSizes]:
    from hypothesis import strategies as st

    sizes = st.permutations([2, 3, 4, 5]).map(lambda drawn: (drawn[0], drawn[1], drawn[2], drawn[3]))
    return st.builds(ConcatSizes, sizes, sizes, st.integers(2, 4), st.integers(2, 3)).filter(
        lambda found: unlike(found.first, found.second)
    )


def _size(arrays: Sequence[Floats]) -> tuple[float, int, float]:
    q, K, W1, w2 = (np.abs(array) for array in arrays)
    left, right = W1[:, : len(q)], W1[:, len(q) :]
    largest = float((left @ q + K @ right.T).max(initial=0.0))
    return largest, W1.shape[1], len(w2) * float(w2.max(initial=0.0))


_INPUTS = ArrayInputs(("q", "K", "W1", "w2"), ("q", "nk", "ai", "a"), "concat_scores", _size)


class _Concat(ArrayFamily):
    def sound(self, args: tuple[Argument, ...]) -> bool:
        if not _INPUTS.fits(args):
            return False
        q, K, W1, _ = _INPUTS.read(args)
        return bool(W1.shape[1] == len(q) + K.shape[1])

    def plan(self, seed: bytes) -> InputPlan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], ExactValues(seed)
        plan = PlanBuilder("concat", self.expected)
        public = add_public(plan, {"even": _EVEN, "uneven": _UNEVEN})
        drawn = [_draw(values, sizes) for sizes in _all_sizes(shapes)]
        members = add_ordinary(plan, drawn)
        _add_bounds(plan, [*public, *members])
        _add_silent(plan, drawn)
        for place, (member, arrays) in enumerate(zip(members, drawn, strict=True)):
            q, K, W1, w2 = arrays
            due = np.tanh(W1[:, : len(q)] @ q + K @ W1[:, len(q) :].T) @ w2
            plan.judge("agrees", member, cases="split", due=due)
            add_key_relations(plan, member, place, arrays, values)
            add_tanh_relations(plan, member, place, arrays, values)
        add_saturated(plan, [_EVEN, *drawn])
        add_contract(plan, _EVEN, drawn[2], drawn[:2])
        add_gradients(plan, _INPUTS, _EVEN, drawn[:2], values)
        _add_refused(plan)
        add_longer(plan, partial(_draw, values), longer(shapes.first, values))
        plan.judge("pure", public[0], plan.case("even-again", *_EVEN, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())


def _all_sizes(shapes: ConcatSizes) -> list[Sizes]:
    """Return two inputs of unequal sizes, one with dq = dk and da = dq + dk, one with dq = dk alone."""
    a, b = shapes.even, shapes.other
    return [shapes.first, shapes.second, (b, a, a, 2 * a), (b + 1, b, b, b + 2)]


_EVEN = (
    np.array([1.0, 0.0]),
    np.array([[0.5, 1.0], [1.0, -1.0], [0.0, 0.5]]),
    np.array([[0.5, 1.0, 1.0, 0.5], [-1.0, 0.25, 0.0, 2.0]]),
    np.array([2.0, -0.5]),
)
_UNEVEN = (
    np.array([1.0, -1.0, 0.5]),
    np.array([[0.5, 1.0], [1.0, -1.0]]),
    np.array([[0.5, 0.0, 1.0, 1.0, 0.0], [0.0, 1.0, -1.0, 0.5, 0.5], [1.0, 0.5, 0.0, -1.0, 1.0]]),
    np.array([1.0, 0.5, -1.0]),
)


def _draw(values: ExactValues, sizes: Sizes) -> Drawn:
    """Return arguments whose sums stay where tanh is neither straight nor flat."""
    n, dq, dk, da = sizes
    q, K = values.distinct(1, (dq,)), values.eighths(1, (n, dk))
    K[:, 0] = spread(n) / 4 - 0.5  # no two keys are equal
    W1 = values.eighths(1, (da, dq + dk))
    W1[:, 0] += spread(da) / 8 + 0.125
    return q, K, W1, values.distinct(2, (da,))


def _add_bounds(plan: PlanBuilder, members: list[int]) -> None:
    """No tanh leaves [-1, 1], so no score leaves the sum of |w2|."""
    for member in members:
        bound = float(np.abs(plan.argument(member, 3)).sum())
        plan.judge("within", member, low=-bound, high=bound)


def _add_silent(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    """Set some columns of W1 to zero: what remains has a formula of its own."""
    for place, (q, K, W1, w2) in enumerate([_EVEN, *drawn]):
        public, dq = place == 0, len(q)
        of_query = np.arange(W1.shape[1]) < dq
        member = plan.case(f"no-keys-{place}", q, K, np.where(of_query, W1, 0.0), w2, public=public)
        plan.judge("equal-scores", member)
        due = np.full(len(K), w2 @ np.tanh(W1[:, :dq] @ q))
        plan.judge("agrees", member, cases="query-alone", due=due)
        keys = np.where(of_query, 0.0, W1)
        member = plan.case(f"no-query-{place}", q, K, keys, w2, public=public)
        plan.judge("agrees", member, cases="keys-alone", due=np.tanh(K @ W1[:, dq:].T) @ w2)
        plan.judge(
            "mask-irrel", member, plan.case(f"no-query-other-{place}", q + 1.0, K, keys, w2, public=public)
        )


def _add_refused(plan: PlanBuilder) -> None:
    q, K, W1, w2 = _UNEVEN
    cases = {
        "query-too-short": (q[:2], K, W1, w2),
        "too-few-columns": (q, K, W1[:, :4], w2),
        "w2-too-short": (q, K, W1, w2[:2]),
    }
    add_refusals(plan, cases, _INPUTS.letters, _UNEVEN)


def _candidates() -> Iterator[tuple[Argument, ...]]:
    one = np.array([1.0])
    mat = one[:, np.newaxis]
    for q, k, left, right, w in (
        (1, 0, 1, 0, 1),
        (0, 1, 0, 1, 1),
        (1, 1, 1, 1, 1),
        (1, 2, 2, 1, 2),
        (1, 1, 1, 0, 2),
    ):
        yield q * one, k * mat, np.array([[float(left), float(right)]]), w * one
    yield one, np.array([[1.0], [0.0]]), np.array([[1.0, 1.0]]), one
    yield one, mat, np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, 1.0])
    yield _EVEN
    yield _UNEVEN
    for height in (1000.0, -1000.0):
        yield height * one, mat, np.array([[1.0, 1.0]]), one
    yield tuple(single(one, mat, np.array([[1.0, 1.0]]), one))
    yield tuple(single(*_EVEN))


FAMILY = _Concat(_INPUTS)
