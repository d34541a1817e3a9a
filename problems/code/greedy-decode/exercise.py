"""``greedy_decode(step, s0, bos, eos, max_len)``: S0 section 3.1, with the state handed on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from engine.exercises.by_hand import (
    Argument,
    ExactValues,
    ExpectedPart,
    ExpectedResult,
    PlanBuilder,
    PlannedExercise,
    SearchSizes,
    StepTable,
    TokensResult,
    draw_accepted,
    draw_searches,
    draw_table,
)


class _Greedy(PlannedExercise):
    argument_names = ("step", "s0", "bos", "eos", "max_len")

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        import reference

        tokens = reference.greedy_decode(*_called(args))
        values, most = np.asarray(tokens, dtype=np.float64), args[-1]
        assert isinstance(most, int)
        return ExpectedResult((ExpectedPart(values, "int", 1e-9, 1e-9),), result=TokensResult(most=most))

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        if len(args) != len(self.argument_names):
            return False
        table, s0, bos, eos, most = args
        numbers = all(type(number) is int for number in (bos, eos, most))
        if not (isinstance(table, StepTable) and s0 == () and numbers):
            return False
        assert isinstance(bos, int) and isinstance(eos, int) and isinstance(most, int)
        return 0 <= bos != eos and 0 <= eos < table.vocabulary and 1 <= most < 100

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        searches = draw_searches(seed, 4, 4, beam=False)
        members = [plan.case(name, *args, public=True) for name, args in _PUBLIC.items()]
        plan.judge("runs", members[0])
        for place, search in enumerate(searches):
            args = _draw(values, search, ends=place % 2 == 0)
            members.append(plan.case(f"hidden-{place}", *args))
            table, s0, _, eos, most = args
            a_token = min(token for token in range(search.vocabulary) if token != eos)
            members.append(plan.case(f"bos-known-{place}", table, s0, a_token, eos, most))
            members.append(plan.case(f"cut-{place}", *args[:4], 1))  # nothing but the first token
        members.append(plan.case("single-precision", replace(_TABLE, dtype="float32"), (), 3, 2, 4))
        _add_longer(plan)
        ties = [plan.case(name, *args, public=True) for name, args in _TIES.items()]
        ties += [plan.case(f"tie-{place}", *_tied(values)) for place in range(3)]
        plan.judge_each(("values", "vocabulary", "length", "ends", "largest"), members)
        plan.judge_each("values", ties, cases="ties")
        plan.judge_each("smallest-id", ties)
        plan.add_again(members[0], "again")
        plan.judge("values", plan.case("begun", _BEGUN, (7,), 3, 2, 3))

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


def _add_longer(plan: PlanBuilder) -> None:
    # more tokens and longer sequences than usual blocks hold
    for tokens, most in ((17, 17), (33, 33), (65, 65), (65, 3)):
        steps = np.arange(1.0, tokens + 1)
        first = tuple(map(float, steps / steps.sum()))
        second = tuple(map(float, np.roll(steps, -2) / steps.sum()))
        table = StepTable((((), first), ((tokens - 1,), second)), second)
        args = (table, (), tokens, 0, most)
        plan.judge("values", plan.case(f"longer-{tokens}-{most}", *args), cases="sizes")


def _called(args: tuple[Argument, ...]) -> tuple[Any, ...]:
    table, *rest = args
    assert isinstance(table, StepTable)
    return (table.step(), *rest)


_TABLE = StepTable(
    (
        ((), (0.5, 0.25, 0.25)),
        ((0,), (0.25, 0.625, 0.125)),
        ((0, 1), (0.125, 0.25, 0.625)),
        ((0, 1, 2), (0.75, 0.125, 0.125)),
    ),
    (0.125, 0.5, 0.375),
)
# The state has seen a token before the first call, so that what is fed first, bos, selects the row as well.
_BEGUN = StepTable((((3,), (0.25, 0.5, 0.25)), ((3, 1), (0.625, 0.25, 0.125))), (0.125, 0.25, 0.625))
_PUBLIC: dict[str, tuple[Argument, ...]] = {
    "ends": (_TABLE, (), 3, 2, 4),
    "bos-known": (_TABLE, (), 0, 2, 4),
    "cut": (_TABLE, (), 3, 2, 2),
    "ends-at-once": (StepTable((), (0.25, 0.75)), (), 2, 1, 3),
    "never-ends": (StepTable((((0,), (0.25, 0.5, 0.25)),), (0.5, 0.25, 0.25)), (), 3, 2, 3),
}
_TIES: dict[str, tuple[Argument, ...]] = {
    "two-equal": (StepTable((), (0.25, 0.375, 0.375)), (), 3, 2, 2),
    "all-equal": (StepTable((), (0.25, 0.25, 0.25, 0.25)), (), 4, 3, 2),
}


def _draw(values: ExactValues, search: SearchSizes, ends: bool) -> tuple[Argument, ...]:
    """Return a search whose answer ends before the largest length, or doesn't, and changes its token."""
    from reference import greedy_decode

    bos = search.vocabulary

    def accept(table: StepTable) -> bool:
        tokens = greedy_decode(table.step(), (), bos, search.eos, search.most)
        # one token alone would be right for programs that stop at once or never use the state
        early = 2 <= len(tokens) < search.most
        varied = len(set(tokens)) > 1 and tokens[0] != tokens[1]
        return varied and (early if ends else search.eos not in tokens)

    table = draw_accepted(lambda: draw_table(values, search.vocabulary, search.most), accept)
    return table, (), bos, search.eos, search.most


def _tied(values: ExactValues) -> tuple[Argument, ...]:
    # rows whose largest probability appears twice
    rows = []
    for prefix in ((), (0,), (1,), (2,)):
        row = np.full(4, 0.125)
        row[values.order(3)[:2]] = 0.375
        rows.append((prefix, tuple(map(float, row))))
    return StepTable(tuple(rows), (0.125, 0.125, 0.375, 0.375)), (), 4, 3, 3


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    for row in ((1.0,), (0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.25, 0.75), (0.75, 0.25)):
        for eos in range(len(row)):
            for most in (1, 2, 3):
                yield StepTable((), row), (), 0, eos, most
                yield StepTable((), row), (), len(row), eos, most
    for first, second in (((1.0, 0.0), (0.0, 1.0)), ((0.75, 0.25), (0.25, 0.75)), ((0.0, 1.0), (1.0, 0.0))):
        yield StepTable((((), first),), second), (), 2, 1, 3
        yield StepTable((((), first),), second), (), 2, 0, 3
    yield from _PUBLIC.values()
    yield from _TIES.values()


exercise = _Greedy()
