"""Half precision and layouts: an input arrives in the child as the plan says, the same in every tier."""

from __future__ import annotations

import struct

import pytest

from engine.runner import Call, CallStatus, Job, Leaf, Limits, Runner
from engine.sandbox.dialogue import encode_plan

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


def half(library: str, dtype: str, *, contiguous: bool, writeable: bool) -> Leaf:
    data = BFLOAT16 if dtype == "bfloat16" else FLOAT16
    return Leaf(library, dtype, (2, 3), data, contiguous, writeable)


@pytest.mark.parametrize(("library", "dtype"), KINDS)
@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("writeable", [True, False])
def test_half_precision_arrives_as_the_leaf_says(
    any_runner: Runner, library: str, dtype: str, contiguous: bool, writeable: bool
) -> None:
    leaf = half(library, dtype, contiguous=contiguous, writeable=writeable)
    calls = (Call("look", (leaf,)), Call("back", (leaf,), return_arguments=True), Call("write", (leaf,)))
    look, back, write = any_runner.run(Job(SOURCE, "look.py", calls, PATIENT)).outcomes
    name = dtype if library == "numpy" else f"torch.{dtype}"
    numbers = [[1.0, -2.0, 0.5], [LARGEST[dtype], SMALLEST[dtype], 0.0]]
    free = writeable or library == "torch"  # there is no read-only tensor
    assert look.value == (library, name, contiguous, free, [2, 3], numbers)
    plain = half(library, dtype, contiguous=True, writeable=True)
    assert back.value == plain and back.arguments == (plain,)  # bit for bit
    if free:
        assert isinstance(write.value, Leaf)
        first = {"float16": 0x4700, "bfloat16": 0x40E0}[dtype]  # 7
        assert write.value.data == struct.pack("<H", first) + plain.data[2:]
    else:
        assert write.status is CallStatus.RAISED and write.exception is not None
        assert write.exception.text == "assignment destination is read-only"


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64"])
def test_other_dtypes_can_be_strided_and_read_only_too(any_runner: Runner, library: str, dtype: str) -> None:
    code, size = {"bool": ("?", 1), "int64": ("q", 8), "float32": ("f", 4), "float64": ("d", 8)}[dtype]
    data = struct.pack(f"<6{code}", 1, 0, 1, 1, 0, 0)
    assert len(data) == 6 * size
    leaf = Leaf(library, dtype, (2, 3), data, contiguous=False, writeable=False)
    look, back = any_runner.run(
        Job(SOURCE, "look.py", (Call("look", (leaf,)), Call("back", (leaf,))), PATIENT)
    ).outcomes
    name = dtype if library == "numpy" else f"torch.{dtype}"
    assert look.value == (library, name, False, library == "torch", [2, 3], [[1, 0, 1], [1, 0, 0]])
    assert back.value == Leaf(library, dtype, (2, 3), data)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,), (1, 1, 1)])
def test_odd_shapes_keep_their_shape_in_every_layout(
    any_runner: Runner, library: str, shape: tuple[int, ...]
) -> None:
    data = struct.pack("<d", 2.5) * (0 if 0 in shape else 1)
    plain = Leaf(library, "float64", shape, data)
    strided = Leaf(library, "float64", shape, data, contiguous=False, writeable=False)
    job = Job(SOURCE, "look.py", (Call("back", (plain,)), Call("back", (strided,))), PATIENT)
    first, second = any_runner.run(job).outcomes
    assert first.value == second.value == plain


def test_a_bfloat16_array_of_numpy_is_a_fault_of_the_plan() -> None:
    leaf = half("numpy", "bfloat16", contiguous=True, writeable=True)
    with pytest.raises(TypeError, match="numpy has no bfloat16"):
        encode_plan(Job("", "a.py", (Call("f", (leaf,)),)))
