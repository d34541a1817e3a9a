"""C14: the recurrent layer."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode

import reference
import reference as ref
from tests.oracles.arrays import Source, apart, dims, pure, seeds

TINY = 1e-13
shape = st.tuples(dims, dims, dims)  # T, dx, dh
activations = st.sampled_from(["logistic", "tanh"])


def drawn(seed: int, shape, device: str) -> list[torch.Tensor]:
    T, dx, dh = shape
    source = Source(seed, device=device)
    return [source.normal(T, dx), source.normal(dh, dh), source.normal(dh, dx), source.normal(dh)]


@given(seed=seeds, shape=shape, activation=activations)
def test_the_layer_is_the_repeated_step(seed: int, shape, activation, device: str) -> None:
    X, W, U, h = drawn(seed, shape, device)
    states = pure(lambda *a: ref.rnn_forward(*a, activation), X, W, U, h)
    assert states.shape == (shape[0], shape[2])
    for x, state in zip(X, states, strict=True):
        h = ref.rnn_step(x, h, W, U, activation)
        assert apart(h, state) <= TINY


@given(seed=seeds, shape=shape, t=st.integers(1, 5))
def test_earlier_states_do_not_see_later_inputs(seed: int, shape, t: int, device: str) -> None:
    X, W, U, h0 = drawn(seed, shape, device)
    states = ref.rnn_forward(X, W, U, h0)
    t = min(t, shape[0])
    assert apart(ref.rnn_forward(X[:t], W, U, h0), states[:t]) <= TINY
    changed = X.clone()
    changed[t:] += 1
    assert apart(ref.rnn_forward(changed, W, U, h0)[:t], states[:t]) <= TINY


@given(seed=seeds, shape=shape, activation=activations)
def test_without_input_or_recurrence(seed: int, shape, activation, device: str) -> None:
    """U = 0: the input doesn't matter; W = 0: each state comes from its own input alone."""
    X, W, U, h0 = drawn(seed, shape, device)
    f = {"logistic": torch.sigmoid, "tanh": torch.tanh}[activation]
    blind = ref.rnn_forward(X, W, torch.zeros_like(U), h0, activation)
    assert torch.equal(blind, ref.rnn_forward(X + 1, W, torch.zeros_like(U), h0, activation))
    assert apart(blind[0], f(W @ h0)) <= TINY
    memoryless = ref.rnn_forward(X, torch.zeros_like(W), U, h0, activation)
    assert apart(memoryless, f(X @ U.mT)) <= TINY


@given(seed=seeds, shape=shape)
def test_ranges(seed: int, shape, device: str) -> None:
    args = drawn(seed, shape, device)
    logistic, tanh = ref.rnn_forward(*args), ref.rnn_forward(*args, "tanh")
    assert ((logistic >= 0) & (logistic <= 1)).all() and (tanh.abs() <= 1).all()


class CountedActivations(TorchFunctionMode):
    """Counts calls of torch.tanh: each is one step that waits for the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += function is torch.tanh
        return function(*args, **(kwargs or {}))


@given(seed=seeds, shape=shape)
def test_sequential_steps_are_as_many_as_tokens(seed: int, shape, device: str) -> None:
    args = drawn(seed, shape, device)
    with CountedActivations() as counted:
        reference.rnn_forward(*args, "tanh")
    assert counted.calls == shape[0] == ref.sequential_depth("rnn", n=shape[0])


@given(seed=seeds, shape=shape)
def test_a_batch_is_its_members(seed: int, shape, device: str) -> None:
    T, dx, dh = shape
    source = Source(seed, device=device)
    X, h0 = source.normal(2, 3, T, dx), source.normal(2, 3, dh)
    W, U = source.normal(dh, dh), source.normal(dh, dx)
    states = ref.rnn_forward(X, W, U, h0)
    assert apart(states[1, 2], ref.rnn_forward(X[1, 2], W, U, h0[1, 2])) <= TINY
