"""Inputs of attention, and the cases that ask the same formula of other numbers.

These are scores beyond what exp can hold, and single and half precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Argument
from engine.code.plans.array_inputs import Floats, single
from engine.code.plans.building import PlanBuilder
from engine.code.plans.draws import Values

__all__ = [
    "LOW",
    "RECT",
    "Sizes",
    "add_halves",
    "add_large",
    "add_precision",
    "billions",
    "draw_arguments",
    "read_arguments",
]

Sizes = tuple[int, int, int, int]  # m queries, n keys, d, dv

# how far below 0 visible scores lie while hidden ones are near it: beyond the numbers that are used to hide
LOW = (4e4, 4e5, 4e9)
# public: small numbers that a person can follow
_Q = np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, -1.0, 1.0]])
_K = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, -1.0]])
_V = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 4.0]])
RECT = (_Q, _K, _V)


def billions() -> tuple[Floats, Floats, Floats, Floats]:
    """Return X, Wq, Wk and Wv with scores of billions, of which the second token has the larger ones.

    Both tokens get its value alone: where scores are cut off at a bound, they get the mean.
    """
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    Wq, Wk = np.array([[2.0**31, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    return X, Wq, Wk, np.array([[2.0, 0.0], [1.0, -1.0]])


def read_arguments(
    args: Sequence[Argument],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return Q, K, V and the mask, None if there is none."""
    Q, K, V = args[:3]
    mask = args[3] if len(args) > 3 else None
    assert isinstance(Q, np.ndarray) and isinstance(K, np.ndarray) and isinstance(V, np.ndarray)
    assert mask is None or isinstance(mask, np.ndarray)
    return Q, K, V, mask


def draw_arguments(values: Values, sizes: Sizes, lead: tuple[int, ...] = ()) -> tuple[Floats, Floats, Floats]:
    """Return drawn Q, K and V, no two entries of V equal."""
    m, n, d, dv = sizes
    Q, K = values.eighths(2, (*lead, m, d)), values.eighths(2, (*lead, n, d))
    return Q, K, values.distinct(8, (*lead, n, dv))


def add_large(plan: PlanBuilder, drawn: Sequence[Sizes], height: float, values: Values) -> None:
    """Add scores beyond what exp can hold: a public case, two of the drawn sizes, a third in float32."""
    members = [plan.case("loud", 1000 * _Q, 2 * _K, _V, aspect="large", public=True)]
    for name, sizes in zip(("loud-more", "loud-other"), drawn[:2], strict=True):
        arrays = _loud(values, sizes, 100.0 * height)
        members.append(plan.case(name, *arrays, aspect="large"))
    arrays = _loud(values, drawn[2], 10.0 * height)
    members.append(plan.case("loud-single", *single(*arrays), aspect="large"))
    plan.judge_each("stable", members)


def _loud(values: Values, sizes: Sizes, height: float) -> tuple[Floats, Floats, Floats]:
    """Return inputs of which every query meets scores at both ends."""
    Q, K, V = draw_arguments(values, sizes)
    Q[:, 0] = np.abs(Q[:, 0]) + 1.0
    K[:, 0] = np.where(np.arange(len(K)) % 2 == 0, 8.0, -8.0)
    Q[:, 0] *= height
    return Q, K, V


def add_precision(plan: PlanBuilder, drawn: Sequence[Sizes], values: Values) -> None:
    """Add float32 inputs: a public case, two of the drawn sizes, the first once more with a mask."""
    arrays = [draw_arguments(values, sizes) for sizes in drawn]
    members = [
        plan.case("rect-single", *single(*RECT), aspect="precision", public=True),
        plan.case("single-single", *single(*arrays[0]), aspect="precision"),
        plan.case("more-single", *single(*arrays[1]), aspect="precision"),
    ]
    mask = values.partial_mask(drawn[0][:2])
    members.append(plan.case("masked-single", *single(*arrays[0]), mask, aspect="masked"))
    plan.judge_each("dtype", members)
    plan.judge_each("precision", members)


def add_halves(plan: PlanBuilder, drawn: Sequence[Sizes], values: Values) -> None:
    """Add float16 and bfloat16 inputs: a public case, two of the drawn sizes, the second with a mask.

    The entries are exact in both.  Scores are mild: a right program may round each product and each step
    of the softmax, and loses eps of a weight for each unit of its score.  With a mask only values are
    judged: -1e9 for a hidden score, which float16 can't hold, is no matter of the result's dtype.
    """
    plain, masked = drawn
    members = [
        plan.case("rect-half", *_halves(*RECT), aspect="half", public=True),
        *_add_both_halves(plan, "plain", _mild(values, plain)),
    ]
    plan.judge_each("dtype", members)
    members += _add_both_halves(plan, "masked", _mild(values, masked), values.partial_mask(masked[:2]))
    plan.judge_each("half", members)


def _mild(values: Values, sizes: Sizes) -> tuple[Floats, Floats, Floats]:
    m, n, d, dv = sizes
    return values.eighths(1, (m, d)), values.eighths(1, (n, d)), values.eighths(2, (n, dv))


def _add_both_halves(plan: PlanBuilder, name: str, arrays: Sequence[Floats], *mask: Argument) -> list[int]:
    return [
        plan.case(f"{name}-half", *_halves(*arrays), *mask, aspect="half"),
        plan.case(f"{name}-brain", *single(*arrays), *mask, aspect="half", narrow="bfloat16"),
    ]


def _halves(*arrays: Floats) -> list[NDArray[np.float16]]:
    return [array.astype(np.float16) for array in arrays]
