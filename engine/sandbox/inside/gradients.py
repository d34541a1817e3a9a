"""Gradients of what student code computed, by torch's autograd, on the child's side."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["MismatchError", "differentiate", "track"]


class MismatchError(Exception):
    """There is nothing to differentiate: the value has no graph, or other arrays than were expected."""


def track(arguments: Iterable[Any]) -> list[Any]:
    """Make every floating tensor among the arguments a leaf of the graph.

    Returns
    -------
    list of torch.Tensor
        In the order of the arguments; those in lists, tuples and dicts too, in theirs.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    tensors = [x for x in _arrays(list(arguments)) if type(x) is torch.Tensor and x.is_floating_point()]
    for tensor in tensors:
        tensor.requires_grad_(True)
    return tensors


def differentiate(value: Any, cotangents: list[Any], inputs: list[Any]) -> list[Any]:
    """Return the gradients of the sum of ``output * cotangent`` with respect to `inputs`.

    Parameters
    ----------
    value : object
        What the function returned; its arrays are met in order, those in containers too.
    cotangents : list of (torch.Tensor or None)
        One for each array of `value`, of the same shape; None leaves that array out.
    inputs : list of torch.Tensor
        From :func:`track`.

    Returns
    -------
    list of (torch.Tensor or None)
        None for an input that isn't used.

    Raises
    ------
    MismatchError
        No array that counts depends on an input by a graph, or number or shapes are others.
    Exception
        Whatever autograd, or a backward function of the student's own, raises.
    """
    arrays = list(_arrays(value))
    if len(arrays) != len(cotangents):
        raise MismatchError
    pairs = [(a, c) for a, c in zip(arrays, cotangents, strict=True) if c is not None]
    if any(tuple(a.shape) != tuple(c.shape) for a, c in pairs):
        raise MismatchError
    pairs = [(a, c) for a, c in pairs if getattr(a, "requires_grad", False)]
    if not pairs or not inputs:
        raise MismatchError
    torch = sys.modules["torch"]
    outputs, weights = [a for a, _ in pairs], [c for _, c in pairs]
    return list(torch.autograd.grad(outputs, inputs, weights, allow_unused=True))


def _arrays(value: Any) -> Iterator[Any]:
    """Yield arrays and tensors in order; the depth of what comes here is bounded by the wire."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        yield value
