"""``sdpa(Q, K, V, mask=None)``: S4 "scaled dot product"; Vaswani et al. 2017, eq. (1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument
from engine.code.families.array_family import Floats, add_longer, gradients_of, longer, misfits, single
from engine.code.families.random_values import ExactValues, draw_specs, unlike
from engine.code.families.shared_cases import (
    LOW,
    RECT,
    Sizes,
    add_halves,
    add_large,
    add_precision,
    draw_arguments,
    read_arguments,
)
from engine.code.plan import ExpectedPart, ExpectedResult, InputPlan, PlanBuilder
from engine.code.tolerance import relative_tolerance

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]


@dataclass(frozen=True, slots=True)
class SdpaSizes:
    """What hypothesis draws: sizes of the hidden inputs, all unequal within one, and mask densities."""

    first: Sizes
    second: Sizes
    third: Sizes
    masked: Sizes
    batch: int
    height: int


def _shapes() -> SearchStrategy[SdpaSizes]:
    from hypothesis import strategies as st

    sizes = st.permutations([2, 3, 4, 5]).map(tuple)
    masked = st.permutations([2, 3, 4, 5]).map(tuple).filter(lambda drawn: drawn[1] >= 3)
    return st.builds(SdpaSizes, sizes, sizes, sizes, masked, st.integers(2, 3), st.integers(8, 12)).filter(
        lambda found: unlike(found.first, found.second, found.third)
    )


class _Sdpa:
    argument_names = ("Q", "K", "V", "mask")

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        import torch

        from reference import sdpa

        Q, K, V, mask = read_arguments(args)
        q, k, v = (torch.from_numpy(array.astype(np.float64)) for array in (Q, K, V))
        values = sdpa(q, k, v, None if mask is None else torch.from_numpy(mask)).numpy()
        d = Q.shape[-1]
        size = np.abs(q.numpy()) @ np.swapaxes(np.abs(k.numpy()), -1, -2)
        score = float(size.max(initial=0.0)) / math.sqrt(d)
        relative = relative_tolerance(Q.dtype.name, keys=K.shape[-2], score=score, terms=d)
        largest = float(np.abs(v.numpy()).max(initial=0.0))
        return ExpectedResult.array(values, Q.dtype.name, relative, relative * max(largest, 1.0))

    def sound(self, args: tuple[Argument, ...]) -> bool:
        Q, K, V, mask = read_arguments(args)
        if not min(Q.size, K.size, V.size):
            return False
        fits = Q.shape[-1] == K.shape[-1] and K.shape[-2] == V.shape[-2]
        if not (fits and Q.shape[:-2] == K.shape[:-2] == V.shape[:-2]):
            return False
        full = (*Q.shape[:-1], K.shape[-2])
        return mask is None or mask.shape in (full, full[-2:])

    def plan(self, seed: bytes) -> InputPlan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], ExactValues(seed)
        plan = PlanBuilder("sdpa", self.expected)
        public = _add_public(plan)
        hidden = _add_ordinary(plan, shapes, values)
        _add_weights(plan, shapes, values)
        _add_values(plan, hidden, shapes, values)
        _add_keys(plan, hidden, shapes, values)
        _add_orders(plan, hidden, values)
        _add_batches(plan, shapes, values)
        _add_masks(plan, hidden, shapes, values)
        _add_hidden_keys(plan, shapes, values)
        add_large(plan, [shapes.first, shapes.second, shapes.third], shapes.height, values)
        add_precision(plan, [shapes.first, shapes.third], values)
        add_halves(plan, [shapes.first, shapes.masked], values)
        _add_layouts(plan, hidden, values)
        _add_gradients(plan, shapes, values)
        _add_refused(plan)
        add_longer(plan, partial(_mild, values), longer(shapes.first, values))
        again = plan.case("square-again", *(plan.argument(public, i) for i in range(3)), public=True)
        plan.judge("pure", public, again)
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        Q, _, _, mask = read_arguments(args)
        lead = tuple(f"batch {place}" for place in range(Q.ndim - 2))
        names = [(*lead, "m", "d"), (*lead, "n", "d"), (*lead, "n", "v")]
        if mask is not None:
            names.append((*lead[: mask.ndim - 2], "m", "n"))
        return tuple(names)


def _scores(Q: Floats, K: Floats) -> Floats:
    return np.asarray(Q @ K.T / math.sqrt(Q.shape[-1]))


# canonical inputs, public: small numbers that a person can follow
_Q = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, -1.0]])
_K = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
_V = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [-1.0, 1.0, 0.0]])
_Q4, _K4, _V2 = RECT


def _add_public(plan: PlanBuilder) -> int:
    square = plan.case("square", _Q, _K, _V, public=True)
    rect = plan.case("rect", _Q4, _K4, _V2, public=True)
    plan.judge("runs", square)
    for name in ("shape", "values", "hull"):
        plan.judge_each(name, [square, rect])
    return square


def _add_ordinary(plan: PlanBuilder, shapes: SdpaSizes, values: ExactValues) -> list[int]:
    drawn = zip(("first", "second", "third"), (shapes.first, shapes.second, shapes.third), strict=True)
    found = [plan.case(name, *draw_arguments(values, sizes)) for name, sizes in drawn]
    for name in ("shape", "values", "hull"):
        plan.judge_each(name, found)
    return found


def _mild(values: ExactValues, sizes: Sizes) -> tuple[Floats, Floats, Floats]:
    """Return inputs whose scores stay small however many features there are: every key counts."""
    Q, K, V = draw_arguments(values, sizes)
    return Q / math.sqrt(sizes[2]), K, V


def _add_weights(plan: PlanBuilder, shapes: SdpaSizes, values: ExactValues) -> None:
    """With the unit matrix as values the output is the weights themselves."""
    Q, K, _ = draw_arguments(values, shapes.second)
    for name, q, k, public in (("unit-values", _Q4, _K4, True), ("unit-more", Q, K, False)):
        member = plan.case(name, q, k, np.eye(len(k)), public=public)
        for judged in ("order", "logratio", "nonneg"):
            plan.judge(judged, member, scores=_scores(q, k), axis=-1)
        plan.judge("sum1", member, axis=-1)


def _add_values(plan: PlanBuilder, hidden: list[int], shapes: SdpaSizes, values: ExactValues) -> None:
    constant = np.tile(np.array([[3.0, -1.0]]), (3, 1))
    plan.judge("const-v", plan.case("equal-values", _Q4, _K4, constant, public=True))
    Q, K, V = draw_arguments(values, shapes.third)
    plan.judge("const-v", plan.case("equal-more", Q, K, np.tile(V[:1], (len(V), 1))))
    Q, K, V = (plan.argument(hidden[1], i) for i in range(3))
    other = values.eighths(4, V.shape)
    second = plan.case("other-values", Q, K, other)
    plan.judge(
        "linear-v", hidden[1], second, plan.case("mixed-values", Q, K, 2 * V - other), factors=(2.0, -1.0)
    )


def _add_keys(plan: PlanBuilder, hidden: list[int], shapes: SdpaSizes, values: ExactValues) -> None:
    plan.judge("same-keys", plan.case("equal-keys", _Q4, np.tile(_K4[:1], (3, 1)), _V2, public=True))
    Q, K, V = draw_arguments(values, shapes.first)
    plan.judge("same-keys", plan.case("equal-keys-more", Q, np.tile(K[:1], (len(K), 1)), V))
    plan.judge("one-key", plan.case("one-key", Q, K[:1], V[:1]))
    seen = np.ones((len(Q), 1), dtype=bool)
    plan.judge("one-key", plan.case("one-key-visible", Q, K[:1], V[:1], seen, aspect="masked"))
    Q, K, V = (plan.argument(hidden[0], i) for i in range(3))
    moved = plan.case("keys-moved", Q, K + values.distinct(4, (1, K.shape[1])), V)
    plan.judge("key-shift", hidden[0], moved)
    m, n, d, _ = shapes.third
    Q, K = values.integers(-1, 1, (m, d)) / 8, values.integers(-1, 1, (n, d)) / 8
    Q[:, 0], K[:, 0] = 0.5, np.arange(n) / 2  # scores that differ, but leave no weight near 0 or 1
    V = plan.argument(hidden[2], 2)
    tiled = plan.case("tiled", np.tile(Q, (1, 4)), np.tile(K, (1, 4)), V)
    plan.judge("tile-law", tiled, plan.case("doubled", 2 * Q, K, V))


def _add_orders(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    Q, K, V = (plan.argument(hidden[0], i) for i in range(3))
    order = values.order(len(K))
    plan.judge("joint-perm", hidden[0], plan.case("keys-permuted", Q, K[order], V[order]))
    order = values.order(len(Q))
    moved = plan.case("queries-permuted", Q[order], K, V)
    plan.judge("perm-eq", hidden[0], moved, order=order, axis=0)


def _add_batches(plan: PlanBuilder, shapes: SdpaSizes, values: ExactValues) -> None:
    Q, K, V = draw_arguments(values, shapes.first, (shapes.batch,))
    whole = plan.case("batch", Q, K, V, aspect="batch")
    parts = [plan.case(f"batch-{b}", Q[b], K[b], V[b]) for b in range(shapes.batch)]
    plan.judge("batch", whole, *parts)
    Q, K, V = draw_arguments(values, (3, 2, 5, 4), (2, 3))
    heads = plan.case("batch-heads", Q, K, V, aspect="batch")
    each = [plan.case(f"batch-heads-{a}-{b}", Q[a, b], K[a, b], V[a, b]) for a in range(2) for b in range(3)]
    plan.judge("batch", heads, *each)
    plan.judge_each("values", [whole, heads], cases="batch")


def _add_masks(plan: PlanBuilder, hidden: list[int], shapes: SdpaSizes, values: ExactValues) -> None:
    causal = np.tril(np.ones((3, 3), dtype=bool))
    drawn: dict[str, tuple[NDArray[Any], ...]] = {"square-causal": (_Q, _K, _V, causal)}
    for name, sizes in (("masked", shapes.masked), ("masked-more", shapes.first)):
        drawn[name] = (*draw_arguments(values, sizes), values.partial_mask((sizes[0], sizes[1])))
    members = []
    for name, (Q, K, V, mask) in drawn.items():
        public = name == "square-causal"
        members.append(plan.case(name, Q, K, V, mask, aspect="masked", public=public))
        rows = [
            plan.case(f"{name}-row-{i}", Q[i : i + 1], K[keep], V[keep], public=public)
            for i, keep in enumerate(mask)
        ]
        plan.judge("alone", members[-1], *rows)
    plan.judge_each("hull", members)
    plan.judge_each("values", members, cases="masked")
    lead = (shapes.batch,)
    Q, K, V = draw_arguments(values, shapes.masked, lead)
    m, n = shapes.masked[:2]
    each = np.stack([values.partial_mask((m, n)) for _ in range(shapes.batch)])
    for name, mask in (("masked-batch", each.copy()), ("masked-shared", each[0].copy())):
        _add_masked_batch(plan, name, (Q, K, V, mask))
    full = causal.copy()
    full[1] = False
    member = plan.case("square-all-hidden", _Q, _K, _V, full, aspect="all-hidden", public=True)
    plan.judge("fullmask", member, rows=(1,))
    each[:, m - 1] = False  # the last query of every part
    hidden_row = plan.case("all-hidden", Q[0], K[0], V[0], each[0], aspect="all-hidden")
    plan.judge("fullmask", hidden_row, rows=(m - 1,))
    _add_masked_batch(plan, "all-hidden-batch", (Q, K, V, each))
    Q, K, V = (plan.argument(hidden[2], i) for i in range(3))
    everything = np.ones((len(Q), len(K)), dtype=bool)
    plan.judge("all-true", hidden[2], plan.case("all-visible", Q, K, V, everything, aspect="masked"))


def _add_masked_batch(plan: PlanBuilder, name: str, args: tuple[NDArray[Any], ...]) -> None:
    """Add a batch with masks; it's judged by its parts, so that a mistake with masks costs nothing here."""
    Q, K, V, mask = args
    aspect = "all-hidden" if name.startswith("all-hidden") else "masked"
    whole = plan.case(name, *args, aspect=aspect)
    parts = []
    for b in range(len(Q)):
        own = mask if mask.ndim == 2 else mask[b]
        parts.append(plan.case(f"{name}-{b}", Q[b], K[b], V[b], own, aspect=aspect))
    plan.judge("batch", whole, *parts)


