"""``causal_mask(n)``: background; who may attend to whom where a sequence is written from left to right."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.exercises.by_hand import (
    BLOCKS,
    Argument,
    ExactValues,
    ExpectedResult,
    PlanBuilder,
    PlannedExercise,
    draw_specs,
    integers,
)


class _Causal(PlannedExercise):
    argument_names = ("n",)

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        from reference import causal_mask

        (n,) = args
        assert isinstance(n, int)
        mask = np.asarray(causal_mask(n))
        return ExpectedResult.array(mask.astype(np.float64), "bool", 1e-9, 1e-9)

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        return len(args) == 1 and type(args[0]) is int and 0 <= args[0] < 100

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        members = [plan.case("three", 3, public=True)]
        members += [plan.case(f"size-{n}", n, public=True) for n in (1, 2, 4)]
        members += [plan.case(f"hidden-{n}", n) for n in draw_specs(integers(5, 60), 3, seed)]
        plan.judge("runs", members[0])
        plan.judge_each(("shape", "values", "dtype", "sees-itself", "sees-past", "no-future"), members)
        for n in (*BLOCKS, 99):
            plan.judge("values", plan.case(f"longer-{n}", n), cases="sizes")
        plan.judge("empty", plan.case("none", 0, kind="empty", public=True))
        plan.judge("refuses", plan.case("negative", -1, kind="refused", public=True))
        plan.add_again(members[0], "three-again")

    def simple_inputs(self) -> Iterable[tuple[Argument, ...]]:
        return [(n,) for n in range(1, 6)]


exercise = _Causal()
