"""Arguments of a call: arrays, plain values, records of arrays, and special ones such as ``step``.

Everything that works on single arrays (shrinking, hashing, comparing) sees an argument list as a flat
sequence of leaves; :func:`flat` and :func:`rebuilt` go there and back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from engine.code.leaves import leaf_of
from engine.runner import WireValue

__all__ = [
    "Argument",
    "Leafwise",
    "SpecialArgument",
    "arrays_of",
    "flat",
    "key_of",
    "rebuilt",
    "wire_argument",
]


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
    left = iter(leaves)
    found: list[Argument] = []
    for value in like:
        if isinstance(value, Mapping):
            found.append({name: cast(NDArray[Any], next(left)) for name in value})
        else:
            found.append(next(left))
    return tuple(found)


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
