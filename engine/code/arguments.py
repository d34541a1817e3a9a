"""Arguments of a call: arrays, plain values, records of arrays, special ones; on the wire, and as text.

Everything that works on single arrays (shrinking, hashing, comparing) sees an argument list as a flat
sequence of leaves; :func:`flat` and :func:`rebuilt` go there and back. At the end of the file arguments
become text: clauses for messages, and Python that can be copied from a counterexample.
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

# Arrays on the wire: numpy values to :class:`~engine.runner.WireArray` and back, torch at the far end.
#
# The sandbox has a codec of its own in the child; this one is the grader's, so it trusts nothing:
# the name of the dtype and the number of bytes are checked before numpy looks at them.

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
    """An argument that is neither an array nor a plain value, such as a decoder's ``step`` function."""

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
            args.append({name: cast("NDArray[Any]", next(rest)) for name in value})
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
        return (value.dtype.str, value.shape, value.tobytes())
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


# Longest line of a message that is read in one look.
LONGEST_CALL = 160
# Entries of an array that a message writes out: a 4 by 4 matrix can still be read.
_MOST_IN_CALL = 16
_MOST_SHOWN = 400  # as Python, in a counterexample


def describe_call(args: Sequence[Argument], function: str, shapes: bool = False) -> str:
    """Return a call as one short expression for a message.

    Arrays beyond 16 entries stand there by their shapes; where the whole is too long to be read on one
    line, the longest arguments do, one after the other.
    """
    texts = [_argument(value, shapes) for value in args]
    for place in sorted(range(len(args)), key=lambda place: -len(texts[place])):
        if len(", ".join(texts)) <= LONGEST_CALL:
            break
        texts[place] = _argument(args[place], shapes=True)
    return f"{function}({', '.join(texts)})"


def _argument(value: Argument, shapes: bool) -> str:
    if isinstance(value, Mapping) and shapes:
        return "{" + ", ".join(f"{name}: {shape_text(array.shape)}" for name, array in value.items()) + "}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_argument(array, shapes)}" for name, array in value.items()) + "}"
    if isinstance(value, SpecialArgument):
        return value.described()
    if not isinstance(value, np.ndarray):
        return repr(value)
    if shapes or value.size > _MOST_IN_CALL:
        return f"array of shape {shape_text(value.shape)}"
    suffix = "" if value.dtype in (np.float64, np.bool_) else f" as {value.dtype.name}"
    return _nested(value.tolist(), 6) + suffix


def _nested(value: Any, digits: int, point: bool = False) -> str:
    # with `point` whole numbers end in a dot, as numpy prints floats
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item, digits, point) for item in value) + "]"
    if isinstance(value, float) and math.isfinite(value):
        text = f"{value + 0.0:.{digits}g}"  # -0.0 + 0.0 is 0.0
        return f"{text}." if point and text.lstrip("-").isdigit() else text
    return str(value)


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it."""
    return str(tuple(int(size) for size in shape))


def array_text(array: NDArray[Any], library: str, dtype: str, digits: int = 6) -> str:
    """Return an array as ``array([…])`` or ``tensor([…])``, with its dtype where it isn't float64.

    Of one with more than 400 entries only the first few are shown: it may be foreign, and nobody reads them.
    """
    name, prefix = ("array", "") if library == "numpy" else ("tensor", "torch.")
    truth = dtype == "bool" and array.size > 0  # printed as True and False, which say the dtype
    array = array.astype(bool) if truth else array
    suffix = "" if dtype == "float64" or truth else f", dtype={prefix}{dtype}"
    if array.size > _MOST_SHOWN:
        first = ", ".join(_nested(x, digits, point=True) for x in array.ravel()[:4].tolist())
        return f"{name}([{first}, …]{suffix}), {count_noun(array.size, 'entry')}"
    return f"{name}({_nested(array.tolist(), digits, point=True)}{suffix})"


def python_of(args: Sequence[Argument], names: Sequence[str], function: str, library: str) -> str:
    """Return Python that builds these arguments and calls the function: to be copied and run."""
    module = "import numpy as np" if library == "numpy" else "import torch"
    lines, passed = [module, ""], []
    is_search = any(isinstance(value, SpecialArgument) for value in args)  # such calls have many plain values
    for name, value in zip(names, args, strict=False):
        if isinstance(value, np.ndarray):
            lines.append(f"{name} = {_literal(value, library)}")
            passed.append(name)
        elif isinstance(value, Mapping):
            lines += _record(name, value, library)
            passed.append(name)
        elif isinstance(value, SpecialArgument):
            lines.append(value.python(name, library))
            passed.append(name)
        elif is_search:
            lines.append(f"{name} = {value!r}")
            passed.append(name)
        else:
            passed.append(repr(value))
    needed = "np." in "\n".join(lines[1:]) or "torch." in "\n".join(lines[1:])
    call = f"{function}({', '.join(passed)})"
    return "\n".join([*(lines if needed else lines[2:]), call])


def _record(name: str, value: Mapping[str, NDArray[Any]], library: str) -> list[str]:
    entries = (f"    {key!r}: {_literal(array, library)}," for key, array in value.items())
    return [f"{name} = {{", *entries, "}"]


def _literal(value: NDArray[Any], library: str) -> str:
    prefix, maker = ("np", "np.array") if library == "numpy" else ("torch", "torch.tensor")
    plain = value.dtype == np.bool_ or (value.dtype == np.float64 and library == "numpy")
    suffix = "" if plain else f", dtype={prefix}.{value.dtype.name}"
    return f"{maker}({value.tolist()!r}{suffix})"
