"""Arrays on the wire: numpy values to :class:`~engine.runner.Leaf` and back, torch at the far end.

The sandbox has a codec of its own in the child; this one is the grader's, so it trusts nothing:
the name of the dtype and the number of bytes are checked before numpy looks at them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.plurals import counted
from engine.runner import Leaf

__all__ = ["FLOATING", "LeafError", "array_of", "bfloat16_as_float32", "leaf_of"]

FLOATING = ("float16", "bfloat16", "float32", "float64")
_PLAIN = {
    "bool": np.dtype("bool"),
    "uint8": np.dtype("uint8"),
    "int8": np.dtype("int8"),
    "int16": np.dtype("<i2"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "float16": np.dtype("<f2"),
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
    "complex64": np.dtype("<c8"),
    "complex128": np.dtype("<c16"),
}


class LeafError(ValueError):
    """A leaf that isn't what it says it is, or of a dtype that no grade needs."""


def leaf_of(array: NDArray[Any], library: str, *, narrow: str | None = None, layout: str = "plain") -> Leaf:
    """Return the leaf that arrives as a numpy array or a torch tensor of the same shape.

    Parameters
    ----------
    array : ndarray
    library : {"numpy", "torch"}
    narrow : str or None
        ``"bfloat16"``: a float32 array arrives in this dtype; its values must be exact there.
    layout : {"plain", "strided", "read-only"}
        ``"strided"`` arrives as a view with gaps; torch knows no read-only tensors.

    Raises
    ------
    LeafError
        A value isn't exact in the narrow dtype.
    """
    shape, contiguous, writeable = tuple(array.shape), layout != "strided", layout != "read-only"
    if narrow is not None and array.dtype == np.float32:
        return Leaf(library, narrow, shape, _upper_halves(array).tobytes(), contiguous, writeable)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return Leaf(library, array.dtype.name, shape, little.tobytes(), contiguous, writeable)


def _upper_halves(array: NDArray[Any]) -> NDArray[np.uint16]:
    bits = np.ascontiguousarray(array).view(np.uint32)
    if (bits & np.uint32(0xFFFF)).any():
        raise LeafError("a value that bfloat16 can't hold exactly")
    return (bits >> np.uint32(16)).astype("<u2")


def array_of(leaf: Leaf) -> NDArray[Any]:
    """Return the numpy array of a leaf; bfloat16 comes as float32, which holds it exactly.

    Raises
    ------
    LeafError
        Unknown dtype, or a number of bytes that doesn't fit the shape.
    """
    wide = leaf.dtype == "bfloat16"
    dtype = np.dtype("<u2") if wide else _PLAIN.get(leaf.dtype)
    if dtype is None:
        raise LeafError(f"dtype {leaf.dtype!r}")
    if any(size < 0 for size in leaf.shape) or math.prod(leaf.shape) * dtype.itemsize != len(leaf.data):
        raise LeafError(f"{counted(len(leaf.data), 'byte')} for shape {leaf.shape}")
    try:
        array = np.frombuffer(leaf.data, dtype=dtype).reshape(leaf.shape)
    except ValueError:  # no entries, but an axis longer than numpy can count, or more axes
        raise LeafError(f"shape {leaf.shape}") from None
    return bfloat16_as_float32(array) if wide else array


def bfloat16_as_float32(bits: NDArray[Any]) -> NDArray[np.float32]:
    """Return the values whose upper halves these 16-bit words are."""
    return np.left_shift(bits.astype(np.uint32), 16).view(np.float32)
