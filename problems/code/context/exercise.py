"""``context(weights, H)``: S0 (1)=(6), the weighted sum of the encoder states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    misfits,
    single,
    unequal_sizes,
)


def _size(arrays: Sequence[Floats]) -> Rounding:
    weights, H = arrays
    largest = float((np.abs(weights) @ np.abs(H)).max(initial=0.0))
    return Rounding(1.0, H.shape[0], largest)


_INPUTS = ArrayInputs(("weights", "H"), (".n", "nd"), "context", _size)


class _Context(ArrayExercise):
    inputs = _INPUTS

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        sizes = unequal_sizes(2, among=(3, 4, 5, 6))
        first, second, square, batch = draw_sizes(
            seed, sizes, sizes, integers(3, 5), integers(2, 3), different=2
        )
        public = plan.add_public({"square": (_W, _H), "rect": (_W4, _H4)})
        _judge_range(plan, public)
        sizes_by_name = {"first": first, "second": second, "square-more": (square, square)}
        hidden = _add_ordinary(plan, sizes_by_name, values)
        _add_special(plan, hidden, values)
        _add_relations(plan, hidden, values)
        _add_batches(plan, (first, second), batch, values)
        samples = [plan.arguments(member) for member in hidden]
        plan.add_contract((_W, _H), samples[2], samples[:2])
        _add_large(plan, samples)
        self.add_gradients(plan, (_W, _H), samples, values)
        refusals: dict[str, Sequence[Argument]] = {
            "too-few": (_W[:2], _H),
            "too-many": (np.append(_W, _W), _H),
        }
        refusals |= {f"rows-{name}": args for name, args in misfits(("mn", "nd"), (_W[None], _H)).items()}
        plan.add_refusals(refusals, ("n", "nd"), (_W4, _H4))
        plan.add_beyond_blocks(partial(_any, values), beyond_blocks(first, values))
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


Sizes = tuple[int, int]  # n states, d features

_W = np.array([0.5, 0.25, 0.25])
_H = np.array([[1.0, 0.0, 2.0], [0.0, 4.0, 1.0], [-1.0, 2.0, 3.0]])
_W4 = np.array([0.125, 0.5, 0.125, 0.25])
_H4 = np.array([[8.0, 0.0], [2.0, -4.0], [0.0, 8.0], [4.0, 4.0]])


def _weights(values: ExactValues, shape: tuple[int, ...]) -> Floats:
    return values.weights(shape, step=16, noise=7, total=1024)


def _any(values: ExactValues, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    # weights of both signs, which sum to anything: the function must not count on softmax weights
    n, d = sizes
    return values.distinct(2, (n,)), values.distinct(8, (n, d))


def _judge_range(plan: PlanBuilder, members: list[int]) -> None:
    for member in members:
        H = plan.argument(member, 1)
        plan.judge("within", member, low=H.min(axis=0), high=H.max(axis=0))


def _add_ordinary(plan: PlanBuilder, sizes: Mapping[str, Sizes], values: ExactValues) -> list[int]:
    members = []
    for name, (n, d) in sizes.items():
        members.append(plan.case(name, _weights(values, (n,)), values.distinct(8, (n, d))))
    plan.judge_each(("shape", "values"), members)
    _judge_range(plan, members)
    return members


def _add_special(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    # weights that say what the result must be: a single 1, all equal, and sums other than 1
    plan.judge("agrees", plan.case("one-hot", np.eye(4)[1], _H4, public=True), cases="one-hot", due=_H4[1])
    even = np.full(4, 0.25)
    plan.judge("agrees", plan.case("even", even, _H4, public=True), cases="mean", due=_H4.mean(axis=0))
    for place, member in enumerate(hidden):
        H = plan.argument(member, 1)
        chosen = int(values.integers(0, len(H) - 1, (1,))[0])
        hot = plan.case(f"one-hot-{place}", np.eye(len(H))[chosen], H)
        plan.judge("agrees", hot, cases="one-hot", due=H[chosen])
        same = plan.case(f"even-{place}", np.full(len(H), 1.0 / len(H)), H)
        plan.judge("agrees", same, cases="mean", due=H.mean(axis=0))
    public = plan.case("sum-of-two", 2 * _W4, _H4, public=True)
    members = [public]
    for place, member in enumerate(hidden):
        H = plan.argument(member, 1)
        members.append(plan.case(f"any-sum-{place}", values.distinct(2, (len(H),)), H))
    plan.judge_each("values", members, cases="any-sum")


def _add_relations(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    for place, member in enumerate(hidden):
        w, H = plan.arguments(member)
        order = values.order(len(H))
        plan.judge("joint-perm", member, plan.case(f"permuted-{place}", w[order], H[order]))
        other = values.distinct(2, w.shape) / 7  # no multiples of 1/8: lost precision shows
        second = plan.case(f"other-weights-{place}", other, H)
        mixed = plan.case(f"mixed-weights-{place}", 2 * w + other, H)
        plan.judge("linear-v", member, second, mixed, cases="weights", factors=(2.0, 1.0))
        states = values.distinct(8, H.shape)
        second = plan.case(f"other-states-{place}", w, states)
        mixed = plan.case(f"mixed-states-{place}", w, 2 * H + states)
        plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))
        off = w.copy()
        off[-1] = 0.0  # what a state of weight 0 holds doesn't count
        changed = H.copy()
        changed[-1] += 64.0
        without = plan.case(f"last-off-{place}", off, H)
        plan.judge("mask-irrel", without, plan.case(f"last-changed-{place}", off, changed))


def _add_batches(plan: PlanBuilder, sizes: Sequence[Sizes], batch: int, values: ExactValues) -> None:
    members = []
    for place, (n, d) in enumerate(sizes):
        w, H = _weights(values, (batch, n)), values.distinct(8, (n, d))
        whole = plan.case(f"batch-{place}", w, H, kind="batch")
        parts = [plan.case(f"batch-{place}-{b}", w[b], H) for b in range(batch)]
        plan.judge("batch", whole, *parts)
        members.append(whole)
    n, d = sizes[0]
    H = values.distinct(8, (n, d))
    members += [
        plan.case("batch-square", _weights(values, (n, n)), values.distinct(8, (n, n)), kind="batch"),
        *(
            plan.case(f"batch-deep-{place}", _weights(values, (*lead, n)), H, kind="batch")
            for place, lead in enumerate(((2, 3), (1, 2), (2, 1, 2)))
        ),
        plan.case("batch-public", np.array([_W4, _W4[::-1]]), _H4, kind="batch", public=True),
    ]
    plan.judge_each("values", members, cases="batch")
    for name, lead in (("empty", (0,)), ("empty-deep", (2, 0))):
        plan.judge("empty", plan.case(name, np.zeros((*lead, n)), H, kind="empty"))


def _add_large(plan: PlanBuilder, samples: list[tuple[Floats, Floats]]) -> None:
    for place, (w, H) in enumerate(samples):
        member = plan.case(f"large-{place}", w, 1024.0 * H, kind="large")
        plan.judge("values", member, cases="large")


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    half, pair = np.array([0.5, 0.5]), np.array([[2.0], [0.0]])
    yield np.array([2.0]), np.array([[1.0]])
    for weights in (half, np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.25, 0.75]), 2 * half):
        yield weights, pair
    yield np.array([0.25, 0.75]), np.array([[1.0, 2.0], [3.0, 0.0]])
    yield _W4, _H4
    yield _W, _H
    yield half[np.newaxis], pair
    yield np.array([[0.25, 0.75], [1.0, 0.0]]), pair
    yield np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 0.0]])
    yield np.stack([[_W4, _W4[::-1]]]), _H4
    yield single(half, pair)
    yield single(_W4, _H4)


exercise = _Context()
