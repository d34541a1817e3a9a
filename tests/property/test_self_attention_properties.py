"""C11 causal self-attention and C12 multi-head attention."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles.arrays import Source, apart, dims, pure, seeds, sums_to_one, within

TINY = 1e-10


def tokens(seed: int, n: int, d: int, device: str) -> tuple[Source, torch.Tensor, list[torch.Tensor]]:
    source = Source(seed, device=device)
    return source, source.normal(n, d), [source.normal(d, d) for _ in range(3)]


@given(n=st.integers(1, 12))
def test_causal_mask(n: int, device: str) -> None:
    mask = ref.causal_mask(n, torch.empty(0, device=device))
    assert mask.diagonal().all() and mask[:, 0].all()
    assert int(mask.sum()) == n * (n + 1) // 2
    assert not (mask & mask.mT & ~torch.eye(n, dtype=torch.bool, device=device)).any()


@given(seed=seeds, n=dims, d=dims, later=st.floats(-100, 100))
def test_causal_outputs_do_not_see_what_comes_later(seed, n: int, d: int, later: float, device: str) -> None:
    """Prefix stability: output[:t] is unchanged by other tokens from t on, and by cutting them off."""
    source, X, W = tokens(seed, n, d, device)
    out = pure(lambda X: ref.self_attention(X, *W, causal=True), X)
    for t in range(1, n + 1):
        changed = X.clone()
        changed[t:] = later + source.normal(n - t, d)
        assert apart(ref.self_attention(changed, *W, causal=True)[:t], out[:t]) <= TINY
        assert apart(ref.self_attention(X[:t], *W, causal=True), out[:t]) <= TINY


@given(seed=seeds, n=dims, d=dims)
def test_first_token_sees_itself_only(seed, n: int, d: int, device: str) -> None:
    _, X, W = tokens(seed, n, d, device)
    assert apart(ref.self_attention(X, *W, causal=True)[0], X[0] @ W[2]) <= TINY
    one = X[:1]
    assert apart(ref.self_attention(one, *W, causal=True), one @ W[2]) <= TINY
    assert apart(ref.self_attention(one, *W), one @ W[2]) <= TINY


@given(seed=seeds, n=dims, d=dims)
def test_causal_is_attention_over_each_prefix(seed, n: int, d: int, device: str) -> None:
    _, X, W = tokens(seed, n, d, device)
    out = ref.self_attention(X, *W, causal=True)
    for t in range(n):
        assert apart(out[t], ref.self_attention(X[: t + 1], *W)[-1]) <= TINY


@given(seed=seeds, n=dims, d=dims)
def test_unmasked_self_attention_is_equivariant(seed, n: int, d: int, device: str) -> None:
    source, X, W = tokens(seed, n, d, device)
    order = source.order(n)
    out = ref.self_attention(X, *W)
    assert apart(ref.self_attention(X[order], *W), out[order]) <= TINY
    within(out, X @ W[2])


heads = st.tuples(st.sampled_from([1, 2, 3]), dims, dims, st.integers(1, 3))  # h, n, d_out, columns a head


def multi(seed: int, shape, device: str) -> tuple[Source, torch.Tensor, list[torch.Tensor], int]:
    h, n, out, width = shape
    source, d = Source(seed, device=device), h * width
    W = [source.normal(d, d) for _ in range(3)]
    return source, source.normal(n, d), [*W, source.normal(d, out)], h


@given(seed=seeds, shape=heads)
def test_one_head_is_self_attention(seed, shape, device: str) -> None:
    _, X, W, _ = multi(seed, shape, device)
    assert apart(ref.multi_head(X, *W, 1), ref.self_attention(X, *W[:3]) @ W[3]) <= TINY


@given(seed=seeds, shape=heads)
def test_one_token_passes_through(seed, shape, device: str) -> None:
    _, X, W, h = multi(seed, shape, device)
    assert apart(ref.multi_head(X[:1], *W, h), X[:1] @ W[2] @ W[3]) <= TINY


@given(seed=seeds, shape=heads)
def test_zero_queries_give_the_mean(seed, shape, device: str) -> None:
    _, X, W, h = multi(seed, shape, device)
    out = pure(lambda X: ref.multi_head(X, torch.zeros_like(W[0]), *W[1:], h), X)
    assert apart(out, (X @ W[2]).mean(0, keepdim=True).expand(len(X), -1) @ W[3]) <= TINY


@given(seed=seeds, shape=heads, masked=st.booleans())
def test_permuted_tokens_give_permuted_outputs(seed, shape, masked: bool, device: str) -> None:
    source, X, W, h = multi(seed, shape, device)
    order, n = source.order(len(X)), len(X)
    mask = source.mask(n, n) if masked else None
    moved = mask[order][:, order] if mask is not None else None
    out = ref.multi_head(X, *W, h, mask)
    assert apart(ref.multi_head(X[order], *W, h, moved), out[order]) <= TINY


@given(seed=seeds, shape=heads)
def test_heads_may_change_places(seed, shape, device: str) -> None:
    """Permuting column blocks of Wq, Wk, Wv together with row blocks of Wo changes nothing."""
    source, X, W, h = multi(seed, shape, device)
    columns = torch.arange(X.shape[1], device=device).reshape(h, -1)[source.order(h)].flatten()
    moved = [W[0][:, columns], W[1][:, columns], W[2][:, columns], W[3][columns]]
    assert apart(ref.multi_head(X, *moved, h), ref.multi_head(X, *W, h)) <= TINY


@given(seed=seeds, shape=heads)
def test_dropping_a_head_takes_away_its_share(seed, shape, device: str) -> None:
    """The output is the sum of the heads, each alone with its own columns."""
    _, X, W, h = multi(seed, shape, device)
    width = X.shape[1] // h
    total = torch.zeros(len(X), W[3].shape[1], dtype=X.dtype, device=device)
    for head in range(h):
        own = slice(head * width, (head + 1) * width)
        total += ref.self_attention(X, *(w[:, own] for w in W[:3])) @ W[3][own]
    assert apart(ref.multi_head(X, *W, h), total) <= TINY
    cut = W[3].clone()
    cut[:width] = 0
    first = ref.self_attention(X, *(w[:, :width] for w in W[:3])) @ W[3][:width]
    assert apart(ref.multi_head(X, *W[:3], cut, h), total - first) <= TINY


@given(seed=seeds, shape=heads)
def test_causal_heads_do_not_see_what_comes_later(seed, shape, device: str) -> None:
    source, X, W, h = multi(seed, shape, device)
    mask = ref.causal_mask(len(X), torch.empty(0, device=device))
    out = ref.multi_head(X, *W, h, mask)
    changed = X.clone()
    changed[-1] = source.normal(X.shape[1], scale=50.0)
    assert apart(ref.multi_head(changed, *W, h, mask)[:-1], out[:-1]) <= TINY


@given(seed=seeds, shape=heads)
def test_weights_of_each_head_sum_to_one(seed, shape, device: str) -> None:
    """With Wv and Wo such that values are one-hot tokens, one head's output is its weights."""
    source, _, _, _ = multi(seed, shape, device)
    n = shape[1]
    X = torch.eye(n, dtype=torch.float64, device=device)
    Wq, Wk = source.normal(n, 2), source.normal(n, 2)
    sums_to_one(ref.multi_head(X, Wq, Wk, X, X, 1))
