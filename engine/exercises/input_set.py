"""All arguments of a function together: drawn from a seed, checked against each other, read from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.code.arguments import Argument, arrays_of, flat
from engine.code.plan_builder import ExactValues
from engine.code.planned_exercise import draw_specs
from engine.exercises.inputs import LEAD_COUNT, ArrayInput, InputKind, OptionalInput, Sizes

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Arguments = tuple[Argument, ...]
_DRAWS = 16  # of a spec, until one of them fulfils the author's condition
Spec = tuple[tuple[tuple[str, int], ...], tuple[Any, ...]]
"""What hypothesis draws: sizes by name, and the values of plain arguments."""


@dataclass(frozen=True, slots=True)
class DrawnInput(InputKind):
    """A plain value from a hypothesis strategy: a number, a word, a flag, None."""

    strategy: SearchStrategy[Any]

    def draw(self, values: ExactValues, sizes: Sizes, lead: tuple[int, ...] = ()) -> Argument:
        """Not used: the exercise draws it together with the sizes."""
        raise NotImplementedError

    def fault(self, value: Argument, sizes: dict[str, int]) -> str | None:
        """Return whether this is no plain value."""
        return (
            None
            if value is None or type(value) in (bool, int, float, str, tuple)
            else "a plain value was expected"
        )

    def read(self, value: Any) -> Argument:
        """Return the value; numbers with a fraction are read as float."""
        if isinstance(value, list):
            return tuple(value)
        # the reader of YAML keeps how a number was written
        return float(value) if isinstance(value, float) else value


def kind_of(kind: InputKind | SearchStrategy[Any]) -> InputKind:
    """Return the kind of an argument as the author wrote it."""
    if isinstance(kind, OptionalInput):
        return replace(kind, kind=kind_of(kind.kind))
    if not isinstance(kind, InputKind) and not hasattr(kind, "example"):
        raise TypeError(f"an argument is array(…) or a hypothesis strategy such as just({kind!r:.40})")
    return kind if isinstance(kind, InputKind) else DrawnInput(kind)


class InputSet:
    """The arguments of one function.

    Parameters
    ----------
    inputs : mapping of str to InputKind or hypothesis strategy
        In the order of the arguments.
    sizes : mapping of str to int, hypothesis strategy or callable
        Sizes that aren't drawn like the others; a callable takes the sizes drawn before.
    valid : callable or None
        What must hold beyond the kinds.
    size_zero : sequence of str
        Sizes that may be 0.

    Raises
    ------
    ValueError
        A size belongs to no axis.
    """

    def __init__(
        self,
        inputs: Mapping[str, InputKind | SearchStrategy[Any]],
        sizes: Mapping[str, Any],
        valid: Callable[..., bool] | None,
        size_zero: Sequence[str] = (),
    ) -> None:
        self.kinds = {name: kind_of(kind) for name, kind in inputs.items()}
        self.size_names = list(
            dict.fromkeys(name for kind in self.kinds.values() for name in kind.size_names)
        )
        self._fixed = {name: size for name, size in sizes.items() if not callable(size)}
        self._derived = {name: size for name, size in sizes.items() if callable(size)}
        self._valid, self._size_zero = valid, frozenset(size_zero)
        self.check_names([*sizes, *size_zero])

    def check_names(self, names: Iterator[str] | Sequence[str] | Mapping[str, Any]) -> None:
        """Raise ValueError unless all of these are names of sizes."""
        if unknown := set(names) - set(self.size_names):
            axes = ", ".join(self.size_names) or "none"
            raise ValueError(f"no axis is called {min(unknown)!r}; the axes are {axes}")

    @property
    def free_sizes(self) -> list[str]:
        """Names of the sizes that are drawn, unequal to each other."""
        return [name for name in self.size_names if name not in self._fixed and name not in self._derived]

    @property
    def strategy_sizes(self) -> list[str]:
        """Names of the sizes that a strategy of the author draws."""
        return [name for name, size in self._fixed.items() if not isinstance(size, int)]

    @property
    def leads(self) -> int:
        """How many arrays may have leading axes."""
        return sum(map(_has_lead, self.kinds.values()))

    @property
    def fewest(self) -> int:
        """How many arguments a call has at least."""
        return sum(not isinstance(kind, OptionalInput) for kind in self.kinds.values())

    def defaults(self, place: int) -> Arguments:
        """Return the defaults of the arguments from a place on."""
        rest = list(self.kinds.values())[place:]
        return tuple(kind.default for kind in rest if isinstance(kind, OptionalInput))

    def without_optional(self, args: Arguments) -> Arguments:
        """Return the arguments with their defaults for those that may be left out."""
        pairs = zip(self.kinds.values(), args, strict=True)
        return tuple(kind.default if isinstance(kind, OptionalInput) else value for kind, value in pairs)

    def part(self, args: Arguments, index: tuple[int, ...]) -> Arguments:
        """Return one part of arguments with leading axes, at this index of them."""
        pairs = zip(self.kinds.values(), args, strict=True)
        return tuple(
            np.ascontiguousarray(value[index]) if _has_lead(kind) and isinstance(value, np.ndarray) else value
            for kind, value in pairs
        )

    def specs(self, count: int, seed: bytes) -> list[Spec]:
        """Return different specs, the same for the same seed; some repeat where there are too few."""
        try:
            return draw_specs(self._specs, count, seed)
        except ValueError:
            drawn = draw_specs(self._specs, 1, seed)
            return [drawn[place % len(drawn)] for place in range(count)]

    @cached_property
    def plain_choices(self) -> list[tuple[Any, ...]]:
        """A few values of the plain arguments together."""
        return list(dict.fromkeys(spec[1] for spec in self.specs(4, b"choices")))

    @cached_property
    def _specs(self) -> SearchStrategy[Spec]:
        from hypothesis import strategies as st

        free = self.free_sizes
        # unequal sizes: a transposed matrix, or a sum along another axis, shows
        unequal = st.permutations(range(2, 4 + len(free))).map(lambda order: order[: len(free)])
        fixed = {name: st.just(size) if isinstance(size, int) else size for name, size in self._fixed.items()}
        plain = [
            kind.strategy for kind in map(_inner_kind, self.kinds.values()) if isinstance(kind, DrawnInput)
        ]

        def spec(order: Sequence[int], sizes: dict[str, int], drawn: tuple[Any, ...]) -> Spec:
            complete = self.complete({**dict(zip(free, order, strict=True)), **sizes})
            return tuple((name, complete[name]) for name in self.size_names), drawn

        return st.builds(spec, unequal, st.fixed_dictionaries(fixed), st.tuples(*plain))

    def complete(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return the sizes with those that follow from others."""
        complete = dict(sizes)
        for name, size in self._fixed.items():
            complete[name] = size if isinstance(size, int) else complete[name]
        for name, of in self._derived.items():
            complete[name] = of(complete)
        return complete

    def strategy(self) -> SearchStrategy[Arguments]:
        """Return a hypothesis strategy for arguments."""
        from hypothesis import strategies as st

        streams = st.integers(0, 99).map(lambda number: ExactValues(b"example%d" % number))
        return st.builds(self.arguments, self._specs, streams).filter(self.is_valid)

    def is_valid(self, args: Arguments) -> bool:
        """Return whether the author's condition holds, which says more than the kinds."""
        return self._valid is None or bool(self._valid(*args, *self.defaults(len(args))))

    def valid_arguments(
        self, spec: Spec, values: ExactValues, lead: tuple[int, ...] = ()
    ) -> Arguments | None:
        """Return arguments of a spec for which the author's condition holds, or None if none is found.

        What it excludes is drawn again, from the next numbers of the stream; of leading axes each part must
        fulfil it too.
        """
        for args in (self.arguments(spec, values, lead) for _ in range(_DRAWS)):
            parts = [self.part(args, index) for index in np.ndindex(*lead)] if lead else []
            if all(map(self.is_valid, (args, *parts))):
                return args
        return None

    def arguments(self, spec: Spec, values: ExactValues, lead: tuple[int, ...] = ()) -> Arguments:
        """Return the arguments of a spec, with leading axes where an array may have them."""
        sizes, plain = dict(spec[0]), iter(spec[1])
        return tuple(
            next(plain) if isinstance(kind, DrawnInput) else kind.draw(values, sizes, lead)
            for kind in map(_inner_kind, self.kinds.values())
        )

    def spec_like(self, args: Arguments, **sizes: int) -> Spec:
        """Return the spec of new arguments of the sizes of others, but these; plain values stay."""
        complete = self.complete({**self.sizes_of(args), **sizes})
        pairs = zip(self.kinds.values(), args, strict=True)
        plain = tuple(value for kind, value in pairs if isinstance(_inner_kind(kind), DrawnInput))
        return tuple(complete.items()), plain

    def sizes_of(self, args: Arguments) -> dict[str, int]:
        """Return the sizes that arguments show."""
        sizes = {name: size for name, size in self._fixed.items() if isinstance(size, int)}
        for _ in range(2):  # a product shows its last factor once the others are known
            for kind, value in zip(self.kinds.values(), args, strict=False):
                kind.fault(value, sizes)
        return {name: size for name, size in sizes.items() if not name.startswith("...")}

    def axes(self, args: Arguments) -> tuple[tuple[str, ...], ...]:
        """Return the names of the axes of every array, leading ones as ``batch 0`` and so on."""
        names: list[tuple[str, ...]] = []
        for kind, value in zip(self.kinds.values(), args, strict=False):
            for axes, leaf in zip(kind.axes, flat((value,)), strict=False):
                if not isinstance(leaf, np.ndarray):
                    names.append(())
                    continue
                batch = tuple(f"batch {place}" for place in range(leaf.ndim - len(axes)))
                names.append((*batch, *axes))
        return tuple(names)

    def letters(self, args: Arguments) -> list[str]:
        """Return the axes of every array as letters, equal ones for equal names."""
        letters: dict[str, str] = {}
        return [
            "".join(letters.setdefault(name, chr(97 + len(letters))) for name in axes)
            for axes in self.axes(args)
        ]

    def fault(self, args: Arguments) -> str | None:
        """Return why arguments don't fit, the name of one first, or None."""
        if fault := self._misfit(args):
            return fault
        return None if self.is_valid(args) else "the exercise says that they aren't valid"

    def _misfit(self, args: Arguments) -> str | None:
        if not self.fewest <= len(args) <= len(self.kinds):
            return f"{len(args)} arguments instead of {len(self.kinds)}"
        sizes: dict[str, int] = {}
        # sizes that are products can be checked only once their factors are known: hence a second look
        for _ in range(2):
            for (name, kind), value in zip(self.kinds.items(), args, strict=False):
                if fault := kind.fault(value, sizes):
                    return f"{name}: {fault}"
        empty = {name for name, size in sizes.items() if size == 0 and name != LEAD_COUNT} - self._size_zero
        if empty:
            return f"the axis {min(empty)} has the size 0"
        for name, size in self._fixed.items():
            if isinstance(size, int) and sizes.get(name, size) != size:
                return f"the size {name} is {sizes[name]} instead of {size}"
        for name, of in self._derived.items():
            if name in sizes and set(self.free_sizes) <= set(sizes) and of(sizes) != sizes[name]:
                return f"the size {name} is {sizes[name]} instead of {of(sizes)}"
        if len({array.dtype for array in arrays_of(args) if array.dtype.kind == "f"}) > 1:
            return "the arrays have different floating dtypes"
        return None

    def read(self, example: Mapping[str, Any]) -> Arguments:
        """Return the arguments that a file gives by name.

        Raises
        ------
        ValueError
            One is missing, or doesn't fit; the message begins with its name.
        """
        names = list(self.kinds)
        if unknown := set(example) - set(names):
            raise ValueError(f"{min(unknown)}: the function has no such argument")
        args: list[Argument] = []
        for place, (name, kind) in enumerate(self.kinds.items()):
            if name in example:
                try:
                    args.append(kind.read(example[name]))
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{name}: {error}") from None
            elif not isinstance(kind, OptionalInput):
                raise ValueError(f"{name}: this argument is missing")
            elif set(names[place:]) & set(example):
                args.append(None)
        if fault := self.fault(tuple(args)):
            raise ValueError(fault)
        return tuple(args)


def _inner_kind(kind: InputKind) -> InputKind:
    return kind.kind if isinstance(kind, OptionalInput) else kind


def _has_lead(kind: InputKind) -> bool:
    kind = _inner_kind(kind)
    return isinstance(kind, ArrayInput) and kind.has_lead
