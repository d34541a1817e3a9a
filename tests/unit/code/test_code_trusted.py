"""The runner for our own code keeps the protocol."""

from __future__ import annotations

import numpy as np
import pytest

from engine.code.arguments import array_of, leaf_of
from engine.code.explain.in_process import TrustedRunner
from engine.runner import Call, CallStatus, Job, StepFunction, WireArray

SOURCE = """
import numpy as np
import torch
calls = []
def double(x):
    calls.append(1)
    return x * 2
def spoil(x):
    x += 1
    return x
def fail(x):
    raise ValueError("no " + str(len(x)))
def odd(): return object()
def many(): return {"a": [1, (2.5, "s", None, True)], "b": np.float32(1.5)}
def count(): return len(calls)
def ask(step): return step(1, ())
def half(): return torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
"""


def run(*calls: Call, source: str = SOURCE, functions: tuple[str, ...] = ()):  # type: ignore[no-untyped-def]
    with TrustedRunner() as runner:
        return runner.run(Job(source, "s.py", calls, functions=functions))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arrays_go_in_and_come_out_in_their_library(library: str) -> None:
    leaf = leaf_of(np.array([[1.0, 2.0]], dtype=np.float32), library)
    (outcome,) = run(Call("double", (leaf,))).outcomes
    assert outcome.status is CallStatus.RETURNED
    assert isinstance(outcome.value, WireArray) and outcome.value.library == library
    assert outcome.value.dtype == "float32" and array_of(outcome.value).tolist() == [[2.0, 4.0]]


def test_arguments_come_back_as_they_are_afterwards_and_calls_dont_share_them() -> None:
    leaf = leaf_of(np.array([1.0]), "numpy")
    call = Call("spoil", (leaf,), return_arguments=True)
    for outcome in run(call, call).outcomes:
        assert outcome.arguments is not None
        assert array_of(outcome.arguments[0]).tolist() == [2.0]


def test_exceptions_unsupported_values_and_missing_functions() -> None:
    failed, odd, none = run(
        Call("fail", ([1, 2],)), Call("odd"), Call("nothing"), functions=("odd", "nothing")
    ).outcomes
    assert failed.status is CallStatus.RAISED
    assert (failed.exception.type, failed.exception.text, failed.exception.line) == ("ValueError", "no 2", 12)
    assert odd.status is CallStatus.UNSUPPORTED
    assert none.status is CallStatus.NOT_RUN
    assert run(functions=("odd", "nothing")).missing == ("nothing",)


def test_plain_values_step_functions_and_bfloat16() -> None:
    table = StepFunction(
        "step", leaf_of(np.zeros((0, 0), np.int64), "numpy"), leaf_of(np.array([[0.5, 0.5]]), "numpy")
    )
    many, asked, half, counted = run(
        Call("many"), Call("ask", (table,)), Call("half"), Call("count")
    ).outcomes
    assert many.value == {"a": [1, (2.5, "s", None, True)], "b": leaf_of(np.array(1.5, np.float32), "numpy")}
    assert asked.value == (leaf_of(np.array([0.5, 0.5]), "numpy"), (1,))
    assert half.value.dtype == "bfloat16" and array_of(half.value).tolist() == [1.0, 1.0]
    assert counted.value == 0


def test_a_file_that_does_not_load() -> None:
    result = run(Call("f"), source="import nothing_of_this_name")
    # a statement that fails is told, and loading goes on as in the sandbox: only the function is missing then
    assert [failed.type for failed in result.failed] == ["ModuleNotFoundError"]
    assert [outcome.status for outcome in result.outcomes] == [CallStatus.NOT_RUN]
