"""Sequence probability and decoding against exact fractions and enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import reference as ref
from reference.tables import row_of
from tests.oracles import sequences
from tests.oracles.arrays import WIDE

COUNTEREXAMPLE = {  # a beam worse than greedy; rows that no search needs are missing
    (): (0.40, 0.36, 0.24),
    (0,): (0.40, 0.31, 0.29),
    (1,): (0.50, 0.45, 0.05),
    (0, 0): (0.98, 0.01, 0.01),
    (1, 0): (0.40, 0.35, 0.25),
    (1, 1): (0.40, 0.35, 0.25),
}


def random_tree(seed: int, V: int, depth: int) -> sequences.Table:
    """Rows in hundredths, all entries positive."""
    random = Random(seed)

    def row() -> list[Fraction]:
        cuts = sorted(random.sample(range(1, 100), V - 1))
        return [Fraction(b - a, 100) for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]

    return sequences.tree(V, depth, row)


def as_tensor(
    table: sequences.Table, dtype: torch.dtype = torch.float64, device: str = "cpu"
) -> torch.Tensor:
    return torch.tensor([[float(p) for p in row] for row in table.values()], device=device).to(dtype)


class TestCounterexample:
    def test_greedy_beats_beam_two(self) -> None:
        greedy = ref.greedy_decode(COUNTEREXAMPLE)
        best = ref.beam_search(COUNTEREXAMPLE, b=2)[0]
        assert greedy == [0, 0, 0]
        assert round(ref.sequence_prob(COUNTEREXAMPLE, greedy), 4) == 0.1568
        assert round(math.exp(best.logprob), 4) == 0.0720
        assert round(ref.sequence_prob(COUNTEREXAMPLE, best.tokens), 4) == 0.0720

    def test_beam_three_finds_what_beam_two_lost(self) -> None:
        uniform = (0.34, 0.33, 0.33)
        full = {p: COUNTEREXAMPLE.get(p, uniform) for p in sequences.tree(3, 3, lambda: None)}
        assert ref.beam_search(full, b=4)[0].tokens == ref.exhaustive(full)[0].tokens == [0, 0, 0]

    def test_missing_rows_are_named(self) -> None:
        with pytest.raises(ref.TableError, match=r"no row after \(2,\)"):
            ref.exhaustive(COUNTEREXAMPLE)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("V", "depth"), [(2, 1), (2, 4), (3, 3), (5, 2)])
@pytest.mark.parametrize("eos", [-1, 0, 1])
def test_search_equals_enumeration(V: int, depth: int, eos: int, dtype: torch.dtype, device: str) -> None:
    for seed in range(5):
        table = random_tree(seed, V, depth)
        tree = as_tensor(table, dtype, device)
        want = sequences.ranked(table, sequences.every_sequence(V, depth, eos))
        check(ref.exhaustive(tree, eos=eos), want, table)
        greedy = ref.greedy_decode(tree, eos=eos)
        assert tuple(greedy) == sequences.greedy(table, depth, eos)
        for b in (1, 2, 3, V**depth):
            check(ref.beam_search(tree, b=b, eos=eos), sequences.beam(table, V, b, depth, eos), table)


def check(
    got: list[ref.Hypothesis], want: list[tuple[sequences.Words, Fraction]], table: sequences.Table
) -> None:
    """Same number, same probabilities in order, and each sequence has the one it claims."""
    assert len(got) == len(want)
    for hypothesis, (_, p) in zip(got, want, strict=True):
        assert math.isclose(math.exp(hypothesis.logprob), float(p), rel_tol=1e-5)
        own = sequences.probability(table, tuple(hypothesis.tokens))
        assert math.isclose(math.exp(hypothesis.logprob), float(own), rel_tol=1e-5)
    if len({p for _, p in want}) == len(want):  # without ties the words agree, too
        assert [tuple(h.tokens) for h in got] == [words for words, _ in want]


@pytest.mark.parametrize("dtype", WIDE)
def test_sequence_probability_equals_fractions(dtype: torch.dtype, device: str) -> None:
    table = random_tree(7, 3, 4)
    tree = as_tensor(table, dtype, device)
    for words in sequences.every_sequence(3, 4, -1) + sequences.every_sequence(3, 2, -1):
        want = float(sequences.probability(table, words))
        assert math.isclose(ref.sequence_prob(tree, words), want, rel_tol=1e-6)
        assert math.isclose(ref.sequence_logprob(tree, words), math.log(want), rel_tol=1e-6)
    assert ref.sequence_prob(tree, torch.tensor([0, 1, 2], device=device)) == pytest.approx(
        float(sequences.probability(table, (0, 1, 2)))
    )


def test_a_word_of_probability_0_is_never_taken() -> None:
    def step(y: int, s: None) -> tuple[list[float], None]:
        return [0.5, 0.0, 0.5], None

    found = ref.beam_search(step, None, 9, 3, 0, 2)
    assert [one.tokens for one in found] == [[0], [2, 0], [2, 2]]
    assert all(math.isfinite(one.logprob) for one in found)


def test_zero_probability_is_minus_infinity() -> None:
    table = {(): [1.0, 0.0]}
    assert ref.sequence_prob(table, [1]) == 0.0
    assert ref.sequence_logprob(table, [1]) == -math.inf
    assert ref.exhaustive(table) == [([0], 0.0), ([1], -math.inf)]
    assert ref.beam_search(table, b=2) == [([0], 0.0)]  # a beam never takes such a word


@pytest.mark.parametrize("dtype", WIDE)
def test_chain_prob(dtype: torch.dtype, device: str) -> None:
    p = torch.tensor([[0.5, 0.8, 0.9], [0.2, 1.0, 0.0]], dtype=torch.float64, device=device).to(dtype)
    got = ref.chain_prob(p)
    assert got.dtype == dtype and got.device.type == device
    assert got.tolist() == pytest.approx([0.36, 0.0], rel=1e-6)


class TestTies:
    def test_greedy_takes_the_smallest_id(self) -> None:
        assert ref.greedy_decode({(): [0.2, 0.4, 0.4]}) == [1]

    def test_equal_hypotheses_stand_by_their_words(self) -> None:
        quarter = torch.full((3, 2), 0.5, dtype=torch.float64)
        want = [[0, 0], [0, 1], [1, 0], [1, 1]]
        assert [h.tokens for h in ref.beam_search(quarter, b=4)] == want
        assert [h.tokens for h in ref.exhaustive(quarter)] == want
        assert [h.tokens for h in ref.beam_search(quarter, b=1)] == [[0, 0]]


class TestEndSymbol:
    TABLE = {(): [0.5, 0.3, 0.2], (0,): [0.2, 0.2, 0.6], (1,): [0.9, 0.05, 0.05]}  # noqa: RUF012

    def test_greedy_stops_and_includes_it(self) -> None:
        assert ref.greedy_decode(self.TABLE, eos=0) == [0]
        assert ref.greedy_decode(self.TABLE, eos=2) == [0, 2]
        assert ref.greedy_decode(self.TABLE) == [0, 2]

    def test_finished_hypotheses_stay_and_compete(self) -> None:
        got = ref.beam_search(self.TABLE, b=2, eos=0)
        assert [h.tokens for h in got] == [[0], [1, 0]]
        assert [math.exp(h.logprob) for h in got] == pytest.approx([0.5, 0.27])

    def test_finished_hypotheses_are_not_expanded(self) -> None:
        calls: list[int] = []

        def step(y: int, s: int) -> tuple[list[float], int]:
            calls.append(y)
            return [0.9, 0.1], s + 1

        assert ref.beam_search(step, 0, 1, bos=7, eos=0, max_len=50) == [([0], pytest.approx(math.log(0.9)))]
        assert calls == [7]
        calls.clear()
        assert ref.greedy_decode(step, 0, 7, 0, 50) == [0]
        assert calls == [7]

    def test_finished_ones_can_be_pushed_out(self) -> None:
        """The end symbol comes second in the first step and is overtaken in the second."""
        table = {(): [0.3, 0.35, 0.35], (1,): [0.0, 0.9, 0.1], (2,): [0.0, 0.1, 0.9]}
        assert [h.tokens for h in ref.beam_search(table, b=3, eos=0)][:2] == [[1, 1], [2, 2]]
        assert [h.tokens for h in ref.beam_search(table, b=2, eos=0)] == [[1, 1], [2, 2]]

    def test_max_len_counts_the_end_symbol(self) -> None:
        for n in (1, 2, 5):
            assert ref.greedy_decode(lambda y, s: ([0.4, 0.6], s), 0, 0, 0, n) == [1] * n


class TestStepFunctions:
    def test_steps_get_the_last_word_and_the_state(self) -> None:
        seen: list[tuple[int, Any]] = []

        def step(y: int, s: Any) -> tuple[torch.Tensor, Any]:
            seen.append((y, s))
            return torch.tensor([0.1, 0.2, 0.7]), (*s, y)

        assert ref.greedy_decode(step, ("s0",), 9, 1, 3) == [2, 2, 2]
        assert seen == [(9, ("s0",)), (2, ("s0", 9)), (2, ("s0", 9, 2))]

    @pytest.mark.parametrize("seed", range(5))
    def test_a_table_and_its_step_function_agree(self, seed: int) -> None:
        tree = as_tensor(random_tree(seed, 3, 3))
        step = ref.table_step(tree)
        assert ref.greedy_decode(step, None, 0, -1, 3) == ref.greedy_decode(tree)
        assert ref.beam_search(step, None, 2, 0, -1, 3) == ref.beam_search(tree, b=2)
        assert ref.exhaustive(step, 3, bos=0, eos=-1) == ref.exhaustive(tree)
        assert ref.sequence_prob(step, [0, 1], bos=0) == ref.sequence_prob(tree, [0, 1])

    def test_states_are_passed_on_and_never_shared(self) -> None:
        """Each hypothesis carries its own state; a numpy state isn't written to."""
        first = np.zeros(2)

        def step(y: int, s: np.ndarray) -> tuple[list[float], np.ndarray]:
            new = s * 3 + y
            p = 0.3 + 0.4 * (abs(math.sin(float(new.sum()))))
            return [p, 1 - p], new

        for hypothesis in ref.beam_search(step, first, 3, 1, -1, 5):
            state, y, total = np.zeros(2), 1, 0.0
            for word in hypothesis.tokens:
                row, state = step(y, state)
                total, y = total + math.log(row[word]), word
            assert math.isclose(total, hypothesis.logprob, rel_tol=1e-12)
        assert first.tolist() == [0.0, 0.0]

    @pytest.mark.parametrize("lacking", ["bos", "eos", "max_len"])
    def test_f04_arguments_are_required(self, lacking: str) -> None:
        given = {"bos": 0, "eos": 1, "max_len": 3}
        del given[lacking]
        for search in (ref.greedy_decode, ref.exhaustive, lambda *a, **k: ref.beam_search(*a, b=2, **k)):
            with pytest.raises(ref.ArgumentError, match=rf"needs {lacking} \(F-04\)"):
                search(lambda y, s: ([1.0], s), **given)

    def test_long_searches_do_not_underflow(self) -> None:
        got = ref.beam_search(lambda y, s: ([0.1, 0.05] + [0.85 / 8] * 8, s), 0, 3, 0, -1, 400)
        assert all(len(h.tokens) == 400 for h in got)
        assert got[0].logprob == pytest.approx(400 * math.log(0.85 / 8), rel=1e-12)
        assert math.exp(got[0].logprob) == 0.0 and got[1].logprob == pytest.approx(got[0].logprob)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ref.beam_search({(): [1.0]}), "needs b"),
        (lambda: ref.beam_search({(): [1.0]}, b=0), "b is 0"),
        (lambda: ref.beam_search({(): [1.0]}, b=1.5), "b is 1.5"),  # type: ignore[arg-type]
        (lambda: ref.beam_search({(): [1.0]}, 2), "a table has no state, but s0 is 2"),
        (lambda: ref.greedy_decode({(): [1.0]}, max_len=0), "max_len is 0"),
        (lambda: ref.greedy_decode({(): [1.0]}, max_len=2), "only 1 words deep"),
        (lambda: ref.greedy_decode(lambda y, s: ([1.0], s), 0, 0, 0, -1), "max_len is -1"),
        (lambda: ref.exhaustive(torch.full((127, 2), 0.5), limit=100), "more than 100 sequences"),
        (lambda: ref.sequence_prob({(): [1.0]}, []), "seq is empty"),
        (lambda: ref.sequence_prob({(): [1.0]}, [1]), "seq holds 1"),
        (lambda: ref.sequence_prob({(): [1.0]}, [-1]), "seq is -1"),
        (lambda: ref.sequence_prob({(): [1.0]}, [0, 0]), "only 1 words deep"),
        (lambda: ref.sequence_prob(lambda y, s: ([1.0], s), [0]), "needs bos"),
        (lambda: ref.greedy_decode({(0,): [1.0]}), "empty prefix"),
    ],
)
def test_bad_arguments_are_named(call: Any, text: str) -> None:
    with pytest.raises(ref.ArgumentError, match=text):
        call()


