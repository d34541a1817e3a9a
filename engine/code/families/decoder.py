"""``decoder_step(y, s, H, p)``: S0 (4)-(8) with the v that it leaves out; returns (w, c, s_new, P)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.building import PlanBuilder
from engine.code.case import Argument, Expected, Part, Plan
from engine.code.draws import Values
from engine.code.results import TupleResult
from engine.code.tolerance import relative_tolerance

__all__ = ["FAMILY"]

Floats = NDArray[Any]
Record = dict[str, Floats]
Inputs = tuple[Floats, Floats, Floats, Record]
_AXES = {"W": "as", "U": "ah", "v": "a", "Wx": "sx", "Ws": "ss", "Wy": "ks"}


class _Decoder:
    argument_names = ("y", "s", "H", "p")

    def expected(self, args: tuple[Argument, ...]) -> Expected:
        import reference

        y, s, H, p = _read(args)
        wide = {name: value.astype(np.float64) for name, value in p.items()}
        step = reference.decoder_step(y.astype(np.float64), s.astype(np.float64), H.astype(np.float64), wide)
        size = float(np.abs(wide["v"]).sum()) * (1 + _largest(wide["W"], s) + _largest(wide["U"], H))
        size += _largest(wide["Wy"], np.ones(len(s))) * (1 + _largest(wide["Ws"], s))
        size += _largest(wide["Wx"], np.concatenate([np.abs(H).max(axis=0), y]))
        dtype, terms = H.dtype.name, H.shape[1] + len(y) + len(s)
        relative = relative_tolerance(dtype, keys=len(H) + len(wide["Wy"]), score=size, terms=terms)
        slack = relative * max(1.0, float(np.abs(H).max()))
        found = (step.weights, step.context, step.state, step.probabilities)
        parts = tuple(Part(one.numpy(), dtype, relative, slack) for one in found)
        return Expected(parts, result=TupleResult(("w", "c", "s_new", "P")))

    def sound(self, args: tuple[Argument, ...]) -> bool:
        y, s, H, p = _read(args)
        if set(p) != set(_AXES) or any(one.size == 0 for one in (y, s, H, *p.values())):
            return False
        if (
            y.ndim != 1
            or s.ndim != 1
            or H.ndim != 2
            or len({one.dtype for one in (y, s, H, *p.values())}) > 1
        ):
            return False
        sizes = {"s": len(s), "h": H.shape[1], "a": p["v"].size, "x": H.shape[1] + len(y), "k": len(p["Wy"])}
        return all(p[name].shape == tuple(sizes[one] for one in axes) for name, axes in _AXES.items())

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        *_, p = _read(args)
        return (("y",), ("s",), ("n", "h"), *(tuple(_AXES[name]) for name in p))

    def plan(self, seed: bytes) -> Plan:
        values, plan = Values(seed), PlanBuilder("decoder", self.expected)
        inputs = [_SQUARE, *(_draw(values, sizes) for sizes in _SIZES)]
        members = [plan.case(f"input-{k}", *one, public=k == 0) for k, one in enumerate(inputs)]
        plan.judge("runs", members[0])
        for name in ("shape", "values"):
            plan.judge_each(name, members)
        plan.judge_each("distribution", members, part=3)
        plan.judge_each("distribution", members, cases="weights", part=0)
        plan.arguments_return(*members)
        for place, one in enumerate(inputs):
            _add_special(plan, place, one)
        single = [plan.case(f"single-{k}", *_single(one), public=k == 0) for k, one in enumerate(inputs[:2])]
        plan.judge_each("dtype", single)
        y, s, H, p = _SQUARE
        short = plan.case("state-too-short", y, s[:1], H, p, aspect="refused", public=True)
        plan.judge("refuses", short)
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return (_SQUARE, _single(_SQUARE))


def _read(args: tuple[Argument, ...]) -> Inputs:
    y, s, H, p = args
    assert isinstance(y, np.ndarray) and isinstance(s, np.ndarray) and isinstance(H, np.ndarray)
    assert isinstance(p, Mapping)
    return y, s, H, dict(p)


def _largest(matrix: Floats, rows: Floats) -> float:
    return float((np.abs(rows) @ np.abs(matrix).T).max())


_SIZES = ((2, 3, 4, 5, 3, 4), (3, 2, 2, 4, 5, 3), (2, 2, 2, 2, 3, 2))  # dy, ds, dh, da, n, V


def _draw(values: Values, sizes: tuple[int, ...]) -> Inputs:
    dy, ds, dh, da, n, V = sizes
    shapes = {"W": (da, ds), "U": (da, dh), "v": (da,), "Wx": (ds, dh + dy), "Ws": (ds, ds), "Wy": (V, ds)}
    p = {name: values.eighths(1, shape) for name, shape in shapes.items()}
    p["v"] += 0.5
    H = values.eighths(1, (n, dh))
    H[:, 0] = np.arange(n) / 2 - 0.5
    return values.distinct(1, (dy,)), values.distinct(1, (ds,)), H, p


_SQUARE: Inputs = _draw(Values(b"public"), (2, 2, 2, 2, 3, 2))


def _single(inputs: Inputs) -> Inputs:
    y, s, H, p = inputs
    low = {name: value.astype(np.float32) for name, value in p.items()}
    return y.astype(np.float32), s.astype(np.float32), H.astype(np.float32), low


def _add_special(plan: PlanBuilder, place: int, inputs: Inputs) -> None:
    """Set one parameter to zero: a shorter formula remains."""
    y, s, H, p = inputs
    public = place == 0
    even = plan.case(f"v-zero-{place}", y, s, H, {**p, "v": 0 * p["v"]}, public=public)
    plan.judge("part-agrees", even, cases="mean", part=1, due=H.mean(axis=0))
    alone = plan.case(f"Wx-zero-{place}", y, s, H, {**p, "Wx": 0 * p["Wx"]}, public=public)
    plan.judge("part-agrees", alone, cases="state-alone", part=2, due=np.tanh(p["Ws"] @ s))
    plain = plan.case(f"Wy-zero-{place}", y, s, H, {**p, "Wy": 0 * p["Wy"]}, public=public)
    plan.judge("part-agrees", plain, cases="uniform", part=3, due=np.full(len(p["Wy"]), 1 / len(p["Wy"])))
    still = plan.case(
        f"even-input-{place}", 0 * y, s, H, {**p, "v": 0 * p["v"], "Ws": 0 * p["Ws"]}, public=public
    )
    due = np.tanh(p["Wx"][:, : H.shape[1]] @ H.mean(axis=0))
    plan.judge("part-agrees", still, cases="context-alone", part=2, due=due)
    scores = np.tanh(H @ p["U"].T) @ p["v"]
    keys = plan.case(f"W-zero-{place}", y, s, H, {**p, "W": 0 * p["W"]}, public=public)
    weights = np.exp(scores - scores.max())
    plan.judge("part-agrees", keys, cases="keys-alone", part=0, due=weights / weights.sum())
    sharp = plan.case(f"sharp-{place}", y, s, H, {**p, "v": 1e4 * p["v"]}, aspect="large", public=public)
    plan.judge("values", sharp, cases="sharp")
    plan.judge("distribution", sharp, cases="large", part=0)
    last = np.exp(p["Wy"] @ due)
    plan.judge("part-agrees", still, cases="output", part=3, due=last / last.sum())
    exact = np.tanh(H @ p["U"].T + p["W"] @ s) @ p["v"]
    if np.diff(np.sort(exact)[-2:])[0] > 0.01:  # times 10,000: all other weights are below exp(-100)
        plan.judge("part-agrees", sharp, cases="one-state", part=1, due=H[exact.argmax()])


FAMILY = _Decoder()
