"""Families of greedy and beam search: expected values by exact probabilities, what drawn models promise."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from engine.code.arguments import Argument, key_of
from engine.code.plan import InputPlan, PlanCase
from engine.code.plan_builder import ExactValues
from engine.code.shared_cases import draw_accepted, draw_table, is_clear
from engine.code.step_table import StepTable
from tests.builtin_bank import inputs_of
from tests.oracles import code_exercises as oracle

pytestmark = pytest.mark.slow

Plans = Callable[[str, int], InputPlan]
Args = tuple[Argument, ...]
BOTH = pytest.mark.parametrize("name", ["beam-search", "greedy-decode"])
SEEDS = pytest.mark.parametrize("seed", range(3))
TABLE = StepTable((((), (0.5, 0.3125, 0.1875)), ((0,), (0.25, 0.625, 0.125))), (0.125, 0.5, 0.375))
VALID: dict[str, Args] = {"greedy-decode": (TABLE, (), 3, 2, 4), "beam-search": (TABLE, (), 2, 3, 2, 3)}


def _called(args: Args) -> list[Any]:
    table, *rest = args
    assert isinstance(table, StepTable)
    return [table.step(), *rest]


def _cases(name: str, plan_of: Plans, seed: int) -> dict[str, PlanCase]:
    return {case.id: case for case in plan_of(name, seed).cases}


def _assert_right(name: str, args: Args) -> None:
    expected = inputs_of(name).expected(args)
    if name == "greedy-decode":
        assert expected.values.tolist() == oracle.greedy_decode(*_called(args))
        return
    found = oracle.beam_search(*_called(args))
    tokens, logs = expected.parts
    assert [[int(y) for y in row if y >= 0] for row in tokens.values] == [row for row, _ in found]
    assert logs.values.shape == (len(found),)
    assert (np.abs(logs.values - [log for _, log in found]) <= logs.slack).all()
    # padding stands behind the tokens only
    assert (np.diff((tokens.values < 0).astype(int), axis=1) >= 0).all()


@SEEDS
@BOTH
def test_expected_values_are_those_of_the_oracle(name: str, seed: int, plan_of: Plans) -> None:
    for case in _cases(name, plan_of, seed).values():
        if case.expected is not None:
            _assert_right(name, case.args)


@BOTH
def test_candidates_are_sound_right_and_the_same_every_time(name: str) -> None:
    own = inputs_of(name)
    candidates = own.candidates()
    assert [key_of(args) for args in candidates] == [key_of(args) for args in own.candidates()]
    assert isinstance(candidates[0][0], StepTable) and candidates[0][0].entries <= 2
    for args in candidates:
        assert own.is_valid_input(args)
        assert own.axes(args) == ((),) * len(args)
        _assert_right(name, args)


@BOTH
def test_no_candidate_is_a_hidden_case_and_public_cases_never_change(name: str, plan_of: Plans) -> None:
    candidates = {key_of(args) for args in inputs_of(name).candidates()}
    shown = []
    for seed in range(3):
        cases = _cases(name, plan_of, seed).values()
        shown.append([(case.id, key_of(case.args)) for case in cases if case.public])
        drawn = [case for case in cases if case.id.startswith(("hidden", "bos-known-", "cut-", "tie-"))]
        assert not candidates & {key_of(case.args) for case in drawn if not case.public}
    assert shown[0] == shown[1] == shown[2] != []


def _searches(name: str, plan_of: Plans, seed: int, place: int) -> list[PlanCase]:
    """Return the cases of one drawn model, the first as it was drawn."""
    cases = _cases(name, plan_of, seed)
    return [case for found, case in cases.items() if found.startswith(f"hidden-{place}")]


@SEEDS
def test_every_second_greedy_answer_ends_early(seed: int, plan_of: Plans) -> None:
    cases = _cases("greedy-decode", plan_of, seed)
    for place in range(4):
        (case,) = _searches("greedy-decode", plan_of, seed, place)
        *_, bos, eos, most = case.args
        assert isinstance(most, int) and isinstance(case.args[0], StepTable)
        tokens = oracle.greedy_decode(*_called(case.args))
        assert tokens[0] != tokens[1] and bos == case.args[0].vocabulary
        if place % 2 == 0:
            assert tokens[-1] == eos and len(tokens) < most
        else:
            assert eos not in tokens and len(tokens) == most
        known = cases[f"bos-known-{place}"].args
        assert known[2] != eos and isinstance(known[2], int) and known[2] < case.args[0].vocabulary
        assert oracle.greedy_decode(*_called(known)) == tokens  # the start is no part of the table's key
        assert oracle.greedy_decode(*_called(cases[f"cut-{place}"].args)) == tokens[:1]


@SEEDS
def test_ties_stand_in_every_row_that_is_read(seed: int, plan_of: Plans) -> None:
    for place in range(3):
        table, *_ = args = _cases("greedy-decode", plan_of, seed)[f"tie-{place}"].args
        assert isinstance(table, StepTable)
        tokens = oracle.greedy_decode(*_called(args))
        for size in range(len(tokens)):
            row = table.after(tuple(tokens[:size]))
            assert row.count(max(row)) == 2 and tokens[size] == row.index(max(row))


@SEEDS
def test_beam_search_finds_what_greedy_search_misses(seed: int, plan_of: Plans) -> None:
    for place in range(4):
        drawn, one, *wider = _searches("beam-search", plan_of, seed, place)
        table, _, b, bos, eos, most = drawn.args
        assert isinstance(table, StepTable) and isinstance(b, int) and b > 1 and isinstance(most, int)
        beam = oracle.beam_search(*_called(drawn.args))
        greedy = oracle.greedy_decode(*_called((table, (), bos, eos, most)))
        assert beam[0][0] != greedy and _chance(table, beam[0][0]) > _chance(table, greedy)
        assert any(len(tokens) < most for tokens, _ in beam)  # one ends before the others
        assert one.args[2] == 1 and oracle.beam_search(*_called(one.args))[0][0] == greedy
        assert inputs_of("beam-search").is_valid_input(drawn.args) and inputs_of(
            "beam-search"
        ).is_valid_input(one.args)
        sequences = _sequences(table.vocabulary, eos, most)
        best = max(sequences, key=lambda tokens: _chance(table, tokens))
        widest = [case for case in wider if case.args[2] == len(sequences)]
        assert [oracle.beam_search(*_called(case.args))[0][0] for case in widest] == [best]


def test_a_model_where_no_hypothesis_ends_early_is_not_taken() -> None:
    """With this seed the first model on which greedy search fails is one."""
    cases = {case.id: case for case in inputs_of("beam-search").plan((21).to_bytes(4, "big")).cases}
    for place in range(4):
        args = next(case.args for name, case in cases.items() if name.startswith(f"hidden-{place}"))
        most = args[-1]
        assert isinstance(most, int)
        assert any(len(tokens) < most for tokens, _ in oracle.beam_search(*_called(args)))


def _chance(table: StepTable, tokens: list[int]) -> Fraction:
    chance = Fraction(1)
    for place, token in enumerate(tokens):
        chance *= Fraction(table.after(tuple(tokens[:place]))[token])
    return chance


def _sequences(vocabulary: int, eos: Argument, most: int) -> list[list[int]]:
    """Return all token lists that a search may end with."""
    found: list[list[int]] = []
    open_ones: list[list[int]] = [[]]
    for _ in range(most):
        longer = [[*tokens, y] for tokens in open_ones for y in range(vocabulary)]
        found += [tokens for tokens in longer if tokens[-1] == eos]
        open_ones = [tokens for tokens in longer if tokens[-1] != eos]
    return found + open_ones


@BOTH
def test_arguments_that_are_not_sound(name: str) -> None:
    args = VALID[name]
    own = inputs_of(name)
    assert own.is_valid_input(args)
    for wrong in (args[:-1], (*args, 1), (), (None, *args[1:]), (np.ones(3), *args[1:])):
        assert not own.is_valid_input(wrong)
    assert not own.is_valid_input((args[0], None, *args[2:])) and not own.is_valid_input(
        (args[0], (3,), *args[2:])
    )
    for place in range(2, len(args)):
        for value in (-1, True, 2.0, None, np.ones(1)):
            assert not own.is_valid_input((*args[:place], value, *args[place + 1 :])), (place, value)
    *front, bos, eos, most = args
    assert not own.is_valid_input((*front, eos, eos, most))
    assert not own.is_valid_input((*front, bos, 3, most))  # the end symbol is a token
    assert not own.is_valid_input((*front, bos, eos, 0)) and not own.is_valid_input((*front, bos, eos, 100))
    if name == "beam-search":
        assert not own.is_valid_input((*front[:2], 0, bos, eos, most))


def test_almost_equal_hypotheses_are_not_sound_where_one_falls_out() -> None:
    first = (0.5 + 2.0**-40, 0.5 - 2.0**-40)
    close = StepTable((((), first),), (0.75, 0.25))
    assert not is_clear(close, 1, 1, 2) and not inputs_of("beam-search").is_valid_input(
        (close, (), 1, 2, 1, 2)
    )
    equal = StepTable((), (0.5, 0.5))  # the same products in the same order: equal for everybody
    assert is_clear(equal, 1, 1, 2) and inputs_of("beam-search").is_valid_input((equal, (), 1, 2, 1, 2))
    assert inputs_of("greedy-decode").is_valid_input((close, (), 2, 1, 2))


def test_clear_by_products_is_not_clear_by_means() -> None:
    # 1/4 in one step, 1/16 in two: the products differ, their geometric means don't
    means = StepTable((((), (0.25, 0.75)), ((1,), (1 / 12, 11 / 12))), (0.5, 0.5))
    assert is_clear(means, 3, 0, 2) and not is_clear(means, 3, 0, 2, mean=True)


@pytest.mark.parametrize(("vocabulary", "depth"), [(3, 3), (4, 2)])
def test_drawn_tables_have_a_row_behind_every_prefix(vocabulary: int, depth: int) -> None:
    table = draw_table(ExactValues(b"seed"), vocabulary, depth)
    assert len(table.rows) == sum(vocabulary**size for size in range(depth))
    rows = [row for _, row in table.rows] + [table.other]
    assert all(sum(row) == 1 and len(set(row)) == vocabulary and min(row) > 0 for row in rows)
    assert all(p * 64 == int(p * 64) for row in rows for p in row)
    assert (
        table
        == draw_table(ExactValues(b"seed"), vocabulary, depth)
        != draw_table(ExactValues(b"other"), vocabulary, depth)
    )


def test_the_first_table_that_fits_is_accepted_and_the_search_ends() -> None:
    tables = iter([TABLE, replace(TABLE, dtype="float32"), TABLE])
    assert draw_accepted(lambda: next(tables), lambda table: table.dtype == "float32").dtype == "float32"
    assert next(tables) is TABLE
    with pytest.raises(RuntimeError, match="none of"):
        draw_accepted(lambda: TABLE, lambda table: False)


@pytest.mark.parametrize("vocabulary", [3, 4])
def test_every_token_is_as_often_the_most_probable(vocabulary: int) -> None:
    """A bias would make some searches so rare that no model is found for them."""
    values = ExactValues(b"bias")
    rows = [row for _ in range(40) for _, row in draw_table(values, vocabulary, 3).rows]
    counts = [sum(row.index(max(row)) == token for row in rows) for token in range(vocabulary)]
    assert min(counts) > 0.8 * len(rows) / vocabulary


@pytest.mark.parametrize("name", ["greedy-decode", "beam-search"])
def test_a_model_is_found_in_a_few_rounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []

    def counted(draw: Callable[[], StepTable], accept: Callable[[StepTable], bool]) -> StepTable:
        for number in itertools.count(1):
            table = draw()
            if accept(table):
                rounds.append(number)
                return table
        raise AssertionError

    module = sys.modules[type(inputs_of(name)).__module__]
    monkeypatch.setattr(module, "draw_accepted", counted)
    for seed in range(25):
        inputs_of(name).plan(b"rounds %d" % seed)
    assert (
        len(rounds) == {"beam-search": 125, "greedy-decode": 100}[name]
    )  # beam search has a wide model besides
    assert sum(rounds) / len(rounds) < 40  # 2,000 rounds then fail about once in exp(50) draws
