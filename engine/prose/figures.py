"""Values as templates see them: they compute like numbers and print like the drawn decimals.

A weight that was drawn as ``0.10`` is printed so, and not as ``0.1`` or ``0.1000000001``; yet ``{{ 1 - w }}``
computes with it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine.expressions.values import as_float, as_tensor, decimal_text, is_tensor, value_of
from engine.model import DrawnValue

# A computed value without a stated number of decimals is printed with at most this many: enough to see that a
# number isn't rounded to what it seems, and short enough for a line.
_DEFAULT_PLACES = 6


def _text(value: float, place: int | None) -> str:
    if place is not None:
        return decimal_text(value, place)
    digits = decimal_text(value, _DEFAULT_PLACES)
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


class TemplateFigure:
    """A number, vector or matrix in a template.

    Parameters
    ----------
    value : float or tensor
        What it computes with.
    entries : sequence of str, optional
        The drawn decimals in C order, printed as they are.
    place : int, optional
        Decimal place to which it is printed where there are no drawn decimals.
    """

    __slots__ = ("_entries", "_place", "value")

    def __init__(self, value: Any, entries: Sequence[str] | None = None, place: int | None = None) -> None:
        self.value = value
        self._entries = None if entries is None else tuple(entries)
        self._place = place

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape; ``()`` for a number."""
        return self.value.shape if is_tensor(self.value) else ()

    def texts(self, place: int | None = None) -> list[str]:
        """Return every entry as digits, rounded to `place` if it is given."""
        # drawn decimals are printed as drawn, unless the template asks for other places
        if place is None and self._entries is not None:
            return list(self._entries)
        flat = as_tensor(self.value).ravel().tolist()
        return [_text(number, self._place if place is None else place) for number in flat]

    def __str__(self) -> str:
        return tex(self)

    __repr__ = __str__

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a number has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> TemplateFigure:
        position = int(as_float(plain_value(index)))
        size = len(self)
        if not -size <= position < size:
            raise IndexError(f"position {position} isn't within 0 … {size - 1}")
        position %= size
        width = as_tensor(self.value).size // size
        entries = None if self._entries is None else self._entries[position * width : (position + 1) * width]
        return TemplateFigure(self.value[position], entries, self._place)

    def __iter__(self) -> Iterator[TemplateFigure]:
        return (self[i] for i in range(len(self)))

    def __float__(self) -> float:
        return as_float(self.value)

    def __index__(self) -> int:
        number = as_float(self.value)
        if number != int(number):
            raise TypeError(f"{number:g} isn't a whole number")
        return int(number)

    def __bool__(self) -> bool:
        return bool(as_float(self.value))

    def __hash__(self) -> int:
        return hash(as_float(self.value))

    def __neg__(self) -> TemplateFigure:
        return TemplateFigure(-self.value)


def _comparison(act: Callable[[Any, Any], Any]) -> Callable[[TemplateFigure, Any], bool]:
    return lambda self, other: bool(act(as_float(self.value), as_float(plain_value(other))))


def _binary(act: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: TemplateFigure, other: Any) -> TemplateFigure:
        return TemplateFigure(act(self.value, plain_value(other)))

    def backward(self: TemplateFigure, other: Any) -> TemplateFigure:
        return TemplateFigure(act(plain_value(other), self.value))

    return forward, backward


# `{% if p < 0.5 %}` and `{{ 1 - p }}`: python's operators, which are all alike
for _name in ("eq", "lt", "le", "gt", "ge"):
    setattr(TemplateFigure, f"__{_name}__", _comparison(getattr(operator, _name)))
for _name in ("add", "sub", "mul", "truediv", "pow"):
    for _method, _call in zip(
        (f"__{_name}__", f"__r{_name}__"), _binary(getattr(operator, _name)), strict=True
    ):
        setattr(TemplateFigure, _method, _call)


def plain_value(value: Any) -> Any:
    """Return what a figure computes with; all else as it is."""
    return value.value if isinstance(value, TemplateFigure) else value


def figure_of(value: Any, place: int | None = None) -> Any:
    """Return a value, or a drawn parameter, for a template: numbers as figures, words as they are."""
    if isinstance(value, DrawnValue):
        plain = value_of(value)
        return plain if value.text or isinstance(plain, int) else TemplateFigure(plain, value.entries)
    # whole numbers stay what they are: they index, count and are printed without a point
    if isinstance(value, TemplateFigure | str | bool | int | tuple | list):
        return value
    return TemplateFigure(value, place=place)


def _figure(value: Any) -> TemplateFigure:
    if isinstance(value, TemplateFigure):
        return value
    if isinstance(value, list | tuple):
        return TemplateFigure(as_tensor([plain_value(entry) for entry in value]))
    return TemplateFigure(value)


def number_tex(value: Any, places: int | None = None) -> str:
    """Return a number as digits.

    Raises
    ------
    TypeError
        `value` isn't one number.
    """
    figure = _figure(value)
    texts = figure.texts(places)
    if len(texts) != 1:
        raise TypeError(f"one number is needed, got shape {figure.shape}")
    return texts[0]


def vector_tex(value: Any, places: int | None = None) -> str:
    """Return a vector as a formula: `[0.1, 0.2]`."""
    return "[" + ", ".join(_figure(value).texts(places)) + "]"


def column_tex(value: Any, places: int | None = None) -> str:
    """Return a vector as a column in brackets."""
    return _bmatrix([[text] for text in _figure(value).texts(places)])


def matrix_tex(value: Any, places: int | None = None) -> str:
    """Return a matrix as a formula; a vector is one row.

    Raises
    ------
    TypeError
        `value` has more than two axes.
    """
    figure = _figure(value)
    if len(figure.shape) > 2:
        raise TypeError(f"a matrix is needed, got shape {figure.shape}")
    texts = figure.texts(places)
    width = figure.shape[-1] if figure.shape else 1
    return _bmatrix([texts[i : i + width] for i in range(0, len(texts), width)])


def _bmatrix(rows: list[list[str]]) -> str:
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{bmatrix}"


def tex(value: Any, places: int | None = None) -> str:
    """Return a number, vector or matrix as a formula, for use between dollars; words as they are."""
    if isinstance(value, str):
        return value
    figure = _figure(value)
    if not figure.shape:
        return number_tex(figure, places)
    return vector_tex(figure, places) if len(figure.shape) == 1 else matrix_tex(figure, places)
