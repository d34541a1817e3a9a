"""Kinds of results: what a function returns, read from the wire into checked arrays, and shown as Python.

A result is a fixed number of *parts*, each an array: one for ``softmax``, four for ``decoder_step``.
Token lists and hypotheses become arrays of ids, so that the same comparisons serve all.

What comes back is capped here, before any of it is decoded: a value that is far larger than any result of
the function has another kind, whatever it holds. So everything that looks at results later works on
small arrays.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import LeafError, array_of, array_text, shape_text
from engine.runner import WireArray, WireValue
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.code.plan import ExpectedPart

Floats = NDArray[np.float64]
Shapes = Sequence[tuple[int, ...]]
# A wrong program gives a wrong shape, and its sentence should say which: so the caps leave room for outer
# products, lost sums and searches that go on too long. They are there to bound memory and time.
_MOST_TIMES, _MOST_MORE = 16, 2**16  # entries of an array, against those of the right one
_COUNT_TIMES, _COUNT_MORE = 4, 32  # tokens or hypotheses, against the most that can be right
_UNKNOWN_COUNT = 1000
_ABSENT = -1.0  # fills the rows of hypotheses that are shorter than the longest


class MisfitError(Exception):
    """A value of another type or size than the function should return; the text continues “gave back …”.

    Parameters
    ----------
    text : str
    expected : str or None
        What should have come, where the kind of result in words doesn't say.
    """

    def __init__(self, text: str, expected: str | None = None) -> None:
        super().__init__(text)
        self.expected = expected


@dataclass(frozen=True, slots=True, eq=False)
class ReadPart:
    """One array that came back, in float64, with the dtype that it had.

    ``kind`` says what came instead of an array or of int, where the numbers can be read all the same: that is
    one oversight, which the check of the dtype or of the token ids reports.
    """

    values: Floats
    dtype: str
    kind: str = ""


class ResultKind(ABC):
    """One kind of result.

    Attributes
    ----------
    parts : tuple of str
        Names of the parts, for messages; one empty name where there is only one.
    misshapen_bluntly : str
        What :meth:`misshapen` says, without any number, for inputs that aren't shown.
    """

    __slots__ = ()
    parts: tuple[str, ...]
    misshapen_bluntly: ClassVar[str] = "a wrong shape"

    @abstractmethod
    def type_text(self, library: str) -> str:
        """Return what should come back, in words."""

    @abstractmethod
    def read(self, value: WireValue, library: str, shapes: Shapes = ()) -> tuple[ReadPart, ...]:
        """Return the parts of a foreign value; MisfitError if it has another type or is far too large.

        `shapes` are those of the right parts, where they are known.
        """

    def misshapen(self, part: int, got: tuple[int, ...], due: tuple[int, ...]) -> str:
        """Return the clause about a part of the wrong shape, continuing “gave back”."""
        name = f"{self.parts[part]} of " if self.parts[part] else ""
        return f"{name}shape {shape_text(got)}, expected {shape_text(due)}"

    @abstractmethod
    def text(self, parts: Sequence[ReadPart | ExpectedPart], library: str, digits: int = 6) -> str:
        """Return the result as Python would print it."""


@dataclass(frozen=True, slots=True)
class ArrayResult(ResultKind):
    """One array."""

    parts: tuple[str, ...] = ("",)

    def type_text(self, library: str) -> str:
        """Return the name of the array's type."""
        return "a numpy array" if library == "numpy" else "a torch tensor"

    def read(self, value: WireValue, library: str, shapes: Shapes = ()) -> tuple[ReadPart, ...]:
        """Return the array."""
        return (_array(value, library, shapes[0] if shapes else ()),)

    def text(self, parts: Sequence[ReadPart | ExpectedPart], library: str, digits: int = 6) -> str:
        """Return ``array([…])`` or ``tensor([…])``."""
        return array_text(parts[0].values, library, parts[0].dtype, digits)


@dataclass(frozen=True, slots=True)
class NumberResult(ResultKind):
    """One number: of Python, or an array without axes. Its dtype isn't judged."""

    parts: tuple[str, ...] = ("",)

    def type_text(self, library: str) -> str:
        """Return the type in words."""
        return "a number"

    def read(self, value: WireValue, library: str, shapes: Shapes = ()) -> tuple[ReadPart, ...]:
        """Return the number, as an array without axes."""
        if type(value) in (int, float) or (isinstance(value, WireArray) and value.shape == ()):
            return (ReadPart(np.asarray(_scalar(value, library), dtype=np.float64), "number"),)
        raise MisfitError(_type_name(value, library), self.type_text(library))

    def text(self, parts: Sequence[ReadPart | ExpectedPart], library: str, digits: int = 6) -> str:
        """Return the number."""
        return f"{float(parts[0].values):.{digits}g}"


