"""C3: the context is a mixture of the values."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles.arrays import NARROW, WIDE, Source, apart, dims, eps, pure, scales, seeds, wide, within


@given(seed=seeds, n=dims, d=dims, scale=scales, dtype=st.sampled_from(WIDE + NARROW))
def test_context_stays_in_the_hull(seed: int, n: int, d: int, scale: float, dtype, device: str) -> None:
    """Between the values in every coordinate, and along 20 random directions."""
    source = Source(seed, dtype, device)
    w, H = source.weights(4, n), source.normal(n, d, scale=scale)
    c = pure(ref.context, w, H)
    assert c.dtype == dtype and c.device == H.device
    within(c, H)
    within(c, H, torch.nn.functional.normalize(Source(seed, device=device).normal(20, d)))


@given(seed=seeds, n=dims, d=dims, dtype=wide)
def test_one_hot_weights_pick_a_row(seed: int, n: int, d: int, dtype, device: str) -> None:
    H = Source(seed, dtype, device).normal(n, d)
    assert torch.equal(ref.context(torch.eye(n, dtype=dtype, device=device), H), H)


@given(seed=seeds, n=dims, d=dims, dtype=wide)
def test_uniform_weights_give_the_mean(seed: int, n: int, d: int, dtype, device: str) -> None:
    H = Source(seed, dtype, device).normal(n, d)
    c = ref.context(torch.full((n,), 1 / n, dtype=dtype, device=device), H)
    assert apart(c, H.mean(0)) <= 2 * n * eps(H) * float(H.abs().max())


@given(seed=seeds, n=dims, d=dims, a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_linear_in_weights_and_in_values(seed: int, n: int, d: int, a: float, b: float, device: str) -> None:
    source = Source(seed, device=device)
    w1, w2, H1, H2 = source.normal(n), source.normal(n), source.normal(n, d), source.normal(n, d)
    mixed = ref.context(a * w1 + b * w2, H1)
    assert apart(mixed, a * ref.context(w1, H1) + b * ref.context(w2, H1)) <= 1e-12
    mixed = ref.context(w1, a * H1 + b * H2)
    assert apart(mixed, a * ref.context(w1, H1) + b * ref.context(w1, H2)) <= 1e-12


@given(seed=seeds, n=dims, d=dims, dtype=wide)
def test_weights_and_values_may_be_permuted_together(seed: int, n: int, d: int, dtype, device: str) -> None:
    source = Source(seed, dtype, device)
    w, H, order = source.weights(n), source.normal(n, d), source.order(n)
    assert apart(ref.context(w[order], H[order]), ref.context(w, H)) <= 4 * n * eps(H) * float(H.abs().max())


@given(seed=seeds, n=dims, d=dims)
def test_weights_are_not_normalised(seed: int, n: int, d: int, device: str) -> None:
    source = Source(seed, device=device)
    w, H = source.weights(n), source.normal(n, d)
    assert apart(ref.context(2 * w, H), 2 * ref.context(w, H)) <= 1e-14 * max(1.0, float(H.abs().max()))
