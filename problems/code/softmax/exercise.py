"""``softmax(x, axis=-1)``: S0 (2)=(5), any shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    draw_sizes,
    half,
    hundreds,
    integers,
    single,
    together,
    unequal_sizes,
)

LIFT = 1e4  # how far scores are shifted; exp overflows from 710 on
_BILLIONS = 2.0**32  # beyond any bound at which scores might be cut off; eighths stay exact there


def _rounding(args: Sequence[Any]) -> Rounding:
    x, axis = args[0], args[1] if len(args) > 1 else -1
    return Rounding(float(np.abs(x).max(initial=0.0)), 1, 1.0, keys=x.shape[axis])  # a weight is at most 1


_INPUTS = ArrayInputs(("x", "axis"), (".",), "softmax", _rounding)


class _Softmax(ArrayExercise):
    inputs = _INPUTS

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        (x,), (axis,) = _INPUTS.arrays(args), _INPUTS.options(args) or (-1,)
        return _INPUTS.fits(args) and isinstance(axis, int) and -x.ndim <= axis < x.ndim

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        tall = together(integers(2, 4), integers(3, 5))
        flat, wide, cube, row, large, height = draw_sizes(
            seed, *map(unequal_sizes, (2, 2, 3)), integers(3, 6), tall, hundreds(80, 99)
        )
        public = _add_public(plan)
        hidden = {
            name: plan.case(name, values.distinct(4, shape))
            for name, shape in {"flat": flat, "wide": wide, "cube": cube, "line": (row,)}.items()
        }
        _judge_weights(plan, [hidden["flat"], hidden["wide"]])
        plan.judge("values", hidden["line"], cases="one-axis")
        plan.judge("values", hidden["cube"], cases="more-axes")
        # Exponentials that sum to less than 0.1: beside them a constant of 1e-8 in the denominator is never
        # lost, whatever was drawn and whether the largest score was subtracted or not.
        plan.judge("sum1", plan.case("flat-low", plan.argument(hidden["flat"]) - 8), axis=-1)
        _add_axes(plan, public["rect"], hidden)
        _add_relations(plan, public["rect"], hidden, values)
        _add_large(plan, large, height, values)
        _add_precisions(plan, {"flat": flat, "wide": wide}, values)
        for name, *axis in (("flat",), ("wide",), ("cube", 1)):
            for layout in ("strided", "read-only"):
                x = plan.argument(hidden[str(name)])
                plan.judge("layout", plan.case(f"{name}-{layout}", x, *axis, kind="layout", layout=layout))
        plan.judge("values", plan.case("one-entry", values.distinct(4, (row, 1))), cases="one-key")
        inputs: dict[str, tuple[Argument, ...]] = {"square": (_SQUARE,), "flat": (values.eighths(2, flat),)}
        inputs["cube"] = (values.eighths(2, cube), 1)
        for name, args in inputs.items():
            cotangent = values.eighths(2, _INPUTS.arrays(args)[0].shape)
            # less than 8 times a weight's slack would catch what a constant of 1e-8 in the denominator does
            self.add_gradient(plan, f"{name}-gradient", args, cotangent, public=name == "square", slack=8e-9)

        def draw(shape: tuple[int, ...]) -> tuple[Floats]:
            return (values.distinct(4, shape),)

        plan.add_beyond_blocks(draw, beyond_blocks(flat, values))
        # Each has a check of its own: a function that can't do with such arrays at all doesn't lose this too.
        plan.add_beyond_blocks(draw, beyond_blocks((row,), values), "longer-line", "one-axis")
        plan.add_beyond_blocks(draw, beyond_blocks(cube, values)[:3], "longer-cube", "more-axes")
        plan.add_beyond_blocks(
            lambda shape: (*draw(shape), 1), beyond_blocks(cube, values)[:3], "longer-axis", "axis"
        )
        plan.add_again(public["square"])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


# canonical input, public: small numbers that a person can follow
_SQUARE = np.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.0, 1.5, 2.5]])


def _add_public(plan: PlanBuilder) -> dict[str, int]:
    inputs = {"square": _SQUARE, "row": np.array([2.0, 1.0, 0.0]), "rect": _SQUARE[:2]}
    members = {name: plan.case(name, x, public=True) for name, x in inputs.items()}
    plan.judge("runs", members["square"])
    _judge_weights(plan, [members["square"], members["rect"]])
    plan.judge("values", members["row"], cases="one-axis")
    return members


def _judge_weights(plan: PlanBuilder, members: list[int]) -> None:
    # laws on two axes alone: a function that can't do with one, or with three, has its own checks
    plan.judge_each(("shape", "values"), members)
    plan.judge_each(("nonneg", "sum1", "order", "logratio"), members, axis=-1)


def _add_axes(plan: PlanBuilder, rect: int, hidden: dict[str, int]) -> None:
    members = {plan.case("rect-columns", plan.argument(rect), 0, public=True): 0}
    for axis in (0, 1, -2):
        members[plan.case(f"cube-axis{axis}", plan.argument(hidden["cube"]), axis)] = axis
    members[plan.case("flat-columns", plan.argument(hidden["flat"]), 0)] = 0
    for member, axis in members.items():
        plan.judge("values", member, cases="axis")
        plan.judge("sum1", member, cases="axis", axis=axis)


def _add_relations(plan: PlanBuilder, rect: int, hidden: dict[str, int], values: ExactValues) -> None:
    lifted = plan.case("rect-lifted", plan.argument(rect) + LIFT, kind="large", public=True)
    plan.judge("shift", rect, lifted, by=LIFT)
    for name, by in (("flat", LIFT), ("wide", -LIFT), ("wide", _BILLIONS), ("flat", -_BILLIONS)):
        case = f"{name}-lifted" if abs(by) == LIFT else f"{name}-billions"
        moved = plan.case(case, plan.argument(hidden[name]) + by, kind="large")
        plan.judge("shift", hidden[name], moved, by=by)
    for name in ("flat", "wide"):
        x = plan.argument(hidden[name])
        order = values.order(x.shape[-1])
        moved = plan.case(f"{name}-permuted", np.ascontiguousarray(x[..., order]))
        plan.judge("perm-eq", hidden[name], moved, order=order, axis=-1)
    for name in ("flat", "wide"):
        x = plan.argument(hidden[name]).copy()
        x[0] = values.eighths(4, x[0].shape) + np.arange(x.shape[1])
        plan.judge("rowind", hidden[name], plan.case(f"{name}-other-row", x), changed=0)
    for name in ("wide", "flat"):
        plan.judge("hot", plan.case(f"{name}-hot", plan.argument(hidden[name]) / 1e6), spread=1e-5)


def _add_large(plan: PlanBuilder, shape: tuple[int, ...], height: float, values: ExactValues) -> None:
    ends = np.where(values.integers(0, 1, shape) == 1, height, -height)
    # every row has scores at both ends, two of them at the top
    ends[:, 0], ends[:, 1], ends[:, -1] = height, -height, height
    inputs = {
        "ends-row": np.array([[1000.0, 0.0, -1000.0]]),
        "ends": ends + values.eighths(2, shape),
        "ends-more": np.roll(ends, 1, axis=1) + values.eighths(1, shape),
        # an eighth of the height: float32 still holds whole numbers there
        "ends-single": (ends / 8 + values.integers(-4, 4, shape)).astype(np.float32),
    }
    members = [plan.case(name, x, kind="large", public=name == "ends-row") for name, x in inputs.items()]
    plan.judge_each("stable", members, axis=-1)
    signs = np.where(np.arange(shape[0])[:, None] % 2 == 0, 1.0, -1.0)
    inputs = {
        "apart-rows": np.array([[1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1002.0]]),
        "apart": signs * height + values.eighths(3, shape),
        "apart-more": -signs * height + values.eighths(3, shape),
    }
    members = [plan.case(name, x, kind="large", public=name == "apart-rows") for name, x in inputs.items()]
    plan.judge_each("rows-apart", members, axis=-1)


def _add_precisions(plan: PlanBuilder, shapes: dict[str, tuple[int, ...]], values: ExactValues) -> None:
    # multiples of 1/8 up to 4, which float32 and both half precisions hold exactly
    members = [plan.case("square-single", *single(_SQUARE), kind="precision", public=True)]
    for name, x in [(name, values.eighths(4, shape)) for name, shape in shapes.items()]:
        members.append(plan.case(f"{name}-single", *single(x), kind="precision"))
    plan.judge_each(("dtype", "precision"), members)
    members = [plan.case("square-half", *half(_SQUARE), kind="half", public=True)]
    for name, shape in shapes.items():
        members += plan.add_halves(name, (values.eighths(4, shape),))
    plan.judge_each(("dtype", "half"), members)


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    x = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 1.0, 2.0]])
    pair = np.array([1.0, 0.0])
    for array in (pair, x[0], x[:2, :2], x[1:], x):
        yield (array,)
    for axis in (0, 1, -2):
        yield x[:2], axis
    cube = np.stack([x[:2, :2], x[1:, 1:]])
    yield (cube,)
    yield cube, 0
    yield cube, 1
    for height in (1000.0, LIFT):
        for row in ([height, 0.0], [height + 1, height], [1 - height, -height], [2 * height, height, 0.0]):
            yield (np.array(row),)
        yield (np.array([[height, height], [0.0, 0.0]]),)
    yield from (single(pair), single(x[1:]), half(pair))


exercise = _Softmax()
