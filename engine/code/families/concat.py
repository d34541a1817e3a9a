"""``concat_scores(q, K, W1, w2)``: S1 variant 1, a network of two layers on [q; k_j]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.code.building import PlanBuilder
from engine.code.case import Argument, Expected, Plan
from engine.code.draws import Values, draw_specs
from engine.code.score_inputs import Floats, ScoreInputs, add_contract, add_gradients, add_refusals, single

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]

Sizes = tuple[int, int, int, int]  # n keys, dq, dk, da
Drawn = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True, slots=True)
class Shapes:
    """What hypothesis draws: sizes of the hidden inputs, unequal within one, and of those with dq = dk."""

    first: Sizes
    second: Sizes
    even: int
    other: int


def _shapes() -> SearchStrategy[Shapes]:
    from hypothesis import strategies as st

    sizes = st.permutations([2, 3, 4, 5]).map(lambda drawn: (drawn[0], drawn[1], drawn[2], drawn[3]))
    return st.builds(Shapes, sizes, sizes, st.integers(2, 4), st.integers(2, 3))


def _size(arrays: Sequence[Floats]) -> tuple[float, int, float]:
    q, K, W1, w2 = (np.abs(array) for array in arrays)
    left, right = W1[:, : len(q)], W1[:, len(q) :]
    largest = float((left @ q + K @ right.T).max(initial=0.0))
    return largest, W1.shape[1], len(w2) * float(w2.max(initial=0.0))


_INPUTS = ScoreInputs(("q", "K", "W1", "w2"), ("q", "nk", "ai", "a"), "concat_scores", _size)


class _Concat:
    argument_names = _INPUTS.names

    def expected(self, args: tuple[Argument, ...]) -> Expected:
        return _INPUTS.expected(args)

    def sound(self, args: tuple[Argument, ...]) -> bool:
        if not _INPUTS.fits(args):
            return False
        q, K, W1, _ = _INPUTS.read(args)
        return bool(W1.shape[1] == len(q) + K.shape[1])

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        return _INPUTS.axes(args)

    def plan(self, seed: bytes) -> Plan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], Values(seed)
        plan = PlanBuilder("concat", self.expected)
        public = _add_public(plan)
        drawn = [_draw(values, sizes) for sizes in _all_sizes(shapes)]
        members = _add_ordinary(plan, drawn)
        _add_bounds(plan, members)
        _add_silent(plan, drawn)
        _add_relations(plan, members, drawn, values)
        _add_saturated(plan, drawn)
        add_contract(plan, _EVEN, drawn[2], drawn[:2])
        add_gradients(plan, _INPUTS, _EVEN, drawn[:2], values)
        _add_refused(plan)
        plan.judge("pure", public, plan.case("even-again", *_EVEN, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())


def _all_sizes(shapes: Shapes) -> list[Sizes]:
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


def _draw(values: Values, sizes: Sizes) -> Drawn:
    """Return arguments whose sums stay where tanh is neither straight nor flat."""
    n, dq, dk, da = sizes
    q, K = values.distinct(1, (dq,)), values.eighths(1, (n, dk))
    K[:, 0] = np.arange(n) / 4 - 0.5  # no two keys are equal
    W1 = values.eighths(1, (da, dq + dk))
    W1[:, 0] += np.arange(1, da + 1) / 8
    return q, K, W1, values.distinct(2, (da,))


def _add_public(plan: PlanBuilder) -> int:
    even = plan.case("even", *_EVEN, public=True)
    uneven = plan.case("uneven", *_UNEVEN, public=True)
    plan.judge("runs", even)
    for name in ("shape", "values", "dtype"):
        plan.judge_each(name, [even, uneven])
    _add_bounds(plan, [even, uneven])
    plan.arguments_return(even, uneven)
    return even


def _add_ordinary(plan: PlanBuilder, drawn: list[Drawn]) -> list[int]:
    found = [plan.case(f"hidden-{place}", *arrays) for place, arrays in enumerate(drawn)]
    for name in ("shape", "values"):
        plan.judge_each(name, found)
    plan.arguments_return(*found)
    return found


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


def _add_relations(plan: PlanBuilder, members: list[int], drawn: list[Drawn], values: Values) -> None:
    for place, (member, (q, K, W1, w2)) in enumerate(zip(members, drawn, strict=True)):
        due = np.tanh(W1[:, : len(q)] @ q + K @ W1[:, len(q) :].T) @ w2
        plan.judge("agrees", member, cases="split", due=due)
        order = values.order(len(K))
        permuted = plan.case(f"permuted-{place}", q, K[order], W1, w2)
        plan.judge("perm-eq", member, permuted, order=order, axis=0)
        changed = K.copy()
        changed[0] += 1.0
        plan.judge("rowind", member, plan.case(f"one-changed-{place}", q, changed, W1, w2), changed=0)
        plan.judge("negated", member, plan.case(f"negated-{place}", -q, -K, W1, w2))
        other = values.distinct(2, w2.shape)
        second = plan.case(f"other-w2-{place}", q, K, W1, other)
        mixed = plan.case(f"mixed-w2-{place}", q, K, W1, 2 * w2 + other)
        plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))


def _add_saturated(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    """Sums of thousands, where tanh is 1 or -1 and exponentials overflow."""
    for place, (q, K, W1, w2) in enumerate([_EVEN, *drawn]):
        column, first = W1.copy(), q.copy()
        loud = np.where(np.arange(len(w2)) % 2 == 0, 2000.0, -2000.0)
        column[:, 0] = loud
        first[0] = 1.5
        member = plan.case(f"large-{place}", first, K, column, w2, aspect="large", public=place == 0)
        plan.judge("agrees", member, cases="large", due=np.full(len(K), np.sign(loud) @ w2))


def _add_refused(plan: PlanBuilder) -> None:
    q, K, W1, w2 = _UNEVEN
    cases = {
        "query-too-short": (q[:2], K, W1, w2),
        "too-few-columns": (q, K, W1[:, :4], w2),
        "w2-too-short": (q, K, W1, w2[:2]),
    }
    add_refusals(plan, cases)


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


FAMILY = _Concat()
