"""Softmax and masked softmax against mpmath, loops and torch, in every floating dtype."""

from __future__ import annotations

import math

import pytest
import torch

import reference as ref
from tests.oracles import loops, precise
from tests.oracles.arrays import NARROW, WIDE, Source, eps, listed, same

ALL = WIDE + NARROW


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0, 30.0])
def test_softmax_equals_sixty_digits(dtype: torch.dtype, temperature: float, device: str) -> None:
    source = Source(1, dtype, device)
    for scale in (0.1, 1.0, 20.0):
        x = source.normal(7, scale=scale)
        got = ref.softmax(x, temperature=temperature)
        assert got.dtype == dtype and got.device.type == device
        same(got, precise.softmax(*listed(x), temperature=temperature))


def test_float64_softmax_is_exact_to_a_few_units(device: str) -> None:
    x = Source(2, device=device).normal(50, scale=3.0)
    got, want = ref.softmax(x).cpu(), torch.tensor(precise.softmax(*listed(x)), dtype=torch.float64)
    assert float(((got - want).abs() / want).max()) < 16 * eps(got)


@pytest.mark.parametrize("dtype", ALL)
def test_huge_scores_do_not_overflow(dtype: torch.dtype, device: str) -> None:
    top = 6e4 if dtype == torch.float16 else 1e30
    x = torch.tensor([top, top, -top], dtype=torch.float64, device=device).to(dtype)
    for temperature in (1.0, 1e-3, 1e6):
        got = ref.softmax(x, temperature=temperature)
        if float(x[0]) * 2 / temperature > 1e3:
            assert got.tolist() == [0.5, 0.5, 0.0]
        assert math.isclose(float(got.sum()), 1.0, abs_tol=8 * eps(x))


@pytest.mark.parametrize("dtype", ALL)
def test_each_row_is_shifted_by_its_own_maximum(dtype: torch.dtype, device: str) -> None:
    """A common shift would overflow, or round small differences away in the lower row."""
    x = torch.tensor([[6e4, 6e4], [-6e4, -6e4]], dtype=torch.float64, device=device).to(dtype)
    assert ref.softmax(x, temperature=0.5).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    x = torch.tensor([[1e4, 0.0], [0.5, 0.25]], dtype=torch.float64, device=device).to(dtype)
    same(ref.softmax(x, temperature=0.5)[1], loops.softmax([1.0, 0.5]))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_softmax_along_any_axis(axis: int, temperature: float, device: str) -> None:
    x = Source(3, device=device).normal(2, 3, 4)
    rows = x.movedim(axis, -1)
    want = [[loops.softmax(row, temperature) for row in block] for block in listed(rows)[0]]
    same(ref.softmax(x, axis, temperature).movedim(axis, -1), want)


def test_temperature_limits(device: str) -> None:
    x = torch.tensor([2.0, 1.0, 0.0], dtype=torch.float64, device=device)
    assert ref.softmax(x, temperature=1e-300).tolist() == [1.0, 0.0, 0.0]
    same(ref.softmax(x, temperature=1e300), [1 / 3] * 3)
    same(ref.softmax(x, temperature=2.0), loops.softmax([1.0, 0.5, 0.0]))


@pytest.mark.parametrize("dtype", ALL)
def test_masked_softmax_equals_the_sublist(dtype: torch.dtype, device: str) -> None:
    source = Source(4, dtype, device)
    scores, mask = source.normal(4, 3, 6), source.mask(4, 3, 6)
    want = [
        [loops.masked_softmax(e, m) for e, m in zip(es, ms, strict=True)]
        for es, ms in zip(listed(scores)[0], mask.tolist(), strict=True)
    ]
    got = ref.masked_softmax(scores, mask)
    assert got.dtype == dtype and got.device.type == device
    same(got, want)
    assert (got[~mask] == 0).all()


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("hidden", [1e4, -1e4, math.inf, -math.inf, math.nan])
def test_hidden_scores_never_matter(dtype: torch.dtype, hidden: float, device: str) -> None:
    scores = torch.tensor([[1.0, hidden, 2.0], [hidden, hidden, hidden]], dtype=dtype, device=device)
    mask = torch.tensor([[True, False, True], [False, False, False]], device=device)
    got = ref.masked_softmax(scores, mask)
    same(got[0], [*loops.softmax([1.0, 2.0])[:1], 0.0, loops.softmax([1.0, 2.0])[1]])
    assert got[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("shape", [(5,), (1, 5), (4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 5), (1, 1, 5)])
def test_mask_broadcasts_along_rows(shape: tuple[int, ...], device: str) -> None:
    source = Source(5, device=device)
    scores, mask = source.normal(3, 4, 5), source.mask(*shape)
    same(ref.masked_softmax(scores, mask), ref.masked_softmax(scores, mask.expand(3, 4, 5)))


def test_visible_scores_far_below_any_sentinel(device: str) -> None:
    scores = torch.tensor([-2e9, -2e9, 0.0], dtype=torch.float64, device=device)
    mask = torch.tensor([True, True, False], device=device)
    assert ref.masked_softmax(scores, mask).tolist() == [0.5, 0.5, 0.0]


def test_gradients_flow_and_hidden_ones_are_zero(device: str) -> None:
    source = Source(6, device=device)
    x = source.normal(3, 4).requires_grad_()
    mask = source.mask(3, 4)
    mask[1] = False
    assert torch.autograd.gradcheck(ref.softmax, (x,))
    assert torch.autograd.gradcheck(lambda x: ref.softmax(x, 0, 0.5), (x,))
    assert torch.autograd.gradcheck(lambda x: ref.masked_softmax(x, mask), (x,))
    (grad,) = torch.autograd.grad(ref.masked_softmax(x, mask)[:, 0].sum(), x)
    assert (grad[~mask] == 0).all() and torch.isfinite(grad).all()