@pytest.mark.parametrize(
    "row",
    [
        [0.5, 0.4], [1.5, -0.5], [math.nan, 1.0], [math.inf, 0.0], [], [[0.5, 0.5]], 1.0,
        torch.tensor([[0.5, 0.5]]), torch.tensor(1.0), torch.tensor([2.0, 1.0, 0.0]),
    ],
)  # fmt: skip
def test_rows_must_be_distributions(row: Any) -> None:
    with pytest.raises(ref.TableError):
        ref.greedy_decode(lambda y, s: (row, s), 0, 0, 0, 3)


def test_half_precision_rows_count_as_distributions() -> None:
    row = torch.softmax(torch.randn(500, generator=torch.Generator().manual_seed(0)), 0).half()
    assert len(row_of(row)) == 500


def test_how_often_a_search_misses_the_best() -> None:
    """0.16 and 0.28 of random tables with three words tell greedy from beam 2; 0.09 beam 2 from the best."""
    rng = np.random.default_rng(0)
    counts = {2: [0, 0], 3: [0, 0]}
    for depth, rows in ((2, 4), (3, 13)):
        for _ in range(500):
            table = rng.random((rows, 3))
            table /= table.sum(-1, keepdims=True)
            beam = ref.beam_search(table, b=2)[0].tokens
            counts[depth][0] += beam != ref.greedy_decode(table)
            counts[depth][1] += beam != ref.exhaustive(table)[0].tokens
    assert 0.11 < counts[2][0] / 500 < 0.22
    assert 0.23 < counts[3][0] / 500 < 0.36
    assert 0.05 < counts[3][1] / 500 < 0.14