def _add_hidden_keys(plan: PlanBuilder, shapes: SdpaSizes, values: ExactValues) -> None:
    m, n, d, _ = shapes.masked
    Q, K, V = draw_arguments(values, shapes.masked)
    Q[:, 0] = np.abs(Q[:, 0]) + 1.0  # so that the hidden key below scores high with every query
    keep = np.ones(n, dtype=bool)
    keep[values.integers(0, n - 1, (1,))] = False
    mask = np.tile(keep, (m, 1))
    base = plan.case("key-hidden", Q, K, V, mask, aspect="masked")
    plan.judge("subset", base, plan.case("key-left-out", Q, K[keep], V[keep]))
    for height in LOW:
        low, under = Q.copy(), K.copy()
        low[:, 0], under[:, 0] = height, np.where(keep, -1.0, 0.0)
        whole = plan.case(f"low-{height:.0e}", low, under, V, mask, aspect="large")
        short = plan.case(f"low-out-{height:.0e}", low, under[keep], V[keep], aspect="large")
        plan.judge("subset", whole, short)
    other = np.where(keep[:, None], V, 1e4)
    plan.judge("mask-irrel", base, plan.case("hidden-value", Q, K, other, mask, aspect="masked"))
    loud = np.where(keep[:, None], K, np.where(np.arange(d) == 0, 1e4, 0.0))
    plan.judge("mask-irrel", base, plan.case("hidden-key", Q, loud, other, mask, aspect="masked"))


