"""Recurrent cells against loops and torch.nn.RNN."""

from __future__ import annotations

import math

import pytest
import torch

import reference as ref
from tests.oracles import loops
from tests.oracles.arrays import WIDE, Source, listed, same


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(("name", "f"), [("logistic", loops.logistic), ("tanh", math.tanh)])
def test_step_and_sequence_equal_loops(dtype: torch.dtype, name: str, f, device: str) -> None:
    source = Source(51, dtype, device)
    X, W, U, h0 = source.normal(2, 4, 3), source.normal(5, 5), source.normal(5, 3), source.normal(2, 5)
    states = ref.rnn_forward(X, W, U, h0, name)
    assert states.dtype == dtype and states.device.type == device and states.shape == (2, 4, 5)
    for i, (xs, h) in enumerate(zip(*listed(X, h0), strict=True)):
        for t, x in enumerate(xs):
            h = loops.rnn_step(x, h, *listed(W, U), f)
            same(states[i, t], h, slack=4)
    same(ref.rnn_step(X[:, 0], h0, W, U, name), states[:, 0])


def test_logistic_is_the_default(device: str) -> None:
    args = torch.zeros(1, device=device).double(), torch.zeros(2, device=device).double()
    W, U = torch.ones(2, 2, device=device).double(), torch.ones(2, 1, device=device).double()
    assert ref.rnn_step(*args, W, U).tolist() == [0.5, 0.5]
    assert ref.rnn_step(*args, W, U, "tanh").tolist() == [0.0, 0.0]


def test_first_matrix_is_the_recurrent_one(device: str) -> None:
    x, h, zero, one = (torch.tensor(v, device=device).double() for v in ([1.0], [2.0], [[0.0]], [[1.0]]))
    same(ref.rnn_step(x, h, one, zero, "tanh"), [math.tanh(2.0)])
    same(ref.rnn_step(x, h, zero, one, "tanh"), [math.tanh(1.0)])


@pytest.mark.parametrize("dtype", WIDE)
def test_tanh_equals_torch(dtype: torch.dtype, device: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.RNN(3, 5, bias=False, batch_first=True, device=device, dtype=dtype)
    source = Source(52, dtype, device)
    X, h0 = source.normal(2, 6, 3), source.normal(2, 5)
    want, _ = layer(X, h0[None])
    same(ref.rnn_forward(X, layer.weight_hh_l0, layer.weight_ih_l0, h0, "tanh"), want, slack=4)


def test_one_initial_state_for_a_batch(device: str) -> None:
    source = Source(53, device=device)
    X, W, U, h0 = source.normal(2, 4, 3), source.normal(5, 5), source.normal(5, 3), source.normal(5)
    same(ref.rnn_forward(X, W, U, h0)[1], ref.rnn_forward(X[1], W, U, h0))
