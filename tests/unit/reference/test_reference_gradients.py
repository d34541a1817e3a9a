"""Derivatives against autograd, gradcheck, torch's own attention and central differences of loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

import reference as ref
from tests.oracles import differences, loops
from tests.oracles.arrays import WIDE, Source, listed, same


@pytest.mark.parametrize("dtype", WIDE)
def test_jacobian_equals_autograd(dtype: torch.dtype, device: str) -> None:
    e = Source(81, dtype, device).normal(3, 5)
    got = ref.softmax_jacobian(torch.softmax(e, -1))
    assert got.dtype == dtype and got.device.type == device
    for i in range(3):
        same(got[i], torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), e[i]))


def test_jacobian_equals_differences(device: str) -> None:
    e = Source(82, device=device).normal(6)
    want = differences.jacobian(lambda x: np.array(loops.softmax(x.tolist())), np.array(listed(e)[0]))
    got = ref.softmax_jacobian(ref.softmax(e)).cpu().numpy()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("dtype", WIDE)
def test_vjp_equals_autograd(dtype: torch.dtype, device: str) -> None:
    source = Source(83, dtype, device)
    e, g = source.normal(2, 3, 5).requires_grad_(), source.normal(2, 3, 5)
    w = torch.softmax(e, -1)
    (want,) = torch.autograd.grad(w, e, g)
    same(ref.softmax_vjp(w.detach(), g), want)
    same(ref.softmax_vjp(w[0, 0].detach(), g), ref.softmax_vjp(w[:1, :1].detach(), g))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", ["sqrt_dk", None, 3.0])
def test_attention_gradient_equals_autograd_of_torch(
    dtype: torch.dtype, lead: tuple[int, ...], masked: bool, scale, device: str
) -> None:
    source = Source(84, dtype, device)
    shapes = (*lead, 4, 5), (*lead, 6, 5), (*lead, 6, 3)
    inputs = [source.normal(*shape, scale=0.7) for shape in shapes]
    G = source.normal(*lead, 4, 3)
    mask = source.mask(*lead, 4, 6) if masked else None
    factor = {"sqrt_dk": None, None: 1.0, 3.0: 1 / 3.0}[scale]
    leaves = [x.double().requires_grad_() for x in inputs]
    out = F.scaled_dot_product_attention(*leaves, attn_mask=mask, scale=factor)
    want = torch.autograd.grad(out, leaves, G.double())
    got = ref.grad_attention(*inputs, G, mask, scale)
    assert got._fields == ("dQ", "dK", "dV")
    for ours, theirs in zip(got, want, strict=True):
        assert ours.dtype == dtype and ours.device.type == device
        same(ours, theirs, slack=4)


def test_attention_gradient_equals_differences(device: str) -> None:
    source = Source(85, device=device)
    inputs = [source.normal(3, 4), source.normal(5, 4), source.normal(5, 2)]
    G = source.normal(3, 2)
    arrays = [x.cpu().numpy() for x in inputs]
    got = ref.grad_attention(*inputs, G)
    for which in range(3):

        def loss(x: np.ndarray, which: int = which) -> float:
            args = [x if i == which else a for i, a in enumerate(arrays)]
            return float(np.sum(np.array(loops.sdpa(*(a.tolist() for a in args))) * G.cpu().numpy()))

        want = differences.gradient(loss, arrays[which])
        np.testing.assert_allclose(got[which].cpu().numpy(), want, rtol=1e-5, atol=1e-8)


def test_broadcast_arguments_get_summed_gradients(device: str) -> None:
    source = Source(86, device=device)
    Q, K, V, G = source.normal(3, 4, 5), source.normal(6, 5), source.normal(1, 6, 2), source.normal(3, 4, 2)
    leaves = [x.clone().requires_grad_() for x in (Q, K, V)]
    want = torch.autograd.grad(ref.sdpa(*leaves), leaves, G)
    for ours, theirs in zip(ref.grad_attention(Q, K, V, G), want, strict=True):
        same(ours, theirs)


def test_hidden_keys_and_values_get_no_gradient(device: str) -> None:
    source = Source(87, device=device)
    Q, K, V, G = source.normal(3, 5), source.normal(4, 5), source.normal(4, 2), source.normal(3, 2)
    mask = torch.ones(3, 4, dtype=torch.bool, device=device)
    mask[:, 2] = False
    mask[1] = False
    got = ref.grad_attention(Q, K, V, G, mask)
    assert (got.dK[2] == 0).all() and (got.dV[2] == 0).all() and (got.dQ[1] == 0).all()
    leaves = [x.clone().requires_grad_() for x in (Q, K, V)]
    want = torch.autograd.grad(ref.sdpa(*leaves, mask), leaves, G)
    for ours, theirs in zip(got, want, strict=True):
        same(ours, theirs)


def test_the_written_gradient_is_itself_differentiable(device: str) -> None:
    source = Source(88, device=device)
    inputs = [x.requires_grad_() for x in (source.normal(2, 3), source.normal(3, 3), source.normal(3, 2))]
    G = source.normal(2, 2)
    assert torch.autograd.gradcheck(lambda *a: tuple(ref.grad_attention(*a, G)), inputs)
