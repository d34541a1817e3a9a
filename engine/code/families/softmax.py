"""``softmax(x, axis=-1)``: S0 (2)=(5), any shape."""

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
from engine.code.plan import ExpectedPart, ExpectedResult, InputPlan, PlanBuilder
from engine.code.tolerance import relative_tolerance

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]

LIFT = 1e4  # how far scores are shifted; exp overflows from 710 on
_BILLIONS = 2.0**32  # beyond any bound at which scores might be cut off; eighths stay exact there
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SoftmaxSizes:
    """What hypothesis draws: sizes of hidden inputs (unequal within one), the height of large scores."""

    flat: tuple[int, int]
    wide: tuple[int, int]
    cube: tuple[int, int, int]
    row: int
    large: tuple[int, int]
    height: int


def _shapes() -> SearchStrategy[SoftmaxSizes]:
    from hypothesis import strategies as st

    def unequal(count: int) -> SearchStrategy[tuple[int, ...]]:
        return st.permutations([2, 3, 4, 5]).map(lambda sizes: tuple(sizes[:count]))

    tall = st.tuples(st.integers(2, 4), st.integers(3, 5))
    height = st.integers(80, 99).map(lambda hundreds: 100 * hundreds)
    return st.builds(SoftmaxSizes, unequal(2), unequal(2), unequal(3), st.integers(3, 6), tall, height)


class _Softmax:
    argument_names = ("x", "axis")

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        import torch

        from reference import softmax

        x, axis = _read(args)
        values = softmax(torch.from_numpy(x.astype(np.float64)), axis=axis).numpy()
        score = float(np.abs(x).max(initial=0.0))
        relative = relative_tolerance(x.dtype.name, keys=x.shape[axis], score=score)
        return ExpectedResult.array(values, x.dtype.name, relative, relative)  # a weight is at most 1

    def sound(self, args: tuple[Argument, ...]) -> bool:
        x, axis = _read(args)
        return x.size > 0 and -x.ndim <= axis < x.ndim

    def plan(self, seed: bytes) -> InputPlan:
        shapes = draw_specs(_shapes(), 1, seed)[0]
        values = ExactValues(seed)
        plan = PlanBuilder("softmax", self.expected)
        public = _add_public(plan)
        hidden = _add_ordinary(plan, shapes, values)
        _add_axes(plan, public["rect"], hidden)
        _add_relations(plan, public, hidden, values)
        _add_large(plan, shapes, values)
        _add_precision(plan, shapes, values)
        _add_halves(plan, shapes, values)
        _add_layouts(plan, hidden, shapes, values)
        _add_gradients(plan, shapes, values)
        _add_longer(plan, shapes, values)
        again = plan.case("square-again", plan.argument(public["square"]), public=True)
        plan.judge("pure", public["square"], again)
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        x, _ = _read(args)
        return tuple(f"axis {place}" for place in range(x.ndim)), ()


def _read(args: tuple[Argument, ...]) -> tuple[NDArray[np.floating], int]:
    x, axis = args[0], args[1] if len(args) > 1 else -1
    assert isinstance(x, np.ndarray) and isinstance(axis, int)
    return x, axis


# canonical input, public: small numbers that a person can follow
_SQUARE = np.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.0, 1.5, 2.5]])


def _add_public(plan: PlanBuilder) -> dict[str, int]:
    found = {
        "square": plan.case("square", _SQUARE, public=True),
        "row": plan.case("row", np.array([2.0, 1.0, 0.0]), public=True),
        "rect": plan.case("rect", _SQUARE[:2], public=True),
    }
    plan.judge("runs", found["square"])
    _judge_weights(plan, [found["square"], found["rect"]])
    plan.judge("values", found["row"], cases="one-axis")
    return found


def _add_ordinary(plan: PlanBuilder, shapes: SoftmaxSizes, values: ExactValues) -> dict[str, int]:
    found = {
        "flat": plan.case("flat", values.distinct(4, shapes.flat)),
        "wide": plan.case("wide", values.distinct(4, shapes.wide)),
        "cube": plan.case("cube", values.distinct(4, shapes.cube)),
        "line": plan.case("line", values.distinct(4, (shapes.row,))),
    }
    _judge_weights(plan, [found["flat"], found["wide"]])
    plan.judge("values", found["line"], cases="one-axis")
    plan.judge("values", found["cube"], cases="more-axes")
    # Exponentials that sum to less than 0.1: beside them a constant of 1e-8 in the denominator is never lost,
    # whatever was drawn and whether the largest score was subtracted or not.
    plan.judge("sum1", plan.case("flat-low", plan.argument(found["flat"]) - 8), axis=-1)
    return found


def _judge_weights(plan: PlanBuilder, members: list[int]) -> None:
    """Judge laws on two axes alone: a function that can't do with one, or with three, has its own checks."""
    for name in ("shape", "values"):
        plan.judge_each(name, members)
    for name in ("nonneg", "sum1", "order", "logratio"):
        plan.judge_each(name, members, axis=-1)


def _add_axes(plan: PlanBuilder, rect: int, hidden: dict[str, int]) -> None:
    members = {plan.case("rect-columns", plan.argument(rect), 0, public=True): 0}
    for axis in (0, 1, -2):
        members[plan.case(f"cube-axis{axis}", plan.argument(hidden["cube"]), axis)] = axis
    members[plan.case("flat-columns", plan.argument(hidden["flat"]), 0)] = 0
    for member, axis in members.items():
        plan.judge("values", member, cases="axis")
        plan.judge("sum1", member, cases="axis", axis=axis)


