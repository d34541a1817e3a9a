"""Context, attention and scaled dot-product attention against loops, mpmath and torch's own."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

import reference as ref
from tests.oracles import loops, precise
from tests.oracles.arrays import NARROW, WIDE, Source, eps, listed, same

ALL = WIDE + NARROW


@pytest.mark.parametrize("dtype", WIDE)
def test_context_equals_loops(dtype: torch.dtype, device: str) -> None:
    source = Source(21, dtype, device)
    w, H = source.normal(5), source.normal(5, 3)
    got = ref.context(w, H)
    assert got.dtype == dtype and got.device.type == device
    same(got, loops.context(*listed(w, H)))
    many = source.normal(2, 4, 5)
    same(ref.context(many, H), [[loops.context(w, *listed(H)) for w in rows] for rows in listed(many)[0]])
    each = source.normal(2, 4, 5, 3)
    got = ref.context(many, each)
    same(got[1, 2], loops.context(*listed(many[1, 2], each[1, 2])))
    same(ref.context(w, each)[1, 3], loops.context(*listed(w, each[1, 3])))


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "bilinear", "additive", "concat"])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_puts_the_stages_together(score: str, masked: bool, device: str) -> None:
    source = Source(22, device=device)
    q, K, V = source.normal(3), source.normal(6, 3), source.normal(6, 2)
    params = {
        "W": source.normal(3, 3) if score == "bilinear" else source.normal(5, 3),
        "U": source.normal(5, 3), "v": source.normal(5), "W1": source.normal(5, 6), "w2": source.normal(5),
    }  # fmt: skip
    names = {"bilinear": ["W"], "additive": ["W", "U", "v"], "concat": ["W1", "w2"]}.get(score, [])
    mask = source.mask(6) if masked else None
    got = ref.attention(q, K, V, score, mask, params=params)
    e = getattr(loops, f"{score}_scores")(*listed(q, K, *(params[n] for n in names)))
    w = loops.softmax(e) if mask is None else loops.masked_softmax(e, mask.tolist())
    same(got.scores, e)
    same(got.weights, w)
    same(got.output, loops.context(w, *listed(V)))
    assert got._fields == ("scores", "weights", "output")


def test_values_default_to_keys_and_scores_may_be_functions(device: str) -> None:
    source = Source(23, device=device)
    q, K = source.normal(2, 3), source.normal(4, 3)
    got = ref.attention(q, K)
    same(got.output, ref.attention(q, K, K).output)
    same(got.output, loops.sdpa(*listed(q, K, K), divisor=1.0))
    distance = ref.attention(q, K, score=lambda q, K: -(q[..., None, :] - K).square().sum(-1))
    e = [[-sum((a - b) ** 2 for a, b in zip(x, k, strict=True)) for k in listed(K)[0]] for x in listed(q)[0]]
    same(distance.weights, [loops.softmax(row) for row in e])


@pytest.mark.parametrize("dtype", ALL)
def test_sdpa_equals_sixty_digits(dtype: torch.dtype, device: str) -> None:
    source = Source(24, dtype, device)
    Q, K, V = source.normal(4, 5), source.normal(6, 5), source.normal(6, 3)
    got = ref.sdpa(Q, K, V)
    assert got.dtype == dtype and got.device.type == device
    same(got, precise.sdpa(*listed(Q, K, V)))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("scale", "divisor"), [("sqrt_dk", 5**0.5), (None, 1.0), (2.5, 2.5), (-1.0, -1.0)])
def test_scale_divides(dtype: torch.dtype, scale: Any, divisor: float, device: str) -> None:
    source = Source(25, dtype, device)
    Q, K, V = source.normal(4, 5), source.normal(6, 5), source.normal(6, 3)
    mask = source.mask(4, 6)
    same(ref.sdpa(Q, K, V, scale=scale), loops.sdpa(*listed(Q, K, V), divisor=divisor))
    want = loops.sdpa(*listed(Q, K, V), mask=mask.tolist(), divisor=divisor)
    same(ref.sdpa(Q, K, V, mask, scale), want)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("masked", [False, True])
def test_sdpa_equals_torch(dtype: torch.dtype, lead: tuple[int, ...], masked: bool, device: str) -> None:
    source = Source(26, dtype, device)
    Q, K, V = source.normal(*lead, 4, 5), source.normal(*lead, 6, 5), source.normal(*lead, 6, 3)
    mask = source.mask(*lead, 4, 6) if masked else None
    want = F.scaled_dot_product_attention(Q.double(), K.double(), V.double(), attn_mask=mask)
    same(ref.sdpa(Q, K, V, mask), want)


def test_shared_keys_and_values_serve_a_batch(device: str) -> None:
    source = Source(27, device=device)
    Q, K, V = source.normal(2, 3, 4, 5), source.normal(6, 5), source.normal(2, 1, 6, 3)
    got = ref.sdpa(Q, K, V)
    same(got[1, 2], loops.sdpa(*listed(Q[1, 2], K, V[1, 0])))


def test_fully_masked_queries_give_zeros(device: str) -> None:
    source = Source(28, device=device)
    Q, K, V = source.normal(3, 5), source.normal(4, 5), source.normal(4, 2)
    mask = torch.ones(3, 4, dtype=torch.bool, device=device)
    mask[1] = False
    got = ref.sdpa(Q, K, V, mask)
    assert got[1].tolist() == [0.0, 0.0]
    same(got[[0, 2]], loops.sdpa(*listed(Q[[0, 2]], K, V)))


@pytest.mark.parametrize("dtype", NARROW)
def test_half_precision_does_not_overflow_before_the_scale(dtype: torch.dtype, device: str) -> None:
    """|Q K^T| = 100 * 45 * 45 would exceed float16's 65504; divided by 10 it doesn't."""
    Q = torch.full((1, 100), 45.0, dtype=dtype, device=device)
    K = torch.cat([Q, -Q])
    V = torch.tensor([[1.0], [2.0]], dtype=dtype, device=device)
    assert ref.sdpa(Q, K, V).tolist() == [[1.0]]


def test_sdpa_is_differentiable(device: str) -> None:
    source = Source(29, device=device)
    inputs = [x.requires_grad_() for x in (source.normal(2, 3), source.normal(4, 3), source.normal(4, 2))]
    assert torch.autograd.gradcheck(ref.sdpa, inputs)
    mask = source.mask(2, 4)
    assert torch.autograd.gradcheck(lambda *a: ref.sdpa(*a, mask), inputs)


@pytest.mark.parametrize("dtype", WIDE)
def test_nothing_is_written_to(dtype: torch.dtype, device: str) -> None:
    source = Source(30, dtype, device)
    tensors = [source.normal(2, 3, 4), source.normal(2, 5, 4), source.normal(2, 5, 3), source.mask(2, 3, 5)]
    copies = [t.clone() for t in tensors]
    ref.sdpa(*tensors)
    ref.grad_attention(*tensors[:3], torch.ones(2, 3, 3, dtype=dtype, device=device), tensors[3])
    ref.softmax(tensors[0], temperature=0.5)
    ref.masked_softmax(ref.dot_scores(tensors[0], tensors[1][:, None]), tensors[3])
    assert all(torch.equal(a, b) for a, b in zip(tensors, copies, strict=True))


def test_large_problem_keeps_its_accuracy(device: str) -> None:
    source = Source(31, torch.float32, device)
    Q, K, V = source.normal(32, 64), source.normal(300, 64), source.normal(300, 8)
    got = ref.sdpa(Q, K, V).double()
    want = ref.sdpa(Q.double(), K.double(), V.double())
    assert float((got - want).abs().max()) < 64 * eps(Q) * float(V.abs().max())