@dataclass(frozen=True, slots=True)
class TupleResult(ResultKind):
    """Several arrays in a tuple; a list of them is as good."""

    parts: tuple[str, ...]

    def type_text(self, library: str) -> str:
        """Return the names in their order."""
        return f"the tuple ({', '.join(self.parts)})"

    def read(self, value: WireValue, library: str, shapes: Shapes = ()) -> tuple[ReadPart, ...]:
        """Return the arrays in their order."""
        if not isinstance(value, list | tuple):
            raise MisfitError(_type_name(value, library))
        if len(value) != len(self.parts):
            raise MisfitError(f"{count_noun(len(value), 'value')}")
        parts = []
        for name, entry, shape in zip(self.parts, value, shapes or [()] * len(self.parts), strict=True):
            try:
                parts.append(_array(entry, library, shape))
            except MisfitError as misfit:
                raise MisfitError(f"{misfit} as {name}", misfit.expected) from None
        return tuple(parts)

    def text(self, parts: Sequence[ReadPart | ExpectedPart], library: str, digits: int = 6) -> str:
        """Return a tuple of arrays."""
        texts = (array_text(part.values, library, part.dtype, digits) for part in parts)
        return f"({', '.join(texts)})"


@dataclass(frozen=True, slots=True)
class TokensResult(ResultKind):
    """A list of token ids, shape (length,); tuples and one-dimensional arrays of integers are as good.

    Parameters
    ----------
    most : int or None
        How many tokens a right result can have.
    """

    misshapen_bluntly = "a wrong number of tokens"
    parts: tuple[str, ...] = ("",)
    most: int | None = None

    def type_text(self, library: str) -> str:
        """Return the type in words."""
        return "a list of int"

    def read(self, value: WireValue, library: str, shapes: Shapes = ()) -> tuple[ReadPart, ...]:
        """Return the ids."""
        tokens, kind = _tokens(value, library, self.most)
        return (ReadPart(np.asarray(tokens, dtype=np.float64), "int", kind),)

    def misshapen(self, part: int, got: tuple[int, ...], due: tuple[int, ...]) -> str:
        """Return both lengths."""
        return f"{count_noun(got[0], 'token')}, expected {due[0]}"

    def text(self, parts: Sequence[ReadPart | ExpectedPart], library: str, digits: int = 6) -> str:
        """Return a list of int."""
        return str([int(token) for token in parts[0].values])


@dataclass(frozen=True, slots=True)
class HypothesesResult(ResultKind):
    """A list of (tokens, logprob).

    It is read as ids, a matrix (hypotheses, longest) filled up with -1, and the log-probabilities.

    Parameters
    ----------
    most : int or None
        How many tokens a right hypothesis can have.
    width : int or None
        How many hypotheses a right result can have.
    """

    misshapen_bluntly = "a wrong number of hypotheses or tokens"
    parts: tuple[str, ...] = ("tokens", "logprob")
    most: int | None = None
    width: int | None = None

    def type_text(self, library: str) -> str:
        """Return the type in words."""
        return "a list of pairs (tokens, logprob)"

    def read(self, value: WireValue, library: str, shapes: Shapes = ()) -> tuple[ReadPart, ...]:
        """Return the ids and the log-probabilities."""
        if not isinstance(value, list | tuple):
            raise MisfitError(_type_name(value, library))
        _check_count(len(value), "hypothesis", self.width)
        rows, logs, kinds, dtypes = [], [], [""], set()
        for entry in value:
            if not (isinstance(entry, list | tuple) and len(entry) == 2):
                raise MisfitError(f"a list with {_type_name(entry, library)} in it")
            tokens, kind = _tokens(entry[0], library, self.most)
            rows.append(tokens)
            kinds.append(kind)
            logs.append(_scalar(entry[1], library))
            dtypes.add(entry[1].dtype if isinstance(entry[1], WireArray) else "float64")
        ids = np.full((len(rows), max(map(len, rows), default=0)), _ABSENT)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
        dtype = "float32" if dtypes == {"float32"} else "float64"
        return ReadPart(ids, "int", max(kinds)), ReadPart(np.asarray(logs, dtype=np.float64), dtype)

    def misshapen(self, part: int, got: tuple[int, ...], due: tuple[int, ...]) -> str:
        """Return both numbers of hypotheses, or both lengths."""
        if got[0] != due[0]:
            return f"{count_noun(got[0], 'hypothesis')}, expected {due[0]}"
        return f"up to {count_noun(got[-1], 'token')} in a hypothesis, expected {due[-1]}"

    def text(self, parts: Sequence[ReadPart | ExpectedPart], library: str, digits: int = 6) -> str:
        """Return a list of pairs."""
        pairs = (
            f"({[int(t) for t in row if t != _ABSENT]}, {float(log):.{digits}g})"
            for row, log in zip(parts[0].values, parts[1].values, strict=True)
        )
        return f"[{', '.join(pairs)}]"


def _check_count(count: int, noun: str, right: int | None) -> None:
    """Raise MisfitError for more of something than even a wrong search gives."""
    most = _UNKNOWN_COUNT if right is None else _COUNT_TIMES * max(0, right) + _COUNT_MORE
    if count > most:
        raise MisfitError(count_noun(count, noun), f"at most {most if right is None else right}")


