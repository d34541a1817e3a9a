"""Drawing inputs and comparing results; torch only as a container."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

# waking a second thread costs a thousand times more than any of these tiny operations
torch.set_num_threads(1)

# relative and absolute; tight for float64: only rounding may differ
TOLERANCE = {
    torch.float64: (1e-11, 1e-12),
    torch.float32: (1e-5, 2e-6),
    torch.float16: (2e-2, 2e-3),
    torch.bfloat16: (6e-2, 1e-2),
}
WIDE = [torch.float64, torch.float32]
NARROW = [torch.float16, torch.bfloat16]


def same(got: torch.Tensor, expected: Any, *, slack: float = 1.0) -> None:
    """Assert equal shape and equal values up to the tolerance of ``got``'s dtype."""
    want = torch.as_tensor(expected, dtype=torch.float64)
    assert tuple(got.shape) == tuple(want.shape)
    rtol, atol = TOLERANCE[got.dtype]
    torch.testing.assert_close(
        got.detach().cpu().to(torch.float64), want.cpu(), rtol=rtol * slack, atol=atol * slack
    )


def eps(x: torch.Tensor) -> float:
    return float(torch.finfo(x.dtype).eps)


class Source:
    """Random tensors of one dtype on one device, from a seed."""

    def __init__(self, seed: int, dtype: torch.dtype = torch.float64, device: str = "cpu") -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype
        self.device = device

    def put(self, values: Any) -> torch.Tensor:
        return torch.tensor(np.asarray(values), device=self.device).to(self.dtype)

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        return self.put(self.rng.normal(size=shape) * scale)

    def whole(self, *shape: int, low: int = -8, high: int = 8) -> torch.Tensor:
        """Whole numbers: exact in every dtype, so shifts by whole numbers are exact too."""
        return self.put(self.rng.integers(low, high + 1, size=shape).astype(np.float64))

    def weights(self, *shape: int) -> torch.Tensor:
        """Positive rows that sum to 1 up to rounding."""
        raw = self.rng.exponential(size=shape) + 1e-3
        return self.put(raw / raw.sum(-1, keepdims=True))

    def mask(self, *shape: int) -> torch.Tensor:
        """About half visible, at least one in each row."""
        seen = self.rng.random(size=shape) < 0.5
        first = self.rng.integers(0, shape[-1], size=shape[:-1])
        np.put_along_axis(seen, np.asarray(first)[..., None], True, axis=-1)
        return torch.tensor(seen, device=self.device)

    def order(self, n: int) -> torch.Tensor:
        return torch.tensor(self.rng.permutation(n), device=self.device)


def listed(*tensors: torch.Tensor) -> list[Any]:
    """The tensors as nested lists of Python floats."""
    return [tensor.detach().cpu().to(torch.float64).tolist() for tensor in tensors]


seeds = st.integers(0, 2**32 - 1)
dims = st.integers(1, 5)
wide = st.sampled_from(WIDE)
scales = st.sampled_from([0.1, 1.0, 10.0])


def apart(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; NaN counts as infinite."""
    assert a.shape == b.shape and a.dtype == b.dtype
    gap = (a.detach().double() - b.detach().double()).abs().nan_to_num(nan=math.inf)
    return float(gap.max()) if gap.numel() else 0.0


def pure(function: Callable[..., Any], *tensors: torch.Tensor) -> Any:
    """Call the function and assert that it left its arguments alone and repeats itself exactly."""
    copies = [tensor.clone() for tensor in tensors]
    result, again = function(*tensors), function(*tensors)
    assert all(torch.equal(a, b) for a, b in zip(tensors, copies, strict=True))
    assert torch.equal(result, again)
    return result


def sums_to_one(weights: torch.Tensor, axis: int = -1) -> None:
    """Assert weights that are >= 0 and sum to 1 as well as n roundings allow."""
    assert (weights >= 0).all()
    n = weights.shape[axis]
    total = weights.double().sum(axis)
    assert apart(total, torch.ones_like(total)) <= (n + 2) * eps(weights)


def within(outputs: torch.Tensor, values: torch.Tensor, directions: torch.Tensor | None = None) -> None:
    """Assert outputs (..., m, d) in the range of values (..., n, d), along axes or given directions (k, d).

    The tolerance is n * eps * max|V|: an exact test would fail half of all right results.
    """
    slack = (values.shape[-2] + 2) * eps(outputs) * float(values.abs().max())
    outputs, values = outputs.double(), values.double()
    if directions is not None:
        slack *= values.shape[-1]
        outputs, values = outputs @ directions.double().mT, values @ directions.double().mT
    assert (outputs <= values.amax(-2, keepdim=True) + slack).all()
    assert (outputs >= values.amin(-2, keepdim=True) - slack).all()
