"""``masked_softmax(scores, mask)``: S0 (2)=(5) over the visible entries alone, any leading axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    ExpectedResult,
    Floats,
    PlanBuilder,
    Rounding,
    beyond_blocks,
    draw_sizes,
    half,
    hundreds,
    integers,
    single,
    unequal_sizes,
)

LIFT = 1e4  # how far scores are shifted; exp overflows from 710 on
EXACT = 1e-12  # slack where all scores are 0: the weights are 1/k, without any rounding to speak of
Mask = NDArray[np.bool_]
Shapes = Mapping[str, tuple[int, ...]]


def _rounding(args: Sequence[Any]) -> Rounding:
    scores, mask = args
    largest = float(np.abs(np.where(mask, scores, 0.0)).max(initial=0.0))  # hidden scores round nothing
    return Rounding(largest, 1, 1.0, keys=scores.shape[-1])  # weights are at most 1


_INPUTS = ArrayInputs(("scores", "mask"), (".",), "masked_softmax", _rounding)


class _MaskedSoftmax(ArrayExercise):
    inputs = _INPUTS

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        expected = _INPUTS.expected(args)
        scores, _ = _read(args)
        if scores.dtype != np.float64 or scores.any():
            return expected
        return ExpectedResult.array(expected.values, expected.dtype, expected.relative, EXACT)

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        if len(args) != 2:
            return False  # without a mask
        scores, mask = _read(args)
        if not (scores.ndim and scores.size and mask.ndim):
            return False
        fits = zip(mask.shape[::-1], scores.shape[::-1], strict=False)
        whole = mask.shape[-1] == scores.shape[-1]
        return whole and mask.ndim <= scores.ndim and all(m in (1, s) for m, s in fits)

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        scores, mask = _read(args)
        names, _ = _INPUTS.axes(args)
        offset = scores.ndim - mask.ndim
        # an axis of size 1 in the mask must not shrink with the scores' axis that it is broadcast along
        of_mask = (
            name if scores.shape[offset + place] == mask.shape[place] else f"one for {name}"
            for place, name in enumerate(names[offset:])
        )
        return names, tuple(of_mask)

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        # three keys or more, so that a row can hide one and still weigh two against each other
        flat, wide, cube, side, row, height = draw_sizes(
            seed,
            *(unequal_sizes(count, least={count - 1: 3}) for count in (2, 2, 3)),
            *(integers(3, 4), integers(3, 6), hundreds(80, 99)),
        )
        shapes = {"flat": flat, "wide": wide}
        public = _add_public(plan)
        hidden = _add_ordinary(plan, {**shapes, "cube": cube, "line": (row,)}, side, values)
        _add_visible(plan, shapes, row, side, values)
        _add_broadcast(plan, flat, cube, side, values)
        _add_relations(plan, hidden, wide, values)
        _add_all_hidden(plan, {**shapes, "even": (side, side)}, values)
        _add_large(plan, flat, height, values)
        _add_precisions(plan, shapes, values)
        _add_layouts(plan, hidden)
        # every row sees something: what a program makes of the gradient of an empty row is its own affair
        inputs: list[tuple[str, tuple[Floats, Mask]]] = [("square", (_SQUARE, _CAUSAL))]
        inputs += [
            (name, (values.eighths(2, shape), values.partial_mask(shape))) for name, shape in shapes.items()
        ]
        for name, args in inputs:
            cotangent = values.eighths(2, args[0].shape)
            # less than 8 times the weights' slack would catch what a constant of 1e-8 in the denominator does
            self.add_gradient(plan, f"{name}-gradient", args, cotangent, public=name == "square", slack=8e-9)
        _add_refused(plan)
        draw = partial(_draw, values)
        plan.add_beyond_blocks(draw, beyond_blocks(flat, values))
        # each has a check of its own, which finds functions that can't do with such arrays at all
        plan.add_beyond_blocks(draw, beyond_blocks((row,), values), "longer-line", "one-axis")
        plan.add_beyond_blocks(draw, beyond_blocks(cube, values)[:3], "longer-cube", "more-axes")
        plan.add_again(public)

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


def _read(args: tuple[Argument, ...]) -> tuple[NDArray[np.floating], Mask]:
    scores, mask = args
    assert isinstance(scores, np.ndarray) and isinstance(mask, np.ndarray)
    return scores, mask


def _draw(values: ExactValues, shape: tuple[int, ...]) -> tuple[Floats, Mask]:
    return values.distinct(4, shape), values.partial_mask(shape)


# canonical inputs, public: small numbers that a person can follow
_SQUARE = np.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.0, 1.5, 2.5]])
_CAUSAL = np.tril(np.ones((3, 3), dtype=bool))
_GAP = np.array([[True, False, True], [False, True, True]])
_ENDS = np.array([True, False, True])


def _add_public(plan: PlanBuilder) -> int:
    inputs = {"square": (_SQUARE, _CAUSAL), "row": (_SQUARE[0], _ENDS), "rect": (_SQUARE[:2], _GAP)}
    members = [plan.case(name, *args, kind="masked", public=True) for name, args in inputs.items()]
    square, row, rect = members
    plan.judge("runs", square)
    _judge_masked(plan, [square, rect])
    plan.judge("values", row, cases="one-axis")
    return square


def _judge_masked(plan: PlanBuilder, members: list[int]) -> None:
    # laws on two axes alone: a function that can't do with one, or with three, has its own checks
    plan.judge_each(("shape", "values", "nonneg", "hidden-zero"), members)
    plan.judge_each("sum1", members, axis=-1)


def _add_ordinary(plan: PlanBuilder, shapes: Shapes, side: int, values: ExactValues) -> dict[str, int]:
    square = (side, side)
    hidden = {
        name: plan.case(name, *_draw(values, shape), kind="masked")
        for name, shape in {**shapes, "even": square, "even-more": square}.items()
    }
    _judge_masked(plan, [member for name, member in hidden.items() if name not in ("cube", "line")])
    plan.judge("values", hidden["line"], cases="one-axis")
    plan.judge("values", hidden["cube"], cases="more-axes")
    zeros = plan.case("zeros", np.zeros(square), values.partial_mask(square), kind="masked")
    plan.judge_each(("values", "hidden-zero"), [zeros])
    return hidden


def _add_visible(plan: PlanBuilder, shapes: Shapes, row: int, side: int, values: ExactValues) -> None:
    # with nothing hidden it is softmax
    inputs = {"square": _SQUARE} | {name: values.distinct(4, shape) for name, shape in shapes.items()}
    members = [
        plan.case(f"{name}-visible", scores, np.ones(scores.shape, dtype=bool), public=name == "square")
        for name, scores in inputs.items()
    ]
    plan.judge_each(("order", "logratio", "sum1"), members, axis=-1)
    plan.judge_each("values", members)
    lone = plan.case("one-entry", values.eighths(4, (row, 1)), np.ones((row, 1), dtype=bool))
    plan.judge("values", lone, cases="one-key")
    diagonal = np.eye(side, dtype=bool)[::-1].copy()
    scores = values.distinct(4, diagonal.shape)
    plan.judge("values", plan.case("one-visible", scores, diagonal, kind="masked"), cases="one-key")


def _add_broadcast(
    plan: PlanBuilder, flat: tuple[int, ...], cube: tuple[int, ...], side: int, values: ExactValues
) -> None:
    # masks of fewer axes, or of axes of size 1, beside the same masks written out
    inputs = {"rect-keys": (_SQUARE[:2], _ENDS)} | {
        f"{name}-keys": (values.distinct(4, shape), values.partial_mask(shape[-1:]))
        for name, shape in (("flat", flat), ("even", (side, side)))
    }
    scores = values.distinct(4, cube)
    for name, shape in (("shared", cube[1:]), ("thin", (cube[0], 1, cube[2]))):
        inputs[f"cube-{name}"] = scores, values.partial_mask(shape)
    for name, (scores, mask) in inputs.items():
        whole = np.broadcast_to(mask, scores.shape).copy()
        public = name == "rect-keys"
        short = plan.case(name, scores, mask, kind="masked", public=public)
        tiled = f"{name.removesuffix('-keys')}-tiled"
        plan.judge(
            "all-true",
            plan.case(tiled, scores, whole, kind="masked", public=public),
            short,
            cases="broadcast",
        )
        plan.judge("values", short, cases="broadcast")


def _add_relations(
    plan: PlanBuilder, hidden: dict[str, int], wide: tuple[int, int], values: ExactValues
) -> None:
    for name in ("flat", "wide"):
        scores, mask = plan.arguments(hidden[name])
        order = values.order(scores.shape[-1])
        moved = plan.case(
            f"{name}-permuted", scores[..., order].copy(), mask[..., order].copy(), kind="masked"
        )
        plan.judge("perm-eq", hidden[name], moved, order=order, axis=-1)
    for name in ("flat", "wide"):
        scores, mask = plan.arguments(hidden[name])
        other = scores.copy()
        other[0] = values.eighths(4, other[0].shape) + np.arange(other.shape[1])
        changed = plan.case(f"{name}-other-row", other, mask, kind="masked")
        plan.judge("rowind", hidden[name], changed, changed=0)
    # a large hidden score shows where it still counts, as in the maximum that is subtracted
    heights = [("flat", LIFT), ("wide", LIFT), ("even-more", 1e5), ("even", -LIFT), ("flat", 50.0)]
    heights.append(("even-more", -1e17))  # a minimum that is added to a row takes the digits of all others
    for name, height in heights:
        scores, mask = plan.arguments(hidden[name])
        kind = "masked" if height == 50.0 else "large"
        member = plan.case(f"{name}-hidden-{height:g}", np.where(mask, scores, height), mask, kind=kind)
        plan.judge("mask-irrel", hidden[name], member)
    loud = np.where(_GAP, _SQUARE[:2], LIFT)
    member = plan.case("rect-hidden-large", loud, _GAP, kind="large", public=True)
    plan.judge("values", member, cases="hidden-large")
    visible = values.partial_mask(wide[1:])
    scores = values.distinct(4, wide)
    tiled, everything = np.tile(visible, (wide[0], 1)), np.ones((wide[0], int(visible.sum())), dtype=bool)
    for height in (0.0, *LOW):
        low, kinds = (
            np.where(visible, scores - height, scores),
            ("large",) * 2 if height else ("masked", "ordinary"),
        )
        whole = plan.case(f"some-hidden-{height:.0e}", low, tiled, kind=kinds[0])
        short = plan.case(f"some-left-out-{height:.0e}", low[:, visible].copy(), everything, kind=kinds[1])
        plan.judge("left-out", whole, short, kept=tuple(map(int, np.flatnonzero(visible))))


def _add_all_hidden(plan: PlanBuilder, shapes: Shapes, values: ExactValues) -> None:
    full = _CAUSAL.copy()
    full[1] = False
    member = plan.case("square-row-hidden", _SQUARE, full, kind="all-hidden", public=True)
    plan.judge("fullmask", member, rows=(1,))
    for name, shape in shapes.items():
        mask = values.partial_mask(shape)
        mask[..., -1, :] = False
        member = plan.case(f"{name}-row-hidden", values.distinct(4, shape), mask, kind="all-hidden")
        plan.judge("fullmask", member, rows=(shape[-2] - 1,))
    wide = shapes["wide"]
    for name, scores in (("zeros", np.zeros(wide)), ("large", values.eighths(4, wide) + LIFT)):
        member = plan.case(f"nothing-visible-{name}", scores, np.zeros(wide, dtype=bool), kind="all-hidden")
        plan.judge("fullmask", member, rows=tuple(range(wide[0])))


def _add_large(plan: PlanBuilder, flat: tuple[int, int], height: float, values: ExactValues) -> None:
    # every row sees scores at both ends, two of them at the top, and some are hidden
    pair = np.array([[1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1002.0]])
    members = [
        plan.case("ends-row", np.array([[1000.0, 0.0, -1000.0]]), _ENDS[None], kind="large", public=True),
        plan.case("apart-rows", pair, _GAP, kind="large", public=True),
    ]
    m, n = flat
    mask = values.partial_mask((m, n + 2))
    mask[:, :2] = True
    ends = np.where(values.integers(0, 1, mask.shape) == 1, height, -height)
    ends[:, 0], ends[:, 1] = height, -height
    alternating = np.where(np.arange(m)[:, None] % 2 == 0, height, -height) + values.eighths(3, mask.shape)
    # an eighth of the height: float32 still holds whole numbers there
    lower = (ends / 8 + values.integers(-4, 4, mask.shape)).astype(np.float32)
    inputs: dict[str, NDArray[np.floating]] = {
        "ends": ends + values.eighths(2, mask.shape),
        "apart": alternating,
        "apart-more": -alternating,
        "ends-single": lower,
    }
    members += [plan.case(name, scores, mask, kind="large") for name, scores in inputs.items()]
    plan.judge_each("stable", members, axis=-1)


def _add_precisions(plan: PlanBuilder, shapes: Shapes, values: ExactValues) -> None:
    # multiples of 1/8, which float32 and both half precisions hold exactly
    inputs = [(name, shape, values.eighths(2, shape)) for name, shape in shapes.items()]
    members = [plan.case("square-single", *single(_SQUARE, _CAUSAL), kind="precision", public=True)]
    for name, shape, scores in inputs:
        args = single(scores, values.partial_mask(shape))
        members.append(plan.case(f"{name}-single", *args, kind="precision"))
    plan.judge_each("precision", members)
    halves = [plan.case("square-half", *half(_SQUARE, _CAUSAL), kind="half", public=True)]
    for name, shape, scores in inputs:
        halves += plan.add_halves(name, (scores, values.partial_mask(shape)))
    plan.judge_each("half", halves)
    plan.judge_each("dtype", [*members, *halves])


def _add_layouts(plan: PlanBuilder, hidden: dict[str, int]) -> None:
    for name in ("flat", "cube"):
        for layout in ("strided", "read-only"):
            args = plan.arguments(hidden[name])
            plan.judge("layout", plan.case(f"{name}-{layout}", *args, kind="layout", layout=layout))
    empty = np.zeros((0, 3))
    members = [
        plan.case("no-rows", empty, np.zeros((0, 3), dtype=bool), kind="empty", public=True),
        plan.case("no-rows-keys", empty, _ENDS, kind="empty"),
        plan.case("no-batch", np.zeros((2, 0, 4)), np.ones((2, 0, 4), dtype=bool), kind="empty"),
    ]
    plan.judge_each("empty", members)


def _add_refused(plan: PlanBuilder) -> None:
    rect, two = _SQUARE[:2], np.stack([_GAP, _GAP])
    refusals: dict[str, tuple[Floats, Mask]] = {
        "mask-too-short": (_SQUARE[0], np.array([True, False])),
        "mask-swapped": (rect, np.ones((3, 2), dtype=bool)),
        "mask-too-wide": (_SQUARE[0], _GAP),
    }
    # numpy would make the scores larger, which isn't what broadcasting the mask to them means
    grown = {
        "more-axes": (rect, two), "rows": (rect[:1], _GAP), "columns": (rect[:, :1], _GAP),
        "one-entry": (rect[:1, :1], _GAP), "one-row-of-many": (rect[0], _GAP[:1]), "parts": (rect[None], two),
        "one-column": (rect[:, 0], np.ones((2, 2), dtype=bool)),
    }  # fmt: skip
    plan.add_refusals(refusals | {f"mask-grows-{name}": args for name, args in grown.items()})


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
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


exercise = _MaskedSoftmax()
