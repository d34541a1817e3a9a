"""Questions about values, for constraints and invariants."""

from __future__ import annotations

from typing import Any

from engine.variants.functions.registry import function
from engine.variants.values import as_float, as_tensor, is_tensor

__all__: list[str] = []


@function("all", exact=True)
def all_true(x: Any) -> bool:
    """Tell whether every entry is true (not 0)."""
    return bool((as_tensor(x) != 0).all())


@function("any", exact=True)
def any_true(x: Any) -> bool:
    """Tell whether some entry is true (not 0)."""
    return bool((as_tensor(x) != 0).any())


@function(exact=True)
def same(x: Any, y: Any, tolerance: Any = 1e-9) -> bool:
    """Tell whether shapes agree and all entries do within `tolerance`; words and sequences exactly."""
    if isinstance(x, str | tuple) or isinstance(y, str | tuple):
        return bool(x == y)
    a, b = as_tensor(x), as_tensor(y)
    return a.shape == b.shape and bool(((a - b).abs() <= as_float(tolerance)).all())


@function(exact=True)
def distinct(x: Any, gap: Any = 1e-9) -> bool:
    """Tell whether any two entries (or rows, in some entry) differ by more than `gap`."""
    if isinstance(x, tuple):
        return len(set(x)) == len(x)
    values, least = as_tensor(x), as_float(gap)
    flat = values if values.ndim > 1 else values.unsqueeze(-1)
    return all(
        float((flat[i] - flat[j]).abs().max()) > least
        for i in range(len(flat))
        for j in range(i + 1, len(flat))
    )


@function(exact=True)
def symmetric(W: Any) -> bool:
    """Tell whether a matrix equals its transpose."""
    matrix = as_tensor(W)
    return matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and bool((matrix == matrix.mT).all())


@function(exact=True)
def between(x: Any, low: Any, high: Any) -> bool:
    """Tell whether all entries lie between two bounds, both included."""
    values = as_tensor(x)
    return bool(((values >= as_float(low)) & (values <= as_float(high))).all())


@function(exact=True)
def whole(x: Any) -> bool:
    """Tell whether all entries are whole numbers."""
    values = as_tensor(x)
    return bool((values == values.round()).all())


@function(exact=True)
def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return entries of `yes` where the condition holds, of `no` elsewhere."""
    import torch

    test = condition if is_tensor(condition) else as_tensor(condition)
    if test.dtype != torch.bool:
        test = test != 0
    return torch.where(test, as_tensor(yes), as_tensor(no))
