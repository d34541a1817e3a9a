"""``sdpa_grad(Q, K, V, G)``: the gradients of scaled dot-product attention, (dQ, dK, dV)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from engine.exercises.by_hand import (
    Argument,
    ArrayExercise,
    ArrayInputs,
    Arrays,
    ExactValues,
    ExpectedPart,
    ExpectedResult,
    Floats,
    PlanBuilder,
    Rounding,
    TupleResult,
    beyond_blocks,
    relative_tolerance,
    single,
)

_INPUTS = ArrayInputs(
    ("Q", "K", "V", "G"), ("md", "nd", "nv", "mv"), "", lambda arrays: Rounding(1.0, 1, 1.0)
)


class _Backward(ArrayExercise):
    inputs = _INPUTS

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        import reference

        arrays = _INPUTS.arrays(args)
        dtype = arrays[0].dtype.name
        Q, K, V, G = (array.astype(np.float64) for array in arrays)
        size = float((np.abs(Q) @ np.abs(K).T).max()) / np.sqrt(Q.shape[1])
        relative = relative_tolerance(dtype, keys=len(K), score=size, terms=Q.shape[1] + V.shape[1])
        gradients = reference.grad_attention(Q, K, V, G)
        slacks = (relative * max(1.0, bound) for bound in _bounds(Q, K, V, G))
        parts = tuple(
            ExpectedPart(np.asarray(array), dtype, relative, slack)
            for array, slack in zip(gradients, slacks, strict=True)
        )
        return ExpectedResult(parts, result=TupleResult(("dQ", "dK", "dV")))

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        inputs = [_SQUARE, _RECT, *(_draw(values, sizes) for sizes in _SIZES)]
        members = [plan.case(f"input-{k}", *args, public=k < 2) for k, args in enumerate(inputs)]
        plan.judge("runs", members[0])
        plan.judge_each(("shape", "values"), members)
        for place, (member, args) in enumerate(zip(members, inputs, strict=True)):
            _add_sums(plan, place, member, args)
            _add_uniform(plan, place, args)
            _add_weights(plan, place, args)
            _add_scale(plan, place, args)
            # what students see is the same in every plan
            _add_relations(plan, place, member, args, ExactValues(b"relations") if place < 2 else values)
            loud = (64 * args[0], 64 * args[1], *args[2:])
            member = plan.case(f"large-{place}", *loud, kind="large", public=place < 2)
            plan.judge("values", member, cases="large")
            plan.judge("row-sums", member, cases="large", part=2, due=args[3].sum(axis=0))
        plan.add_contract(_RECT, inputs[2], inputs[3:5])
        Q, K, V, G = _RECT
        refusals = {"keys": (Q, K[:, :1], V, G), "values": (Q, K, V[:2], G), "rows": (Q, K, V, G[:1])}
        plan.add_refusals(refusals, _INPUTS.letters, _RECT)
        plan.add_beyond_blocks(partial(_draw, values), beyond_blocks(_SIZES[1], values))
        plan.add_again(members[0], "again")

    def simple_inputs(self) -> Iterable[tuple[Argument, ...]]:
        unit, pair = np.ones((1, 1)), np.array([[1.0], [0.0]])
        tiny = [(unit, unit, unit, unit), (unit, pair, pair, unit), (pair, pair, pair, pair)]
        return (*tiny, single(*tiny[0]), _SQUARE, _RECT, single(*_SQUARE))


def _bounds(Q: Floats, K: Floats, V: Floats, G: Floats) -> tuple[float, ...]:
    """Return by how much dQ, dK and dV change at most for a relative error of the weights and the sums."""
    # weights enter dS alone and in the mean of dW that is subtracted
    S = Q @ K.T / np.sqrt(Q.shape[1])
    W = np.exp(S - S.max(axis=1, keepdims=True))
    W /= W.sum(axis=1, keepdims=True)
    dW = np.abs(G) @ np.abs(V).T
    dS = W * (2.0 * dW + 3.0 * (W * dW).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    return tuple(float(array.max()) for array in (dS @ np.abs(K), dS.T @ np.abs(Q), W.T @ np.abs(G)))


_SIZES = ((3, 3, 3, 3), (3, 4, 2, 5), (4, 3, 5, 2))  # m, n, d, dv


def _draw(values: ExactValues, sizes: tuple[int, ...]) -> tuple[Floats, ...]:
    m, n, d, v = sizes
    return tuple(values.distinct(2, shape) for shape in ((m, d), (n, d), (n, v), (m, v)))


_SQUARE = _draw(ExactValues(b"public"), (2, 2, 2, 2))
_RECT = _draw(ExactValues(b"other"), (2, 3, 2, 4))


def _add_sums(plan: PlanBuilder, place: int, member: int, inputs: Arrays) -> None:
    # what holds for every input, and what one key, equal values or a zero gradient leave over
    Q, K, V, G = inputs
    public = place < 2
    plan.judge("row-sums", member, cases="all-weights", part=2, due=G.sum(axis=0))
    plan.judge("row-sums", member, cases="no-net-key", part=1, due=np.zeros(K.shape[1]))
    plan.judge("grad-balance", member)
    lone = plan.case(f"one-key-{place}", Q, K[:1], V[:1], G, public=public)
    for part, due in enumerate((0 * Q, 0 * K[:1], G.sum(axis=0, keepdims=True))):
        plan.judge("part-agrees", lone, cases="one-key", part=part, due=due)
    equal = plan.case(f"equal-values-{place}", Q, K, np.repeat(V[:1], len(V), axis=0), G, public=public)
    still = plan.case(f"no-gradient-{place}", Q, K, V, 0 * G, public=public)
    for part, due in enumerate((0 * Q, 0 * K, 0 * V)):
        if part < 2:
            plan.judge("part-agrees", equal, cases="equal-values", part=part, due=due)
        plan.judge("part-agrees", still, cases="no-gradient", part=part, due=due)


def _add_uniform(plan: PlanBuilder, place: int, inputs: Arrays) -> None:
    # all weights are equal: without a softmax, the gradients are covariances of the rest
    Q, K, V, G = inputs
    public, scale = place < 2, np.sqrt(Q.shape[1])
    spread = (V - V.mean(axis=0)) / len(V)
    blank = plan.case(f"zero-queries-{place}", 0 * Q, K, V, G, public=public)
    plan.judge("part-agrees", blank, cases="zero-queries", part=0, due=G @ spread.T @ K / scale)
    plan.judge("part-agrees", blank, cases="zero-queries", part=1, due=0 * K)
    blank = plan.case(f"zero-keys-{place}", Q, 0 * K, V, G, public=public)
    plan.judge("part-agrees", blank, cases="zero-keys", part=0, due=0 * Q)
    plan.judge("part-agrees", blank, cases="zero-keys", part=1, due=spread @ G.T @ Q / scale)


def _add_weights(plan: PlanBuilder, place: int, inputs: Arrays) -> None:
    Q, K, _, _ = inputs
    member = plan.case(f"weights-{place}", Q, K, np.zeros((len(K), len(Q))), np.eye(len(Q)), public=place < 2)
    plan.judge("weights-in-dv", member, scores=Q @ K.T / np.sqrt(Q.shape[1]))


def _add_scale(plan: PlanBuilder, place: int, inputs: Arrays) -> None:
    # Four times the features: scores and their root double, as with queries of twice the size. With dS
    # the gradient of these scores, dQ is dS K / sqrt(d) of doubled queries, and half of that of repeated
    # features; dK is dS^T (2 Q) / sqrt(d) of doubled queries, and a quarter of that.
    Q, K, V, G = inputs
    twice = plan.case(f"doubled-{place}", 2 * Q, K, V, G, public=place < 2)
    tiled = plan.case(f"tiled-{place}", np.tile(Q, (1, 4)), np.tile(K, (1, 4)), V, G, public=place < 2)
    factors, times = (0.5, 0.25, 1.0), (4, 4, 1)
    plan.judge("grads-tiled", twice, tiled, parts=(0, 1), factors=factors, times=times)
    plan.judge("grads-tiled", twice, tiled, cases="values", parts=(2,), factors=factors, times=times)


def _add_relations(plan: PlanBuilder, place: int, member: int, inputs: Arrays, values: ExactValues) -> None:
    Q, K, V, G = inputs
    public = place < 2
    keys, queries = values.order(len(K)), values.order(len(Q))
    moved = plan.case(f"keys-moved-{place}", Q, K[keys], V[keys], G, public=public)
    plan.judge("parts-same", member, moved, cases="keys", orders={1: keys, 2: keys})
    moved = plan.case(f"queries-moved-{place}", Q[queries], K, V, G[queries], public=public)
    plan.judge("parts-same", member, moved, cases="queries", orders={0: queries})
    # a vector added to all keys moves all scores of a query alike, and what it adds to dQ cancels out
    shifted = plan.case(f"keys-shifted-{place}", Q, K + 1.5, V, G, public=public)
    plan.judge("parts-same", member, shifted, cases="key-shift")
    raised = plan.case(f"values-shifted-{place}", Q, K, V - 2.0, G, public=public)
    plan.judge("parts-same", member, raised, cases="value-shift")
    other = values.eighths(2, G.shape)  # factors that don't sum to 1: an added constant shows too
    second = plan.case(f"other-gradient-{place}", Q, K, V, other, public=public)
    mixed = plan.case(f"mixed-gradient-{place}", Q, K, V, 2 * G - 3 * other, public=public)
    plan.judge("grads-linear", member, second, mixed, factors=(2.0, -3.0))


exercise = _Backward()
