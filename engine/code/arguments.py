"""Arguments of a call: arrays, plain values, records of arrays, and special ones such as ``step``.

Everything that works on single arrays (shrinking, hashing, comparing) sees an argument list as a flat
sequence of leaves; :func:`flat` and :func:`rebuilt` go there and back.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from engine.runner import WireArray, WireValue
from engine.text.words import count_noun

__all__ = [
    "FLOATING",
    "Argument",
    "LeafError",
    "Leafwise",
    "SpecialArgument",
    "array_of",
    "arrays_of",
    "bfloat16_as_float32",
    "flat",
    "key_of",
    "leaf_of",
    "rebuilt",
    "wire_argument",
]


# Arrays on the wire: numpy values to :class:`~engine.runner.WireArray` and back, torch at the far end.
#
# The sandbox has a codec of its own in the child; this one is the grader's, so it trusts nothing:
# the name of the dtype and the number of bytes are checked before numpy looks at them.

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


def leaf_of(
    array: NDArray[Any], library: str, *, narrow: str | None = None, layout: str = "plain"
) -> WireArray:
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
        return WireArray(library, narrow, shape, _upper_halves(array).tobytes(), contiguous, writeable)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return WireArray(library, array.dtype.name, shape, little.tobytes(), contiguous, writeable)


def _upper_halves(array: NDArray[Any]) -> NDArray[np.uint16]:
    bits = np.ascontiguousarray(array).view(np.uint32)
    if (bits & np.uint32(0xFFFF)).any():
        raise LeafError("a value that bfloat16 can't hold exactly")
    return (bits >> np.uint32(16)).astype("<u2")


def array_of(leaf: WireArray) -> NDArray[Any]:
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
        raise LeafError(f"{count_noun(len(leaf.data), 'byte')} for shape {leaf.shape}")
    try:
        array = np.frombuffer(leaf.data, dtype=dtype).reshape(leaf.shape)
    except ValueError:  # no entries, but an axis longer than numpy can count, or more axes
        raise LeafError(f"shape {leaf.shape}") from None
    return bfloat16_as_float32(array) if wide else array


def bfloat16_as_float32(bits: NDArray[Any]) -> NDArray[np.float32]:
    """Return the values whose upper halves these 16-bit words are."""
    return np.left_shift(bits.astype(np.uint32), 16).view(np.float32)


class SpecialArgument(ABC):
    """An argument that is no array and no plain value, such as a decoder's ``step`` function."""

    __slots__ = ()

    @property
    @abstractmethod
    def entries(self) -> int:
        """Number of numbers that a reader has to look at."""

    @abstractmethod
    def wire(self, library: str) -> WireValue:
        """Return what crosses to the child; `library` is ``"numpy"`` or ``"torch"``."""

    @abstractmethod
    def python(self, name: str, library: str) -> str:
        """Return lines of Python that define `name` as this argument."""

    @abstractmethod
    def described(self) -> str:
        """Return a few words for a message."""

    @abstractmethod
    def key(self) -> Hashable:
        """Return something that equal arguments share, with a repr that depends on nothing else."""

    @abstractmethod
    def weight(self) -> tuple[float, ...]:
        """Return how hard it is to read, to be compared with its own kind."""

    @abstractmethod
    def simpler(self) -> Iterable[Self]:
        """Return simpler neighbours, the simplest first."""


Plain = int | float | str | tuple[int, ...] | None
Leafwise = NDArray[Any] | Plain | SpecialArgument
Argument = Leafwise | Mapping[str, NDArray[Any]]


def flat(args: Sequence[Argument]) -> tuple[Leafwise, ...]:
    """Return the leaves of an argument list; a record gives its arrays in their order."""
    return tuple(_flat(args))


def _flat(args: Sequence[Argument]) -> Iterator[Leafwise]:
    for value in args:
        if isinstance(value, Mapping):
            yield from value.values()
        else:
            yield value


def rebuilt(like: Sequence[Argument], leaves: Sequence[Leafwise]) -> tuple[Argument, ...]:
    """Return an argument list of the form of `like` with other leaves."""
    rest = iter(leaves)
    args: list[Argument] = []
    for value in like:
        if isinstance(value, Mapping):
            args.append({name: cast(NDArray[Any], next(rest)) for name in value})
        else:
            args.append(next(rest))
    return tuple(args)


def arrays_of(args: Sequence[Argument]) -> list[NDArray[Any]]:
    """Return all arrays of an argument list."""
    return [value for value in flat(args) if isinstance(value, np.ndarray)]


def key_of(args: Sequence[Argument]) -> tuple[Hashable, ...]:
    """Return a key that two equal argument lists share."""
    return tuple(_key(value) for value in flat(args))


def _key(value: Leafwise) -> Hashable:
    if isinstance(value, np.ndarray):
        return (value.dtype.name, value.shape, value.tobytes())
    return value.key() if isinstance(value, SpecialArgument) else (type(value).__name__, value)


def wire_argument(
    value: Argument, library: str, *, narrow: str | None = None, layout: str = "plain"
) -> WireValue:
    """Return one argument as it crosses to the child.

    Parameters
    ----------
    value : Argument
    library : {"numpy", "torch"}
    narrow : str or None
        ``"bfloat16"``: float32 arrays arrive as tensors of this dtype (torch only; numpy has none).
    layout : {"plain", "strided", "read-only"}
        How the child lays arrays out.
    """
    if isinstance(value, np.ndarray):
        return leaf_of(value, library, narrow=narrow if library == "torch" else None, layout=layout)
    if isinstance(value, Mapping):
        return {
            name: wire_argument(array, library, narrow=narrow, layout=layout) for name, array in value.items()
        }
    return value.wire(library) if isinstance(value, SpecialArgument) else value
