"""``beam_search(step, s0, b, bos, eos, max_len)``: S0 section 3.2, without length normalisation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from engine.exercises.by_hand import (
    Argument,
    ExactValues,
    ExpectedPart,
    ExpectedResult,
    HypothesesResult,
    PlanBuilder,
    PlannedExercise,
    SearchSizes,
    StepTable,
    draw_accepted,
    draw_searches,
    draw_table,
    is_clear,
    relative_tolerance,
)


class _Beam(PlannedExercise):
    argument_names = ("step", "s0", "b", "bos", "eos", "max_len")

    def expected(self, args: tuple[Argument, ...]) -> ExpectedResult:
        import reference

        table, *rest = args
        assert isinstance(table, StepTable)
        called: list[Any] = [table.step(), *rest]
        hypotheses = [h for h in reference.beam_search(*called) if math.isfinite(h.logprob)]
        tokens = np.full((len(hypotheses), max((len(h.tokens) for h in hypotheses), default=0)), -1.0)
        for row, hypothesis in zip(tokens, hypotheses, strict=True):
            row[: len(hypothesis.tokens)] = hypothesis.tokens
        logs = np.array([hypothesis.logprob for hypothesis in hypotheses])
        largest = float(np.abs(logs).max(initial=1.0))
        relative = relative_tolerance(table.dtype, keys=tokens.shape[1], score=largest)
        b, most = args[2], args[-1]
        assert isinstance(b, int) and isinstance(most, int)
        parts = (ExpectedPart(tokens, "int", 1e-9, 1e-9), ExpectedPart(logs, "float64", relative, relative))
        return ExpectedResult(parts, result=HypothesesResult(most=most, width=b))

    def is_valid_input(self, args: tuple[Argument, ...]) -> bool:
        if len(args) != len(self.argument_names):
            return False
        table, s0, b, bos, eos, most = args
        if not (isinstance(table, StepTable) and s0 == ()):
            return False
        if not all(type(number) is int for number in (b, bos, eos, most)):
            return False
        assert isinstance(b, int) and isinstance(bos, int) and isinstance(eos, int)
        assert isinstance(most, int)
        ranges = 1 <= b <= 100 and 0 <= bos != eos and 0 <= eos < table.vocabulary and 1 <= most <= 5
        # which of almost equal hypotheses comes first is no matter of right or wrong
        return ranges and is_clear(table, b, eos, most)

    def add_cases(self, plan: PlanBuilder, seed: bytes, values: ExactValues) -> None:
        searches = draw_searches(seed, 4, 3, beam=True)
        searches_drawn = [
            (f"hidden-{place}", *_draw(values, search)) for place, search in enumerate(searches)
        ]
        members = []
        for name, table, search in [("three", _TABLE, _PUBLIC), ("two", _OTHER, _SECOND), *searches_drawn]:
            members += _add_search(plan, name, table, search)
        plan.judge("runs", members[0])
        single = replace(_TABLE, dtype="float32")
        members.append(plan.case("single-precision", *_called(single, _PUBLIC, 2), public=True))
        _add_longer(plan, values)
        zero = [plan.case(f"impossible-{b}", *_called(_ZERO, _PUBLIC, b), public=True) for b in (1, 4, 50)]
        plan.judge_each(("values", "vocabulary", "length", "ends", "own-logprob", "ranked"), members)
        plan.judge_each("possible", zero)
        for place, (table, search, b) in enumerate(_TIES):
            tie = plan.case(f"tie-{place}", *_called(table, search, b), public=True)
            plan.judge("tie-order", tie)
            plan.judge("values", tie, cases="ties")
        for b in (0, -1, -3):  # -1 as an index or a slice would pass unnoticed
            args = _called(_TABLE, _PUBLIC, b)
            plan.judge("refuses", plan.case(f"width-{b}", *args, kind="refused", public=True))
        plan.add_again(members[0], "again")
        for b, most in ((4, 4), (5, 4), (9, 5), (6, 6)):
            args = _called(_TINY, SearchSizes(2, 1, most, b), b)
            tiny = plan.case(f"tiny-{b}", *args, kind="large", public=True)
            plan.judge_each(("own-logprob", "values"), [tiny], cases="tiny")
        for name, table, search, b in _SLIPS:
            member = plan.case(name, *_called(table, search, b), public=True)
            plan.judge("values", member, cases="ties" if name.startswith("tie") else None)
        plan.judge("values", plan.case("begun", _BEGUN, (7,), 2, 3, 2, 2))

    def simple_inputs(self) -> Iterator[tuple[Argument, ...]]:
        return _simple_inputs()


def _called(table: StepTable, search: SearchSizes, b: int) -> tuple[Argument, ...]:
    return table, (), b, search.vocabulary, search.eos, search.most


def _add_longer(plan: PlanBuilder, values: ExactValues) -> None:
    # more tokens, longer sequences and a wider beam than usual blocks hold; no two hypotheses tie
    wide = SearchSizes(65, 64, 2, 33)
    uneven = [(np.arange(65) + start) ** 1.7 for start in (11.3, 7.9)]

    def draw() -> StepTable:
        rows = [row[values.order(65)] for row in uneven]
        first, other = (tuple(map(float, row / row.sum())) for row in rows)
        return StepTable((((), first),), other)

    table = draw_accepted(
        draw, lambda table: all(is_clear(table, b, wide.eos, wide.most) for b in (3, 17, 33))
    )
    for b in (3, 17, 33):
        plan.judge("values", plan.case(f"longer-{b}", *_called(table, wide, b)), cases="sizes")
    for most, b in ((17, 1), (33, 2), (65, 1)):
        args = _called(StepTable((), (0.71875, 0.28125)), SearchSizes(2, 1, most, b), b)
        plan.judge("values", plan.case(f"longer-of-{most}", *args), cases="sizes")


def _add_search(plan: PlanBuilder, name: str, table: StepTable, search: SearchSizes) -> list[int]:
    """Add one model with several widths; a width of all sequences finds the best one of all."""
    from reference import exhaustive, greedy_decode

    public = table in (_TABLE, _OTHER)
    step, bos = table.step(), search.vocabulary
    every = exhaustive(step, search.most, s0=(), bos=bos, eos=search.eos)
    members = []
    # as wide as there are sequences, a beam keeps them all: its best is the best of all
    for b in dict.fromkeys((search.width, 1, search.width + 1, len(every), len(every) + 3)):
        member = plan.case(f"{name}-{b}", *_called(table, search, b), public=public)
        members.append(member)
        plan.judge("hypotheses", member, due=min(b, len(every)))
        if b >= len(every):
            plan.judge("best", member, due=every[0].tokens)
        if b == 1:
            due = greedy_decode(step, (), bos, search.eos, search.most)
            plan.judge("best", member, cases="greedy", due=due)
    a_token = min(token for token in range(bos) if token != search.eos)
    table_args = (table, (), search.width, a_token, search.eos, search.most)
    return [*members, plan.case(f"{name}-bos-known", *table_args, public=public)]


_PUBLIC, _SECOND = SearchSizes(3, 2, 3, 2), SearchSizes(2, 1, 3, 2)
# public models: greedy search misses the best sequence, and one hypothesis ends early and is overtaken
_TABLE = StepTable(
    (
        ((), (0.5, 0.375, 0.125)),
        ((0,), (0.4375, 0.25, 0.3125)),
        ((1,), (0.078125, 0.875, 0.046875)),
        ((0, 0), (0.28125, 0.46875, 0.25)),
        ((1, 1), (0.140625, 0.234375, 0.625)),
    ),
    (0.1875, 0.3125, 0.5),
)
_OTHER = StepTable((((), (0.59375, 0.40625)), ((0,), (0.46875, 0.53125))), (0.71875, 0.28125))
_ZERO = StepTable((((), (0.625, 0.0, 0.375)), ((0,), (0.0, 1.0, 0.0))), (0.0, 0.25, 0.75))
_TIES = (
    (StepTable((), (0.25, 0.25, 0.25, 0.25)), SearchSizes(4, 3, 2, 3), 3),
    (StepTable((), (0.25, 0.25, 0.25, 0.25)), SearchSizes(4, 0, 2, 3), 6),
    (StepTable((), (0.5, 0.5)), SearchSizes(2, 1, 3, 3), 3),
    (StepTable((((), (0.25, 0.5, 0.25)),), (0.375, 0.375, 0.25)), SearchSizes(3, 2, 2, 3), 4),
)
_SLIPS = (
    # the parent that comes first has the larger token, and the children of both tie; a finished one ties, too
    (
        "tie-of-parents",
        StepTable((((), (0.25, 0.5, 0.25)), ((0,), (0.5, 0.25, 0.25))), (0.25, 0.5, 0.25)),
        SearchSizes(3, 2, 2, 4),
        4,
    ),
    # The first token is certain: its log-probability is 0, as is that of no token at all. No token is
    # impossible and none ties, because that has checks of its own.
    (
        "certain-first",
        StepTable((((), (1e-30, 1.0, 1e-20)), ((1,), (0.25, 0.625, 0.125))), (0.5, 0.125, 0.375)),
        SearchSizes(3, 2, 2, 2),
        2,
    ),
)
# The state has seen a token before the first call, so that what is fed first, bos, selects the row as well.
_BEGUN = StepTable((((3,), (0.5, 0.375, 0.125)), ((3, 0), (0.125, 0.25, 0.625))), (0.25, 0.125, 0.625))
# [0, 0, 0] has the probability 1e-360, which no float holds; 1e-120 + 1.0 is 1.0
_TINY = StepTable((), (1e-120, 1.0))


def _draw(values: ExactValues, search: SearchSizes) -> tuple[StepTable, SearchSizes]:
    """Return a model on which greedy search misses the best hypothesis, and one ends before the others."""
    from reference import beam_search, exhaustive

    bos, eos, most = search.vocabulary, search.eos, search.most

    def accept(table: StepTable) -> bool:
        (greedy,) = beam_search(table.step(), (), 1, bos, eos, most)
        beam = beam_search(table.step(), (), search.width, bos, eos, most)
        if beam[0].tokens == greedy.tokens or all(len(hypothesis.tokens) == most for hypothesis in beam):
            return False
        every = len(exhaustive(table.step(), most, s0=(), bos=bos, eos=eos))
        widths = (1, search.width, search.width + 1, every)
        # clear even to those who divide by the length, so that their mistake always looks the same
        return all(is_clear(table, b, eos, most) and is_clear(table, b, eos, most, mean=True) for b in widths)

    return draw_accepted(lambda: draw_table(values, search.vocabulary, most), accept), search


def _simple_inputs() -> Iterator[tuple[Argument, ...]]:
    rows = ((1.0,), (0.25, 0.75), (0.75, 0.25), (0.5, 0.5), (0.0, 1.0), (1.0, 0.0))
    for row in rows:
        for eos in range(len(row)):
            for b, most in ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3)):
                yield StepTable((), row), (), b, len(row), eos, most
    for first, second in (((0.625, 0.375), (0.5, 0.5)), ((0.375, 0.625), (0.875, 0.125))):
        for eos in (0, 1):
            for b in (1, 2):
                yield StepTable((((), first),), second), (), b, 2, eos, 2
                yield StepTable((((0,), first),), second), (), b, 2, eos, 2
                yield StepTable((((1,), first),), second), (), b, 2, eos, 3
    for table, search in ((_TABLE, _PUBLIC), (_OTHER, _SECOND), (_ZERO, _PUBLIC)):
        for b in (1, 2, 3, 8):
            yield _called(table, search, b)
    for most in (2, 3, 4):
        yield _called(_TINY, SearchSizes(2, 1, most, 2), 2)
        yield _called(_TINY, SearchSizes(2, 1, most, 4), 4)
    for table, search, b in _TIES:
        yield _called(table, search, b)


exercise = _Beam()
