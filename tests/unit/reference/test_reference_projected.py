"""Self-attention and multi-head attention against loops and torch.nn.MultiheadAttention."""

from __future__ import annotations

import pytest
import torch

import reference as ref
from tests.oracles import loops
from tests.oracles.arrays import NARROW, WIDE, Source, listed, same


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_causal_mask(n: int, device: str) -> None:
    mask = ref.causal_mask(n, torch.empty(0, device=device))
    assert mask.dtype == torch.bool and mask.device.type == device
    assert mask.shape == (n, n) and mask.tolist() == loops.causal_mask(n)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_equals_loops(dtype: torch.dtype, causal: bool, device: str) -> None:
    source = Source(41, dtype, device)
    X = source.normal(2, 5, 4)
    W = source.normal(4, 3), source.normal(4, 3), source.normal(4, 2)
    got = ref.self_attention(X, *W, causal=causal)
    assert got.dtype == dtype and got.device.type == device
    same(got, [loops.self_attention(x, *listed(*W), causal) for x in listed(X)[0]])
    same(ref.self_attention(X[0], *W, causal), got[0])


@pytest.mark.parametrize("left_out", [(), ("Wq",), ("Wk",), ("Wv",), ("Wq", "Wk"), ("Wq", "Wk", "Wv")])
def test_projections_default_to_the_identity(left_out: tuple[str, ...], device: str) -> None:
    source = Source(42, device=device)
    X = source.normal(4, 3)
    identity = torch.eye(3, dtype=X.dtype, device=device)
    given = {name: source.normal(3, 3) for name in ("Wq", "Wk", "Wv") if name not in left_out}
    full = {name: given.get(name, identity) for name in ("Wq", "Wk", "Wv")}
    for causal in (False, True):
        want = loops.self_attention(*listed(X, *full.values()), causal)
        same(ref.self_attention(X, **given, causal=causal), want)


def test_self_attention_scale(device: str) -> None:
    source = Source(43, device=device)
    X, Wq, Wk = source.normal(4, 3), source.normal(3, 2), source.normal(3, 2)
    Q, K = X @ Wq, X @ Wk
    for scale, divisor in ((None, 1.0), (2.0, 2.0), ("sqrt_dk", 2**0.5)):
        same(ref.self_attention(X, Wq, Wk, scale=scale), loops.sdpa(*listed(Q, K, X), divisor=divisor))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("h", "d", "dk", "dv", "out"), [(1, 4, 3, 2, 5), (2, 4, 3, 2, 5), (4, 8, 2, 2, 8)])
@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_equals_loops(
    dtype: torch.dtype, h: int, d: int, dk: int, dv: int, out: int, masked: bool, device: str
) -> None:
    source = Source(44, dtype, device)
    X = source.normal(2, 5, d)
    W = (
        source.normal(d, h * dk),
        source.normal(d, h * dk),
        source.normal(d, h * dv),
        source.normal(h * dv, out),
    )
    mask = source.mask(2, 5, 5) if masked else None
    got = ref.multi_head(X, *W, h, mask)
    assert got.dtype == dtype and got.device.type == device
    masks = [None, None] if mask is None else mask.tolist()
    same(got, [loops.multi_head(x, *listed(*W), h, m) for x, m in zip(listed(X)[0], masks, strict=True)])


def test_multi_head_takes_one_mask_for_all(device: str) -> None:
    source = Source(45, device=device)
    X, W = source.normal(2, 3, 4, 6), [source.normal(6, 6) for _ in range(4)]
    mask = ref.causal_mask(4, torch.empty(0, device=device))
    got = ref.multi_head(X, *W, 3, mask)
    same(got[1, 2], loops.multi_head(*listed(X[1, 2], *W), 3, loops.causal_mask(4)))
    for shape in ((1, 1, 4, 4), (1, 3, 4, 4), (2, 3, 4, 4)):
        same(ref.multi_head(X, *W, 3, mask.expand(shape)), got)
    same(ref.multi_head(X, *W, 3, mask.tolist()), got)
    keys = source.mask(2, 3, 1, 4)
    same(ref.multi_head(X, *W, 3, keys.cpu().numpy())[1, 0], ref.multi_head(X[1, 0], *W, 3, keys[1, 0]))


def test_multi_head_scale_is_of_one_head(device: str) -> None:
    source = Source(46, device=device)
    X, W = source.normal(5, 8), [source.normal(8, 8) for _ in range(4)]
    same(ref.multi_head(X, *W, 2), ref.multi_head(X, *W, 2, scale=2.0))
    assert not torch.allclose(ref.multi_head(X, *W, 2), ref.multi_head(X, *W, 2, scale=8**0.5))


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("h", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_equals_torch(dtype: torch.dtype, h: int, causal: bool, device: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, h, bias=False, batch_first=True, device=device, dtype=dtype)
    X = Source(47, dtype, device).normal(3, 6, 8)
    Wq, Wk, Wv = (W.mT for W in layer.in_proj_weight.chunk(3))
    # torch's mask is True = hidden
    hidden = ~ref.causal_mask(6, torch.empty(0, device=device)) if causal else None
    want, _ = layer(X, X, X, attn_mask=hidden, need_weights=False)
    mask = ref.causal_mask(6, torch.empty(0, device=device)) if causal else None
    same(ref.multi_head(X, Wq, Wk, Wv, layer.out_proj.weight.mT, h, mask), want)


@pytest.mark.parametrize("dtype", NARROW)
def test_half_precision_is_close(dtype: torch.dtype, device: str) -> None:
    source = Source(48, dtype, device)
    X, W = source.normal(5, 4), [source.normal(4, 4, scale=0.5) for _ in range(4)]
    want = loops.multi_head(*listed(X, *W), 2)
    assert torch.allclose(ref.multi_head(X, *W, 2).cpu().double(), torch.tensor(want).double(), atol=0.1)


def test_gradients(device: str) -> None:
    source = Source(49, device=device)
    inputs = [x.requires_grad_() for x in (source.normal(3, 4), *(source.normal(4, 4) for _ in range(4)))]
    assert torch.autograd.gradcheck(lambda *a: ref.multi_head(*a, 2), inputs)
    assert torch.autograd.gradcheck(lambda *a: ref.self_attention(*a, causal=True), inputs[:4])
