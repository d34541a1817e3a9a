"""``self_attention(X, Wq, Wk, Wv, causal=False)``: S2 section 4, the scale of S4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.exercises.by_hand import (
    LOW,
    Argument,
    ArrayExercise,
    ArrayInputs,
    ExactValues,
    Floats,
    PlanBuilder,
    Rounding,
    beyond_blocks,
    billions,
    draw_sizes,
    integers,
    single,
    spread,
)

Sizes = tuple[int, int, int, int]  # n tokens, d, dk, dv
Sample = tuple[Floats, Floats, Floats, Floats]


def _size(args: Sequence[Any]) -> Rounding:
    X, Wq, Wk, Wv = (np.abs(array) for array in args[:4])
    scores = (X @ Wq) @ (X @ Wk).T / math.sqrt(Wk.shape[1])
    terms = len(X) + X.shape[1] + Wk.shape[1]
    return Rounding(float(scores.max(initial=0.0)), terms, float((X @ Wv).max(initial=0.0)))


_NAMES = ("X", "Wq", "Wk", "Wv", "causal")
_INPUTS = ArrayInputs(_NAMES, ("nd", "dk", "dk", "dv"), "self_attention", _size)


class _SelfAttention(ArrayExercise):
    inputs = _INPUTS

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        from hypothesis import strategies as st

        # Fewer than three tokens show no causal mask. Filtered before it is a tuple: the other way round
        # hypothesis draws something else, and a class that is graded already would meet other inputs.
        sizes = st.permutations((2, 3, 4, 5)).filter(lambda order: order[0] >= 3).map(tuple)
        first, second, third, square = draw_sizes(seed, sizes, sizes, sizes, integers(3, 4), different=3)
        public = plan.add_public({"square": _SQUARE, "rect": _RECT})
        samples = [_draw(values, sizes) for sizes in (first, second, third, (square,) * 4)]
        members = plan.add_ordinary(samples)
        for place, inputs in enumerate([_SQUARE, _RECT, *samples]):
            _add_weights(plan, place, inputs)
            _add_mixtures(plan, place, inputs)
            _add_causal(plan, place, inputs)
        for place, (member, inputs) in enumerate(zip(members, samples, strict=True)):
            _add_relations(plan, member, place, inputs, values)
        _add_large(plan, samples)
        _add_low(plan, values)
        plan.add_contract(_RECT, samples[3], samples[:2])
        low = plan.case("causal-single", *single(*samples[2]), True, kind="precision")
        plan.judge_each(("precision", "dtype"), [low])
        self.add_gradients(plan, _SQUARE, [samples[0], (*samples[1], True)], values)
        X, Wq, Wk, Wv = _RECT
        narrow = {"keys-narrow": (X, Wq, Wk[:, :1], Wv), "tokens-narrow": (X[:, :2], Wq, Wk, Wv)}
        plan.add_refusals({**narrow, **_two_sizes()}, _INPUTS.letters, _RECT)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(first, values))
        longest = beyond_blocks(second, values)[::4]
        plan.add_beyond_blocks(partial(_draw_causal, values), longest, "longer-causal", "causal")
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_SQUARE = (
    np.array([[1.0, 0.0], [0.0, 2.0]]),
    np.array([[1.0, 1.0], [0.0, 1.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([[2.0, 0.0], [1.0, -1.0]]),
)
_RECT = (
    np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, -1.0], [0.0, 1.0, 1.0]]),
    np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]]),
    np.array([[1.0], [2.0], [-1.0]]),
)


def _two_sizes() -> dict[str, tuple[Argument, ...]]:
    # each of the two sizes fits two of the arrays: who compares in pairs must compare enough of them
    X, Wq, Wk, Wv = _RECT
    q, k, v = (np.vstack([W, W[:1]]) for W in (Wq, Wk, Wv))
    return {"tall-q-k": (X, q, k, Wv), "tall-q-v": (X, q, Wk, v), "tall-k-v": (X, Wq, k, v)}


def _draw(values: ExactValues, sizes: Sizes) -> Sample:
    n, d, dk, dv = sizes
    X = values.eighths(1, (n, d))
    X[:, 0] = (spread(n) - 1) / 2  # no two tokens alike
    Wq, Wk = values.eighths(1, (d, dk)), values.eighths(1, (d, dk))
    Wq[0, 0], Wk[0, 0] = 1.0, -1.0
    return X, Wq, Wk, values.distinct(3, (d, dv))


def _draw_causal(values: ExactValues, sizes: Sizes) -> tuple[Argument, ...]:
    return (*_draw(values, sizes), True)


def _scores(X: Floats, Wq: Floats, Wk: Floats) -> Floats:
    return np.asarray((X @ Wq) @ (X @ Wk).T / math.sqrt(Wk.shape[1]))


def _add_weights(plan: PlanBuilder, place: int, inputs: Sample) -> None:
    # every token carries its own unit vector, and the values are those: the output is the weights
    X, Wq, Wk, _ = inputs
    n, d = X.shape
    marked = np.hstack([X, np.eye(n)])
    blind = np.zeros((n, Wq.shape[1]))
    units = np.vstack([np.zeros((d, n)), np.eye(n)])
    args = (marked, np.vstack([Wq, blind]), np.vstack([Wk, blind]), units)
    member = plan.case(f"weights-{place}", *args, public=place < 2)
    scores = _scores(X, Wq, Wk)
    plan.judge_each(("order", "logratio", "nonneg"), [member], scores=scores, axis=-1)
    plan.judge("sum1", member, axis=-1)


def _add_mixtures(plan: PlanBuilder, place: int, inputs: Sample) -> None:
    X, Wq, Wk, Wv = inputs
    public = place < 2
    plan.judge("hull", plan.case(f"inside-{place}", *inputs, public=public), mixed=X @ Wv)
    ones = X.copy()
    ones[:, -1] = 1.0
    only = np.zeros_like(Wv)
    only[-1] = np.arange(Wv.shape[1]) + 2.0
    equal = plan.case(f"equal-values-{place}", ones, Wq, Wk, only, public=public)
    plan.judge("const-v", equal, mixed=ones @ only)
    blank = plan.case(f"equal-keys-{place}", X, Wq, 0 * Wk, Wv, public=public)
    plan.judge("same-keys", blank, mixed=X @ Wv)
    lone = plan.case(f"one-token-{place}", X[1:2], Wq, Wk, Wv, public=public)
    plan.judge("one-key", lone, mixed=X[1:2] @ Wv)


def _add_causal(plan: PlanBuilder, place: int, inputs: Sample) -> None:
    X, Wq, Wk, Wv = inputs
    public = place < 2
    causal = plan.case(f"causal-{place}", *inputs, True, public=public)
    full = plan.case(f"not-causal-{place}", *inputs, False, public=public)
    plan.judge("values", causal, cases="causal")
    plan.judge_each("shape", [causal, full])
    plan.judge("first-alone", causal, due=X[0] @ Wv)
    plan.judge("last-sees-all", causal, full)
    for count in range(1, len(X)):
        short = plan.case(f"prefix-{place}-{count}", X[:count], Wq, Wk, Wv, True, public=public)
        plan.judge("prefix", causal, short)


def _add_relations(plan: PlanBuilder, member: int, place: int, inputs: Sample, values: ExactValues) -> None:
    X, Wq, Wk, Wv = inputs
    order = values.order(len(X))
    moved = plan.case(f"tokens-moved-{place}", X[order], Wq, Wk, Wv)
    plan.judge("perm-eq", member, moved, order=order, axis=0)
    tiled = plan.case(f"tiled-{place}", X, np.tile(Wq, (1, 4)), np.tile(Wk, (1, 4)), Wv)
    plan.judge("tile-law", tiled, plan.case(f"doubled-{place}", X, 2 * Wq, Wk, Wv))
    other = values.eighths(3, Wv.shape)
    second = plan.case(f"other-values-{place}", X, Wq, Wk, other)
    mixed = plan.case(f"mixed-values-{place}", X, Wq, Wk, 2 * Wv + other)
    plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))
    swapped = (X, Wk, Wq, Wv)
    plan.judge("values", plan.case(f"roles-{place}", *swapped), cases="roles")


def _add_large(plan: PlanBuilder, samples: list[Sample]) -> None:
    # scores that exp can't hold; a softmax that rounds differently still ends near the same mixture
    for place, (X, Wq, Wk, Wv) in enumerate([_RECT, *samples]):
        for flag in (False, True):
            loud = (X, 1024.0 * Wq, 2.0 * Wk, Wv, flag)
            member = plan.case(f"loud-{place}-{flag}", *loud, kind="large", public=place == 0)
            # zeros are in place too: a token that sees nothing, by a slip of the mask, is for other checks
            mixed = np.vstack([X @ Wv, np.zeros(Wv.shape[1])]) if flag else X @ Wv
            plan.judge("stable", member, mixed=mixed)
    X, Wq, Wk, Wv = billions()
    member = plan.case("billions", X, Wq, Wk, Wv, False, kind="large", public=True)
    plan.judge("stable", member, mixed=(X @ Wv)[1:])


def _add_low(plan: PlanBuilder, values: ExactValues) -> None:
    # scores lie far below 0 for what a position sees, and are higher for what comes later
    n = 4
    X = np.column_stack([np.arange(n, 0.0, -1.0), np.ones(n), values.distinct(2, (n,))])
    for height in LOW:
        Wq, Wk = np.array([[0.0], [-1.0], [0.0]]), np.array([[height], [0.0], [0.0]])
        Wv = np.array([[0.0], [0.0], [1.0]])
        whole = plan.case(f"low-{height:.0e}", X, Wq, Wk, Wv, True, kind="large")
        for count in range(1, n):
            short = plan.case(f"low-{height:.0e}-{count}", X[:count], Wq, Wk, Wv, True, kind="large")
            plan.judge("prefix", whole, short)


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones, zero = np.array([[1.0]]), np.array([[0.0]])
    two = np.array([[0.0], [1.0]])
    for x in (ones, two, 2 * two, np.array([[1.0], [2.0]])):
        yield x, ones, ones, ones
        yield x, ones, zero, ones
        yield x, 2 * ones, ones, ones
        yield x, ones, ones, 2 * ones
    for x in (ones, two, 2 * two, two[::-1].copy(), np.array([[0.0], [1.0], [2.0]])):
        yield x, ones, ones, ones, True
    yield two, np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]), ones
    yield two, np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]]), ones, True
    yield np.array([[0.0, 0.0], [0.0, 1.0]]), np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1))
    yield np.array([[0.0, 0.0], [0.0, 1.0]]), np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), True
    yield 100 * two, 10 * ones, ones, ones
    yield 100 * two, 10 * ones, ones, ones, True
    for inputs in (_SQUARE, _RECT):
        yield inputs
        yield (*inputs, True)
    for args in ((ones, ones, ones, ones), (two, ones, ones, ones), _SQUARE):
        yield single(*args)
    yield (*single(two, ones, ones, ones), True)


exercise = _SelfAttention()
