"""C7: scaled dot-product attention, and attention in general."""

from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles.arrays import (
    NARROW,
    WIDE,
    Source,
    apart,
    dims,
    eps,
    pure,
    scales,
    seeds,
    sums_to_one,
    wide,
    within,
)

every_dtype = st.sampled_from(WIDE + NARROW)
shape = st.tuples(dims, dims, dims, dims)  # m, n, d, dv


def drawn(seed: int, shape, dtype, device: str, scale: float = 1.0):
    m, n, d, dv = shape
    source = Source(seed, dtype, device)
    return source, source.normal(m, d, scale=scale), source.normal(n, d), source.normal(n, dv, scale=scale)


def slack(*tensors: torch.Tensor) -> float:
    """Weights are off by eps·max|score|, outputs by that times max|V|."""
    Q, K, V = tensors
    score = float(Q.abs().max()) * float(K.abs().max()) * math.sqrt(Q.shape[-1])
    return 16 * eps(V) * max(1.0, score) * K.shape[-2] * max(1.0, float(V.abs().max()))


@given(seed=seeds, shape=shape, scale=scales, dtype=every_dtype)
def test_outputs_stay_in_the_range_of_the_values(seed, shape, scale, dtype, device: str) -> None:
    """hull, dtype, pure."""
    _, Q, K, V = drawn(seed, shape, dtype, device, scale)
    out = pure(ref.sdpa, Q, K, V)
    assert out.dtype == dtype and out.device == Q.device and out.shape == (shape[0], shape[3])
    within(out, V)
    within(out, V, torch.nn.functional.normalize(Source(seed, device=device).normal(10, shape[3])))


@given(seed=seeds, shape=shape, dtype=every_dtype, masked=st.booleans())
def test_weights_sum_to_one(seed, shape, dtype, masked: bool, device: str) -> None:
    """With V = I the output is the weights."""
    source, Q, K, _ = drawn(seed, shape, dtype, device)
    mask = source.mask(shape[0], shape[1]) if masked else None
    sums_to_one(ref.sdpa(Q, K, torch.eye(shape[1], dtype=dtype, device=device), mask))


@given(seed=seeds, shape=shape, dtype=wide)
def test_weights_have_the_log_ratio_of_the_scaled_scores(seed, shape, dtype, device: str) -> None:
    _, Q, K, V = drawn(seed, shape, dtype, device)
    w = ref.sdpa(Q, K, torch.eye(shape[1], dtype=dtype, device=device)).double().log()
    e = Q.double() @ K.double().mT / shape[2] ** 0.5
    assert apart(w - w[:, :1], e - e[:, :1]) <= 4 * slack(Q, K, V)


@given(seed=seeds, shape=shape, dtype=every_dtype)
def test_constant_values_come_out(seed, shape, dtype, device: str) -> None:
    _, Q, K, V = drawn(seed, shape, dtype, device)
    V = V[:1].expand_as(V)
    assert apart(ref.sdpa(Q, K, V), V[:1].expand(shape[0], -1)) <= (shape[1] + 2) * eps(V) * float(
        V.abs().max()
    )


@given(seed=seeds, shape=shape, dtype=wide)
def test_equal_keys_give_the_mean(seed, shape, dtype, device: str) -> None:
    _, Q, K, V = drawn(seed, shape, dtype, device)
    out = ref.sdpa(Q, K[:1].expand_as(K), V)
    assert apart(out, V.mean(0, keepdim=True).expand_as(out)) <= slack(Q, K, V)


@given(seed=seeds, shape=shape, dtype=every_dtype)
def test_one_key_gives_its_value(seed, shape, dtype, device: str) -> None:
    _, Q, K, V = drawn(seed, shape, dtype, device)
    out = ref.sdpa(Q, K[:1], V[:1])
    assert torch.equal(out, V[:1].expand_as(out))


@given(seed=seeds, shape=shape, dtype=wide)
def test_keys_and_values_may_be_permuted_together(seed, shape, dtype, device: str) -> None:
    source, Q, K, V = drawn(seed, shape, dtype, device)
    order = source.order(shape[1])
    assert apart(ref.sdpa(Q, K[order], V[order]), ref.sdpa(Q, K, V)) <= slack(Q, K, V)


@given(seed=seeds, shape=shape, dtype=wide)
def test_permuted_queries_give_permuted_outputs(seed, shape, dtype, device: str) -> None:
    """perm-eq; and each query is what it would be alone."""
    source, Q, K, V = drawn(seed, shape, dtype, device)
    order = source.order(shape[0])
    out = ref.sdpa(Q, K, V)
    assert apart(ref.sdpa(Q[order], K, V), out[order]) <= slack(Q, K, V)
    for i in range(shape[0]):
        assert apart(ref.sdpa(Q[i : i + 1], K, V)[0], out[i]) <= slack(Q, K, V)


@given(seed=seeds, shape=shape, a=st.floats(-3, 3))
def test_linear_in_the_values(seed, shape, a: float, device: str) -> None:
    source, Q, K, V = drawn(seed, shape, torch.float64, device)
    other = source.normal(*V.shape)
    mixed = ref.sdpa(Q, K, a * V + other)
    assert apart(mixed, a * ref.sdpa(Q, K, V) + ref.sdpa(Q, K, other)) <= 1e-12


