"""Arguments of a call: arrays, plain values, records of arrays, and special ones such as ``step``.

Everything that works on single arrays (shrinking, hashing, comparing) sees an argument list as a flat
sequence of leaves; :func:`flat` and :func:`rebuilt` go there and back.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from engine.runner import StepFunction, WireArray, WireValue
from engine.text.words import count_noun

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


State = tuple[int, ...]  # all tokens that were fed so far, the start symbol first


@dataclass(frozen=True)
class StepTable(SpecialArgument):
    """The argument ``step`` of a search.

    Parameters
    ----------
    rows : tuple of (tokens, probabilities)
        Probabilities of the next token by the tokens fed after the start symbol, all of one length.
    other : tuple of float
        Probabilities after all other tokens.
    dtype : str
        In which they arrive.
    """

    rows: tuple[tuple[State, tuple[float, ...]], ...]
    other: tuple[float, ...]
    dtype: str = "float64"

    @property
    def entries(self) -> int:
        """Number of probabilities."""
        return (len(self.rows) + 1) * len(self.other)

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return len(self.other)

    def after(self, tokens: State) -> tuple[float, ...]:
        """Return the probabilities after these tokens, which follow the start symbol."""
        return self._by_tokens.get(tokens, self.other)

    def along(self, tokens: Sequence[int]) -> list[tuple[float, ...]]:
        """Return the probabilities before each of these tokens: after none of them, after the first …

        It takes time in proportion to their number: beyond the longest row of the table nothing is looked up.
        """
        longest = self._longest
        return [
            self.after(tuple(tokens[:place])) if place <= longest else self.other
            for place in range(len(tokens))
        ]

    @cached_property
    def _longest(self) -> int:
        return max((len(tokens) for tokens, _ in self.rows), default=0)

    @cached_property
    def _by_tokens(self) -> dict[State, tuple[float, ...]]:
        return dict(self.rows)

    def step(self) -> Callable[[Any, Any], tuple[Any, State]]:
        """Return the function itself, the one that stands beside student code; rows are numpy arrays."""
        from engine.sandbox.child.calls import make_step
        from engine.sandbox.child.wire import StepNode

        return make_step(StepNode("step", *self._arrays()), np.copy)

    def wire(self, library: str) -> StepFunction:
        """Return what crosses to the child."""
        tokens, chances = self._arrays()
        return StepFunction("step", leaf_of(tokens, "numpy"), leaf_of(chances, library))

    def _arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        tokens = np.full((len(self.rows), max((len(key) for key, _ in self.rows), default=0)), -1)
        for row, (key, _) in zip(tokens, self.rows, strict=True):
            row[: len(key)] = key
        return tokens, np.array(self._all(), dtype=self.dtype)

    def _all(self) -> list[tuple[float, ...]]:
        return [*(row for _, row in self.rows), self.other]

    def python(self, name: str, library: str) -> str:
        """Return lines of Python that define the function."""
        make = "np.array" if library == "numpy" else "torch.tensor"
        kind = f"{'np' if library == 'numpy' else 'torch'}.{self.dtype}"
        rows = "".join(f"\n    {tokens!r}: {list(row)!r}," for tokens, row in self.rows)
        table = f"table = {{{rows}\n}}  # by the tokens after bos\n\n" if rows else ""
        other = repr(list(self.other))
        row_text = f"table.get(s[1:], {other})" if rows else other
        dtype = "" if self.dtype == "float64" and library == "numpy" else f", dtype={kind}"
        return (
            f"{table}\ndef {name}(y, s):\n    s = (*s, int(y))\n    return {make}({row_text}{dtype}), s\n\n"
        )

    def described(self) -> str:
        """Return a few words for a message."""
        return "step"

    def key(self) -> Hashable:
        """Return what equal tables share."""
        return (self.rows, self.other, self.dtype)

    def weight(self) -> tuple[float, ...]:
        """Return tokens to read, decimals to read, and how uneven the rows are."""
        numbers = [p for row in self._all() for p in row]
        return (
            float(sum(len(tokens) for tokens, _ in self.rows)),
            float(sum(len(repr(p)) for p in numbers)),
            float(sum(p * (1 + place) for row in self._all() for place, p in enumerate(row))),
            float(self.dtype != "float64"),
        )

    def simpler(self) -> Iterable[StepTable]:
        """Return tables with a row or a token less, or with a rounder row."""
        for place in range(len(self.rows)):
            yield replace(self, rows=self.rows[:place] + self.rows[place + 1 :])
        if self.dtype != "float64":
            yield replace(self, dtype="float64")
        if self.vocabulary > 1:
            yield self._without_last_token()
        for place, (tokens, row) in enumerate(self.rows):
            for rounder in _rounder(row):
                yield replace(self, rows=(*self.rows[:place], (tokens, rounder), *self.rows[place + 1 :]))
        for rounder in _rounder(self.other):
            yield replace(self, other=rounder)

    def _without_last_token(self) -> StepTable:
        last = self.vocabulary - 1
        rows = tuple((tokens, _cut(row)) for tokens, row in self.rows if last not in tokens)
        return replace(self, rows=rows, other=_cut(self.other))


def _cut(row: tuple[float, ...]) -> tuple[float, ...]:
    # the first token gets the chance of the last, so that the row still sums to 1
    return (row[0] + row[-1], *row[1:-1])


def _rounder(row: tuple[float, ...]) -> Iterable[tuple[float, ...]]:
    # one certain token is easiest to read, then halves and quarters
    size = len(row)
    for place in range(size):
        yield tuple(1.0 if token == place else 0.0 for token in range(size))
    order = sorted(range(size), key=lambda token: -row[token])
    for first in (0.5, 0.75):
        for likely, unlikely in ((order[0], order[1]), (order[1], order[0])) if size > 1 else ():
            yield tuple(
                first if token == likely else 1 - first if token == unlikely else 0.0 for token in range(size)
            )
