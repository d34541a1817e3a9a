"""C9 greedy and C10 beam search, on drawn tables in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from random import Random

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles import sequences

MARGIN = 1e-12  # of log-probabilities: below it, equal in fractions or in order only by rounding


@st.composite
def tables(draw: st.DrawFn) -> tuple[sequences.Table, int, int, int]:
    """A full table in hundredths with its V, depth and end symbol (or -1)."""
    V, depth = draw(st.sampled_from([(2, 1), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)]))
    random = Random(draw(st.integers(0, 2**32 - 1)))

    def row() -> list[Fraction]:
        cuts = sorted(random.sample(range(1, 100), V - 1))
        return [Fraction(b - a, 100) for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]

    return sequences.tree(V, depth, row), V, depth, draw(st.integers(-1, V - 1))


def tensor(table: sequences.Table, device: str) -> torch.Tensor:
    rows = [[float(p) for p in row] for row in table.values()]
    return torch.tensor(rows, dtype=torch.float64, device=device)


def logprob(table: sequences.Table, tokens: list[int]) -> float:
    return math.log(sequences.probability(table, tuple(tokens)))


@given(drawn=tables(), data=st.data())
def test_greedy(drawn, data, device: str) -> None:
    """Each word is the argmax (smallest id), it stops at eos and never exceeds max_len."""
    table, V, depth, eos = drawn
    max_len = data.draw(st.integers(1, depth))
    words = ref.greedy_decode(tensor(table, device), eos=eos, max_len=max_len)
    assert 1 <= len(words) <= max_len and all(type(w) is int and 0 <= w < V for w in words)
    for t, word in enumerate(words):
        row = table[tuple(words[:t])]
        assert word == min(i for i in range(V) if row[i] == max(row))
    assert eos not in words[:-1]
    assert len(words) == max_len or words[-1] == eos


@given(drawn=tables())
def test_greedy_is_beam_one(drawn, device: str) -> None:
    table, _, _, eos = drawn
    tree = tensor(table, device)
    (only,) = ref.beam_search(tree, b=1, eos=eos)
    assert only.tokens == ref.greedy_decode(tree, eos=eos)
    assert math.isclose(only.logprob, ref.sequence_logprob(tree, only.tokens), abs_tol=MARGIN)


@given(drawn=tables(), b=st.integers(1, 6))
def test_beam(drawn, b: int, device: str) -> None:
    """Sorted, at most b, distinct, ended; each log-probability is the chain rule's."""
    table, V, depth, eos = drawn
    got = ref.beam_search(tensor(table, device), b=b, eos=eos)
    assert 1 <= len(got) <= b
    assert all(x.logprob >= y.logprob for x, y in pairwise(got))
    assert len({tuple(h.tokens) for h in got}) == len(got)
    for tokens, total in got:
        assert sequences.is_sequence(tuple(tokens), eos, depth)
        assert math.isclose(total, logprob(table, tokens), rel_tol=1e-12)
    assert len(got) == min(b, len(sequences.beam(table, V, b, depth, eos)))


@given(drawn=tables(), b=st.integers(1, 6))
def test_beam_survivors_equal_the_exact_ones(drawn, b: int, device: str) -> None:
    """Unless two candidates are equally probable somewhere, the words agree exactly."""
    table, V, depth, eos = drawn
    cutoffs_are_clear = all(
        len({p for _, p in sequences.ranked(table, sequences.every_sequence(V, t, eos))})
        == len(sequences.every_sequence(V, t, eos))
        for t in range(1, depth + 1)
    )
    got = ref.beam_search(tensor(table, device), b=b, eos=eos)
    want = sequences.beam(table, V, b, depth, eos)
    if cutoffs_are_clear:
        assert [tuple(h.tokens) for h in got] == [words for words, _ in want]


@given(drawn=tables())
def test_a_beam_as_wide_as_everything_is_exhaustive(drawn, device: str) -> None:
    table, V, depth, eos = drawn
    tree = tensor(table, device)
    everything = ref.exhaustive(tree, eos=eos)
    assert ref.beam_search(tree, b=V**depth, eos=eos) == everything
    assert {tuple(h.tokens) for h in everything} == set(sequences.every_sequence(V, depth, eos))
    assert math.isclose(math.fsum(math.exp(h.logprob) for h in everything), 1.0, rel_tol=1e-12)


@given(drawn=tables(), b=st.integers(1, 4))
def test_nothing_beats_exhaustive(drawn, b: int, device: str) -> None:
    table, _, _, eos = drawn
    tree = tensor(table, device)
    best = ref.exhaustive(tree, eos=eos)[0].logprob
    assert ref.beam_search(tree, b=b, eos=eos)[0].logprob <= best + MARGIN
    assert ref.sequence_logprob(tree, ref.greedy_decode(tree, eos=eos)) <= best + MARGIN


@given(drawn=tables(), b=st.integers(1, 4))
def test_searching_changes_neither_table_nor_results(drawn, b: int, device: str) -> None:
    """No list is shared: changing a result leaves a repeated search and the others alone."""
    table, _, _, eos = drawn
    tree = tensor(table, device)
    copy = tree.clone()
    first = ref.beam_search(tree, b=b, eos=eos)
    kept = [(list(h.tokens), h.logprob) for h in first]
    first[0].tokens.append(99)
    assert [(h.tokens, h.logprob) for h in first[1:]] == kept[1:]
    assert ref.beam_search(tree, b=b, eos=eos) == kept
    assert torch.equal(tree, copy)


@given(drawn=tables())
def test_sequence_probability_is_the_chain_rule(drawn, device: str) -> None:
    table, V, depth, _ = drawn
    tree = tensor(table, device)
    for words in sequences.every_sequence(V, depth, -1):
        p = [float(table[words[:t]][words[t]]) for t in range(depth)]
        exact = float(sequences.probability(table, words))
        assert math.isclose(ref.sequence_prob(tree, words), exact, rel_tol=1e-12)
        assert math.isclose(float(ref.chain_prob(p)), exact, rel_tol=1e-12)
        assert math.isclose(ref.sequence_logprob(tree, words), math.log(exact), rel_tol=1e-12)
