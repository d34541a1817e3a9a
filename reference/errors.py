"""Every error that the reference raises on purpose.

::

    ArgumentError (ValueError)     an argument that the mathematics can't use
    ├── ShapeError                 names the argument, its shape and what was expected
    ├── DtypeError                 numbers where booleans belong, complex numbers, text …
    ├── DeviceError                tensors that live on different devices
    ├── CircularityError           a decoder wiring that needs a value before it exists
    └── TableError                 a decoding table, or a step's row, that isn't a distribution

Nothing here imports numpy.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "ArgumentError",
    "CircularityError",
    "DeviceError",
    "DtypeError",
    "ShapeError",
    "TableError",
]


class ArgumentError(ValueError):
    """An argument that the mathematics can't use."""


class ShapeError(ArgumentError):
    """An array whose shape doesn't fit.

    Parameters
    ----------
    argument : str
        Name of the argument as the function's signature has it.
    shape : sequence of int
        The shape that it has.
    expected : str
        The shape that was expected, in words or axis names.
    note : str, optional
        Why, where the shape alone doesn't say it.
    """

    def __init__(self, argument: str, shape: Sequence[int], expected: str, note: str = "") -> None:
        self.argument = argument
        self.shape = tuple(shape)
        self.expected = expected
        self.note = note
        text = f"{argument} has shape {self.shape}, expected {expected}"
        super().__init__(f"{text}: {note}" if note else text)

    def __reduce__(self) -> tuple[type[ShapeError], tuple[str, tuple[int, ...], str, str]]:
        return type(self), (self.argument, self.shape, self.expected, self.note)


class DtypeError(ArgumentError):
    """An argument of a type that can't be used."""


class DeviceError(ArgumentError):
    """Arguments on different devices."""


class CircularityError(ArgumentError):
    """A decoder wiring in which a value is needed before it has been computed."""


class TableError(ArgumentError):
    """A decoding table or a row of probabilities that can't be used."""
