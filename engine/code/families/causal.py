"""``causal_mask(n)``: background; who may attend to whom where a sequence is written from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.code.arguments import Argument
from engine.code.families.random_values import draw_specs
from engine.code.plan import ExpectedResult, InputPlan, PlanBuilder

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["FAMILY"]


def _sizes() -> SearchStrategy[int]:
    from hypothesis import strategies as st

    return st.integers(5, 60)


class _Causal:
    argument_names = ("n",)

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        from reference import causal_mask

        (n,) = args
        assert isinstance(n, int)
        mask = causal_mask(n).numpy()
        return ExpectedResult.array(mask.astype(np.float64), "bool", 1e-9, 1e-9)

    def sound(self, args: tuple[Argument, ...]) -> bool:
        return len(args) == 1 and type(args[0]) is int and 0 <= args[0] < 100

    def plan(self, seed: bytes) -> InputPlan:
        plan = PlanBuilder("causal", self.expected)
        members = [plan.case("three", 3, public=True)]
        members += [plan.case(f"size-{n}", n, public=True) for n in (1, 2, 4)]
        members += [plan.case(f"hidden-{n}", n) for n in draw_specs(_sizes(), 3, seed)]
        plan.judge("runs", members[0])
        for name in ("shape", "values", "dtype", "sees-itself", "sees-past", "no-future"):
            plan.judge_each(name, members)
        for n in (17, 33, 65, 99):
            plan.judge("values", plan.case(f"longer-{n}", n), cases="sizes")
        plan.judge("empty", plan.case("none", 0, aspect="empty", public=True))
        plan.judge("refuses", plan.case("negative", -1, aspect="refused", public=True))
        plan.judge("pure", members[0], plan.case("three-again", 3, public=True))
        return plan.plan()

    def candidates(self) -> tuple[tuple[Argument, ...], ...]:
        return tuple((n,) for n in range(1, 6))

    def axes(self, args: tuple[Argument, ...]) -> tuple[tuple[str, ...], ...]:
        return ((),)


FAMILY = _Causal()
