"""``rnn_forward(X, W, U, h0)``: S3 (5), the first one: h_t = sigma(W h_(t-1) + U x_t), all states."""

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
    spread,
    unequal_sizes,
)

Sizes = tuple[int, int, int]  # T, dx, dh
Sample = tuple[Floats, Floats, Floats, Floats]


def _size(arrays: Sequence[Floats]) -> Rounding:
    # an error in one state goes on, at most |W| / 4 times as large: that is the logistic function's slope
    X, W, U, h0 = (np.abs(array) for array in arrays)
    row = float(W.sum(axis=1).max(initial=0.0))
    largest = row * max(1.0, float(h0.max(initial=0.0))) + float((X @ U.T).max(initial=0.0))
    return Rounding(largest, len(h0) + X.shape[1], max(1.0, row / 4) ** (len(X) - 1))


_INPUTS = ArrayInputs(("X", "W", "U", "h0"), ("tx", "hh", "hx", "h"), "rnn_forward", _size)


class _Rnn(ArrayExercise):
    inputs = _INPUTS

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        first, second, square = draw_sizes(
            seed, unequal_sizes(3), unequal_sizes(3), integers(2, 4), different=2
        )
        samples = [_draw(values, sizes) for sizes in (first, second, (square + 1, square, square))]
        inputs = {"square": _SQUARE, "rect": _RECT} | {f"hidden-{k}": args for k, args in enumerate(samples)}
        members = [plan.case(name, *args, public=name in _PUBLIC) for name, args in inputs.items()]
        plan.judge("runs", members[0])
        plan.judge_each(("shape", "values"), members)
        plan.judge_each("within", members, low=0.0, high=1.0)
        for place, (member, arrays) in enumerate(zip(members, inputs.values(), strict=True)):
            _add_relations(plan, place, member, arrays)
            _add_silent(plan, place, arrays)
        plan.add_contract(_SQUARE, samples[2], samples[:2])
        self.add_gradients(plan, _SQUARE, samples[:2], values)
        X, W, U, h0 = _RECT
        refusals = {
            "start-too-long": (X, W, U, np.array([0.5, 0.25, 1.0])),
            "input-too-short": (X[:, :2], W, U, h0),
            "input-matrix-transposed": (X, W, U.T, h0),
            # each of two sizes fits two axes: who compares in pairs must compare enough of them
            "larger-matrix": (X, np.pad(W, (0, 1)), U, h0),
            "larger-rows": (X, np.vstack([W, W[:1]]), np.vstack([U, U[:1]]), h0),
            "larger-start": (X, np.vstack([W, W[:1]]), U, np.append(h0, 0.25)),
        }
        plan.add_refusals(refusals, _INPUTS.letters, _RECT)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(first, values))
        plan.add_again(members[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


_PUBLIC = ("square", "rect")
_SQUARE = (
    np.array([[1.0, 0.0], [0.5, -1.0], [-1.0, 2.0]]),
    np.array([[0.5, 1.0], [-1.0, 0.25]]),
    np.array([[1.0, 0.5], [-0.5, 2.0]]),
    np.array([2.0, -1.0]),
)
_RECT = (
    np.array([[1.0, -1.0, 0.5], [0.0, 1.0, 2.0]]),
    np.array([[1.0, -0.5], [0.5, 2.0]]),
    np.array([[0.5, 0.0, 1.0], [-1.0, 1.0, 0.25]]),
    np.array([0.5, -1.0]),
)


def _draw(values: ExactValues, sizes: Sizes) -> Sample:
    """Return arguments whose sums stay where the logistic function is not flat."""
    T, dx, dh = sizes
    X, W, U = values.eighths(1, (T, dx)), values.eighths(1, (dh, dh)), values.eighths(1, (dh, dx))
    X[:, 0] = (spread(T) + 1) / 4  # no two inputs are equal
    W[0, 1], W[1, 0] = 1.0, -0.5  # not symmetric
    U[:, 0] += spread(dh) / 8 + 0.125
    return X, W, U, values.distinct(2, (dh,))


def _add_relations(plan: PlanBuilder, place: int, member: int, arrays: Sample) -> None:
    X, W, U, h0 = arrays
    public = place < 2
    changed = X.copy()
    changed[-1] += 1.0
    later = plan.case(f"last-changed-{place}", changed, W, U, h0, public=public)
    plan.judge("rowind", member, later, changed=len(X) - 1)
    first = plan.case(f"first-part-{place}", X[:1], W, U, h0, public=public)
    state = _logistic(W @ h0 + U @ X[0])
    rest = plan.case(f"rest-{place}", X[1:], W, U, state, public=public)
    plan.judge("chain", member, first, rest)


def _add_silent(plan: PlanBuilder, place: int, arrays: Sample) -> None:
    # one of the two terms is left out, or the sums are thousands: shorter formulas remain
    X, W, U, h0 = arrays
    public = place < 2
    member = plan.case(f"no-state-{place}", X, 0 * W, U, h0, public=public)
    plan.judge("agrees", member, cases="inputs-alone", due=_logistic(X @ U.T))
    member = plan.case(f"no-input-{place}", X, W, 0 * U, h0, public=public)
    due, state = [], h0
    for _ in X:
        state = _logistic(W @ state)
        due.append(state)
    plan.judge("agrees", member, cases="states-alone", due=np.stack(due))
    signs = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    loud, heavy = X.copy(), 0 * U
    loud[:, 0], heavy[:, 0] = 8.0 * signs, 1000.0
    member = plan.case(f"large-{place}", loud, W, heavy, h0, kind="large", public=public)
    steps = np.repeat((signs[:, np.newaxis] > 0).astype(np.float64), len(h0), axis=1)
    plan.judge("agrees", member, cases="large", due=steps)


def _logistic(z: Floats) -> Floats:
    # by tanh, which never overflows
    return np.asarray((1.0 + np.tanh(z / 2.0)) / 2.0)


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones, mat = np.array([1.0]), np.array([[1.0]])
    for x, w, u, h in ((0, 1, 0, 1), (1, 0, 1, 0), (1, 1, 1, 1), (1, 2, 1, 0), (2, 1, -1, 1)):
        yield x * mat, w * mat, u * mat, h * ones
    for w, u, h in ((1, 1, 0), (1, 1, 1), (4, 0, 1), (2, 1, 3)):
        yield np.array([[1.0], [0.0]]), w * mat, u * mat, h * ones
    yield mat, np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros((2, 1)), np.array([1.0, 0.0])
    yield np.array([[1.0, 0.0]]), np.zeros((2, 2)), np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros(2)
    yield _SQUARE
    yield _RECT
    for height in (1000.0, -1000.0):
        yield mat, mat, height * mat, ones
    yield single(mat, mat, mat, ones)
    yield single(*_SQUARE)


exercise = _Rnn()
