"""``multi_head(X, Wq, Wk, Wv, Wo, h)``: Vaswani et al. 2017, section 3.2.2; S4 has the title only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

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
    billions,
    draw_sizes,
    single,
    spread,
    unequal_sizes,
)

Sizes = tuple[int, int, int, int, int]  # n tokens, d, h heads, columns of one head, columns of Wo
Sample = tuple[Floats, Floats, Floats, Floats, Floats, int]


def _size(args: Sequence[Any]) -> Rounding:
    X, Wq, Wk, Wv, Wo = (np.abs(array) for array in args[:5])
    head = Wk.shape[1] // args[5]
    scores = (X @ Wq) @ (X @ Wk).T / math.sqrt(head)
    terms = len(X) + X.shape[1] + Wk.shape[1]
    return Rounding(float(scores.max(initial=0.0)), terms, float((X @ Wv @ Wo).max(initial=0.0)))


_NAMES = ("X", "Wq", "Wk", "Wv", "Wo", "h")
_INPUTS = ArrayInputs(_NAMES, ("nd", "dm", "dm", "dm", "mo"), "multi_head", _size)


class _MultiHead(ArrayExercise):
    inputs = _INPUTS

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        """Accept sizes that fit and a number of heads that divides the columns."""
        if len(args) != len(_NAMES) or not _INPUTS.fits(args):
            return False
        h = args[5]
        return isinstance(h, int) and h >= 1 and _INPUTS.arrays(args)[1].shape[1] % h == 0

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        from hypothesis import strategies as st

        # X is as wide as all heads together; inputs of any other width have a check of their own
        heads, around = st.sampled_from([(2, 2), (2, 3), (3, 2)]), unequal_sizes(3, among=(3, 5, 7))
        sizes = st.builds(lambda h, n: (n[0], h[0] * h[1], *h, n[2]), heads, around)
        first, second, square = draw_sizes(seed, sizes, sizes, st.sampled_from([2, 4]), different=2)
        public = plan.add_public({"square": _SQUARE, "rect": _RECT, "one-head": (*_RECT[:5], 1)})
        samples = [
            _draw(values, sizes) for sizes in (first, second, (square, square, 2, square // 2, square))
        ]
        members = plan.add_ordinary(samples)
        for place, inputs in enumerate([_SQUARE, _RECT, *samples]):
            _add_heads(plan, place, inputs, values)
            _add_scale(plan, place, inputs)
            _add_weights(plan, place, inputs)
            _add_mixtures(plan, place, inputs)
        for place, (member, inputs) in enumerate(zip(members, samples, strict=True)):
            _add_relations(plan, member, place, inputs, values)
        _add_widths(plan, [first, second], values)
        for place, (X, Wq, Wk, Wv, Wo, h) in enumerate([_RECT, *samples]):
            loud = plan.case(
                f"loud-{place}", X, 1024.0 * Wq, 2.0 * Wk, Wv, np.eye(len(Wo)), h,
                kind="large", public=place == 0,
            )  # fmt: skip
            plan.judge("stable", loud, mixed=X @ Wv)
        X, Wq, Wk, Wv = billions()
        loud = plan.case("billions", X, Wq, Wk, Wv, np.eye(2), 1, kind="large", public=True)
        plan.judge("stable", loud, mixed=(X @ Wv)[1:])
        plan.add_contract(_RECT, samples[2], samples[:2])
        self.add_gradients(plan, _SQUARE, samples[:2], values)
        X, Wq, Wk, Wv, Wo, h = _RECT
        refusals: dict[str, tuple[Argument, ...]] = {
            "three-heads-of-four": (*_RECT[:5], 3),
            "three-heads-of-eight": (X, *(np.tile(W, (1, 2)) for W in (Wq, Wk, Wv)), np.tile(Wo, (2, 1)), 3),
            "no-head": (*_RECT[:5], 0),
            "keys-narrow": (X, Wq, Wk[:, :2], Wv, Wo, h),
            "tokens-narrow": (X[:, :1], Wq, Wk, Wv, Wo, h),
        }
        plan.add_refusals(refusals | _two_sizes(), _INPUTS.letters, _RECT)
        plan.add_beyond_blocks(partial(_draw_fitted, values), beyond_blocks(first, values)[:-1])
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_SQUARE: Sample = (
    np.array([[1.0, 0.0], [0.0, 2.0]]),
    np.array([[1.0, 1.0], [0.0, 1.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([[2.0, 0.0], [1.0, -1.0]]),
    np.array([[1.0, 0.0], [2.0, 1.0]]),
    2,
)
_WIDE: Sample = (
    np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]]),
    np.array([[1.0, 0.0, 1.0, -1.0], [0.0, 1.0, 0.5, 0.0]]),
    np.array([[0.0, 1.0, -1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]),
    np.array([[1.0, 2.0, 0.0, -1.0], [0.0, 1.0, 3.0, 1.0]]),
    np.array([[1.0], [0.0], [2.0], [-1.0]]),
    2,
)
_RECT: Sample = (
    np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.0], [1.0, -1.0, 0.0, 0.5]]),
    np.vstack([_WIDE[1], [[0.0, 0.0, 1.0, 0.0], [1.0, -1.0, 0.0, 0.0]]]),
    np.vstack([_WIDE[2], [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]]),
    np.vstack([_WIDE[3], [[0.0, 0.0, 1.0, 2.0], [-1.0, 1.0, 0.0, 0.0]]]),
    _WIDE[4],
    2,
)


def _two_sizes() -> dict[str, tuple[Argument, ...]]:
    # each of the two sizes fits two of the arrays: who compares in pairs must compare enough of them
    X, Wq, Wk, Wv, Wo, h = _RECT
    q, k, v = (np.vstack([W, W[:1]]) for W in (Wq, Wk, Wv))
    tall = {
        "tall-q-k": (X, q, k, Wv, Wo, h),
        "tall-q-v": (X, q, Wk, v, Wo, h),
        "tall-k-v": (X, Wq, k, v, Wo, h),
    }
    q, k, v = (np.tile(W, (1, 2)) for W in (Wq, Wk, Wv))
    o = np.tile(Wo, (2, 1))
    wide = {
        "wide-v-o": (X, Wq, Wk, v, o, h),
        "wide-k-o": (X, Wq, k, Wv, o, h),
        "wide-q-o": (X, q, Wk, Wv, o, h),
    }
    return {**tall, **wide}


def _draw(values: ExactValues, sizes: Sizes) -> Sample:
    n, d, h, size, out = sizes
    X = values.eighths(1, (n, d))
    X[:, 0] = (spread(n) - 1) / 2  # no two tokens alike
    Wq, Wk = values.eighths(1, (d, h * size)), values.eighths(1, (d, h * size))
    Wq[0] = values.integers(0, 1, (h * size,)) + 0.5
    Wk[0] = np.where(np.arange(h * size) % 2 == 0, 1.0, -1.0)
    return X, Wq, Wk, values.distinct(4, (d, h * size)), values.eighths(2, (h * size, out)), h


def _fitted(X: Floats, Wq: Floats, Wk: Floats, Wv: Floats, Wo: Floats, h: int) -> Sample:
    """Return arguments of the same result in which X is as wide as all heads together.

    Features and heads of zeros fill them up. How wide X may be otherwise is no matter of these inputs.
    """
    d, columns = Wq.shape
    size = columns // h
    width = -(-max(d, columns) // size) * size
    wider = [np.pad(W, ((0, width - d), (0, width - columns))) for W in (Wq, Wk, Wv)]
    rows = np.pad(Wo, ((0, width - columns), (0, 0)))
    return np.pad(X, ((0, 0), (0, width - d))), wider[0], wider[1], wider[2], rows, width // size


def _draw_fitted(values: ExactValues, sizes: Sizes) -> Sample:
    return _fitted(*_draw(values, sizes))


def _add_widths(plan: PlanBuilder, sizes: Sequence[Sizes], values: ExactValues) -> None:
    # X is narrower, and wider, than all heads together
    members = [plan.case("wide-heads", *_WIDE, public=True)]
    for place, (n, d, h, size, out) in enumerate(sizes):
        members += [
            plan.case(f"narrow-{place}", *_draw(values, (n, d - 1, h, size, out))),
            plan.case(f"wide-{place}", *_draw(values, (n, d + 3, h, size, out))),
        ]
    plan.judge_each("values", members, cases="width")


def _blocks(W: Floats, h: int) -> list[Floats]:
    return np.split(W, h, axis=1)


def _add_heads(plan: PlanBuilder, place: int, inputs: Sample, values: ExactValues) -> None:
    # Wo passes one head alone: what the others are must not matter; and one head is copied
    X, Wq, Wk, Wv, Wo, h = inputs
    public, size = place < 2, Wk.shape[1] // inputs[5]
    for head in range(h):
        of_head = np.arange(h * size) // size == head
        passed = np.where(of_head[:, np.newaxis], np.maximum(np.abs(Wo), 0.5), 0.0)
        args = (X, Wq, Wk, Wv, passed, h)
        alone = plan.case(f"alone-{place}-{head}", *args, public=public)
        others = [np.where(of_head, W, W[:, ::-1] + 1.0) for W in (Wq, Wk, Wv)]
        changed = plan.case(f"others-{place}-{head}", X, *others, passed, h, public=public)
        plan.judge("joint-perm", alone, changed, cases="head-alone")
        first = [block[head] for block in (_blocks(Wq, h), _blocks(Wk, h), _blocks(Wv, h))]
        single_head = _fitted(X, first[0], first[1], first[2], passed[of_head], 1)
        lone = plan.case(f"lone-{place}-{head}", *single_head, public=public)
        copied = [np.tile(block, (1, h)) for block in first]
        copies = plan.case(f"copies-{place}-{head}", X, *copied, passed, h, public=public)
        plan.judge("joint-perm", copies, lone, cases="copies")
    turned = [np.hstack(_blocks(W, h)[::-1]) for W in (Wq, Wk, Wv)]
    rows = np.vstack(np.split(Wo, h)[::-1])
    same = plan.case(f"in-order-{place}", *inputs, public=public)
    moved = plan.case(f"heads-moved-{place}", X, *turned, rows, h, public=public)
    plan.judge("joint-perm", same, moved, cases="heads-moved")


def _widened(W: Floats, h: int) -> Floats:
    # four times the columns of a head double the root that scores are divided by
    return np.hstack([np.tile(block, (1, 4)) for block in _blocks(W, h)])


def _add_scale(plan: PlanBuilder, place: int, inputs: Sample) -> None:
    X, Wq, Wk, Wv, Wo, h = inputs
    public = place == 0
    quarter = np.vstack([np.vstack([block, *[0 * block] * 3]) for block in np.split(Wo, h)])
    wide = _fitted(X, _widened(Wq, h), _widened(Wk, h), _widened(Wv, h), quarter, h)
    tiled = plan.case(f"tiled-{place}", *wide, public=public)
    plan.judge("tile-law", tiled, plan.case(f"doubled-{place}", X, 2 * Wq, Wk, Wv, Wo, h, public=public))


def _add_weights(plan: PlanBuilder, place: int, inputs: Sample) -> None:
    # the last head's values are unit vectors, and Wo passes them: the output is that head's weights
    X, Wq, Wk, Wv, _, h = inputs
    d, size = Wq.shape[0], Wq.shape[1] // h
    n = min(len(X), size)  # a head has room for as many unit vectors
    if n < 2:
        return
    marked = np.hstack([X[:n], np.eye(n)])
    blind, units = np.zeros((n, h * size)), np.zeros((d + n, h * size))
    units[:d] = Wv
    units[:, -size:] = 0.0
    units[d:, -size:] = np.eye(n, size)
    passed = np.zeros((h * size, n))
    passed[-size:] = np.eye(size, n)
    args = _fitted(marked, np.vstack([Wq, blind]), np.vstack([Wk, blind]), units, passed, h)
    member = plan.case(f"weights-{place}", *args, public=place < 2)
    scores = (X[:n] @ Wq[:, -size:]) @ (X[:n] @ Wk[:, -size:]).T / math.sqrt(size)
    plan.judge_each(("order", "logratio"), [member], scores=scores, axis=-1)
    plan.judge("sum1", member, axis=-1)


def _add_mixtures(plan: PlanBuilder, place: int, inputs: Sample) -> None:
    X, Wq, Wk, Wv, Wo, h = inputs
    public, unit = place < 2, np.eye(len(Wo))
    inside = plan.case(f"inside-{place}", X, Wq, Wk, Wv, unit, h, public=public)
    plan.judge("hull", inside, mixed=X @ Wv)
    ones = X.copy()
    ones[:, -1] = 1.0
    only = np.zeros_like(Wv)
    only[-1] = np.arange(Wv.shape[1]) + 2.0
    equal = plan.case(f"equal-values-{place}", ones, Wq, Wk, only, unit, h, public=public)
    plan.judge("const-v", equal, mixed=ones @ only)
    blank = plan.case(f"equal-keys-{place}", X, Wq, 0 * Wk, Wv, Wo, h, public=public)
    plan.judge("same-keys", blank, mixed=X @ Wv @ Wo)
    lone = plan.case(f"one-token-{place}", X[1:2], Wq, Wk, Wv, Wo, h, public=public)
    plan.judge("one-key", lone, mixed=X[1:2] @ Wv @ Wo)


def _add_relations(plan: PlanBuilder, member: int, place: int, inputs: Sample, values: ExactValues) -> None:
    X, Wq, Wk, Wv, Wo, h = inputs
    order = values.order(len(X))
    moved = plan.case(f"tokens-moved-{place}", X[order], *inputs[1:])
    plan.judge("perm-eq", member, moved, order=order, axis=0)
    other = values.eighths(3, Wv.shape)
    second = plan.case(f"other-values-{place}", X, Wq, Wk, other, Wo, h)
    mixed = plan.case(f"mixed-values-{place}", X, Wq, Wk, 2 * Wv + other, Wo, h)
    plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))
    plan.judge("values", plan.case(f"roles-{place}", X, Wk, Wq, Wv, Wo, h), cases="roles")


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones, two = np.array([[1.0]]), np.array([[0.0], [1.0]])
    pair, column = np.array([[1.0, 2.0]]), np.array([[1.0], [3.0]])
    for x in (ones, two, 2 * two):
        yield x, ones, ones, ones, ones, 1
        yield x, ones, ones, 2 * ones, ones, 1
        yield x, ones, ones, ones, 2 * ones, 1
    for x in (ones, two, 2 * two):
        for h in (1, 2):
            yield x, pair, pair, pair, column, h
            yield x, pair, np.ones((1, 2)), pair, column, h
    yield two, np.ones((1, 2)), np.ones((1, 2)), pair, column, 2
    wide = np.array([[1.0, 0.0, 2.0, 1.0]])
    yield two, wide, wide[:, ::-1].copy(), wide, np.array([[1.0], [0.0], [0.0], [0.0]]), 2
    yield two, wide, wide, wide, np.array([[0.0], [1.0], [0.0], [0.0]]), 2
    yield ones, pair, pair, pair, np.eye(2), 2
    yield ones, ones, ones, ones, pair, 1
    yield 100 * two, 10 * ones, ones, ones, ones, 1
    yield _SQUARE
    yield _RECT
    for args in ((ones, ones, ones, ones, ones, 1), (two, ones, ones, ones, ones, 1), _SQUARE):
        yield single(*args)


exercise = _MultiHead()
