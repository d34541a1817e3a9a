"""Laws of attention's gradients: each finds mistakes by itself, and gradients by autograd fulfil them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

Grade = Callable[..., Any]
ITEM = "sdpa-grad"
RIGHT = """import numpy as np


def sdpa_grad(Q, K, V, G):
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0] or G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError
    c = Q.shape[1] ** 0.5
    S = Q @ K.T / c
    W = np.exp(S - S.max(axis=1, keepdims=True))
    W = W / W.sum(axis=1, keepdims=True)
    dW = G @ V.T
    dS = W * (dW - (W * dW).sum(axis=1, keepdims=True)) / c
    dQ, dK, dV = dS @ K, dS.T @ Q, W.T @ G
"""
LAWS = {
    "dv-sum", "dk-sum", "one-key", "equal-values", "no-gradient", "zero-queries", "zero-keys", "balance",
    "tile-law", "tile-law-values", "weights", "keys-moved", "queries-moved", "key-shift", "value-shift",
    "linear", "large-sums",
}  # fmt: skip


def _failed(grade: Grade, *lines: str, seed: int = 0) -> set[str]:
    source = RIGHT + "".join(f"    {line}\n" for line in (*lines, "return dQ, dK, dV"))
    report = grade(ITEM, source, seed)
    return {found.id for found in report.checks if found.verdict.name == "FAILED"}


def test_right_gradients_break_no_law(grade: Grade) -> None:
    assert _failed(grade) == set()
    with_autograd = """import torch


def sdpa_grad(Q, K, V, G):
    Q, K, V = (one.detach().clone().requires_grad_() for one in (Q, K, V))
    out = torch.softmax(Q @ K.T / Q.shape[1] ** 0.5, -1) @ V
    if out.shape != G.shape:
        raise ValueError
    return torch.autograd.grad(out, (Q, K, V), G)
"""
    report = grade(ITEM, with_autograd)
    assert report.score == report.max_score


@pytest.mark.parametrize(
    ("lines", "laws"),
    [
        # what is added or changed, and laws that it must break
        (("dQ = 2 * dQ",), {"balance"}),
        (("dQ, dK = np.sign(G[0, 0]) * dQ, np.sign(G[0, 0]) * dK",), {"linear", "queries-moved"}),
        (("dV = dV + 1",), {"no-gradient", "linear", "one-key", "dv-sum", "large-sums"}),
        (("dV = dV + V - V.mean(axis=0)",), {"no-gradient", "linear"}),
        (("dV = dV + V.sum(axis=0) * (np.arange(len(V))[:, None] - (len(V) - 1) / 2)",), {"value-shift"}),
        (("dV = np.repeat(dV.mean(axis=0, keepdims=True), len(V), axis=0)",), {"weights"}),
        (("dK = dK[::-1]",), {"keys-moved", "balance"}),
        (("dQ = dQ[::-1]",), {"queries-moved", "balance"}),
        (("dQ = dQ + dS.sum(axis=1, keepdims=True)", "dK = dK + K.sum()"), {"key-shift", "dk-sum"}),
        (("dQ, dK, dV = 0 * dQ, 0 * dK, dV",), {"zero-queries", "zero-keys"}),
        (("dQ, dK = -dQ, -dK",), {"zero-queries", "zero-keys"}),
        (("dQ, dK = dQ * c, dK * c",), {"tile-law", "zero-queries", "zero-keys"}),
        (("dV = dV / c",), {"tile-law-values", "dv-sum"}),
        (("dS = W * dW / c", "dQ, dK = dS @ K, dS.T @ Q"), {"equal-values", "one-key", "dk-sum"}),
    ],
)
def test_a_law_finds_the_mistake(grade: Grade, lines: tuple[str, ...], laws: set[str]) -> None:
    failed = _failed(grade, *lines) & LAWS
    assert laws <= failed
    assert failed < LAWS  # other laws hold all the same


@pytest.mark.parametrize("seed", range(4))
def test_mistakes_in_dq_alone_are_found_on_every_plan(grade: Grade, seed: int) -> None:
    for line in ("dQ = 2 * dQ", "dQ = 0 * dQ", "dQ = -dQ", "dQ = dQ[:, ::-1]"):
        assert "balance" in _failed(grade, line, seed=seed)


@pytest.mark.parametrize("name", ["Q", "K", "V", "G"])
def test_an_argument_in_single_precision_is_found_on_every_plan(grade: Grade, name: str) -> None:
    source = RIGHT.replace("    c = ", f"    {name} = {name}.astype('float32')\n    c = ")
    for seed in range(8):
        report = grade(ITEM, source + "    return dQ, dK, dV\n", seed)
        failed = {found.id for found in report.checks if found.verdict.name == "FAILED"}
        # results follow the other arguments' dtype: only their digits tell
        assert failed == {"double-precision"}


def test_the_message_names_the_part_and_what_it_sums_to(grade: Grade) -> None:
    report = grade(ITEM, RIGHT + "    return dQ, dK, 2 * dV\n")
    told = {found.id: found.message for found in report.checks}
    assert "the rows of dV sum to" in told["dv-sum"]
    report = grade(ITEM, RIGHT + "    return dQ, dK, dV / c\n")
    told = {found.id: found.message for found in report.checks}
    assert "an entry of dV is" in told["tile-law-values"]
