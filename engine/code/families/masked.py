"""``masked_softmax(scores, mask)``: S0 (2)=(5) over the visible entries alone, any leading axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument
from engine.code.families.array_family import add_longer, gradients_of, longer
from engine.code.families.random_values import ExactValues, draw_specs
from engine.code.families.shared_cases import LOW
from engine.code.plan import ExpectedPart, ExpectedResult, InputPlan, PlanBuilder
from engine.code.tolerance import relative_tolerance

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]

LIFT = 1e4  # how far scores are shifted; exp overflows from 710 on
EXACT = 1e-12  # slack where all scores are 0: the weights are 1/k, without any rounding to speak of
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MaskedSizes:
    """What hypothesis draws: sizes of hidden inputs (unequal within one), the height of large scores."""

    flat: tuple[int, int]
    wide: tuple[int, int]
    cube: tuple[int, int, int]
    side: int
    row: int
    height: int


def _shapes() -> SearchStrategy[MaskedSizes]:
    from hypothesis import strategies as st

    def unequal(count: int) -> SearchStrategy[tuple[int, ...]]:
        sizes = st.permutations([2, 3, 4, 5]).map(lambda drawn: tuple(drawn[:count]))
        return sizes.filter(lambda drawn: drawn[-1] >= 3)

    height = st.integers(80, 99).map(lambda hundreds: 100 * hundreds)
    side, row = st.integers(3, 4), st.integers(3, 6)
    return st.builds(MaskedSizes, unequal(2), unequal(2), unequal(3), side, row, height)


class _MaskedSoftmax:
    argument_names = ("scores", "mask")

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        import torch

        from reference import masked_softmax

        scores, mask = _read(args)
        values = masked_softmax(torch.from_numpy(scores.astype(np.float64)), torch.from_numpy(mask)).numpy()
        height = float(np.abs(scores).max(initial=0.0))
        relative = relative_tolerance(scores.dtype.name, keys=scores.shape[-1], score=height)
        slack = EXACT if height == 0 and scores.dtype == np.float64 else relative
        return ExpectedResult.array(values, scores.dtype.name, relative, slack)  # a weight is at most 1

    def sound(self, args: tuple[Argument, ...]) -> bool:
        if len(args) != 2:
            return False  # without a mask
        scores, mask = _read(args)
        if not (scores.ndim and scores.size and mask.ndim):
            return False
        fits = zip(mask.shape[::-1], scores.shape[::-1], strict=False)
        whole = mask.shape[-1] == scores.shape[-1]
        return whole and mask.ndim <= scores.ndim and all(m in (1, s) for m, s in fits)

    def plan(self, seed: bytes) -> InputPlan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], ExactValues(seed)
        plan = PlanBuilder("masked", self.expected)
        public = _add_public(plan)
        hidden = _add_ordinary(plan, shapes, values)
        _add_visible(plan, shapes, values)
        _add_broadcast(plan, shapes, values)
        _add_relations(plan, hidden, shapes, values)
        _add_all_hidden(plan, shapes, values)
        _add_large(plan, shapes, values)
        _add_types(plan, shapes, values)
        _add_layouts(plan, hidden)
        _add_gradients(plan, shapes, values)
        _add_refused(plan)
        drawn = partial(_partly, values)
        add_longer(plan, drawn, longer(shapes.flat, values))
        # each has a check of its own, which tells of functions that can't do with such arrays at all
        add_longer(plan, drawn, longer((shapes.row,), values), "longer-line", "one-axis")
        add_longer(plan, drawn, longer(shapes.cube, values)[:3], "longer-cube", "more-axes")
        again = plan.case("square-again", *(plan.argument(public, i) for i in range(2)), public=True)
        plan.judge("pure", public, again)
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        scores, mask = _read(args)
        names = tuple(f"axis {place}" for place in range(scores.ndim))
        pairs = list(zip(names[scores.ndim - mask.ndim :], mask.shape, strict=True))
        wide = dict(zip(names, scores.shape, strict=True))
        return names, tuple(name if wide[name] == size else f"one for {name}" for name, size in pairs)


def _read(args: tuple[Argument, ...]) -> tuple[NDArray[np.floating], Mask]:
    scores, mask = args
    assert isinstance(scores, np.ndarray) and isinstance(mask, np.ndarray)
    return scores, mask


# canonical inputs, public: small numbers that a person can follow
_SQUARE = np.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.0, 1.5, 2.5]])
_CAUSAL = np.tril(np.ones((3, 3), dtype=bool))
_GAP = np.array([[True, False, True], [False, True, True]])
_ENDS = np.array([True, False, True])


def _add_public(plan: PlanBuilder) -> int:
    square = plan.case("square", _SQUARE, _CAUSAL, aspect="masked", public=True)
    found = [
        square,
        plan.case("row", _SQUARE[0], _ENDS, aspect="masked", public=True),
        plan.case("rect", _SQUARE[:2], _GAP, aspect="masked", public=True),
    ]
    plan.judge("runs", square)
    _judge_masked(plan, [found[0], found[2]])
    plan.judge("values", found[1], cases="one-axis")
    return square


def _judge_masked(plan: PlanBuilder, members: list[int]) -> None:
    """Judge laws on two axes alone: a function that can't do with one, or with three, has its own checks."""
    for name in ("shape", "values", "nonneg", "hidden-zero"):
        plan.judge_each(name, members)
    plan.judge_each("sum1", members, axis=-1)