def _array(value: WireValue, library: str, like: tuple[int, ...]) -> ReadPart:
    if isinstance(value, list | tuple):
        return _from_list(value, library, like)
    if not isinstance(value, WireArray):
        raise MisfitError(_type_name(value, library))
    _check_size(value, library, like, value.shape)
    part = _decoded(value)
    if value.library == library:
        return part
    return replace(part, kind="a torch tensor" if value.library == "torch" else "a numpy array")


def _check_size(value: WireValue, library: str, like: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if math.prod(shape) > _MOST_TIMES * math.prod(like) + _MOST_MORE:
        expected = f"shape {shape_text(like)}" if like else None
        raise MisfitError(f"{_type_name(value, library)} of shape {shape_text(shape)}", expected)


def _from_list(value: Sequence[WireValue], library: str, like: tuple[int, ...]) -> ReadPart:
    """Return the numbers of a nested list, or of a list of arrays, that has the shape of an array."""
    shape = like if not value and math.prod(like) == 0 else _list_shape(value)
    if type(value) is tuple or shape is None:
        raise MisfitError(_type_name(value, library))
    _check_size(value, library, like, shape)
    leaves: list[WireArray] = []
    values = np.asarray(_plain(value, leaves), dtype=np.float64).reshape(shape)
    dtypes = {leaf.dtype for leaf in leaves} or {"float64"}
    return ReadPart(values, dtypes.pop() if len(dtypes) == 1 else "float64", "a list")


def _list_shape(value: WireValue) -> tuple[int, ...] | None:
    # None for a ragged list, and for one that holds something else than numbers and arrays
    if isinstance(value, WireArray):
        return value.shape
    if type(value) in (int, float, bool):
        return ()
    if not isinstance(value, list | tuple) or not value:
        return None
    shapes = {_list_shape(entry) for entry in value}
    inner = shapes.pop()
    return None if shapes or inner is None else (len(value), *inner)


def _plain(value: WireValue, leaves: list[WireArray]) -> Any:
    if isinstance(value, WireArray):
        leaves.append(value)
        return _decoded(value).values
    if isinstance(value, list | tuple):
        return [_plain(entry, leaves) for entry in value]
    return float(value) if isinstance(value, bool) else _scalar(value, "")


def _decoded(leaf: WireArray) -> ReadPart:
    try:
        array = array_of(leaf)
    except LeafError:
        raise MisfitError("an array of no number type") from None
    if np.iscomplexobj(array):
        raise MisfitError("an array of complex numbers")
    return ReadPart(array.astype(np.float64), leaf.dtype)


def _is_single(leaf: WireArray) -> bool:
    # decided by the shape, before anything is decoded
    return math.prod(leaf.shape) == 1


def _tokens(value: WireValue, library: str, right: int | None) -> tuple[list[int], str]:
    """Return token ids, and what some of them are instead of int."""
    if isinstance(value, WireArray) and len(value.shape) == 1 and value.dtype in _TOKEN_DTYPES:
        _check_count(value.shape[0], "token", right)
        entries: Sequence[WireValue] = [float(token) for token in _decoded(value).values]
        if "int" in value.dtype:
            return [_token(int(token), library)[0] for token in entries], ""
    elif isinstance(value, list | tuple):
        _check_count(len(value), "token", right)
        entries = value
    else:
        raise MisfitError(f"{_type_name(value, library)} as tokens")
    pairs = [_token(entry, library) for entry in entries]
    return [token for token, _ in pairs], max((kind for _, kind in pairs), default="")


_TOKEN_DTYPES = {"int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"}


def _token(entry: WireValue, library: str) -> tuple[int, str]:
    if isinstance(entry, WireArray) and entry.dtype in _TOKEN_DTYPES and _is_single(entry):
        number = _decoded(entry).values.item()
        entry = int(number) if "int" in entry.dtype else float(number)
    if type(entry) is int and abs(entry) < 2**53:  # beyond it float64, which holds ids here, skips integers
        return entry, ""
    if type(entry) is float and entry.is_integer() and abs(entry) < 2**53:
        return int(entry), "a float as a token"
    raise MisfitError(f"{_type_name(entry, library)} as a token")


def _scalar(entry: WireValue, library: str) -> float:
    if isinstance(entry, WireArray) and _is_single(entry):
        return float(_decoded(entry).values.item())
    if type(entry) in (int, float):
        # an int may be too large for a float, whatever its sign: no logarithm of a probability is
        return float(entry) if abs(entry) < 1e300 or type(entry) is float else float("inf")
    raise MisfitError(f"{_type_name(entry, library)} as a log-probability")


def _type_name(value: WireValue, library: str) -> str:
    if value is None:
        return "None (is a return missing?)"
    if isinstance(value, WireArray):
        return "a torch tensor" if value.library == "torch" else "a numpy array"
    name = clean_line(type(value).__name__, 40)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
