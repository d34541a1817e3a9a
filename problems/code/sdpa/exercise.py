"""``sdpa(Q, K, V, mask=None)``: S4 "scaled dot product"; Vaswani et al. 2017, eq. (1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    draw_sizes,
    half,
    integers,
    misfits,
    single,
    unequal_sizes,
)

Sizes = tuple[int, int, int, int]  # m queries, n keys, d, dv


def _rounding(args: Sequence[Any]) -> Rounding:
    Q, K, V = (np.abs(array) for array in args[:3])
    score = float((Q @ np.swapaxes(K, -1, -2)).max(initial=0.0)) / math.sqrt(Q.shape[-1])
    return Rounding(score, Q.shape[-1], float(V.max(initial=0.0)), keys=K.shape[-2])


_INPUTS = ArrayInputs(("Q", "K", "V", "mask"), (".md", ".nd", ".nv"), "sdpa", _rounding)


class _Sdpa(ArrayExercise):
    inputs = _INPUTS

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        if not _INPUTS.fits(args):
            return False
        Q, K, V = _INPUTS.arrays(args)
        if not Q.shape[:-2] == K.shape[:-2] == V.shape[:-2]:
            return False
        full = (*Q.shape[:-1], K.shape[-2])
        return all(mask.shape in (full, full[-2:]) for mask in _masks(args))

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        axes = _INPUTS.axes(args)[:3]
        lead = axes[0][:-2]
        return (*axes, *((*lead[: mask.ndim - 2], "m", "n") for mask in _masks(args)))

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        sizes = [unequal_sizes(4)] * 3
        *three, masked, batch, height = draw_sizes(
            seed, *sizes, unequal_sizes(4, least={1: 3}), integers(2, 3), integers(8, 12), different=3
        )
        first, second, third = three
        public = plan.case("square", _Q, _K, _V, public=True)
        plan.judge("runs", public)
        plan.judge_each(("shape", "values", "hull"), [public, plan.case("rect", *_RECT, public=True)])
        names = ("first", "second", "third")
        hidden = [plan.case(name, *_draw(values, shape)) for name, shape in zip(names, three, strict=True)]
        plan.judge_each(("shape", "values", "hull"), hidden)
        _add_weights(plan, second, values)
        _add_values(plan, hidden, third, values)
        _add_keys(plan, hidden, first, third, values)
        _add_orders(plan, hidden, values)
        _add_batches(plan, first, batch, values)
        _add_masks(plan, hidden, masked, first, batch, values)
        _add_hidden_keys(plan, masked, values)
        _add_large(plan, three, height, values)
        _add_precisions(plan, first, third, values)
        _add_halves(plan, first, masked, values)
        _add_layouts(plan, hidden, values)
        # every query sees something: what a program makes of the others' gradients is its own affair
        mild = _draw_mild(values, masked)
        inputs: dict[str, tuple[Argument, ...]] = {"rect": _RECT, "other": _draw(values, second)}
        inputs["masked"] = (*mild, values.partial_mask(masked[:2]))
        for name, args in inputs.items():
            cotangent = values.eighths(1, self.expected(args).values.shape)
            # entries of at most 8: sums of a few hundred products, each rounded at 1e-15
            self.add_gradient(plan, f"{name}-gradient", args, cotangent, public=name == "rect", slack=1e-8)
        _add_refused(plan)
        plan.add_beyond_blocks(partial(_draw_small_scores, values), beyond_blocks(first, values))
        plan.add_again(public)
        plan.judge("values", plan.case("rows-apart", *_APART, kind="large", public=True), cases="rows-apart")

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


# canonical inputs, public: small numbers that a person can follow
_Q = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, -1.0]])
_K = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
_V = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [-1.0, 1.0, 0.0]])
_Q4 = np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, -1.0, 1.0]])
_K4 = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, -1.0]])
_V2 = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 4.0]])
_RECT = (_Q4, _K4, _V2)
# one query's scores lie far above 0, the other's far below: each needs its own largest
_APART = (
    np.array([[1000.0, 0.0, 0.0, 1.0], [-1000.0, 0.0, 0.0, 1.0]]),
    np.array([[4.0, 1.0, 0.0, 0.0], [4.0, 0.0, 1.0, 1.0], [4.0, 1.0, 1.0, 2.0]]),
    _V2,
)
_CAUSAL = np.tril(np.ones((3, 3), dtype=bool))


def _masks(args: tuple[Argument, ...]) -> list[NDArray[Any]]:
    return [mask for mask in _INPUTS.options(args) if isinstance(mask, np.ndarray)]


def _scores(Q: Floats, K: Floats) -> Floats:
    return np.asarray(Q @ K.T / math.sqrt(Q.shape[-1]))


def _draw(values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> tuple[Floats, Floats, Floats]:
    """Return Q, K and V, no two entries of V equal."""
    m, n, d, dv = sizes
    Q, K = values.eighths(2, (*lead, m, d)), values.eighths(2, (*lead, n, d))
    return Q, K, values.distinct(8, (*lead, n, dv))


def _draw_small_scores(values: ExactValues, sizes: Sizes) -> tuple[Floats, Floats, Floats]:
    """Return inputs whose scores stay small however many features there are: every key counts."""
    Q, K, V = _draw(values, sizes)
    return Q / math.sqrt(sizes[2]), K, V


def _draw_mild(values: ExactValues, sizes: Sizes) -> tuple[Floats, Floats, Floats]:
    m, n, d, dv = sizes
    return values.eighths(1, (m, d)), values.eighths(1, (n, d)), values.eighths(2, (n, dv))


def _draw_loud(values: ExactValues, sizes: Sizes, height: float) -> tuple[Floats, Floats, Floats]:
    """Return inputs of which every query meets scores at both ends."""
    Q, K, V = _draw(values, sizes)
    Q[:, 0] = np.abs(Q[:, 0]) + 1.0
    K[:, 0] = np.where(np.arange(len(K)) % 2 == 0, 8.0, -8.0)
    Q[:, 0] *= height
    return Q, K, V


def _add_weights(plan: PlanBuilder, sizes: Sizes, values: ExactValues) -> None:
    # with the unit matrix as values the output is the weights themselves
    Q, K, _ = _draw(values, sizes)
    for name, q, k, public in (("unit-values", _Q4, _K4, True), ("unit-more", Q, K, False)):
        member = plan.case(name, q, k, np.eye(len(k)), public=public)
        plan.judge_each(("order", "logratio", "nonneg"), [member], scores=_scores(q, k), axis=-1)
        plan.judge("sum1", member, axis=-1)


def _add_values(plan: PlanBuilder, hidden: list[int], sizes: Sizes, values: ExactValues) -> None:
    constant = np.tile(np.array([[3.0, -1.0]]), (3, 1))
    plan.judge("const-v", plan.case("equal-values", _Q4, _K4, constant, public=True))
    Q, K, V = _draw(values, sizes)
    plan.judge("const-v", plan.case("equal-more", Q, K, np.tile(V[:1], (len(V), 1))))
    Q, K, V = plan.arguments(hidden[1])
    other = values.eighths(4, V.shape)
    second, mixed = plan.case("other-values", Q, K, other), plan.case("mixed-values", Q, K, 2 * V - other)
    plan.judge("linear-v", hidden[1], second, mixed, factors=(2.0, -1.0))


def _add_keys(plan: PlanBuilder, hidden: list[int], first: Sizes, third: Sizes, values: ExactValues) -> None:
    plan.judge("same-keys", plan.case("equal-keys", _Q4, np.tile(_K4[:1], (3, 1)), _V2, public=True))
    Q, K, V = _draw(values, first)
    plan.judge("same-keys", plan.case("equal-keys-more", Q, np.tile(K[:1], (len(K), 1)), V))
    plan.judge("one-key", plan.case("one-key", Q, K[:1], V[:1]))
    visible = np.ones((len(Q), 1), dtype=bool)
    plan.judge("one-key", plan.case("one-key-visible", Q, K[:1], V[:1], visible, kind="masked"))
    Q, K, V = plan.arguments(hidden[0])
    moved = plan.case("keys-moved", Q, K + values.distinct(4, (1, K.shape[1])), V)
    plan.judge("key-shift", hidden[0], moved)
    m, n, d, _ = third
    Q, K = values.integers(-1, 1, (m, d)) / 8, values.integers(-1, 1, (n, d)) / 8
    Q[:, 0], K[:, 0] = 0.5, np.arange(n) / 2  # scores that differ, but leave no weight near 0 or 1
    V = plan.argument(hidden[2], 2)
    tiled = plan.case("tiled", np.tile(Q, (1, 4)), np.tile(K, (1, 4)), V)
    plan.judge("tile-law", tiled, plan.case("doubled", 2 * Q, K, V))


def _add_orders(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    Q, K, V = plan.arguments(hidden[0])
    order = values.order(len(K))
    plan.judge("joint-perm", hidden[0], plan.case("keys-permuted", Q, K[order], V[order]))
    order = values.order(len(Q))
    moved = plan.case("queries-permuted", Q[order], K, V)
    plan.judge("perm-eq", hidden[0], moved, order=order, axis=0)


def _add_batches(plan: PlanBuilder, sizes: Sizes, batch: int, values: ExactValues) -> None:
    Q, K, V = _draw(values, sizes, (batch,))
    whole = plan.case("batch", Q, K, V, kind="batch")
    plan.judge("batch", whole, *(plan.case(f"batch-{b}", Q[b], K[b], V[b]) for b in range(batch)))
    Q, K, V = _draw(values, (3, 2, 5, 4), (2, 3))
    heads = plan.case("batch-heads", Q, K, V, kind="batch")
    pairs = [(a, b) for a in range(2) for b in range(3)]
    parts = [plan.case(f"batch-heads-{a}-{b}", Q[a, b], K[a, b], V[a, b]) for a, b in pairs]
    plan.judge("batch", heads, *parts)
    plan.judge_each("values", [whole, heads], cases="batch")


def _add_masks(
    plan: PlanBuilder, hidden: list[int], masked: Sizes, first: Sizes, batch: int, values: ExactValues
) -> None:
    inputs: dict[str, tuple[NDArray[Any], ...]] = {"square-causal": (_Q, _K, _V, _CAUSAL)}
    for name, sizes in (("masked", masked), ("masked-more", first)):
        inputs[name] = (*_draw(values, sizes), values.partial_mask(sizes[:2]))
    members = []
    for name, (Q, K, V, mask) in inputs.items():
        public = name == "square-causal"
        members.append(plan.case(name, Q, K, V, mask, kind="masked", public=public))
        rows = [
            plan.case(f"{name}-row-{i}", Q[i : i + 1], K[visible], V[visible], public=public)
            for i, visible in enumerate(mask)
        ]
        plan.judge("alone", members[-1], *rows)
    plan.judge_each(("hull", "dtype"), members)  # a program may go other ways with a mask
    plan.judge_each("values", members, cases="masked")
    Q, K, V = _draw(values, masked, (batch,))
    m, n = masked[:2]
    each = np.stack([values.partial_mask((m, n)) for _ in range(batch)])
    for name, mask in (("masked-batch", each.copy()), ("masked-shared", each[0].copy())):
        _add_masked_batch(plan, name, (Q, K, V, mask))
    full = _CAUSAL.copy()
    full[1] = False
    member = plan.case("square-all-hidden", _Q, _K, _V, full, kind="all-hidden", public=True)
    plan.judge("fullmask", member, rows=(1,))
    each[:, m - 1] = False  # the last query of every part
    hidden_row = plan.case("all-hidden", Q[0], K[0], V[0], each[0], kind="all-hidden")
    plan.judge("fullmask", hidden_row, rows=(m - 1,))
    _add_masked_batch(plan, "all-hidden-batch", (Q, K, V, each))
    Q, K, V = plan.arguments(hidden[2])
    everything = np.ones((len(Q), len(K)), dtype=bool)
    plan.judge("all-true", hidden[2], plan.case("all-visible", Q, K, V, everything, kind="masked"))


def _add_masked_batch(plan: PlanBuilder, name: str, args: tuple[NDArray[Any], ...]) -> None:
    # a batch is judged by its parts, so that a mistake with masks costs nothing here
    Q, K, V, mask = args
    kind = "all-hidden" if name.startswith("all-hidden") else "masked"
    whole = plan.case(name, *args, kind=kind)
    masks = [mask] * len(Q) if mask.ndim == 2 else mask
    parts = [
        plan.case(f"{name}-{b}", *part, kind=kind) for b, part in enumerate(zip(Q, K, V, masks, strict=True))
    ]
    plan.judge("batch", whole, *parts)


def _add_hidden_keys(plan: PlanBuilder, sizes: Sizes, values: ExactValues) -> None:
    m, n, d, _ = sizes
    Q, K, V = _draw(values, sizes)
    Q[:, 0] = np.abs(Q[:, 0]) + 1.0  # so that the hidden key below scores high with every query
    visible = np.ones(n, dtype=bool)
    visible[values.integers(0, n - 1, (1,))] = False
    mask = np.tile(visible, (m, 1))
    base = plan.case("key-hidden", Q, K, V, mask, kind="masked")
    plan.judge("subset", base, plan.case("key-left-out", Q, K[visible], V[visible]))
    for height in LOW:
        low, under = Q.copy(), K.copy()
        low[:, 0], under[:, 0] = height, np.where(visible, -1.0, 0.0)
        whole = plan.case(f"low-{height:.0e}", low, under, V, mask, kind="large")
        short = plan.case(f"low-out-{height:.0e}", low, under[visible], V[visible], kind="large")
        plan.judge("subset", whole, short)
    other = np.where(visible[:, None], V, 1e4)
    plan.judge("mask-irrel", base, plan.case("hidden-value", Q, K, other, mask, kind="masked"))
    loud = np.where(visible[:, None], K, np.where(np.arange(d) == 0, 1e4, 0.0))
    plan.judge("mask-irrel", base, plan.case("hidden-key", Q, loud, other, mask, kind="masked"))


def _add_large(plan: PlanBuilder, three: list[Sizes], height: float, values: ExactValues) -> None:
    # scores beyond what exp can hold
    members = [plan.case("loud", 1000 * _Q4, 2 * _K4, _V2, kind="large", public=True)]
    for name, sizes in zip(("loud-more", "loud-other"), three[:2], strict=True):
        members.append(plan.case(name, *_draw_loud(values, sizes, 100.0 * height), kind="large"))
    arrays = single(*_draw_loud(values, three[2], 10.0 * height))
    members.append(plan.case("loud-single", *arrays, kind="large"))
    plan.judge_each("stable", members)


def _add_precisions(plan: PlanBuilder, first: Sizes, third: Sizes, values: ExactValues) -> None:
    arrays = [_draw(values, sizes) for sizes in (first, third)]
    members = [
        plan.case("rect-single", *single(*_RECT), kind="precision", public=True),
        plan.case("single-single", *single(*arrays[0]), kind="precision"),
        plan.case("more-single", *single(*arrays[1]), kind="precision"),
    ]
    mask = values.partial_mask(first[:2])
    members.append(plan.case("masked-single", *single(*arrays[0]), mask, kind="masked"))
    plan.judge_each(("dtype", "precision"), members)


def _add_halves(plan: PlanBuilder, plain: Sizes, masked: Sizes, values: ExactValues) -> None:
    # The entries are exact in both half precisions. Scores are mild: a right program may round each product
    # and each step of the softmax, and loses eps of a weight for each unit of its score.
    members = [plan.case("rect-half", *half(*_RECT), kind="half", public=True)]
    members += plan.add_halves("plain", _draw_mild(values, plain))
    plan.judge_each("dtype", members)
    # With a mask only values are judged: -1e9 for a hidden score, which float16 can't hold, is no matter of
    # the result's dtype.
    members += plan.add_halves("masked", (*_draw_mild(values, masked), values.partial_mask(masked[:2])))
    plan.judge_each("half", members)


def _add_layouts(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    Q, K, V = plan.arguments(hidden[0])
    mask = values.partial_mask((len(Q), len(K)))
    for layout in ("strided", "read-only"):
        for name, args in (("first", (Q, K, V)), ("masked", (Q, K, V, mask))):
            plan.judge("layout", plan.case(f"{name}-{layout}", *args, kind="layout", layout=layout))


def _add_refused(plan: PlanBuilder) -> None:
    refusals: dict[str, tuple[Argument, ...]] = {
        "sizes-differ": (_Q4, _K4[:, :3], _V2),
        "counts-differ": (_Q4, _K4, _V2[:2]),
        "mask-swapped": (*_RECT, np.ones((3, 2), dtype=bool)),
    }
    refusals |= {f"misfit-{name}": args for name, args in misfits(("md", "nd", "nv"), _RECT).items()}
    # many broadcast a mask of size 1, or without the axis of the queries: such masks aren't tried
    for name, shape in (("more-queries", (3, 3)), ("more-keys", (2, 4)), ("fewer-keys", (2, 2))):
        refusals[f"mask-{name}"] = (*_RECT, np.ones(shape, dtype=bool))
    plan.add_refusals(refusals)


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    Q, K = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    V = np.array([[1.0], [0.0]])
    hide = np.array([[True, False]])
    for q in (Q, 2 * Q):
        yield q, K, V
    yield np.array([[1.0], [0.0]]), K[:, :1], V
    yield _RECT
    yield _Q, _K, _V
    for mask in (hide, ~hide, hide & ~hide, hide | ~hide):
        yield Q, K, V, mask
    yield (*_RECT, np.array([[True, False, True], [False, True, True]]))
    yield Q, 1000 * K[::-1], V, hide
    yield 1000 * Q, 1000 * K, V
    yield 1000 * _Q4, 2 * _K4, _V2
    yield np.stack([Q, 2 * Q]), np.stack([K, K]), np.stack([V, 2 * V])
    yield np.stack([_Q4, _Q4]), np.stack([_K4, -_K4]), np.stack([_V2, _V2])
    for args in ((Q, K, V), _RECT, (100 * Q, 10 * K, V)):
        yield single(*args)
    yield single(Q, K, V, hide)
    for args in ((Q, K, V), _RECT):
        yield half(*args)


exercise = _Sdpa()