@given(seed=seeds, shape=shape, dtype=wide)
def test_tiling_the_features_four_times_doubles_the_scores(seed, shape, dtype, device: str) -> None:
    """4 q·k / sqrt(4 d) = 2 q·k / sqrt(d): no other scale has this law."""
    _, Q, K, V = drawn(seed, shape, dtype, device)
    assert apart(ref.sdpa(Q.tile(4), K.tile(4), V), ref.sdpa(2 * Q, K, V)) <= 4 * slack(Q, K, V)


@given(seed=seeds, shape=shape)
def test_a_shift_of_all_keys_changes_nothing(seed, shape, device: str) -> None:
    """q·(k + u) shifts a row of scores; a norm in the scale would notice."""
    source, Q, K, V = drawn(seed, shape, torch.float64, device)
    u = source.normal(shape[2], scale=5.0)
    assert apart(ref.sdpa(Q, K + u, V), ref.sdpa(Q, K, V)) <= 1e-11


@given(seed=seeds, shape=shape, dtype=wide, masked=st.booleans())
def test_a_batch_is_its_members(seed, shape, dtype, masked: bool, device: str) -> None:
    m, n, d, dv = shape
    source = Source(seed, dtype, device)
    Q, K, V = source.normal(2, 3, m, d), source.normal(2, 3, n, d), source.normal(2, 3, n, dv)
    mask = source.mask(2, 3, m, n) if masked else None
    out = ref.sdpa(Q, K, V, mask)
    for i in range(2):
        for j in range(3):
            one = ref.sdpa(Q[i, j], K[i, j], V[i, j], mask if mask is None else mask[i, j])
            assert apart(one, out[i, j]) <= slack(Q, K, V)


@given(seed=seeds, shape=shape, dtype=wide, size=st.sampled_from([1e2, 1e4]))
def test_huge_scores_stay_finite(seed, shape, dtype, size: float, device: str) -> None:
    """stable, sharp: with the query times 1e4 the output is a value, where one key is clearly best."""
    _, Q, K, V = drawn(seed, shape, dtype, device)
    out = ref.sdpa(Q * size, K, V)
    assert torch.isfinite(out).all()
    within(out, V)
    e = (Q.double() * size) @ K.double().mT / shape[2] ** 0.5
    if shape[1] > 1:
        best = e.topk(2, -1).values
        clear = best[:, 0] - best[:, 1] > 50
        assert apart(out[clear], V[e.argmax(-1)][clear]) <= slack(Q / Q.abs().max(), K, V)


@given(seed=seeds, shape=shape, dtype=wide)
def test_a_key_mask_is_attention_on_the_subset(seed, shape, dtype, device: str) -> None:
    source, Q, K, V = drawn(seed, shape, dtype, device)
    seen = source.mask(shape[1])
    assert apart(ref.sdpa(Q, K, V, seen), ref.sdpa(Q, K[seen], V[seen])) <= slack(Q, K, V)


@given(seed=seeds, shape=shape, dtype=wide)
def test_each_row_of_a_mask_is_its_own_subset(seed, shape, dtype, device: str) -> None:
    source, Q, K, V = drawn(seed, shape, dtype, device)
    mask = source.mask(shape[0], shape[1])
    out = ref.sdpa(Q, K, V, mask)
    for i, seen in enumerate(mask):
        assert apart(out[i : i + 1], ref.sdpa(Q[i : i + 1], K[seen], V[seen])) <= slack(Q, K, V)


@given(seed=seeds, shape=shape, dtype=wide, change=st.sampled_from([1.0, 1e4]))
def test_hidden_keys_and_values_do_not_matter(seed, shape, dtype, change: float, device: str) -> None:
    source, Q, K, V = drawn(seed, shape, dtype, device)
    seen = source.mask(shape[1])
    K2, V2 = torch.where(seen[:, None], K, K + change), torch.where(seen[:, None], V, V - change)
    assert torch.equal(ref.sdpa(Q, K2, V2, seen), ref.sdpa(Q, K, V, seen))


@given(
    seed=seeds, shape=shape, score=st.sampled_from(["dot", "scaled_dot", "additive", "concat", "bilinear"])
)
def test_attention_with_any_score(seed, shape, score: str, device: str) -> None:
    """Weights sum to 1, outputs within the values, keys and values permuted together, masks subset."""
    _, n, d, dv = shape
    source = Source(seed, device=device)
    q, K, V = source.normal(d), source.normal(n, d), source.normal(n, dv)
    params = {
        "W": source.normal(d, d), "U": source.normal(d, d), "v": source.normal(d),
        "W1": source.normal(d, 2 * d), "w2": source.normal(d),
    }  # fmt: skip
    got = ref.attention(q, K, V, score, params=params)
    sums_to_one(got.weights)
    within(got.output[None], V)
    order, seen = source.order(n), source.mask(n)
    moved = ref.attention(q, K[order], V[order], score, params=params)
    assert apart(moved.output, got.output) <= 1e-12
    hidden = ref.attention(q, K, V, score, seen, params=params)
    subset = ref.attention(q, K[seen], V[seen], score, params=params)
    assert apart(hidden.output, subset.output) <= 1e-12
    assert torch.equal(hidden.scores, got.scores)