def _add_relations(
    plan: PlanBuilder, public: dict[str, int], hidden: dict[str, int], values: ExactValues
) -> None:
    lifted = plan.case("rect-lifted", plan.argument(public["rect"]) + LIFT, aspect="large", public=True)
    plan.judge("shift", public["rect"], lifted, by=LIFT)
    for name, by in (("flat", LIFT), ("wide", -LIFT), ("wide", _BILLIONS), ("flat", -_BILLIONS)):
        case = f"{name}-lifted" if abs(by) == LIFT else f"{name}-billions"
        moved = plan.case(case, plan.argument(hidden[name]) + by, aspect="large")
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


def _add_large(plan: PlanBuilder, shapes: SoftmaxSizes, values: ExactValues) -> None:
    m, n = shapes.large
    h = float(shapes.height)
    up = np.where(values.integers(0, 1, (m, n)) == 1, h, -h)
    up[:, 0], up[:, 1], up[:, -1] = h, -h, h  # every row has scores at both ends, two of them at the top
    members = [
        plan.case("ends-row", np.array([[1000.0, 0.0, -1000.0]]), aspect="large", public=True),
        plan.case("ends", up + values.eighths(2, (m, n)), aspect="large"),
        plan.case("ends-more", np.roll(up, 1, axis=1) + values.eighths(1, (m, n)), aspect="large"),
        plan.case(
            "ends-single", (up / 8 + values.integers(-4, 4, (m, n))).astype(np.float32), aspect="large"
        ),
    ]
    plan.judge_each("stable", members, axis=-1)
    pair = np.array([[1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1002.0]])
    signs = np.where(np.arange(m)[:, None] % 2 == 0, 1.0, -1.0)
    members = [
        plan.case("apart-rows", pair, aspect="large", public=True),
        plan.case("apart", signs * h + values.eighths(3, (m, n)), aspect="large"),
        plan.case("apart-more", -signs * h + values.eighths(3, (m, n)), aspect="large"),
    ]
    plan.judge_each("rows-apart", members, axis=-1)


def _add_precision(plan: PlanBuilder, shapes: SoftmaxSizes, values: ExactValues) -> None:
    flat = values.eighths(4, shapes.flat)
    members = [
        plan.case("square-single", _SQUARE.astype(np.float32), aspect="precision", public=True),
        plan.case("flat-single", flat.astype(np.float32), aspect="precision"),
        plan.case("wide-single", values.eighths(4, shapes.wide).astype(np.float32), aspect="precision"),
    ]
    plan.judge_each("dtype", members)
    plan.judge_each("precision", members)


def _add_halves(plan: PlanBuilder, shapes: SoftmaxSizes, values: ExactValues) -> None:
    """Multiples of 1/8 up to 4, which both half precisions hold exactly."""
    members = [plan.case("square-half", _SQUARE.astype(np.float16), aspect="half", public=True)]
    for name, shape in (("flat", shapes.flat), ("wide", shapes.wide)):
        x = values.eighths(4, shape)
        members.append(plan.case(f"{name}-half", x.astype(np.float16), aspect="half"))
        single = x.astype(np.float32)
        members.append(plan.case(f"{name}-brain", single, aspect="half", narrow="bfloat16"))
    plan.judge_each("dtype", members)
    plan.judge_each("half", members)


def _add_layouts(
    plan: PlanBuilder, hidden: dict[str, int], shapes: SoftmaxSizes, values: ExactValues
) -> None:
    for name, *axis in (("flat",), ("wide",), ("cube", 1)):
        x = plan.argument(hidden[str(name)])
        for layout in ("strided", "read-only"):
            case = plan.case(f"{name}-{layout}", x, *axis, aspect="layout", layout=layout)
            plan.judge("layout", case)
    plan.judge("values", plan.case("one-entry", values.distinct(4, (shapes.row, 1))), cases="one-key")


def _add_longer(plan: PlanBuilder, shapes: SoftmaxSizes, values: ExactValues) -> None:
    def drawn(shape: tuple[int, ...]) -> tuple[Floats]:
        return (values.distinct(4, shape),)

    add_longer(plan, drawn, longer(shapes.flat, values))
    # each has a check of its own: a function that can't do with such arrays at all doesn't lose this one too
    add_longer(plan, drawn, longer((shapes.row,), values), "longer-line", "one-axis")
    add_longer(plan, drawn, longer(shapes.cube, values)[:3], "longer-cube", "more-axes")
    add_longer(plan, lambda shape: (*drawn(shape), 1), longer(shapes.cube, values)[:3], "longer-axis", "axis")


def _add_gradients(plan: PlanBuilder, shapes: SoftmaxSizes, values: ExactValues) -> None:
    from reference import softmax

    drawn = (("square", _SQUARE, -1), ("flat", values.eighths(2, shapes.flat), -1))
    for name, x, axis in (*drawn, ("cube", values.eighths(2, shapes.cube), 1)):
        cotangent = values.eighths(2, x.shape)
        relative = relative_tolerance("float64", keys=x.shape[axis], score=4.0)
        (found,) = gradients_of(partial(softmax, axis=axis), [x], cotangent)
        right = ExpectedPart(found, "float64", relative, 8 * relative)
        public = name == "square"
        case, given = f"{name}-gradient", () if axis == -1 else (axis,)
        plan.gradient_case(case, x, *given, cotangents=(cotangent,), gradients=(right,), public=public)


def _candidates() -> Iterator[tuple[Argument, ...]]:
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
    for array in (pair.astype(np.float32), x[1:].astype(np.float32), pair.astype(np.float16)):
        yield (array,)


FAMILY = _Softmax()
