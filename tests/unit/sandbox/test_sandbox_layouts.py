"""Half precision and layouts: an input arrives in the child as the plan says, the same in every tier."""

from __future__ import annotations

import itertools
import struct
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from engine.runner import Call, CallStatus, Job, Limits, Runner, WireArray
from engine.sandbox.requests import encode_plan

PATIENT = Limits(wall_s=60.0, call_s=30.0, memory_mib=512)
# 1, -2, 0.5, 65504 (float16's largest) and 2**-24 (its smallest), by their bits
FLOAT16 = struct.pack("<6H", 0x3C00, 0xC000, 0x3800, 0x7BFF, 0x0001, 0x0000)
# 1, -2, 0.5, 3.3895e38 (bfloat16's largest), 2**-133 (its smallest), 0
BFLOAT16 = struct.pack("<6H", 0x3F80, 0xC000, 0x3F00, 0x7F7F, 0x0001, 0x0000)
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133}
LARGEST = {"float16": 65504.0, "bfloat16": (2 - 2.0**-7) * 2.0**127}
SOURCE = """
import sys
def look(x):
    if type(x).__module__ == "torch":
        dense, writeable, wide = x.is_contiguous(), True, x.double()
    else:
        dense, writeable, wide = x.flags.c_contiguous, x.flags.writeable, x.astype("float64")
    return type(x).__module__, str(x.dtype), dense, writeable, list(x.shape), wide.tolist()
def back(x): return x
def write(x):
    x[0, 0] = 7
    return x
"""
KINDS = [("numpy", "float16"), ("torch", "float16"), ("torch", "bfloat16")]


def half(library: str, dtype: str, *, contiguous: bool, writeable: bool) -> WireArray:
    data = BFLOAT16 if dtype == "bfloat16" else FLOAT16
    return WireArray(library, dtype, (2, 3), data, contiguous, writeable)


# One job holds all layouts of a kind: at T3 each job with tensors is a process that imports torch.
LAYOUTS = list(itertools.product([True, False], repeat=3))


@pytest.mark.parametrize(("library", "dtype"), KINDS)
def test_half_precision_arrives_as_the_leaf_says(any_runner: Runner, library: str, dtype: str) -> None:
    """Arguments that are asked for again lie in other memory at T1 and T2, and are the same."""
    calls: list[Call] = []
    for contiguous, writeable, shared in LAYOUTS:
        leaf = half(library, dtype, contiguous=contiguous, writeable=writeable)
        calls += (
            Call("look", (leaf,), return_arguments=shared),
            Call("back", (leaf,), return_arguments=True),
            Call("write", (leaf,), return_arguments=shared),
        )
    outcomes = iter(any_runner.run(Job(SOURCE, "look.py", tuple(calls), PATIENT)).outcomes)
    name = dtype if library == "numpy" else f"torch.{dtype}"
    numbers = [[1.0, -2.0, 0.5], [LARGEST[dtype], SMALLEST[dtype], 0.0]]
    plain = half(library, dtype, contiguous=True, writeable=True)
    for contiguous, writeable, shared in LAYOUTS:
        layout = f"contiguous {contiguous}, writeable {writeable}, shared {shared}"
        look, back, write = (next(outcomes) for _ in range(3))
        free = writeable or library == "torch"  # there is no read-only tensor
        assert look.value == (library, name, contiguous, free, [2, 3], numbers), layout
        assert back.value == plain and back.arguments == (plain,), layout  # bit for bit
        if free:
            assert isinstance(write.value, WireArray), layout
            first = {"float16": 0x4700, "bfloat16": 0x40E0}[dtype]  # 7
            assert write.value.data == struct.pack("<H", first) + plain.data[2:], layout
        else:
            assert write.status is CallStatus.RAISED and write.exception is not None, layout
            assert write.exception.text == "assignment destination is read-only", layout
    assert next(outcomes, None) is None


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_other_dtypes_can_be_strided_and_read_only_too(any_runner: Runner, library: str) -> None:
    codes = {"bool": ("?", 1), "int64": ("q", 8), "float32": ("f", 4), "float64": ("d", 8)}
    cases = list(itertools.product(codes, [True, False]))
    calls: list[Call] = []
    for dtype, shared in cases:
        code, size = codes[dtype]
        data = struct.pack(f"<6{code}", 1, 0, 1, 1, 0, 0)
        assert len(data) == 6 * size
        leaf = WireArray(library, dtype, (2, 3), data, contiguous=False, writeable=False)
        calls += (Call(name, (leaf,), return_arguments=shared) for name in ("look", "back"))
    outcomes = iter(any_runner.run(Job(SOURCE, "look.py", tuple(calls), PATIENT)).outcomes)
    for dtype, _ in cases:
        look, back = next(outcomes), next(outcomes)
        name = dtype if library == "numpy" else f"torch.{dtype}"
        assert look.value == (library, name, False, library == "torch", [2, 3], [[1, 0, 1], [1, 0, 0]])
        data = struct.pack(f"<6{codes[dtype][0]}", 1, 0, 1, 1, 0, 0)
        assert back.value == WireArray(library, dtype, (2, 3), data)
    assert next(outcomes, None) is None


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_odd_shapes_keep_their_shape_in_every_layout(any_runner: Runner, library: str) -> None:
    shapes: tuple[tuple[int, ...], ...] = ((), (0,), (2, 0), (1,), (1, 1, 1))
    cases = [
        (WireArray(library, "float64", shape, struct.pack("<d", 2.5) * (0 not in shape)), shared)
        for shape, shared in itertools.product(shapes, [True, False])
    ]
    calls = [
        Call("back", (leaf,), return_arguments=shared)
        for plain, shared in cases
        for leaf in (plain, replace(plain, contiguous=False, writeable=False))
    ]
    outcomes = iter(any_runner.run(Job(SOURCE, "look.py", tuple(calls), PATIENT)).outcomes)
    for plain, shared in cases:
        first, second = next(outcomes), next(outcomes)
        assert first.value == second.value == plain
        assert first.arguments == second.arguments == ((plain,) if shared else None)
    assert next(outcomes, None) is None


