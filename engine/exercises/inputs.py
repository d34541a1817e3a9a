"""What each argument of an exercise is: arrays with named axes, masks, records, tokens, tables, options.

Sizes and options are drawn by hypothesis; the numbers in arrays are small and exact in every floating dtype,
so that relations such as ``x + 8`` lose nothing. An argument is one of the kinds of this module, or any
hypothesis strategy for plain values::

    inputs = {
        "x": array("... n d"),
        "gain": array("d", positive()),
        "eps": strategies.sampled_from([1e-5, 1e-3]),
    }
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument
from engine.code.plan_builder import ExactValues
from engine.code.shared_cases import draw_table
from engine.code.step_table import StepTable

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Array = NDArray[Any]
Sizes = Mapping[str, int]
Entries = Callable[[ExactValues, tuple[int, ...]], Array]
"""Makes the entries of an array: takes a stream of exact numbers and a shape."""

LEAD_COUNT = "..."  # how many leading axes there are, among the sizes; their sizes are "... 0" and so on
_FACTOR = r"(?:\d+|[A-Za-z_]\w*)"
_TOKEN = re.compile(rf"\.\.\.|{_FACTOR}(?:\*{_FACTOR})*")


def numbers(bound: int = 2) -> Entries:
    """Return entries that are multiples of 1/8 from -`bound` to `bound`."""
    return lambda values, shape: values.eighths(bound, shape)


def scores(bound: int = 4) -> Entries:
    """Return entries from -`bound` to `bound`, no two equal: each has a rank of its own."""
    return lambda values, shape: values.distinct(bound, shape)


def positive(bound: int = 2) -> Entries:
    """Return entries that are multiples of 1/8 from 1/8 to `bound`."""
    return lambda values, shape: values.integers(1, 8 * bound, shape) / 8.0


def whole(low: int, high: int) -> Entries:
    """Return integers (int64) from `low` to `high`, both included: token ids, positions, labels."""
    return lambda values, shape: values.integers(low, high, shape)


def probabilities() -> Entries:
    """Return entries whose rows along the last axis are positive, sum to 1 exactly, and hold no two equal."""

    def draw(values: ExactValues, shape: tuple[int, ...]) -> Array:
        n = shape[-1]
        if n == 1:
            return np.ones(shape)
        # a power of two that is at least twice the sum of what the entries have beside the largest
        total = 2 ** math.ceil(math.log2(4 * n * (n + 3)))
        return values.weights(shape, step=4, noise=2, total=total)

    return draw


class InputKind(ABC):
    """One kind of argument."""

    @property
    def size_names(self) -> tuple[str, ...]:
        """Names of the sizes that it depends on."""
        return ()

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """Axes of each of its arrays, in the order of :func:`engine.code.arguments.flat`."""
        return ((),)

    @abstractmethod
    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return a value for these sizes; `lead` are the sizes of leading axes, where it has any."""

    @abstractmethod
    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return what is wrong with a value, or None; sizes that it shows are added to `sizes`."""

    def read(self, value: Any) -> Argument:
        """Return the argument that a value of a YAML file stands for."""
        return value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class ArrayInput(InputKind):
    """An array with named axes; see :func:`array`."""

    tokens: tuple[str, ...]
    entries: Entries
    dtype: str = "float64"

    @property
    def size_names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(
            name for token in self.tokens for name in token.split("*") if name != "..." and not name.isdigit()
        )

    @property
    def has_lead(self) -> bool:
        """Whether leading axes of any number may come first."""
        return self.tokens[:1] == ("...",)

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The names, without leading axes."""
        return (self.tokens[self.has_lead :],)

    def shape(self, sizes: Sizes, lead: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the shape for these sizes."""
        inner = tuple(_size_of(token, sizes) for token in self.tokens[self.has_lead :])
        return (*lead, *inner) if self.has_lead else inner

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return an array."""
        return np.asarray(self.entries(values, self.shape(sizes, lead)), dtype=self.dtype)

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return a fault of type, axes or sizes."""
        if not isinstance(value, np.ndarray):
            return "this isn't an array"
        kinds = "f" if self.dtype == "float64" else np.dtype(self.dtype).kind
        if value.dtype.kind != kinds:
            return f"an array of {self.dtype} was expected, not of {value.dtype.name}"
        names = self.tokens[self.has_lead :]
        lead = value.ndim - len(names)
        if lead < 0 or (lead and not self.has_lead):
            return f"an array with the axes {' '.join(self.tokens) or '(none)'} was expected"
        if self.has_lead:
            # all arrays with leading axes have the same ones
            if sizes.setdefault(LEAD_COUNT, lead) != lead:
                return "the leading axes differ from those of another argument"
            for place, size in enumerate(value.shape[:lead]):
                if sizes.setdefault(f"... {place}", size) != size:
                    return "the leading axes differ from those of another argument"
        for name, size in zip(names, value.shape[lead:], strict=True):
            if name.isdigit() and size != int(name):
                return f"an axis has the size {size} instead of {name}"
            if not name.isdigit() and "*" not in name and sizes.setdefault(name, size) != size:
                return f"the axis {name} has the size {size}, elsewhere {sizes[name]}"
        for name, size in zip(names, value.shape[lead:], strict=True):
            if "*" in name and (fault := _factor_fault(name, size, sizes)):
                return fault
        return None

    def read(self, value: Any) -> Argument:
        """Return the array of nested lists."""
        return np.asarray(value, dtype=self.dtype)


def array(axes: str, entries: Entries | None = None, *, dtype: str = "float64") -> ArrayInput:
    """Return an array whose axes have names; axes of one name have one size, unequal to those of others.

    Parameters
    ----------
    axes : str
        Names separated by blanks, such as ``"n d"``; ``"... n d"`` where leading axes of any number may come
        first, ``"n 2"`` for a size that is always 2, ``"heads*d"`` or ``"2*pairs"`` for a product of sizes.
        ``""`` is an array without axes.
    entries : Entries, optional
        :func:`numbers`, :func:`scores`, :func:`positive`, :func:`probabilities`, :func:`whole`, or a
        function of your own of a stream of numbers (:class:`~engine.code.plan_builder.ExactValues`) and a
        shape. :func:`numbers` if left out.
    dtype : str
        ``"float64"``, in which case float32 and half precision are tried too where the exercise says so;
        ``"int64"`` or ``"bool"`` for arrays that keep their dtype.

    Raises
    ------
    ValueError
        A name isn't one.

    Examples
    --------
    >>> array("... n d", scores()).axes
    (('n', 'd'),)
    """
    if not isinstance(axes, str) or not (entries is None or callable(entries)):
        raise TypeError("an array is written array('... n d') or array('... n d', scores())")
    tokens = tuple(axes.split())
    for place, token in enumerate(tokens):
        if not _TOKEN.fullmatch(token) or (token == "..." and place):
            raise ValueError(f"{token!r} isn't the name of an axis; an array is written array('... n d')")
    return ArrayInput(tokens, entries or numbers(), dtype)


def mask(axes: str) -> ArrayInput:
    """Return a boolean array under which every row along the last axis sees something and misses something.

    Where the last axis has the size 1, everything is seen.
    """

    def entries(values: ExactValues, shape: tuple[int, ...]) -> Array:
        return np.ones(shape, dtype=bool) if shape[-1] < 2 else values.partial_mask(shape)

    return array(axes, entries, dtype="bool")


def _factor_fault(token: str, size: int, sizes: dict[str, int]) -> str | None:
    """Return what is wrong with the size of a product; its last unknown factor is added to `sizes`."""
    missing = [name for name in token.split("*") if not name.isdigit() and name not in sizes]
    if len(missing) == 1:
        known = _size_of(token, {**sizes, missing[0]: 1})
        if size % known:
            return f"the axis {token} has the size {size}, which isn't a multiple of {known}"
        sizes[missing[0]] = size // known
    elif not missing and _size_of(token, sizes) != size:
        return f"the axis {token} has the size {size} instead of {_size_of(token, sizes)}"
    return None


def _size_of(token: str, sizes: Sizes) -> int:
    return math.prod(int(name) if name.isdigit() else sizes[name] for name in token.split("*"))


@dataclass(frozen=True, slots=True)
class SizeInput(InputKind):
    """An argument that is a named size itself, such as the number of heads; see :func:`size`."""

    name: str

    @property
    def size_names(self) -> tuple[str, ...]:
        """The name."""
        return (self.name,)

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return the size."""
        return sizes[self.name]

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return whether this isn't the size that the arrays have."""
        if type(value) is not int or value < 1:
            return "a positive integer was expected"
        if sizes.setdefault(self.name, value) != value:
            return f"{self.name} is {value}, but an axis of this name has the size {sizes[self.name]}"
        return None


def size(name: str) -> SizeInput:
    """Return an argument that is the size of this name, an int: the number of heads, of tokens, of steps."""
    return SizeInput(name)


@dataclass(frozen=True, slots=True)
class TokensInput(InputKind):
    """A tuple of token ids; see :func:`tokens`."""

    length: str
    below: int

    @property
    def size_names(self) -> tuple[str, ...]:
        """Name of the length."""
        return (self.length,)

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return the ids."""
        return tuple(int(token) for token in values.integers(0, self.below - 1, (sizes[self.length],)))

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return a fault of type, range or length."""
        if not isinstance(value, tuple) or not all(type(token) is int for token in value):
            return "a list of integers was expected"
        if not all(0 <= token < self.below for token in value):
            return f"token ids lie between 0 and {self.below - 1}"
        if sizes.setdefault(self.length, len(value)) != len(value):
            return f"the size {self.length} is {len(value)} here, elsewhere {sizes[self.length]}"
        return None

    def read(self, value: Any) -> Argument:
        """Return the ids of a list."""
        return tuple(value)


def tokens(length: str, below: int) -> TokensInput:
    """Return a tuple of as many token ids as the size `length` says, each from 0 to `below` - 1."""
    return TokensInput(length, below)


@dataclass(frozen=True, slots=True)
class RecordInput(InputKind):
    """A dict of arrays; see :func:`record`."""

    arrays: Mapping[str, ArrayInput]

    @property
    def size_names(self) -> tuple[str, ...]:
        """Names of the axes of all arrays."""
        return tuple(name for kind in self.arrays.values() for name in kind.size_names)

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """Axes of every array."""
        return tuple(kind.axes[0] for kind in self.arrays.values())

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return the dict."""
        return {name: np.asarray(kind.draw(values, sizes, lead)) for name, kind in self.arrays.items()}

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return the first fault of an array, or a missing one."""
        if not isinstance(value, Mapping) or set(value) != set(self.arrays):
            return f"a mapping with the keys {', '.join(self.arrays)} was expected"
        faults = ((name, kind.fault(value[name], sizes)) for name, kind in self.arrays.items())
        return next((f"{name}: {fault}" for name, fault in faults if fault), None)

    def read(self, value: Any) -> Argument:
        """Return the arrays of a mapping."""
        if not isinstance(value, Mapping) or set(value) != set(self.arrays):
            raise ValueError(f"a mapping with the keys {', '.join(self.arrays)} was expected")
        return {name: np.asarray(kind.read(value[name])) for name, kind in self.arrays.items()}


def record(**arrays: ArrayInput) -> RecordInput:
    """Return a dict of arrays, such as a layer's parameters: ``record(W=array("h d"), b=array("h"))``."""
    return RecordInput(arrays)


@dataclass(frozen=True, slots=True)
class StepInput(InputKind):
    """A decoder's step function; see :func:`step_function`."""

    vocabulary: int
    depth: int

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return the function, as a table."""
        return draw_table(values, self.vocabulary, self.depth)

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return whether this isn't such a table."""
        return None if isinstance(value, StepTable) else "a step function was expected"


def step_function(vocabulary: int, depth: int) -> StepInput:
    """Return a callable argument: ``step(token, state) -> (probabilities, state)`` of a decoder.

    Parameters
    ----------
    vocabulary : int
        Number of tokens.
    depth : int
        After how many tokens the probabilities no longer depend on all of them.
    """
    return StepInput(vocabulary, depth)


@dataclass(frozen=True, slots=True)
class OptionalInput(InputKind):
    """An argument that may be left out; see :func:`optional`."""

    kind: InputKind
    default: Argument = None

    @property
    def size_names(self) -> tuple[str, ...]:
        """Those of the argument."""
        return self.kind.size_names

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """Those of the argument."""
        return self.kind.axes

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Return the argument."""
        return self.kind.draw(values, sizes, lead)

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return a fault of an argument that is there."""
        is_default = value is None or (type(value) is type(self.default) and value == self.default)
        return None if is_default else self.kind.fault(value, sizes)

    def read(self, value: Any) -> Argument:
        """Return the argument, None where the file says null."""
        return None if value is None else self.kind.read(value)


def optional(kind: InputKind | SearchStrategy[Any], default: Argument = None) -> OptionalInput:
    """Return an argument that may be left out; calls with it and without it are tried.

    Parameters
    ----------
    kind : InputKind or hypothesis strategy
        What it is where it is given.
    default : Argument
        Its value where it is left out, as the signature says: a plain value, or None.

    Examples
    --------
    >>> optional(size("heads"), default=1).default
    1
    """
    return OptionalInput(kind, default)  # type: ignore[arg-type]  # a strategy: InputSet makes a kind of it
