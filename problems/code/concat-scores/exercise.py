"""``concat_scores(q, K, W1, w2)``: S1 variant 1, a network of two layers on [q; k_j]."""

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

Sizes = tuple[int, int, int, int]  # n keys, dq, dk, da
Sample = tuple[Floats, Floats, Floats, Floats]


def _size(arrays: Sequence[Floats]) -> Rounding:
    q, K, W1, w2 = (np.abs(array) for array in arrays)
    left, right = W1[:, : len(q)], W1[:, len(q) :]
    largest = float((left @ q + K @ right.T).max(initial=0.0))
    return Rounding(largest, W1.shape[1], len(w2) * float(w2.max(initial=0.0)))


_INPUTS = ArrayInputs(("q", "K", "W1", "w2"), ("q", "nk", "ai", "a"), "concat_scores", _size)


class _Concat(ArrayExercise):
    inputs = _INPUTS

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        if not _INPUTS.fits(args):
            return False
        q, K, W1, _ = _INPUTS.arrays(args)
        return bool(W1.shape[1] == len(q) + K.shape[1])

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        first, second, even, other = draw_sizes(
            seed, unequal_sizes(4), unequal_sizes(4), integers(2, 4), integers(2, 3), different=2
        )
        public = plan.add_public({"even": _EVEN, "uneven": _UNEVEN})
        # two of unequal sizes, one with dq = dk and da = dq + dk, one with dq = dk alone
        even_sizes = [(other, even, even, 2 * even), (other + 1, other, other, other + 2)]
        samples = [_draw(values, sizes) for sizes in (first, second, *even_sizes)]
        members = plan.add_ordinary(samples)
        _add_bounds(plan, [*public, *members])
        _add_silent(plan, samples)
        for place, (member, arrays) in enumerate(zip(members, samples, strict=True)):
            q, K, W1, w2 = arrays
            due = np.tanh(W1[:, : len(q)] @ q + K @ W1[:, len(q) :].T) @ w2
            plan.judge("agrees", member, cases="split", due=due)
            add_key_relations(plan, member, place, arrays, values)
            add_tanh_relations(plan, member, place, arrays, values)
        add_saturated(plan, [_EVEN, *samples])
        plan.add_contract(_EVEN, samples[2], samples[:2])
        self.add_gradients(plan, _EVEN, samples[:2], values)
        q, K, W1, w2 = _UNEVEN
        refusals = {
            "query-too-short": (q[:2], K, W1, w2),
            "too-few-columns": (q, K, W1[:, :4], w2),
            "w2-too-short": (q, K, W1, w2[:2]),
        }
        plan.add_refusals(refusals, _INPUTS.letters, _UNEVEN)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(first, values))
        plan.add_again(public[0], "even-again")

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


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


def _draw(values: ExactValues, sizes: Sizes) -> Sample:
    """Return arguments whose sums stay where tanh is neither straight nor flat."""
    n, dq, dk, da = sizes
    q, K = values.distinct(1, (dq,)), values.eighths(1, (n, dk))
    K[:, 0] = spread(n) / 4 - 0.5  # no two keys are equal
    W1 = values.eighths(1, (da, dq + dk))
    W1[:, 0] += spread(da) / 8 + 0.125
    return q, K, W1, values.distinct(2, (da,))


def _add_bounds(plan: PlanBuilder, members: list[int]) -> None:
    # no tanh leaves [-1, 1], so no score leaves the sum of |w2|
    for member in members:
        bound = float(np.abs(plan.argument(member, 3)).sum())
        plan.judge("within", member, low=-bound, high=bound)


def _add_silent(plan: PlanBuilder, samples: list[Sample]) -> None:
    # some columns of W1 are zero: what remains has a formula of its own
    for place, (q, K, W1, w2) in enumerate([_EVEN, *samples]):
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


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones, mat = np.array([1.0]), np.array([[1.0]])
    numbers = ((1, 0, 1, 0, 1), (0, 1, 0, 1, 1), (1, 1, 1, 1, 1), (1, 2, 2, 1, 2), (1, 1, 1, 0, 2))
    for q, k, left, right, w in numbers:
        yield q * ones, k * mat, np.array([[float(left), float(right)]]), w * ones
    yield ones, np.array([[1.0], [0.0]]), np.array([[1.0, 1.0]]), ones
    yield ones, mat, np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, 1.0])
    yield _EVEN
    yield _UNEVEN
    for height in (1000.0, -1000.0):
        yield height * ones, mat, np.array([[1.0, 1.0]]), ones
    yield single(ones, mat, np.array([[1.0, 1.0]]), ones)
    yield single(*_EVEN)


exercise = _Concat()
