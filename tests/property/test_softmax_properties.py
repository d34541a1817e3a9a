"""C1 softmax and C2 masked softmax: what must hold for all scores."""

from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference as ref
from tests.oracles.arrays import NARROW, WIDE, Source, apart, dims, eps, pure, seeds, sums_to_one, wide

every_dtype = st.sampled_from(WIDE + NARROW)
shapes = st.one_of(st.tuples(dims), st.tuples(dims, dims), st.tuples(dims, dims, dims))
scores = hnp.arrays("float64", shapes, elements=st.floats(-1e4, 1e4, width=16))


@given(x=scores, dtype=every_dtype, temperature=st.sampled_from([1.0, 0.1, 7.0]), data=st.data())
def test_weights_are_non_negative_and_sum_to_one(x, dtype, temperature, data, device: str) -> None:
    """nonneg, sum1, stable, dtype: for every shape (square ones too), axis and dtype."""
    x = torch.tensor(x, device=device).to(dtype)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    w = pure(lambda x: ref.softmax(x, axis, temperature), x)
    assert w.dtype == dtype and w.shape == x.shape and w.device == x.device
    sums_to_one(w, axis)


@given(seed=seeds, n=dims, dtype=wide, shift=st.sampled_from([1e4, -1e4, 1.0]))
def test_a_shift_changes_nothing(seed: int, n: int, dtype, shift: float, device: str) -> None:
    x = Source(seed, dtype, device).whole(3, n)
    assert apart(ref.softmax(x + shift), ref.softmax(x)) <= 2 * eps(x)


@given(seed=seeds, n=dims, dtype=wide)
def test_log_ratio_is_the_score_difference(seed: int, n: int, dtype, device: str) -> None:
    x = Source(seed, dtype, device).normal(n + 1, scale=3.0)
    w = ref.softmax(x).double().log()
    difference = x.double()[:, None] - x.double()[None, :]
    assert apart(w[:, None] - w[None, :], difference) <= 64 * eps(x) * max(1.0, float(x.abs().max()))


@given(seed=seeds, n=dims, dtype=wide, temperature=st.floats(0.25, 8.0))
def test_temperature_divides_the_scores(seed: int, n: int, dtype, temperature: float, device: str) -> None:
    x = Source(seed, dtype, device).normal(2, n)
    assert apart(ref.softmax(x, temperature=temperature), ref.softmax(x / temperature)) <= 64 * eps(x)


@given(seed=seeds, n=dims, dtype=wide)
def test_rows_far_apart_do_not_disturb_each_other(seed: int, n: int, dtype, device: str) -> None:
    """rows-apart, rowind: each row is what it would be alone, one near +1e4, one near -1e4."""
    x = Source(seed, dtype, device).whole(3, n)
    x[0] += 1e4
    x[1] -= 1e4
    w = ref.softmax(x)
    sums_to_one(w)
    for row in range(3):
        assert apart(w[row], ref.softmax(x[row])) <= 2 * eps(x)


@given(seed=seeds, n=dims, dtype=wide)
def test_permuted_scores_give_permuted_weights(seed: int, n: int, dtype, device: str) -> None:
    source = Source(seed, dtype, device)
    x, order = source.normal(2, n), source.order(n)
    assert apart(ref.softmax(x[:, order]), ref.softmax(x)[:, order]) <= 4 * eps(x)


@given(seed=seeds, n=dims, dtype=wide)
def test_temperature_limits(seed: int, n: int, dtype, device: str) -> None:
    """hot: uniform; cold: all on the largest."""
    x = Source(seed, dtype, device).normal(n)
    hot = ref.softmax(x, temperature=1e6)
    assert apart(hot, torch.full_like(x, 1 / n)) <= 1e-5
    apart_enough = torch.arange(n, device=device).to(dtype)
    assert ref.softmax(apart_enough, temperature=1e-4)[-1] == 1.0


@given(seed=seeds, n=dims, dtype=every_dtype)
def test_larger_scores_get_no_smaller_weights(seed: int, n: int, dtype, device: str) -> None:
    x = Source(seed, dtype, device).normal(n)
    order = x.argsort()
    assert (ref.softmax(x)[order].diff() >= 0).all()


@given(seed=seeds, m=dims, n=dims, dtype=every_dtype)
def test_masked_weights(seed: int, m: int, n: int, dtype, device: str) -> None:
    """mask0, sum1, dtype, pure."""
    source = Source(seed, dtype, device)
    x, mask = source.normal(m, n, scale=10.0), source.mask(m, n)
    w = pure(ref.masked_softmax, x, mask)
    assert w.dtype == dtype and w.shape == x.shape and w.device == x.device
    assert (w[~mask] == 0).all()
    sums_to_one(w)


@given(seed=seeds, n=dims, dtype=wide)
def test_masked_is_softmax_of_the_subset(seed: int, n: int, dtype, device: str) -> None:
    source = Source(seed, dtype, device)
    x, mask = source.normal(n, scale=5.0), source.mask(n)
    assert apart(ref.masked_softmax(x, mask)[mask], ref.softmax(x[mask])) <= 4 * eps(x)


@given(seed=seeds, n=dims, dtype=wide, hidden=st.sampled_from([1e4, -1e4, math.inf, -math.inf, math.nan]))
def test_hidden_scores_change_nothing(seed: int, n: int, dtype, hidden: float, device: str) -> None:
    source = Source(seed, dtype, device)
    x, mask = source.normal(2, n), source.mask(2, n)
    changed = torch.where(mask, x, hidden)
    assert torch.equal(ref.masked_softmax(changed, mask), ref.masked_softmax(x, mask))


@given(seed=seeds, n=dims, dtype=every_dtype)
def test_fully_masked_rows_are_zero_and_others_unaffected(seed: int, n: int, dtype, device: str) -> None:
    source = Source(seed, dtype, device)
    x, mask = source.normal(3, n, scale=10.0), source.mask(3, n)
    mask[1] = False
    w = ref.masked_softmax(x, mask)
    assert (w[1] == 0).all()
    for row in (0, 2):
        assert apart(w[row], ref.masked_softmax(x[row], mask[row])) <= 2 * eps(x)


@given(seed=seeds, n=dims, dtype=every_dtype)
def test_all_visible_is_plain_softmax(seed: int, n: int, dtype, device: str) -> None:
    x = Source(seed, dtype, device).normal(2, n)
    assert torch.equal(ref.masked_softmax(x, torch.ones_like(x, dtype=torch.bool)), ref.softmax(x))


@given(seed=seeds, n=dims, dtype=wide)
def test_key_mask_hides_columns(seed: int, n: int, dtype, device: str) -> None:
    """On a square matrix, too, a mask (n,) lies along the keys."""
    source = Source(seed, dtype, device)
    x, mask = source.normal(n, n), source.mask(n)
    w = ref.masked_softmax(x, mask)
    assert (w[:, ~mask] == 0).all()
    sums_to_one(w)
