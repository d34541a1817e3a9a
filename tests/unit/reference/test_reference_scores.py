"""Scores against loops, plain and batched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import reference as ref
from tests.oracles import loops
from tests.oracles.arrays import WIDE, Source, listed, same

DQ, DK, DA, N = 3, 4, 5, 6


def parameters(source: Source, *lead: int) -> dict[str, list[torch.Tensor]]:
    """What follows (q, K), by score."""
    normal = source.normal
    return {
        "dot": [],
        "scaled_dot": [],
        "bilinear": [normal(*lead, DQ, DK)],
        "additive": [normal(*lead, DA, DQ), normal(*lead, DA, DK), normal(*lead, DA)],
        "concat": [normal(*lead, DA, DQ + DK), normal(*lead, DA)],
    }


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    name: (getattr(ref, f"{name}_scores"), getattr(loops, f"{name}_scores"))
    for name in ("dot", "scaled_dot", "bilinear", "additive", "concat")
}


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_scores_equal_loops(name: str, dtype: torch.dtype, device: str) -> None:
    source = Source(11, dtype, device)
    ours, oracle = FUNCTIONS[name]
    q, K = source.normal(DK if "dot" in name else DQ), source.normal(N, DK)
    params = parameters(source)[name]
    got = ours(q, K, *params)
    assert got.dtype == dtype and got.device.type == device
    same(got, oracle(*listed(q, K, *params)))


@pytest.mark.parametrize("batched", ["q", "K", "params", "q K", "q params", "K params", "q K params"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_leading_axes_mean_one_call_each(name: str, batched: str, device: str) -> None:
    source, (ours, _) = Source(12, device=device), FUNCTIONS[name]
    lead = {part: (2, 3) if part in batched.split() else () for part in ("q", "K", "params")}
    q = source.normal(*lead["q"], DK if "dot" in name else DQ)
    K = source.normal(*lead["K"], N, DK)
    params = parameters(source, *lead["params"])[name]
    if not params and batched == "params":
        lead["q"], q = (2, 3), source.normal(2, 3, DK)
    got = ours(q, K, *params)
    assert got.shape == (2, 3, N)
    for i in range(2):
        for j in range(3):
            q1 = q[i, j] if lead["q"] else q
            K1 = K[i, j] if lead["K"] else K
            params1 = [p[i, j] if lead["params"] else p for p in params]
            same(got[i, j], ours(q1, K1, *params1))


def test_leading_axes_of_one_broadcast(device: str) -> None:
    source = Source(13, device=device)
    q, K = source.normal(2, 1, 4), source.normal(1, 3, N, 4)
    assert ref.dot_scores(q, K).shape == (2, 3, N)
    same(ref.dot_scores(q, K)[1, 2], ref.dot_scores(q[1, 0], K[0, 2]))


def test_one_set_of_keys_serves_many_queries(device: str) -> None:
    source = Source(14, device=device)
    Q, K = source.normal(5, 4), source.normal(N, 4)
    same(ref.dot_scores(Q, K), Q @ K.T)
    same(ref.scaled_dot_scores(Q, K), Q @ K.T / 2)


def test_scale_is_the_number_of_features(device: str) -> None:
    """Neither the number of keys nor a norm (F-19)."""
    q, K = torch.ones(9, device=device).double(), torch.ones(4, 9, device=device).double()
    assert ref.scaled_dot_scores(q, K).tolist() == [3.0] * 4


@pytest.mark.parametrize("dtype", WIDE)
def test_alignment_vector_equals_loops(dtype: torch.dtype, device: str) -> None:
    source = Source(15, dtype, device)
    args = source.normal(DK), source.normal(DQ), source.normal(DA, DK), source.normal(DA, DQ)
    same(ref.alignment_vector(*args), loops.alignment_vector(*listed(*args)))
    H = source.normal(N, DK)
    got = ref.alignment_vector(H, *args[1:])
    same(got, [loops.alignment_vector(h, *listed(*args[1:])) for h in listed(H)[0]])


def test_literal_reading_works_for_one_row(device: str) -> None:
    source = Source(16, device=device)
    q, K, W, U = source.normal(DQ), source.normal(N, DK), source.normal(1, DQ), source.normal(1, DK)
    got = ref.additive_scores(q, K, W, U, l16_literal=True)
    same(got, [loops.alignment_vector(k, *listed(q, U, W))[0] for k in listed(K)[0]])
    by_name = ref.attention(q, K, score="l16_literal", params={"W": W, "U": U}).scores
    same(by_name, got)
