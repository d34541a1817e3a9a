"""Gradients over the wire: the same in every tier, against formulas that use no autograd."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.code.arguments import array_of, leaf_of
from engine.runner import Call, CallOutcome, CallStatus, Job, Limits, Runner, WireArray
from engine.sandbox.replies import ChildDialogue, JobResults, Reply

PATIENT = Limits(wall_s=60.0, call_s=30.0, memory_mib=512)
Floats = NDArray[Any]


def tensor(values: Any, dtype: str = "float64", **layout: bool) -> WireArray:
    made = leaf_of(np.asarray(values, dtype=dtype), "torch")
    return WireArray(made.library, made.dtype, made.shape, made.data, **layout)


def ask(runner: Runner, source: str, *calls: Call) -> list[CallOutcome]:
    result = runner.run(Job("import torch\n" + textwrap.dedent(source), "hand-in.py", calls, PATIENT))
    assert result.load.status is CallStatus.RETURNED, result.load
    return list(result.outcomes)


def numbers(outcome: CallOutcome) -> list[Floats | None]:
    assert outcome.status is CallStatus.RETURNED, outcome
    assert outcome.gradients is not None
    return [None if leaf is None else array_of(leaf) for leaf in outcome.gradients]


def test_the_gradient_of_a_softmax_is_its_jacobian_times_the_cotangent(any_runner: Runner) -> None:
    x = np.array([[0.3, -1.0, 2.0], [4.0, 0.0, 0.5]])
    weights = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    source = "def softmax(x): return torch.softmax(x, -1)"
    (outcome,) = ask(
        any_runner,
        source,
        Call("softmax", (tensor(x),), cotangents=(tensor(weights),), return_arguments=True),
    )
    p = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    expected = p * (weights - (p * weights).sum(-1, keepdims=True))
    (found,) = numbers(outcome)
    assert found is not None
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(array_of(outcome.value), p, rtol=1e-12)
    assert outcome.arguments == (tensor(x),)


def test_every_floating_tensor_has_its_gradient_in_order_wherever_it_stands(any_runner: Runner) -> None:
    source = """
        def mix(a, n, parts, *, bias):
            return parts["w"] * a + bias * n, {"second": [parts["list"][0] ** 2]}
    """
    call = Call(
        "mix",
        (tensor([2.0, 3.0]), tensor([1, 1], "int64"), {"unused": tensor([9.0]), "w": tensor([5.0, 7.0]),
                                                       "list": [tensor([4.0])]}),
        {"bias": tensor([1.0, 1.0])},
        cotangents=(tensor([1.0, 10.0]), tensor([100.0])),
    )  # fmt: skip
    (outcome,) = ask(any_runner, source, call)
    found = [None if g is None else g.tolist() for g in numbers(outcome)]
    #        a = w * c      unused  w = a * c      list = 2 * 4 * 100  bias = n * c
    assert found == [[5.0, 70.0], None, [2.0, 30.0], [800.0], [1.0, 10.0]]


def test_a_none_cotangent_leaves_that_output_out(any_runner: Runner) -> None:
    source = "def two(x): return x * 2, x * 3"
    (outcome,) = ask(any_runner, source, Call("two", (tensor([1.0]),), cotangents=(None, tensor([1.0]))))
    (found,) = numbers(outcome)
    assert found is not None and found.tolist() == [3.0]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_have_the_dtype_of_their_argument(any_runner: Runner, dtype: str) -> None:
    source = "def square(x): return x * x"
    call = Call(
        "square", (tensor([3.0, -0.5], dtype, contiguous=False),), cotangents=(tensor([1, 1], dtype),)
    )
    (outcome,) = ask(any_runner, source, call)
    (found,) = numbers(outcome)
    assert found is not None and found.dtype == dtype and found.tolist() == [6.0, -1.0]


def test_what_has_no_graph_has_no_gradients(any_runner: Runner) -> None:
    source = """
        def detached(x): return x.detach() * 2
        def constant(x): return torch.ones(1, dtype=torch.float64)
        def through_numpy(x): return torch.from_numpy(x.detach().numpy() * 2)
        def larger(x): return torch.cat([x, x])
        def two(x): return x, x
        def number(x): return float(x.detach()[0])
        def double(x): return x * 2
    """
    names = ("detached", "constant", "through_numpy", "larger", "two", "number")
    one = (tensor([1.0]),)
    outcomes = ask(
        any_runner,
        source,
        *(Call(name, one, cotangents=one) for name in names),
        Call("double", (leaf_of(np.ones(1), "numpy"),), cotangents=one),
        Call("double", one),
    )
    assert [outcome.status for outcome in outcomes] == [CallStatus.RETURNED] * 8
    assert [outcome.gradients for outcome in outcomes] == [None] * 8


def test_a_backward_that_fails_keeps_the_value_and_gives_an_empty_tuple(any_runner: Runner) -> None:
    source = """
        class Broken(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return x * 2
            @staticmethod
            def backward(ctx, g): raise ValueError("no")
        def broken(x): return Broken.apply(x)
        def overwritten(x):
            y = x.exp()
            z = y * y
            y.zero_()
            return z
    """
    one = (tensor([1.0]),)
    first, second = ask(
        any_runner, source, *(Call(name, one, cotangents=one) for name in ("broken", "overwritten"))
    )
    assert first.value == tensor([2.0]) and first.gradients == ()
    assert second.status is CallStatus.RETURNED and second.gradients == ()


def test_writing_into_an_argument_raises_where_gradients_are_asked_for(any_runner: Runner) -> None:
    source = """
        def spoil(x):
            x += 1
            return x
    """
    one = (tensor([1.0]),)
    asked, plain = ask(any_runner, source, Call("spoil", one, cotangents=one), Call("spoil", one))
    assert asked.status is CallStatus.RAISED and asked.exception is not None
    assert "leaf Variable" in asked.exception.text
    assert plain.value == tensor([2.0])


def test_an_endless_backward_is_timed_out_and_the_next_call_goes_on() -> None:
    from engine.sandbox import SandboxOptions, open_runner

    source = """
        import torch
        class Slow(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return x * 2
            @staticmethod
            def backward(ctx, g):
                while True: pass
        def slow(x): return Slow.apply(x)
    """
    one = (tensor([1.0]),)
    calls = (Call("slow", one, cotangents=one), Call("slow", one))
    with open_runner(SandboxOptions(unsafe_local=True)) as runner:
        job = Job(textwrap.dedent(source), "slow.py", calls, Limits(wall_s=30.0, call_s=0.3))
        slow, plain = runner.run(job).outcomes
    assert slow.status is CallStatus.TIMED_OUT and slow.gradients is None
    assert plain.value == tensor([2.0])


@pytest.mark.parametrize(
    ("gradients", "asked", "fits"),
    [
        (None, True, True),
        ((), True, True),
        ((), False, False),
        ((None, tensor([1.0])), True, True),
        ((None,), True, False),
        ((None, None, None), True, False),
        ((None, None), False, False),
    ],
)
def test_gradients_that_nobody_asked_for_are_a_violation(
    gradients: tuple[WireArray | None, ...] | None, asked: bool, fits: bool
) -> None:
    sent = (tensor([1.0]), leaf_of(np.ones(1), "numpy"), [tensor([1], "int64"), tensor([1.0], "float32")])
    call = Call("f", sent, cotangents=(tensor([1.0]),) if asked else None)

    dialogue = ChildDialogue(0, 1, 100)
    dialogue.load = CallOutcome(CallStatus.RETURNED)
    dialogue.replies[0] = Reply(0, CallOutcome(CallStatus.RETURNED, tensor([1.0]), gradients=gradients), 0)
    results = JobResults(Job("", "f.py", (call,)), "T1")
    results.merge(dialogue, None)
    status = results.finish(b"").outcomes[0].status
    assert status is (CallStatus.RETURNED if fits else CallStatus.PROTOCOL_VIOLATION)