def _add_layouts(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    Q, K, V = (plan.argument(hidden[0], i) for i in range(3))
    mask = values.partial_mask((len(Q), len(K)))
    for layout in ("strided", "read-only"):
        plan.judge("layout", plan.case(f"first-{layout}", Q, K, V, aspect="layout", layout=layout))
        masked = plan.case(f"masked-{layout}", Q, K, V, mask, aspect="layout", layout=layout)
        plan.judge("layout", masked)


def _add_gradients(plan: PlanBuilder, shapes: SdpaSizes, values: ExactValues) -> None:
    """Every query sees something: what a program makes of the others' gradients is its own affair."""
    from reference import sdpa

    slack = 1e-8  # entries of at most 8: sums of a few hundred products, each rounded at 1e-15
    m, n, d, dv = shapes.masked
    masked = (values.eighths(1, (m, d)), values.eighths(1, (n, d)), values.eighths(2, (n, dv)))
    drawn: list[tuple[str, tuple[Argument, ...]]] = [
        ("rect", (_Q4, _K4, _V2)),
        ("other", draw_arguments(values, shapes.second)),
        ("masked", (*masked, values.partial_mask((m, n)))),
    ]
    for name, args in drawn:
        Q, K, V, mask = read_arguments(args)
        cotangent = values.eighths(1, (len(Q), V.shape[1]))
        found = gradients_of(partial(sdpa, mask=mask), [Q, K, V], cotangent)
        plan.gradient_case(
            f"{name}-gradient",
            *args,
            cotangents=(cotangent,),
            gradients=[ExpectedPart(gradient, "float64", slack, slack) for gradient in found],
            public=name == "rect",
        )


def _add_refused(plan: PlanBuilder) -> None:
    swapped = np.ones((3, 2), dtype=bool)
    members = [
        plan.case("sizes-differ", _Q4, _K4[:, :3], _V2, aspect="refused", public=True),
        plan.case("counts-differ", _Q4, _K4, _V2[:2], aspect="refused", public=True),
        plan.case("mask-swapped", _Q4, _K4, _V2, swapped, aspect="refused", public=True),
    ]
    for name, args in misfits(("md", "nd", "nv"), (_Q4, _K4, _V2)).items():
        members.append(plan.case(f"misfit-{name}", *args, aspect="refused", public=True))
    # many broadcast a mask of size 1, or without the axis of the queries: such masks aren't tried
    for name, shape in (("more-queries", (3, 3)), ("more-keys", (2, 4)), ("fewer-keys", (2, 2))):
        mask = np.ones(shape, dtype=bool)
        members.append(plan.case(f"mask-{name}", _Q4, _K4, _V2, mask, aspect="refused", public=True))
    plan.judge_each("refuses", members)


def _candidates() -> Iterator[tuple[Argument, ...]]:
    Q, K = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    V = np.array([[1.0], [0.0]])
    hide = np.array([[True, False]])
    for q in (Q, 2 * Q):
        yield q, K, V
    yield np.array([[1.0], [0.0]]), K[:, :1], V
    yield _Q4, _K4, _V2
    yield _Q, _K, _V
    for mask in (hide, ~hide, hide & ~hide, hide | ~hide):
        yield Q, K, V, mask
    yield _Q4, _K4, _V2, np.array([[True, False, True], [False, True, True]])
    yield Q, 1000 * K[::-1], V, hide
    yield 1000 * Q, 1000 * K, V
    yield 1000 * _Q4, 2 * _K4, _V2
    yield np.stack([Q, 2 * Q]), np.stack([K, K]), np.stack([V, 2 * V])
    yield np.stack([_Q4, _Q4]), np.stack([_K4, -_K4]), np.stack([_V2, _V2])
    for arrays in ((Q, K, V), (_Q4, _K4, _V2), (100 * Q, 10 * K, V)):
        yield tuple(single(*arrays))
    yield (*single(Q, K, V), hide)
    for arrays in ((Q, K, V), (_Q4, _K4, _V2)):
        yield tuple(array.astype(np.float16) for array in arrays)


FAMILY = _Sdpa()
