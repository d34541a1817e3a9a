"""C4 bilinear, C5 additive and C6 concat scores, and the dot products."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles.arrays import Source, apart, dims, eps, pure, seeds, wide

TINY = 1e-12


@given(seed=seeds, n=dims, d=dims, a=st.floats(-3, 3))
def test_dot_scores_are_bilinear_and_symmetric(seed: int, n: int, d: int, a: float, device: str) -> None:
    source = Source(seed, device=device)
    q, p, K = source.normal(d), source.normal(d), source.normal(n, d)
    e = pure(ref.dot_scores, q, K)
    assert e.shape == (n,)
    assert apart(ref.dot_scores(a * q + p, K), a * e + ref.dot_scores(p, K)) <= TINY
    assert apart(e, torch.stack([ref.dot_scores(k, q[None])[0] for k in K])) <= TINY


@given(seed=seeds, n=dims, d=dims)
def test_scaled_is_dot_over_the_root_of_d(seed: int, n: int, d: int, device: str) -> None:
    """And tiling the features four times doubles it (the root, not d, not a norm)."""
    source = Source(seed, device=device)
    q, K = source.normal(d), source.normal(n, d)
    scaled = pure(ref.scaled_dot_scores, q, K)
    assert apart(scaled, ref.dot_scores(q, K) / d**0.5) <= TINY
    assert apart(ref.scaled_dot_scores(q.tile(4), K.tile(4)), 2 * scaled) <= TINY


@given(seed=seeds, n=dims, dq=dims, dk=dims, a=st.floats(-3, 3))
def test_bilinear_in_each_argument(seed: int, n: int, dq: int, dk: int, a: float, device: str) -> None:
    source = Source(seed, device=device)
    q, p, K, L = source.normal(dq), source.normal(dq), source.normal(n, dk), source.normal(n, dk)
    W, M = source.normal(dq, dk), source.normal(dq, dk)
    e = pure(ref.bilinear_scores, q, K, W)
    assert e.shape == (n,)
    assert apart(ref.bilinear_scores(a * q + p, K, W), a * e + ref.bilinear_scores(p, K, W)) <= TINY * 10
    assert apart(ref.bilinear_scores(q, a * K + L, W), a * e + ref.bilinear_scores(q, L, W)) <= TINY * 10
    assert apart(ref.bilinear_scores(q, K, a * W + M), a * e + ref.bilinear_scores(q, K, M)) <= TINY * 10


@given(seed=seeds, n=dims, dq=dims, dk=dims, dtype=wide)
def test_bilinear_relations(seed: int, n: int, dq: int, dk: int, dtype, device: str) -> None:
    """W = I is the dot product; exchanging query and key transposes W; keys may be permuted."""
    source = Source(seed, dtype, device)
    q, K, W, order = source.normal(dq), source.normal(n, dk), source.normal(dq, dk), source.order(n)
    e = ref.bilinear_scores(q, K, W)
    slack = 64 * eps(e) * max(1.0, float(e.abs().max()), float(K.abs().max() * W.abs().max()))
    assert e.dtype == dtype
    same_size = source.normal(dk)
    identity = torch.eye(dk, dtype=dtype, device=device)
    assert torch.equal(ref.bilinear_scores(same_size, K, identity), ref.dot_scores(same_size, K))
    swapped = torch.stack([ref.bilinear_scores(k, q[None], W.mT)[0] for k in K])
    assert apart(swapped, e) <= slack
    assert apart(ref.bilinear_scores(q, K[order], W), e[order]) <= slack


def additive(seed: int, sizes: tuple[int, int, int, int], device: str) -> tuple[torch.Tensor, ...]:
    n, ds, dh, da = sizes
    source = Source(seed, device=device)
    return (
        source.normal(ds), source.normal(n, dh), source.normal(da, ds), source.normal(da, dh),
        source.normal(da),
    )  # fmt: skip


sizes = st.tuples(dims, dims, dims, dims)


@given(seed=seeds, sizes=sizes)
def test_additive_shape_and_bound(seed: int, sizes, device: str) -> None:
    """One number a position, bounded by |v|_1, also where tanh saturates."""
    s, H, W, U, v = additive(seed, sizes, device)
    for factor in (1.0, 1e4):
        e = pure(ref.additive_scores, factor * s, factor * H, W, U, v)
        assert e.shape == (sizes[0],)
        assert (e.abs() <= v.abs().sum() * (1 + 1e-14)).all()


@given(seed=seeds, sizes=sizes, a=st.floats(-3, 3))
def test_additive_is_linear_in_v(seed: int, sizes, a: float, device: str) -> None:
    s, H, W, U, v = additive(seed, sizes, device)
    other = v.flip(0) + 0.5
    e = ref.additive_scores(s, H, W, U, v)
    both = ref.additive_scores(s, H, W, U, a * v + other)
    assert apart(both, a * e + ref.additive_scores(s, H, W, U, other)) <= TINY


@given(seed=seeds, sizes=sizes)
def test_additive_is_odd(seed: int, sizes, device: str) -> None:
    s, H, W, U, v = additive(seed, sizes, device)
    e = ref.additive_scores(s, H, W, U, v)
    assert apart(ref.additive_scores(-s, -H, W, U, v), -e) <= TINY
    assert apart(ref.additive_scores(s, H, -W, -U, v), -e) <= TINY


@given(seed=seeds, sizes=sizes)
def test_additive_without_one_side(seed: int, sizes, device: str) -> None:
    """U = 0: all positions score v^T tanh(W s); W = 0: s doesn't matter."""
    s, H, W, U, v = additive(seed, sizes, device)
    e = ref.additive_scores(s, H, W, torch.zeros_like(U), v)
    assert apart(e, (v @ torch.tanh(W @ s)).expand(e.shape)) <= TINY
    e = ref.additive_scores(s, H, torch.zeros_like(W), U, v)
    assert torch.equal(e, ref.additive_scores(7 * s + 1, H, torch.zeros_like(W), U, v))
    assert apart(e, torch.tanh(H @ U.mT) @ v) <= TINY