def _add_ordinary(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> dict[str, int]:
    side = (shapes.side, shapes.side)
    sizes = {"flat": shapes.flat, "wide": shapes.wide, "cube": shapes.cube, "line": (shapes.row,)}
    sizes |= {"even": side, "even-more": side}
    found = {
        name: plan.case(name, values.distinct(4, shape), values.partial_mask(shape), aspect="masked")
        for name, shape in sizes.items()
    }
    _judge_masked(plan, [member for name, member in found.items() if name not in ("cube", "line")])
    plan.judge("values", found["line"], cases="one-axis")
    plan.judge("values", found["cube"], cases="more-axes")
    zeros = plan.case("zeros", np.zeros(side), values.partial_mask(side), aspect="masked")
    plan.judge("values", zeros)
    plan.judge("hidden-zero", zeros)
    return found


def _add_visible(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> None:
    """With nothing hidden it is softmax."""
    drawn = {"flat": shapes.flat, "wide": shapes.wide}
    members = [plan.case("square-visible", _SQUARE, np.ones((3, 3), dtype=bool), public=True)]
    for name, shape in drawn.items():
        scores = values.distinct(4, shape)
        members.append(plan.case(f"{name}-visible", scores, np.ones(shape, dtype=bool)))
    for name in ("order", "logratio", "sum1"):
        plan.judge_each(name, members, axis=-1)
    plan.judge_each("values", members)
    single = plan.case("one-entry", values.eighths(4, (shapes.row, 1)), np.ones((shapes.row, 1), dtype=bool))
    plan.judge("values", single, cases="one-key")
    alone = np.eye(shapes.side, dtype=bool)[::-1].copy()
    scores = values.distinct(4, alone.shape)
    plan.judge("values", plan.case("one-visible", scores, alone, aspect="masked"), cases="one-key")


def _partly(values: ExactValues, shape: tuple[int, ...]) -> tuple[Floats, Mask]:
    return values.distinct(4, shape), values.partial_mask(shape)


def _add_broadcast(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> None:
    """Masks of fewer axes, or of axes of size 1, and the same masks written out."""
    side = (shapes.side, shapes.side)
    pairs = [("rect", _SQUARE[:2], _ENDS)]
    pairs += [
        (n, values.distinct(4, s), values.partial_mask(s[-1:]))
        for n, s in (("flat", shapes.flat), ("even", side))
    ]
    members: list[tuple[int, int]] = []
    for name, scores, keys in pairs:
        public = name == "rect"
        short = plan.case(f"{name}-keys", scores, keys, aspect="masked", public=public)
        tiled = np.tile(keys, (len(scores), 1))
        members.append((plan.case(f"{name}-tiled", scores, tiled, aspect="masked", public=public), short))
    cube = values.distinct(4, shapes.cube)
    for name, shape in (("shared", shapes.cube[1:]), ("thin", (shapes.cube[0], 1, shapes.cube[2]))):
        mask = values.partial_mask(shape)
        wide = np.broadcast_to(mask, cube.shape).copy()
        short = plan.case(f"cube-{name}", cube, mask, aspect="masked")
        members.append((plan.case(f"cube-{name}-tiled", cube, wide, aspect="masked"), short))
    for whole, short in members:
        plan.judge("all-true", whole, short, cases="broadcast")
        plan.judge("values", short, cases="broadcast")


def _add_relations(
    plan: PlanBuilder, hidden: dict[str, int], shapes: MaskedSizes, values: ExactValues
) -> None:
    for name in ("flat", "wide"):
        scores, mask = (plan.argument(hidden[name], i) for i in range(2))
        order = values.order(scores.shape[-1])
        moved = plan.case(
            f"{name}-permuted", scores[..., order].copy(), mask[..., order].copy(), aspect="masked"
        )
        plan.judge("perm-eq", hidden[name], moved, order=order, axis=-1)
    for name in ("flat", "wide"):
        scores, mask = (plan.argument(hidden[name], i) for i in range(2))
        other = scores.copy()
        other[0] = values.eighths(4, other[0].shape) + np.arange(other.shape[1])
        changed = plan.case(f"{name}-other-row", other, mask, aspect="masked")
        plan.judge("rowind", hidden[name], changed, changed=0)
    for name, held in (("flat", LIFT), ("wide", LIFT), ("even-more", 1e5), ("even", -LIFT), ("flat", 50.0)):
        scores, mask = (plan.argument(hidden[name], i) for i in range(2))
        aspect = "masked" if held == 50.0 else "large"
        member = plan.case(f"{name}-hidden-{held:g}", np.where(mask, scores, held), mask, aspect=aspect)
        plan.judge("mask-irrel", hidden[name], member)
    loud = np.where(_GAP, _SQUARE[:2], LIFT)
    member = plan.case("rect-hidden-large", loud, _GAP, aspect="large", public=True)
    plan.judge("values", member, cases="hidden-large")
    m, n = shapes.wide
    keep = values.partial_mask((n,))
    scores = values.distinct(4, (m, n))
    for height in (0.0, *LOW):
        low, aspect = np.where(keep, scores - height, scores), "large" if height else "masked"
        whole = plan.case(f"some-hidden-{height:.0e}", low, np.tile(keep, (m, 1)), aspect=aspect)
        short = plan.case(
            f"some-left-out-{height:.0e}", low[:, keep].copy(), np.ones((m, int(keep.sum())), dtype=bool),
            aspect="large" if height else "ordinary",
        )  # fmt: skip
        plan.judge("left-out", whole, short, kept=tuple(int(place) for place in np.flatnonzero(keep)))


def _add_all_hidden(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> None:
    full = _CAUSAL.copy()
    full[1] = False
    member = plan.case("square-row-hidden", _SQUARE, full, aspect="all-hidden", public=True)
    plan.judge("fullmask", member, rows=(1,))
    for name, shape in (("flat", shapes.flat), ("wide", shapes.wide), ("even", (shapes.side,) * 2)):
        mask = values.partial_mask(shape)
        mask[..., -1, :] = False
        member = plan.case(f"{name}-row-hidden", values.distinct(4, shape), mask, aspect="all-hidden")
        plan.judge("fullmask", member, rows=(shape[-2] - 1,))
    nothing = np.zeros(shapes.wide, dtype=bool)
    for name, scores in (("zeros", np.zeros(shapes.wide)), ("large", values.eighths(4, shapes.wide) + LIFT)):
        member = plan.case(f"nothing-visible-{name}", scores, nothing, aspect="all-hidden")
        plan.judge("fullmask", member, rows=tuple(range(shapes.wide[0])))


def _add_large(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> None:
    """Every row sees scores at both ends, two of them at the top, and some are hidden."""
    members = [
        plan.case("ends-row", np.array([[1000.0, 0.0, -1000.0]]), _ENDS[None], aspect="large", public=True)
    ]
    pair = np.array([[1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1002.0]])
    members.append(plan.case("apart-rows", pair, _GAP, aspect="large", public=True))
    h, (m, n) = float(shapes.height), shapes.flat
    mask = values.partial_mask((m, n + 2))
    mask[:, :2] = True
    ends = np.where(values.integers(0, 1, mask.shape) == 1, h, -h)
    ends[:, 0], ends[:, 1] = h, -h
    apart = np.where(np.arange(m)[:, None] % 2 == 0, h, -h) + values.eighths(3, mask.shape)
    single = (ends / 8 + values.integers(-4, 4, mask.shape)).astype(np.float32)
    drawn = {"ends": ends + values.eighths(2, mask.shape), "apart": apart, "apart-more": -apart}
    members += [plan.case(name, scores, mask, aspect="large") for name, scores in drawn.items()]
    members.append(plan.case("ends-single", single, mask, aspect="large"))
    plan.judge_each("stable", members, axis=-1)


def _add_types(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> None:
    """Single and half precision: multiples of 1/8, which all of them hold exactly."""
    drawn = [(name, shape, values.eighths(2, shape)) for name, shape in _sizes(shapes)]
    members = [
        plan.case("square-single", _SQUARE.astype(np.float32), _CAUSAL, aspect="precision", public=True)
    ]
    for name, shape, scores in drawn:
        mask = values.partial_mask(shape)
        members.append(plan.case(f"{name}-single", scores.astype(np.float32), mask, aspect="precision"))
    plan.judge_each("precision", members)
    halves = [plan.case("square-half", _SQUARE.astype(np.float16), _CAUSAL, aspect="half", public=True)]
    for name, shape, scores in drawn:
        mask = values.partial_mask(shape)
        halves.append(plan.case(f"{name}-half", scores.astype(np.float16), mask, aspect="half"))
        single = scores.astype(np.float32)
        halves.append(plan.case(f"{name}-brain", single, mask, aspect="half", narrow="bfloat16"))
    plan.judge_each("half", halves)
    plan.judge_each("dtype", [*members, *halves])


def _sizes(shapes: MaskedSizes) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return ("flat", shapes.flat), ("wide", shapes.wide)


def _add_layouts(plan: PlanBuilder, hidden: dict[str, int]) -> None:
    for name in ("flat", "cube"):
        args = tuple(plan.argument(hidden[name], i) for i in range(2))
        for layout in ("strided", "read-only"):
            plan.judge("layout", plan.case(f"{name}-{layout}", *args, aspect="layout", layout=layout))
    empty = np.zeros((0, 3))
    members = [
        plan.case("no-rows", empty, np.zeros((0, 3), dtype=bool), aspect="empty", public=True),
        plan.case("no-rows-keys", empty, _ENDS, aspect="empty"),
        plan.case("no-batch", np.zeros((2, 0, 4)), np.ones((2, 0, 4), dtype=bool), aspect="empty"),
    ]
    plan.judge_each("empty", members)


def _add_gradients(plan: PlanBuilder, shapes: MaskedSizes, values: ExactValues) -> None:
    """Every row sees something: what a program makes of the gradient of an empty row is its own affair."""
    from reference import masked_softmax

    drawn: list[tuple[str, Floats, Mask, bool]] = [("square", _SQUARE, _CAUSAL, True)]
    drawn += [(n, values.eighths(2, shape), values.partial_mask(shape), False) for n, shape in _sizes(shapes)]
    for name, scores, mask, public in drawn:
        cotangent = values.eighths(2, scores.shape)
        (gradient,) = gradients_of(partial(masked_softmax, mask=mask), [scores], cotangent)
        relative = relative_tolerance("float64", keys=scores.shape[-1], score=4.0)
        part = ExpectedPart(gradient, "float64", relative, 8 * relative)
        plan.gradient_case(
            f"{name}-gradient", scores, mask, cotangents=(cotangent,), gradients=(part,), public=public
        )


def _add_refused(plan: PlanBuilder) -> None:
    members = [
        plan.case("mask-too-short", _SQUARE[0], np.array([True, False]), aspect="refused", public=True),
        plan.case("mask-swapped", _SQUARE[:2], np.ones((3, 2), dtype=bool), aspect="refused", public=True),
        plan.case("mask-too-wide", _SQUARE[0], _GAP, aspect="refused", public=True),
    ]
    # numpy would make the scores larger, which isn't what broadcasting the mask to them means
    rect, two = _SQUARE[:2], np.stack([_GAP, _GAP])
    grown = {
        "more-axes": (rect, two), "rows": (rect[:1], _GAP), "columns": (rect[:, :1], _GAP),
        "one-entry": (rect[:1, :1], _GAP), "one-row-of-many": (rect[0], _GAP[:1]), "parts": (rect[None], two),
        "one-column": (rect[:, 0], np.ones((2, 2), dtype=bool)),
    }  # fmt: skip
    members += [
        plan.case(f"mask-grows-{name}", *args, aspect="refused", public=True) for name, args in grown.items()
    ]
    plan.judge_each("refuses", members)


def _candidates() -> Iterator[tuple[Argument, ...]]:
    pair, first = np.array([1.0, 0.0]), np.array([True, False])
    for mask in (first, ~first, first & ~first, first | ~first):
        yield pair, mask
        yield np.zeros(2), mask
    yield _SQUARE[0], _ENDS
    yield _SQUARE[0], np.ones(3, dtype=bool)
    yield _SQUARE[:2], _GAP
    yield _SQUARE[:2, :2], _CAUSAL[:2, :2]
    yield _SQUARE[:2, :2], first
    yield _SQUARE, _CAUSAL
    yield _SQUARE[:2], np.ones((2, 3), dtype=bool)
    yield np.stack([_SQUARE, -_SQUARE]), np.stack([_CAUSAL, _CAUSAL.T.copy()])
    for height in (50.0, 1000.0, LIFT):
        for row in ([height, 0.0], [0.0, height], [height + 1, height], [-height, -height]):
            for mask in (first, ~first, first | ~first):
                yield np.array(row), mask
    yield np.array([[LIFT, LIFT], [0.0, 0.0]]), np.ones((2, 2), dtype=bool)
    for dtype in (np.float32, np.float16):
        yield pair.astype(dtype), first
        yield pair.astype(dtype), first | ~first
        yield _SQUARE[:2].astype(dtype), _GAP
        yield pair.astype(dtype), first & ~first


FAMILY = _MaskedSoftmax()
