"""Arrays on the wire: round trips, and leaves that lie."""

from __future__ import annotations

import numpy as np
import pytest

from engine.code.arguments import LeafError, array_of, leaf_of
from engine.runner import WireArray


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool", "complex128", "uint8"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_round_trip(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape).astype(dtype)
    leaf = leaf_of(array, "numpy")
    back = array_of(leaf)
    assert leaf.dtype == back.dtype.name == dtype and back.shape == shape
    assert np.array_equal(array, back)


def test_strided_and_big_endian_arrays_arrive_in_c_order() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(array_of(leaf_of(array.T, "numpy")), array.T)
    assert np.array_equal(array_of(leaf_of(array.astype(">f8"), "numpy")), array)


def test_bfloat16_is_exact_in_float32() -> None:
    bits = np.array([0x3F80, 0x4049, 0xFF80], dtype="<u2")  # 1, 3.140625, -infinity
    back = array_of(WireArray("torch", "bfloat16", (3,), bits.tobytes()))
    assert back.tolist() == [1.0, 3.140625, -np.inf]


@pytest.mark.parametrize(
    "leaf",
    [
        WireArray("numpy", "float64", (2,), b"12345678"),
        WireArray("numpy", "float64", (10**12,), b""),
        WireArray("numpy", "float64", (-1, -1), b"12345678"),
        WireArray("numpy", "object", (1,), b"12345678"),
        WireArray("numpy", "V8", (1,), b"12345678"),
    ],
)
def test_a_leaf_that_lies_is_refused(leaf: WireArray) -> None:
    with pytest.raises(LeafError):
        array_of(leaf)