def test_a_bfloat16_array_of_numpy_is_a_fault_of_the_plan() -> None:
    leaf = half("numpy", "bfloat16", contiguous=True, writeable=True)
    with pytest.raises(TypeError, match="numpy has no bfloat16"):
        encode_plan(Job("", "a.py", (Call("f", (leaf,)),)))


def _numbers(leaf: WireArray) -> list[float]:
    words = np.frombuffer(leaf.data, "<u2")
    if leaf.dtype == "float16":
        return words.view(np.float16).tolist()
    return (words.astype(np.uint32) << 16).view(np.float32).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_torch_computes_in_half_precision(any_runner: Runner, dtype: str) -> None:
    """It asks once what the processor can do; where it gets no answer it refuses float16."""
    source = """
        import torch
        from torch.nn.functional import scaled_dot_product_attention
        def product(x): return x @ x.mT
        def batched(x): return x.expand(3, 2, 2) @ x
        def softmax(x): return torch.softmax(x, dim=-1)
        def attention(x): return scaled_dot_product_attention(x[None], x[None], x[None])[0]
        def gradient(x):
            x.requires_grad_()
            (x @ x.mT).sum().backward()
            return x.grad
    """
    one, two, half_one = {"float16": (0x3C00, 0xC000, 0x3800), "bfloat16": (0x3F80, 0xC000, 0x3F00)}[dtype]
    x = WireArray("torch", dtype, (2, 2), struct.pack("<4H", one, two, half_one, 0))  # 1, -2; 0.5, 0
    due = {
        "product": [[5.0, 0.5], [0.5, 0.25]],
        "batched": [[[0.0, -2.0], [0.5, -1.0]]] * 3,
        "softmax": [[0.9526, 0.0474], [0.6225, 0.3775]],
        "attention": [[0.9801, -1.9203], [0.7720, -1.0882]],
        "gradient": [[3.0, -4.0], [3.0, -4.0]],
    }
    calls = tuple(Call(name, (x,)) for name in due)
    outcomes = any_runner.run(Job(textwrap.dedent(source), "half.py", calls, PATIENT)).outcomes
    for (name, values), outcome in zip(due.items(), outcomes, strict=True):
        assert outcome.status is CallStatus.RETURNED, (name, outcome.exception)
        assert isinstance(outcome.value, WireArray) and outcome.value.dtype == dtype, name
        assert _numbers(outcome.value) == pytest.approx(np.ravel(values), abs=0.02), name


@pytest.mark.skipif(sys.platform != "linux", reason="a file of Linux")
def test_what_torch_asked_of_the_processor_is_closed_to_students(any_runner: Runner) -> None:
    source = "def f():\n    with open('/proc/cpuinfo') as file:\n        return len(file.read()) > 0\n"
    (outcome,) = any_runner.run(Job(source, "read.py", (Call("f"),), PATIENT)).outcomes
    if any_runner.tier in ("T1", "T2"):
        assert outcome.exception is not None
        assert outcome.exception.type == "PermissionError"
    else:
        assert outcome.value is True
