"""``softmax_vjp(w, g)``: background; the softmax's Jacobian, from the left, times a gradient."""

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
    beyond_blocks,
    draw_sizes,
    integers,
    single,
    unequal_sizes,
)


def _size(arrays: Sequence[Floats]) -> Rounding:
    g = arrays[1]
    largest = float(np.abs(g).max(initial=1.0))
    return Rounding(1.0, g.shape[-1], largest)


_INPUTS = ArrayInputs(("w", "g"), (".n", ".n"), "softmax_vjp", _size)


class _Vjp(ArrayExercise):
    inputs = _INPUTS

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        """Accept softmax weights: no entry negative, each row with the sum 1 or all zero."""
        if not _INPUTS.fits(args):
            return False
        w, g = _INPUTS.arrays(args)
        sums = w.sum(axis=-1)
        return w.shape == g.shape and bool((w >= 0).all() and (np.isclose(sums, 1) | (sums == 0)).all())

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        first, second, square = draw_sizes(
            seed, unequal_sizes(2), unequal_sizes(2), integers(3, 4), different=2
        )
        public = [plan.case("square", *_SQUARE, public=True), plan.case("row", *_ROW, public=True)]
        plan.judge("runs", public[0])
        plan.judge("values", public.pop(), cases="one-axis")
        line = plan.case("line", _weights(values, (4,)), values.distinct(8, (4,)))
        plan.judge("values", line, cases="one-axis")
        sizes = (first, second, (square, square))
        samples = [(_weights(values, shape), values.distinct(8, shape)) for shape in sizes]
        hidden = [plan.case(f"hidden-{place}", *arrays) for place, arrays in enumerate(samples)]
        plan.judge_each(("shape", "values", "balanced"), [*public, *hidden])
        _add_special(plan, [_SQUARE, *samples])
        _add_relations(plan, hidden, values)
        _add_batches(plan, (first, (2, *second)), values)
        plan.add_contract(_SQUARE, samples[2], samples[:2])
        w, g = _ROW
        plan.add_refusals({"g-too-short": (w, g[:2]), "g-too-long": (w, np.append(g, g)), **_misfits()})
        plan.add_beyond_blocks(partial(_any, values), beyond_blocks(first, values))
        plan.add_beyond_blocks(partial(_any, values), beyond_blocks((4,), values), "longer-line", "one-axis")
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_SQUARE = (
    np.array([[0.5, 0.25, 0.25], [0.125, 0.625, 0.25], [0.25, 0.25, 0.5]]),
    np.array([[1.0, 0.0, 2.0], [-1.0, 3.0, 0.5], [2.0, -2.0, 1.0]]),
)
_ROW = (np.array([0.5, 0.125, 0.375]), np.array([2.0, -1.0, 4.0]))


def _misfits() -> dict[str, tuple[Argument, ...]]:
    # numpy would broadcast most of these, in one order or the other
    w, g = _SQUARE[0][:2], _SQUARE[1][:2]
    others = {
        "row": g[0], "one-row": g[:1], "one-column": g[:, :1], "one-entry": g[:1, :1], "scalar": g[0, :1],
        "more-axes": g[np.newaxis], "two": np.stack([g, g]), "transposed": np.ascontiguousarray(g.T),
    }  # fmt: skip
    pairs: dict[str, tuple[Argument, ...]] = {}
    for name, other in others.items():
        pairs[f"g-{name}"] = (w, other)
        pairs[f"w-{name}"] = (np.abs(other), g)
    return pairs


def _any(values: ExactValues, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    weights = values.distinct(4, shape) + 5.0
    return weights / weights.sum(axis=-1, keepdims=True), values.distinct(8, shape)


def _weights(values: ExactValues, shape: tuple[int, ...]) -> Floats:
    return values.weights(shape, step=4, noise=3, total=64)  # exact in every dtype


def _add_special(plan: PlanBuilder, samples: Sequence[tuple[Floats, Floats]]) -> None:
    # for these gradients and weights the result is zero, wholly or in one place
    for place, (w, g) in enumerate(samples):
        public = place == 0
        constant = plan.case(f"constant-{place}", w, np.full_like(g, 3.0), public=public)
        plan.judge("agrees", constant, cases="constant", due=np.zeros_like(g))
        hot = np.zeros_like(w)
        hot[..., 0] = 1.0
        member = plan.case(f"one-hot-{place}", hot, g, public=public)
        plan.judge("agrees", member, cases="one-hot", due=np.zeros_like(g))
        if w.ndim > 1:
            unseen = w.copy()
            unseen[0] = 0.0
            plan.judge("values", plan.case(f"unseen-{place}", unseen, g, kind="masked"), cases="unseen")


def _add_relations(plan: PlanBuilder, hidden: list[int], values: ExactValues) -> None:
    for place, member in enumerate(hidden):
        w, g = plan.argument(member, 0), plan.argument(member, 1)
        other = values.distinct(8, g.shape)
        second = plan.case(f"other-{place}", w, other)
        mixed = plan.case(f"mixed-{place}", w, 2 * g + other)
        plan.judge("linear-v", member, second, mixed, factors=(2.0, 1.0))
        # a constant added to g cancels out, because each row of weights sums to 1
        plan.judge("shift", member, plan.case(f"shifted-{place}", w, g + 16.0))
        order = values.order(g.shape[-1])
        moved = plan.case(f"moved-{place}", w[..., order].copy(), g[..., order].copy())
        plan.judge("perm-eq", member, moved, order=order, axis=g.ndim - 1)


def _add_batches(plan: PlanBuilder, shapes: Sequence[tuple[int, ...]], values: ExactValues) -> None:
    for place, shape in enumerate(shapes):
        w, g = _weights(values, shape), values.distinct(16, shape)
        whole = plan.case(f"batch-{place}", w, g, kind="batch")
        plan.judge("batch", whole, *(plan.case(f"batch-{place}-{b}", w[b], g[b]) for b in range(shape[0])))
    zero = np.zeros((0, 3))
    plan.judge("empty", plan.case("empty", zero, zero, kind="empty"))


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    half, unit = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    yield np.array([1.0]), np.array([1.0])
    for w in (half, np.array([0.25, 0.75]), unit):
        yield w, unit
        yield w, np.array([1.0, 1.0])
    yield half[None], unit[None]
    yield np.array([half, half]), np.array([unit, 2 * unit])
    yield np.array([half, [0.25, 0.75]]), np.array([unit, [0.0, 1.0]])
    yield _ROW
    yield _SQUARE
    yield single(half, unit)
    yield single(*_ROW)


exercise = _Vjp()
