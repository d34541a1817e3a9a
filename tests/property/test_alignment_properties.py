"""C15: hard alignment."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles.arrays import NARROW, WIDE, Source, dims, pure, seeds

every_dtype = st.sampled_from(WIDE + NARROW)


@given(seed=seeds, m=dims, n=dims, dtype=every_dtype)
def test_one_hot_at_the_largest(seed: int, m: int, n: int, dtype, device: str) -> None:
    A = Source(seed, dtype, device).weights(m, n)
    hard = pure(ref.hard_alignment, A)
    assert hard.dtype == dtype and hard.shape == A.shape
    assert ((hard == 0) | (hard == 1)).all() and (hard.sum(-1) == 1).all()
    assert torch.equal((hard * A).sum(-1), A.amax(-1))
    assert torch.equal(ref.aligned_positions(A), hard.argmax(-1))
    assert torch.equal(ref.hard_alignment(hard), hard)


@given(seed=seeds, m=dims, n=dims)
def test_permutations(seed: int, m: int, n: int, device: str) -> None:
    source = Source(seed, device=device)
    A, rows, columns = source.weights(m, n), source.order(m), source.order(n)
    hard = ref.hard_alignment(A)
    assert torch.equal(ref.hard_alignment(A[rows]), hard[rows])
    assert torch.equal(ref.hard_alignment(A[:, columns]), hard[:, columns])
    assert torch.equal(ref.hard_alignment(A.mT, axis=0), hard.mT)


@given(seed=seeds, m=dims, n=dims)
def test_ties_go_to_the_first(seed: int, m: int, n: int, device: str) -> None:
    A = Source(seed, device=device).whole(m, n, low=0, high=2)
    for row, position in zip(A.tolist(), ref.aligned_positions(A).tolist(), strict=True):
        assert position == row.index(max(row))
    assert torch.equal(ref.hard_alignment(A).argmax(-1), ref.aligned_positions(A))


@given(seed=seeds, m=dims, n=dims, threshold=st.floats(0, 1))
def test_threshold(seed: int, m: int, n: int, threshold: float, device: str) -> None:
    A = Source(seed, device=device).weights(m, n)
    assert ref.threshold_alignment(A, threshold).tolist() == [[a >= threshold for a in r] for r in A.tolist()]


@given(seed=seeds, n=dims)
def test_sharper_softmax_tends_to_hard_alignment(seed: int, n: int, device: str) -> None:
    source = Source(seed, device=device)
    e = source.order(n).double()
    assert torch.equal(ref.softmax(e, temperature=1e-3), ref.hard_alignment(ref.softmax(e)))
