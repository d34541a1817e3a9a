"""C13: the softmax Jacobian, its product, and the attention gradient."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from tests.oracles import differences, loops
from tests.oracles.arrays import Source, apart, dims, pure, seeds

TINY = 1e-12


@given(seed=seeds, n=dims)
def test_jacobian(seed: int, n: int, device: str) -> None:
    """Symmetric, rows sum to 0, no negative diagonal; J^T g is the product."""
    source = Source(seed, device=device)
    w, g = source.weights(2, n), source.normal(2, n)
    J = pure(ref.softmax_jacobian, w)
    assert J.shape == (2, n, n)
    assert torch.equal(J, J.mT)
    assert apart(J.sum(-1), torch.zeros_like(w)) <= TINY
    assert (J.diagonal(dim1=-2, dim2=-1) >= 0).all()
    assert apart((J @ g[..., None])[..., 0], pure(ref.softmax_vjp, w, g)) <= TINY


@given(seed=seeds, n=dims, shift=st.floats(-5, 5))
def test_vjp_ignores_constants_and_sums_to_zero(seed: int, n: int, shift: float, device: str) -> None:
    source = Source(seed, device=device)
    w, g = source.weights(n), source.normal(n)
    v = ref.softmax_vjp(w, g)
    assert abs(float(v.sum())) <= TINY
    assert apart(ref.softmax_vjp(w, g + shift), v) <= TINY


@given(seed=seeds, n=dims)
def test_hidden_weights_get_no_gradient(seed: int, n: int, device: str) -> None:
    source = Source(seed, device=device)
    x, mask, g = source.normal(n), source.mask(n), source.normal(n)
    w = ref.masked_softmax(x, mask)
    assert (ref.softmax_vjp(w, g)[~mask] == 0).all()
    assert (ref.softmax_jacobian(w)[~mask] == 0).all()


shape = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))


@given(seed=seeds, shape=shape)
def test_vjp_equals_central_differences(seed: int, shape, device: str) -> None:
    source = Source(seed, device=device)
    e, g = source.normal(shape[0] + 1), source.normal(shape[0] + 1)
    goal = g.cpu().numpy()

    def loss(x: np.ndarray) -> float:
        return float(np.dot(loops.softmax(x.tolist()), goal))

    want = differences.gradient(loss, e.cpu().numpy())
    np.testing.assert_allclose(ref.softmax_vjp(ref.softmax(e), g).cpu().numpy(), want, rtol=1e-5, atol=1e-9)


@given(seed=seeds, shape=shape, masked=st.booleans())
def test_attention_gradient_equals_central_differences(seed: int, shape, masked: bool, device: str) -> None:
    m, n, d, dv = shape
    source = Source(seed, device=device)
    arrays = [source.normal(m, d), source.normal(n, d), source.normal(n, dv)]
    G, mask = source.normal(m, dv), source.mask(m, n) if masked else None
    got = ref.grad_attention(*arrays, G, mask)
    seen = None if mask is None else mask.tolist()
    inputs, goal = [a.cpu().numpy() for a in arrays], G.cpu().numpy()
    for which in range(3):

        def loss(x: np.ndarray, which: int = which) -> float:
            args = [x if i == which else a for i, a in enumerate(inputs)]
            return float(np.sum(np.array(loops.sdpa(*(a.tolist() for a in args), seen)) * goal))

        want = differences.gradient(loss, inputs[which])
        np.testing.assert_allclose(got[which].cpu().numpy(), want, rtol=1e-5, atol=1e-8)


@given(seed=seeds, shape=shape, masked=st.booleans())
def test_attention_gradient_laws(seed: int, shape, masked: bool, device: str) -> None:
    """dV = P^T G; a common shift of the keys is free, so the rows of dK sum to 0; linear in G; pure."""
    m, n, d, dv = shape
    source = Source(seed, device=device)
    Q, K, V, G = source.normal(m, d), source.normal(n, d), source.normal(n, dv), source.normal(m, dv)
    mask = source.mask(m, n) if masked else None
    dQ, dK, dV = ref.grad_attention(Q, K, V, G, mask)
    assert (dQ.shape, dK.shape, dV.shape) == (Q.shape, K.shape, V.shape)
    P = ref.sdpa(Q, K, torch.eye(n, dtype=Q.dtype, device=device), mask)
    assert apart(dV, P.mT @ G) <= TINY
    assert apart(dK.sum(0), torch.zeros_like(dK[0])) <= TINY
    for part, tripled in zip((dQ, dK, dV), ref.grad_attention(Q, K, V, 3 * G, mask), strict=True):
        assert apart(tripled, 3 * part) <= TINY * 10
    for index in range(3):
        pure(lambda *a, index=index: ref.grad_attention(*a, mask)[index], Q, K, V, G)


@given(seed=seeds, shape=shape)
def test_hidden_keys_get_no_gradient(seed: int, shape, device: str) -> None:
    m, n, d, dv = shape
    source = Source(seed, device=device)
    Q, K, V, G = source.normal(m, d), source.normal(n, d), source.normal(n, dv), source.normal(m, dv)
    seen = source.mask(n)
    got = ref.grad_attention(Q, K, V, G, seen)
    assert (got.dK[~seen] == 0).all() and (got.dV[~seen] == 0).all()
    subset = ref.grad_attention(Q, K[seen], V[seen], G)
    assert apart(got.dQ, subset.dQ) <= TINY and apart(got.dK[seen], subset.dK) <= TINY


@given(seed=seeds, shape=shape)
def test_attention_gradient_equals_autograd_in_a_batch(seed: int, shape, device: str) -> None:
    """And averages over nothing: each member has its own gradient."""
    m, n, d, dv = shape
    source = Source(seed, device=device)
    leaves = [source.normal(2, m, d), source.normal(2, n, d), source.normal(2, n, dv)]
    G = source.normal(2, m, dv)
    with_grad = [leaf.clone().requires_grad_() for leaf in leaves]
    out = torch.nn.functional.scaled_dot_product_attention(*with_grad)
    for ours, theirs in zip(
        ref.grad_attention(*leaves, G), torch.autograd.grad(out, with_grad, G), strict=True
    ):
        assert apart(ours, theirs) <= 1e-11
