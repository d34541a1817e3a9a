"""``sdpa_grad(Q, K, V, G)``: the gradients of scaled dot-product attention, (dQ, dK, dV)."""

from __future__ import annotations

import numpy as np

from engine.code.array_inputs import ArrayFamily, ArrayInputs, Arrays, Floats, add_contract, add_refusals
from engine.code.building import PlanBuilder
from engine.code.case import Argument, Expected, Part, Plan
from engine.code.draws import Values
from engine.code.results import TupleResult
from engine.code.tolerance import relative_tolerance

__all__ = ["FAMILY"]

_INPUTS = ArrayInputs(("Q", "K", "V", "G"), ("md", "nd", "nv", "mv"), "", lambda arrays: (1.0, 1, 1.0))


class _Backward(ArrayFamily):
    def expected(self, args: tuple[Argument, ...]) -> Expected:
        import reference

        arrays = _INPUTS.read(args)
        dtype = arrays[0].dtype.name
        Q, K, V, G = (array.astype(np.float64) for array in arrays)
        size = float((np.abs(Q) @ np.abs(K).T).max()) / np.sqrt(Q.shape[1])
        relative = relative_tolerance(dtype, keys=len(K), score=size, terms=Q.shape[1] + V.shape[1])
        flow = float((np.abs(G) @ np.abs(V).T).sum())
        slack = relative * max(
            1.0, float(np.abs(G).sum()), flow * float(max(np.abs(K).max(), np.abs(Q).max()))
        )
        parts = tuple(
            Part(one.numpy(), dtype, relative, slack) for one in reference.grad_attention(Q, K, V, G)
        )
        return Expected(parts, result=TupleResult(("dQ", "dK", "dV")))

    def plan(self, seed: bytes) -> Plan:
        values, plan = Values(seed), PlanBuilder("backward", self.expected)
        inputs = [_SQUARE, _RECT, *(_draw(values, sizes) for sizes in _SIZES)]
        members = [plan.case(f"input-{k}", *one, public=k < 2) for k, one in enumerate(inputs)]
        plan.judge("runs", members[0])
        for name in ("shape", "values"):
            plan.judge_each(name, members)
        plan.arguments_return(*members)
        for place, one in enumerate(inputs):
            _add_special(plan, place, members[place], one)
        add_contract(plan, _RECT, inputs[2], inputs[3:5])
        Q, K, V, G = _RECT
        add_refusals(
            plan, {"keys": (Q, K[:, :1], V, G), "values": (Q, K, V[:2], G), "rows": (Q, K, V, G[:1])}
        )
        plan.judge("pure", members[0], plan.case("again", *_SQUARE, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        one = np.ones((1, 1))
        pair = np.array([[1.0], [0.0]])
        tiny = [(one, one, one, one), (one, pair, pair, one), (pair, pair, pair, pair)]
        return (*tiny, _SQUARE, _RECT)


_SIZES = ((3, 3, 3, 3), (3, 4, 2, 5), (4, 3, 5, 2))  # m, n, d, dv


def _draw(values: Values, sizes: tuple[int, ...]) -> tuple[Floats, ...]:
    m, n, d, v = sizes
    return tuple(values.distinct(2, shape) for shape in ((m, d), (n, d), (n, v), (m, v)))


_SQUARE = _draw(Values(b"public"), (2, 2, 2, 2))
_RECT = _draw(Values(b"other"), (2, 3, 2, 4))


def _add_special(plan: PlanBuilder, place: int, member: int, inputs: Arrays) -> None:
    """Add what shorter formulas give: dV from the weights, and inputs that leave dQ or dK at zero."""
    Q, K, V, G = inputs
    public = place < 2
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    plan.judge("part-agrees", member, cases="mixture", part=2, due=weights.T @ G)
    flow = G @ V.T
    flow = weights * (flow - (weights * flow).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    plan.judge("part-agrees", member, cases="queries", part=0, due=flow @ K)
    plan.judge("part-agrees", member, cases="keys", part=1, due=flow.T @ Q)
    equal = plan.case(f"equal-values-{place}", Q, K, np.repeat(V[:1], len(V), axis=0), G, public=public)
    plan.judge("part-agrees", equal, cases="still", part=0, due=0 * Q)
    plan.judge("part-agrees", equal, cases="still", part=1, due=0 * K)
    large = plan.case(f"large-{place}", 64 * Q, 64 * K, V, G, aspect="large", public=public)
    plan.judge("values", large, cases="large")


FAMILY = _Backward(_INPUTS)
