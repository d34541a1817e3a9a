"""Weights that known mistakes compute (the registry in ``problems/misconceptions.yaml`` tells of them)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.variants.functions.registry import function
from engine.variants.values import as_tensor

__all__: list[str] = []


def _shares(values: Tensor, axis: int = -1) -> Tensor:
    return values / values.sum(axis, keepdim=True)


@function()
def base2(e: Any) -> Tensor:
    """Return the weights that powers of 2 give (m-base2)."""
    scores = as_tensor(e)
    return _shares(torch.exp2(scores - scores.amax(-1, keepdim=True)))


@function()
def linear_norm(e: Any) -> Tensor:
    """Return the scores divided by their sum (m-linear-norm)."""
    return _shares(as_tensor(e))


@function()
def rank_norm(e: Any) -> Tensor:
    """Return weights that grow in equal steps with the scores (m-rank-norm)."""
    scores = as_tensor(e)
    return _shares(scores - scores.amin(-1, keepdim=True) + 1)


@function()
def sigmoid_norm(e: Any) -> Tensor:
    """Return sigmoids of the scores, divided by their sum (m-sigmoid-norm)."""
    return _shares(torch.sigmoid(as_tensor(e)))


@function(exact=True)
def hard(e: Any) -> Tensor:
    """Return 1 at the largest score of every row and 0 elsewhere (m-argmax)."""
    scores = as_tensor(e)
    return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(torch.float64)


@function()
def softmax_all(E: Any) -> Tensor:
    """Return exponentials over the sum of all entries of a matrix (m-all)."""
    scores = as_tensor(E)
    return torch.softmax(scores.flatten(), 0).reshape(scores.shape)