@given(seed=seeds, sizes=sizes)
def test_additive_is_linear_for_small_signals(seed: int, sizes, device: str) -> None:
    """tanh z = z - z^3/3 …: at 1e-4 the score is v^T (W s + U h) to 1e-8 of it."""
    s, H, W, U, v = additive(seed, sizes, device)
    small = ref.additive_scores(1e-4 * s, 1e-4 * H, W, U, v)
    inner = (W @ s).unsqueeze(0) + H @ U.mT
    bound = 1e-12 * float((inner.abs() ** 3 @ v.abs()).max()) / 3
    assert apart(small, 1e-4 * (inner @ v)) <= bound + 1e-16


@given(seed=seeds, sizes=sizes)
def test_additive_keys_may_be_permuted(seed: int, sizes, device: str) -> None:
    s, H, W, U, v = additive(seed, sizes, device)
    order = Source(seed, device=device).order(sizes[0])
    moved = ref.additive_scores(s, H[order], W, U, v)
    assert apart(moved, ref.additive_scores(s, H, W, U, v)[order]) <= TINY


@given(seed=seeds, sizes=sizes)
def test_concat_is_additive_split(seed: int, sizes, device: str) -> None:
    q, K, W, U, v = additive(seed, sizes, device)
    joint = pure(ref.concat_scores, q, K, torch.cat([W, U], dim=-1), v)
    assert apart(joint, ref.additive_scores(q, K, W, U, v)) <= TINY


@given(seed=seeds, sizes=sizes)
def test_alignment_vector_is_the_additive_score_before_v(seed: int, sizes, device: str) -> None:
    s, H, W, U, v = additive(seed, sizes, device)
    a = pure(ref.alignment_vector, H, s, U, W)
    assert a.shape == (sizes[0], sizes[3]) and (a.abs() <= 1).all()
    assert apart(a @ v, ref.additive_scores(s, H, W, U, v)) <= TINY
