"""``rnn_forward(X, W, U, h0)``: S3 (5 first), all states of a plain recurrent network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.code.building import PlanBuilder
from engine.code.case import Argument, Expected, Plan
from engine.code.draws import Values, draw_specs
from engine.code.score_inputs import Floats, ScoreInputs, add_contract, add_gradients, add_refusals, single

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]

Drawn = tuple[Floats, Floats, Floats, Floats]  # X, W, U, h0


@dataclass(frozen=True, slots=True)
class Shapes:
    """What hypothesis draws: (T steps, dh, dx), unequal within one input."""

    first: tuple[int, int, int]
    second: tuple[int, int, int]
    square: int


def _shapes() -> SearchStrategy[Shapes]:
    from hypothesis import strategies as st

    sizes = st.permutations([2, 3, 4, 5]).map(lambda drawn: (drawn[0], drawn[1], drawn[2]))
    return st.builds(Shapes, sizes, sizes, st.integers(2, 4))


def _size(arrays: Sequence[Floats]) -> tuple[float, int, float]:
    X, W, U, h0 = arrays
    state = max(1.0, float(np.abs(h0).max(initial=0.0)))
    largest = float((np.abs(X) @ np.abs(U).T).max(initial=0.0)) + float(np.abs(W).sum(axis=1).max()) * state
    return largest, W.shape[1] + U.shape[1], float(len(X))


_INPUTS = ScoreInputs(("X", "W", "U", "h0"), ("tx", "hh", "hx", "h"), "rnn_forward", _size)


class _Recurrent:
    argument_names = _INPUTS.names

    def expected(self, args: tuple[Argument, ...]) -> Expected:
        return _INPUTS.expected(args)

    def sound(self, args: tuple[Argument, ...]) -> bool:
        return _INPUTS.fits(args)

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        return _INPUTS.axes(args)

    def plan(self, seed: bytes) -> Plan:
        shapes, values = draw_specs(_shapes(), 1, seed)[0], Values(seed)
        plan = PlanBuilder("recurrent", self.expected)
        public = [plan.case("square", *_SQUARE, public=True), plan.case("rect", *_RECT, public=True)]
        plan.judge("runs", public[0])
        drawn = [
            _draw(values, shapes.first),
            _draw(values, shapes.second),
            _draw(values, (shapes.square + 1, shapes.square, shapes.square)),
        ]
        hidden = [plan.case(f"hidden-{place}", *arrays) for place, arrays in enumerate(drawn)]
        for name in ("shape", "values"):
            plan.judge_each(name, [*public, *hidden])
        for member in (*public, *hidden):
            plan.judge("within", member, low=0.0, high=1.0)
        plan.arguments_return(*public, hidden[0])
        _add_special(plan, drawn)
        for place, member in enumerate((public[1], *hidden)):
            _add_cuts(plan, member, place, self)
        _add_large(plan, drawn)
        add_contract(plan, _RECT, drawn[2], drawn[:2])
        add_gradients(plan, _INPUTS, _RECT, drawn, values)
        X, W, U, h0 = _RECT
        add_refusals(
            plan,
            {"state-too-short": (X, W, U, h0[:1]), "inputs-too-wide": (np.tile(X, 2), W, U, h0),
             "w-not-square": (X, W[:, :1], U, h0)},
        )  # fmt: skip
        plan.judge("pure", public[0], plan.case("square-again", *_SQUARE, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple(_candidates())


_SQUARE = (
    np.array([[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]),
    np.array([[0.5, -1.0], [1.0, 0.25]]),
    np.array([[1.0, 2.0], [-0.5, 1.0]]),
    np.array([0.5, -1.0]),
)
_RECT = (
    np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0], [0.0, -1.0, 1.0], [1.0, 1.0, 1.0]]),
    np.array([[1.0, -0.5], [0.25, 2.0]]),
    np.array([[0.5, 1.0, -1.0], [1.0, 0.0, 0.5]]),
    np.array([1.0, 0.25]),
)


def _draw(values: Values, sizes: tuple[int, int, int]) -> Drawn:
    steps, dh, dx = sizes
    shapes = ((steps, dx), (dh, dh), (dh, dx), (dh,))
    X, W, U, h0 = (values.distinct(2, shape) for shape in shapes)
    return X, W, U, h0


def _add_special(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    """Add matrices of zeros: without both every entry is 1/2, without one the rest decides alone."""
    for place, (X, W, U, h0) in enumerate([_RECT, *drawn]):
        public = place == 0
        zero = plan.case(f"zeros-{place}", X, 0 * W, 0 * U, h0, public=public)
        plan.judge("agrees", zero, cases="zeros", due=np.full((len(X), len(h0)), 0.5))
        inputs = plan.case(f"inputs-alone-{place}", X, 0 * W, U, h0, public=public)
        plan.judge("agrees", inputs, cases="inputs-alone", due=1 / (1 + np.exp(-(X @ U.T))))
        first = plan.case(f"state-alone-{place}", X, W, 0 * U, h0, public=public)
        due, state = [], h0
        for _ in X:
            state = 1 / (1 + np.exp(-(W @ state)))
            due.append(state)
        plan.judge("agrees", first, cases="state-alone", due=np.array(due))


def _add_cuts(plan: PlanBuilder, member: int, place: int, truth: _Recurrent) -> None:
    """Cut a sequence: its beginning alone, and its end from the state at the cut."""
    X, W, U, h0 = (plan.argument(member, position) for position in range(4))
    steps = len(X) - 1
    public = place == 0
    plan.judge(
        "first-states", member, plan.case(f"head-{place}", X[:steps], W, U, h0, public=public), steps=steps
    )
    state = truth.expected((X, W, U, h0)).values[steps - 1]
    rest = plan.case(f"tail-{place}", X[steps:], W, U, state, public=public)
    plan.judge("continued", member, rest, steps=steps)


def _add_large(plan: PlanBuilder, drawn: list[Drawn]) -> None:
    """Add inputs so large that exp overflows; the states are then 0 or 1, or decided by the state."""
    for place, (X, W, U, h0) in enumerate([_RECT, *drawn]):
        member = plan.case(f"large-{place}", 4096.0 * X, W, U, h0, aspect="large", public=place == 0)
        plan.judge("within", member, cases="large", low=0.0, high=1.0)
        plan.judge("values", member, cases="large")


def _candidates() -> Iterator[tuple[Argument, ...]]:
    one = np.array([[1.0]])
    for X, W, h0 in (
        (one, one, 0.0),
        (one, one, 1.0),
        (np.array([[1.0], [0.0]]), one, 0.0),
        (2 * one, 0 * one, 0.0),
    ):
        yield X, W, one, np.array([h0])
    yield np.array([[1.0], [0.0]]), one, one, np.array([1.0])
    yield 1000 * one, one, one, np.array([0.0])
    yield -1000 * one, one, one, np.array([0.0])
    yield _SQUARE
    yield _RECT
    yield tuple(single(one, one, one, np.array([0.0])))
    yield tuple(single(*_RECT))


FAMILY = _Recurrent()
