"""``decoder_step(y, s, H, p)``: S0 (4)-(8) with the v that it leaves out; returns (w, c, s_new, P)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.exercises.by_hand import (
    Argument,
    ExactValues,
    ExpectedPart,
    ExpectedResult,
    Floats,
    PlanBuilder,
    PlannedExercise,
    TupleResult,
    beyond_blocks,
    draw_sizes,
    gradients_of,
    integers,
    relative_tolerance,
    single,
    spread,
    unequal_sizes,
)

Record = dict[str, Floats]
Inputs = tuple[Floats, Floats, Floats, Record]
Sizes = tuple[int, int, int, int, int, int]  # dy, ds, dh, da, n encoder states, V
_AXES = {"W": "as", "U": "ah", "v": "a", "Wx": "sx", "Ws": "ss", "Wy": "ks"}
_PARTS = ("w", "c", "s_new", "P")
_W, _C, _STATE, _P = range(4)


class _Decoder(PlannedExercise):
    argument_names = ("y", "s", "H", "p")

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        y, s, H, p = _read(args)
        relative, slack = _tolerance(args)
        arrays = (array.astype(np.float64) for array in (y, s, H, *p.values()))
        results = _reference(*arrays, names=list(p))
        parts = tuple(ExpectedPart(np.asarray(array), H.dtype.name, relative, slack) for array in results)
        return ExpectedResult(parts, result=TupleResult(_PARTS))

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        if len(args) != 4:
            return False
        y, s, H, p = _read(args)
        arrays = (y, s, H, *p.values())
        if set(p) != set(_AXES) or any(array.size == 0 for array in arrays):
            return False
        if (y.ndim, s.ndim, H.ndim) != (1, 1, 2) or len({array.dtype for array in arrays}) > 1:
            return False
        sizes = {"s": len(s), "h": H.shape[1], "a": p["v"].size, "x": H.shape[1] + len(y), "k": len(p["Wy"])}
        return all(p[name].shape == tuple(sizes[letter] for letter in axes) for name, axes in _AXES.items())

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        *_, p = _read(args)
        # the columns of Wx have a letter of their own: they belong to c and to y
        return (("y",), ("s",), ("n", "h"), *(tuple(_AXES[name]) for name in p))

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        sizes = unequal_sizes(6, among=(2, 3, 4, 5, 6, 7))
        first, second, a = draw_sizes(seed, sizes, sizes, integers(2, 3), different=2)
        public = plan.add_public({"square": _SQUARE, "rect": _RECT})
        samples = [_draw(values, sizes) for sizes in (first, second, (a, a, a, a, a + 1, a))]
        members = [*public, *plan.add_ordinary(samples)]
        plan.judge_each("distribution", members, part=_P)
        plan.judge_each("distribution", members, cases="weights", part=_W)
        for place, (member, inputs) in enumerate(zip(members, [_SQUARE, _RECT, *samples], strict=True)):
            _add_special(plan, place, inputs)
            _add_bounds(plan, place, member, inputs)
            _add_relations(plan, place, member, inputs, values)
            _add_large(plan, place, inputs)
        plan.add_contract(_RECT, samples[2], samples[:2])
        for place, args in enumerate([_SQUARE, *samples[:2]]):
            cotangents = [values.distinct(4, part.values.shape) for part in self.expected(args).parts]
            due = _gradients(args, cotangents)
            name = f"gradient-{place}"
            plan.gradient_case(name, *args, cotangents=cotangents, gradients=due, public=place == 0)
        plan.add_refusals(_misfits(_RECT), ("y", "s", "nh", *_AXES.values()), _RECT)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(first, values))
        plan.add_again(public[0])

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


def _read(args: tuple[Argument, ...]) -> Inputs:
    y, s, H, p = args
    assert isinstance(y, np.ndarray) and isinstance(s, np.ndarray) and isinstance(H, np.ndarray)
    assert isinstance(p, Mapping)
    return y, s, H, dict(p)


def _reference(y: Any, s: Any, H: Any, *parameters: Any, names: Sequence[str]) -> list[Any]:
    import reference

    step = reference.decoder_step(y, s, H, dict(zip(names, parameters, strict=True)))
    return [step.weights, step.context, step.state, step.probabilities]


def _gradients(args: Inputs, cotangents: Sequence[Floats]) -> list[ExpectedPart]:
    y, s, H, p = args

    def joined(*arrays: Any) -> Any:
        return np.concatenate(_reference(*arrays, names=list(p)))  # the four results are all vectors

    relative, slack = _tolerance(args)
    return [
        ExpectedPart(array, "float64", relative, slack * max(1.0, float(np.abs(array).max())))
        for array in gradients_of(joined, [y, s, H, *p.values()], np.concatenate(cotangents))
    ]


def _tolerance(args: tuple[Argument, ...]) -> tuple[float, float]:
    # from the sums that a rounding passes through, one after the other
    y, s, H, p = _read(args)
    size = float(np.abs(p["v"]).sum()) * (1 + _largest(p["W"], s) + _largest(p["U"], H))
    size += _largest(p["Wy"], np.ones(len(s))) * (1 + _largest(p["Ws"], s))
    size += _largest(p["Wx"], np.concatenate([np.abs(H).max(axis=0), y]))
    terms = H.shape[1] + len(y) + len(s)
    relative = relative_tolerance(H.dtype.name, keys=len(H) + len(p["Wy"]), score=size, terms=terms)
    return relative, relative * max(1.0, float(np.abs(H).max()))


def _largest(matrix: Floats, rows: Floats) -> float:
    return float((np.abs(rows).astype(np.float64) @ np.abs(matrix).T.astype(np.float64)).max())


def _shapes_of(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    dy, ds, dh, da, _, V = sizes
    return {"W": (da, ds), "U": (da, dh), "v": (da,), "Wx": (ds, dh + dy), "Ws": (ds, ds), "Wy": (V, ds)}


def _draw(values: ExactValues, sizes: Sizes) -> Inputs:
    dy, ds, dh, _, n, _ = sizes
    p = {name: values.eighths(1, shape) for name, shape in _shapes_of(sizes).items()}
    p["v"] += 0.5
    H = values.eighths(1, (n, dh))
    H[:, 0] = spread(n) / 2 - 0.5  # no two states alike
    return values.distinct(1, (dy,)), values.distinct(1, (ds,)), H, p


_SQUARE: Inputs = _draw(ExactValues(b"public"), (2, 2, 2, 2, 3, 2))
_RECT: Inputs = _draw(ExactValues(b"other"), (1, 3, 2, 4, 3, 2))


def _scores(inputs: Inputs) -> Floats:
    _, s, H, p = inputs
    return np.asarray(np.tanh(H @ p["U"].T + p["W"] @ s) @ p["v"])


def _softmax(scores: Floats) -> Floats:
    e = np.exp(scores - scores.max())
    return np.asarray(e / e.sum())


def _add_special(plan: PlanBuilder, place: int, inputs: Inputs) -> None:
    # parameters are zero: a shorter formula remains
    y, s, H, p = inputs
    dh, still, mean = H.shape[1], p["Ws"] @ s, H.mean(axis=0)

    def add(name: str, part: int, due: Floats, args: Inputs) -> None:
        member = plan.case(f"{name}-{place}", *args, public=place < 2)
        plan.judge("part-agrees", member, cases=name, part=part, due=due)

    def zeroed(*names: str) -> Record:
        return {name: np.zeros_like(array) if name in names else array for name, array in p.items()}

    add("mean", _C, mean, (y, s, H, zeroed("v")))
    add("state-alone", _STATE, np.tanh(still), (y, s, H, zeroed("Wx")))
    add("uniform", _P, np.full(len(p["Wy"]), 1 / len(p["Wy"])), (y, s, H, zeroed("Wy")))
    alone = (y, s, H, zeroed("W"))
    add("keys-alone", _W, _softmax(_scores(alone)), alone)
    add("token-alone", _STATE, np.tanh(p["Wx"][:, dh:] @ y + still), (y, s, np.zeros_like(H), p))
    due = np.tanh(p["Wx"][:, :dh] @ mean)
    member = plan.case(f"context-alone-{place}", np.zeros_like(y), s, H, zeroed("v", "Ws"), public=place < 2)
    plan.judge("part-agrees", member, cases="context-alone", part=_STATE, due=due)
    plan.judge("part-agrees", member, cases="output", part=_P, due=_softmax(p["Wy"] @ due))


def _add_bounds(plan: PlanBuilder, place: int, member: int, inputs: Inputs) -> None:
    y, s, H, p = inputs
    plan.judge("within", member, cases="hull", part=_C, low=H.min(axis=0), high=H.max(axis=0))
    fast = plan.case(f"fast-{place}", y, s, H, {**p, "Ws": 8 * p["Ws"]}, public=place < 2)
    plan.judge("within", fast, cases="state", part=_STATE, low=-1.0, high=1.0)


def _add_relations(plan: PlanBuilder, place: int, member: int, inputs: Inputs, values: ExactValues) -> None:
    y, s, H, p = inputs
    public = place < 2
    order = np.roll(np.arange(len(H)), 1) if public else values.order(len(H))
    moved = plan.case(f"reordered-{place}", y, s, H[order], p, public=public)
    plan.judge("parts-same", member, moved, cases="reordered", orders={_W: order})
    other = plan.case(f"other-token-{place}", 1.0 - 2.0 * y, s, H, p, public=public)
    plan.judge("parts-same", member, other, cases="other-token", parts=(_W, _C))
    # W s becomes the column of U for one more entry of every encoder state, which is 1
    wide = np.hstack([H, np.ones((len(H), 1))])
    U = np.hstack([p["U"], (p["W"] @ s)[:, np.newaxis]])
    Wx = np.insert(p["Wx"], H.shape[1], 0.0, axis=1)
    added = plan.case(
        f"added-{place}", y, s, wide, {**p, "W": np.zeros_like(p["W"]), "U": U, "Wx": Wx}, public=public
    )
    plan.judge("parts-same", member, added, cases="added", parts=(_W, _STATE, _P))


def _add_large(plan: PlanBuilder, place: int, inputs: Inputs) -> None:
    # scores and logits that exp can't hold
    y, s, H, p = inputs
    public = place < 2
    sharp = plan.case(f"sharp-{place}", y, s, H, {**p, "v": 1e4 * p["v"]}, kind="large", public=public)
    plan.judge("values", sharp, cases="sharp")
    plan.judge("distribution", sharp, cases="large", part=_W)
    scores = _scores(inputs)
    if np.diff(np.sort(scores)[-2:])[0] > 0.01:  # times 10,000: all other weights are below exp(-100)
        plan.judge("part-agrees", sharp, cases="one-state", part=_C, due=H[scores.argmax()])
    loud = plan.case(f"loud-{place}", y, s, H, {**p, "Wy": 1e4 * p["Wy"]}, kind="large", public=public)
    plan.judge("values", loud, cases="sharp")
    plan.judge("distribution", loud, cases="large", part=_P)


def _misfits(inputs: Inputs) -> dict[str, tuple[Argument, ...]]:
    y, s, H, p = inputs
    larger = {name: np.vstack([p[name], p[name][:1]]) for name in ("Wx", "Ws")}
    larger["Wy"] = np.hstack([p["Wy"], p["Wy"][:, :1]])
    return {
        "state-too-short": (y, s[:-1], H, p),
        "states-too-wide": (y, s, np.hstack([H, H]), p),
        "token-too-long": (np.append(y, [0.5, 1.0]), s, H, p),
        "v-too-short": (y, s, H, {**p, "v": p["v"][:-1]}),
        "Wy-too-wide": (y, s, H, {**p, "Wy": np.hstack([p["Wy"], p["Wy"]])}),
        # these three fit each other, but a state of this size couldn't be the next step's
        "next-state-larger": (y, s, H, {**p, **larger}),
    }


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    ones, two = np.array([[1.0]]), np.array([[0.0], [1.0]])
    base = {"W": ones, "U": ones, "v": ones[0], "Wx": np.array([[1.0, 2.0]]), "Ws": ones, "Wy": ones}
    y, s = np.array([0.5]), np.array([1.0])
    for H in (ones, two, 2 * two[::-1]):
        for Wy in (ones, two):
            yield y, s, H, {**base, "Wy": Wy}
            yield -y, s, H, {**base, "Wy": Wy, "W": 2 * ones}
    for H in (ones, two):
        yield y, s, H, {**base, "v": 1000 * ones[0]}
    yield y, s, ones, {**base, "Wy": 1000 * ones}
    for sizes in ((1, 1, 2, 1, 1, 1), (1, 2, 1, 1, 1, 1), (1, 2, 1, 1, 2, 2)):
        yield _counting(sizes)  # the fewest entries on which a transposed matrix shows
    yield from _public_simple_inputs()
    yield single(y, s, ones, base)
    yield single(y, s, two, {**base, "Wy": two})
    yield single(*_SQUARE)


def _counting(sizes: Sizes) -> Inputs:
    # 0, 1, 2, 0, 1 and so on: easy to read, and no two neighbours are equal
    dy, ds, dh, _, n, _ = sizes

    def count(*shape: int) -> Floats:
        return np.asarray(np.arange(np.prod(shape)).reshape(shape) % 3.0, dtype=np.float64)

    p = {name: count(*shape) for name, shape in _shapes_of(sizes).items()}
    return count(dy), count(ds), count(n, dh), {**p, "v": p["v"] + 1.0}


def _public_simple_inputs() -> Iterator[Inputs]:
    y, s, H, p = _SQUARE
    for n, V in ((1, 1), (2, 1), (3, 2)):
        yield y, s, H[:n], {**p, "Wy": p["Wy"][:V]}
    yield _RECT


exercise = _Decoder()
