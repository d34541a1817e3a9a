"""Builds a plan: an exercise adds cases and says which property is judged on which of them.

The methods ``add_public``, ``add_ordinary`` … are what exercises have in common, so that each
only says what is special about its function:

    plan = PlanBuilder("softmax", expected)
    square = plan.case("square", x, public=True)
    plan.judge("sum1", square, axis=-1)
    frozen = plan.plan()

The numbers in the arrays come from :class:`ExactValues`.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, arrays_of, flat, key_of, rebuilt
from engine.code.plan import (
    CaseGroup,
    ExpectedPart,
    ExpectedResult,
    InputPlan,
    PlanCase,
    group_key,
)

Arguments = Sequence[Argument]
# properties that compare an input with the same numbers as plain arrays in double precision
_BY_PLAIN_FORM = {"layout", "precision", "half"}
# One more than usual block sizes: what is lost behind a block, or between two, is lost here.
BLOCKS = (17, 33, 65)
# How many axes at most go beyond a block in one input: their product is the work of a call.
_SEVERAL = 4
# Inputs in which single precision shows: in one of them roundings may cancel out.
_PRECISE = 3


class PlanBuilder:
    """Collects the cases and groups of one plan.

    Parameters
    ----------
    exercise : str
        Id of the exercise.
    expected : callable
        Gives the reference's result for the arguments of a case.

    Attributes
    ----------
    fits : callable
        Whether the function is defined for arguments that were made from those of a case; always, if not set.
    """

    def __init__(self, exercise: str, expected: Callable[[tuple[Argument, ...]], ExpectedResult]) -> None:
        self._exercise = exercise
        self._expected = expected
        self.fits: Callable[[tuple[Argument, ...]], bool] = lambda args: True
        self._cases: list[PlanCase] = []
        self._groups: list[CaseGroup] = []

    def case(
        self,
        name: str,
        *args: Argument,
        kind: str = "ordinary",
        public: bool = False,
        narrow: str | None = None,
        layout: str = "plain",
    ) -> int:
        """Add an input and return its position; the kind ``"refused"`` expects an exception."""
        expected = None if kind == "refused" else self._expected(args)
        if narrow is not None and expected is not None:
            expected = _narrowed(expected, narrow)
        self._cases.append(PlanCase(name, args, kind, public, expected, narrow, layout))
        return len(self._cases) - 1

    def gradient_case(
        self,
        name: str,
        *args: Argument,
        cotangents: Sequence[NDArray[Any]],
        gradients: Sequence[ExpectedPart | None],
        public: bool = False,
    ) -> int:
        """Add an input whose gradients are judged as well (``grad``), where torch can give them.

        Parameters
        ----------
        name : str
        *args : Argument
        cotangents : sequence of ndarray
            One for each part of the result, of its shape and dtype.
        gradients : sequence of ExpectedPart
            The right gradients, one for each floating array among the arguments; None where it isn't judged.
        public : bool
        """
        expected = replace(self._expected(args), gradients=tuple(gradients))
        case = PlanCase(name, args, "gradient", public, expected, cotangents=tuple(cotangents))
        self._cases.append(case)
        self.judge("grad", len(self._cases) - 1)
        return len(self._cases) - 1

    def judge(self, name: str, *members: int, cases: str | None = None, **data: Any) -> None:
        """Have a property judged once, over these cases together."""
        self._groups.append(CaseGroup(group_key(name, cases), members, data))

    def judge_each(
        self, names: str | Sequence[str], members: Sequence[int], cases: str | None = None, **data: Any
    ) -> None:
        """Have one or several properties judged on each of these cases alone."""
        for name in [names] if isinstance(names, str) else names:
            for member in members:
                self.judge(name, member, cases=cases, **data)

    def argument(self, member: int, position: int = 0) -> Any:
        """Return one argument of a case that was added before."""
        return self._cases[member].args[position]

    def arguments(self, member: int) -> tuple[Any, ...]:
        """Return all arguments of a case that was added before."""
        return self._cases[member].args

    def add_public(self, cases: Mapping[str, Arguments]) -> list[int]:
        """Add public cases, the one first that says whether the function runs at all."""
        members = [self.case(name, *args, public=True) for name, args in cases.items()]
        self.judge("runs", members[0])
        self.judge_each(("shape", "values", "dtype"), members)
        return members

    def add_ordinary(self, inputs: Sequence[Arguments]) -> list[int]:
        """Add hidden cases whose shape and values are judged."""
        members = [self.case(f"hidden-{place}", *args) for place, args in enumerate(inputs)]
        self.judge_each(("shape", "values"), members)
        return members

    def add_contract(self, public: Arguments, square: Arguments, hidden: Sequence[Arguments]) -> None:
        """Add cases of precision and layout: dtype and values hold in all of them.

        Parameters
        ----------
        public : sequence of Argument
            Arguments that students may see.
        square : sequence of Argument
            Arguments of equal sizes, so that a transposed matrix gives a value and no error.
        hidden : sequence of sequence of Argument
            More arguments, at least two times.
        """
        singles = {"square-single": square}
        singles |= {f"hidden-single-{place}": args for place, args in enumerate(hidden)}
        members = [self.case("public-single", *single(*public), kind="precision", public=True)]
        members += [self.case(name, *single(*args), kind="precision") for name, args in singles.items()]
        # double precision must be kept as well: a new tensor of torch's is float32 unless it gets a dtype
        self.judge_each("dtype", [*members, self.case("public-double", *public, public=True)])
        self.judge_each("precision", members)
        layouts = [
            self.case("strided", *hidden[0], kind="layout", layout="strided"),
            self.case("read-only", *hidden[1], kind="layout", layout="read-only"),
            self.case("public-read-only", *public, kind="layout", layout="read-only", public=True),
        ]
        self.judge_each("layout", layouts)

    def add_halves(self, name: str, args: Arguments) -> list[int]:
        """Add the same numbers, which both must hold exactly, in float16 and in bfloat16."""
        return [
            self.case(f"{name}-half", *half(*args), kind="half"),
            self.case(f"{name}-brain", *single(*args), kind="half", narrow="bfloat16"),
        ]

    def add_beyond_blocks(
        self,
        draw: Callable[[Any], Arguments],
        sizes: Sequence[tuple[int, ...]],
        name: str = "longer",
        cases: str = "sizes",
    ) -> None:
        """Add hidden cases of these sizes, whose values are judged as ``values`` of these cases."""
        for place, one_size in enumerate(sizes):
            self.judge("values", self.case(f"{name}-{place}", *draw(one_size)), cases=cases)

    def add_refusals(
        self, cases: Mapping[str, Arguments], letters: Sequence[str] = (), fitting: Arguments = ()
    ) -> None:
        """Add public inputs whose sizes don't fit: these, and every axis of `fitting` with another size.

        ``letters`` name the axes of the arrays of `fitting`, those of records too.
        """
        for name, args in {**cases, **misfits(letters, fitting)}.items():
            self.judge("refuses", self.case(name, *args, kind="refused", public=True))

    def add_again(self, member: int, name: str = "square-again") -> None:
        """Add the call of a public case once more: equal calls must give equal results."""
        self.judge("pure", member, self.case(name, *self.arguments(member), public=True))

    def plan(self) -> InputPlan:
        """Return the frozen plan.

        Inputs in another layout or precision get the plain input beside them that they are judged by, and
        of every case the arguments are looked at afterwards.
        """
        self._groups = [
            replace(group, members=(*group.members, self._plain_form(group.members[0])))
            if group.property in _BY_PLAIN_FORM
            else group
            for group in self._groups
        ]
        self._add_similar()
        self._add_precise()
        computed = [place for place, case in enumerate(self._cases) if case.expected is not None]
        self.judge_each("pure", computed)
        return InputPlan.of(self._exercise, self._cases, self._groups, frozenset(computed))

    def _add_similar(self) -> None:
        """Add inputs that differ from an earlier one in two entries only."""
        # This shows a program that keeps results under too short a key. Shape, sum, first and last entry
        # are the same, so that whatever it takes an input for, this one looks like the other.
        place = next((place for place, case in enumerate(self._cases) if _is_usual(case)), None)
        if place is None:
            return
        case = self._cases[place]
        leaves = flat(case.args)
        for index, value in enumerate(leaves):
            other = _exchanged(value) if isinstance(value, np.ndarray) else None
            if other is None:
                continue
            args = rebuilt(case.args, [*leaves[:index], other, *leaves[index + 1 :]])
            if not self.fits(args):
                continue
            similar = self.case(f"{case.id}-similar-{index}", *args, kind=case.kind)
            self.judge("pure", place, similar, similar=True)

    def _add_precise(self) -> None:
        """Add inputs with numbers that single precision can't hold."""
        # all others are exact in float32: an argument that is rounded on its way looks like the right one
        for case in [case for case in self._cases if _is_usual(case)][:_PRECISE]:
            args = rebuilt(case.args, [_beyond_single(leaf) for leaf in flat(case.args)])
            if self.fits(args):
                self.judge("precise", self.case(f"{case.id}-precise", *args, kind=case.kind))

    def _plain_form(self, member: int) -> int:
        # a plan mostly has it already: then nothing is called twice
        case = self._cases[member]
        args = _with_floats(case.args, np.float64)
        key = key_of(args)
        for place, other in enumerate(self._cases):
            plain = other.layout == "plain" and other.narrow is None and other.cotangents is None
            if plain and other.expected is not None and key_of(other.args) == key:
                return place
        masked = any(array.dtype == np.bool_ for array in arrays_of(args))
        kind = "masked" if masked else "batch" if case.kind == "batch" else "ordinary"
        return self.case(f"{case.id}-plain", *args, kind=kind, public=case.public)


def _narrowed(expected: ExpectedResult, dtype: str) -> ExpectedResult:
    parts = tuple(replace(part.widened(dtype), dtype=dtype) for part in expected.parts)
    return replace(expected, parts=parts)


def _beyond_single(leaf: Any) -> Any:
    # nearly half a step of float32 away: as much as rounding can take from a number
    if not isinstance(leaf, np.ndarray) or leaf.dtype != np.float64:
        return leaf
    change = 0.49 * np.where(leaf == 0, 0.0, np.spacing(leaf.astype(np.float32)))
    if not _are_weights(leaf):
        return leaf + change
    # Right programs may rely on a sum of 1. Up and down in turn, little is lost when it is mended.
    moved = leaf + np.where(np.arange(leaf.shape[-1]) % 2, -change, change)
    return moved / np.where(leaf.any(axis=-1, keepdims=True), moved.sum(axis=-1, keepdims=True), 1.0)


def _are_weights(array: NDArray[Any]) -> bool:
    """Return whether each row has the sum 1, or is zero as that of a query that sees nothing."""
    sums = array.sum(axis=-1) if array.ndim else np.full(1, np.nan)
    return bool(array.any() and (array >= 0).all() and (np.isclose(sums, 1.0) | (sums == 0)).all())


def _is_usual(case: PlanCase) -> bool:
    """Return whether a case is hidden, with arrays of more than a few entries."""
    plain = case.expected is not None and case.narrow is None and case.layout == "plain"
    arrays = arrays_of(case.args)
    usual = case.kind in ("ordinary", "masked") and bool(arrays) and arrays[0].dtype == np.float64
    return plain and usual and not case.public and _exchanged(arrays[0]) is not None


def _exchanged(array: NDArray[Any]) -> NDArray[Any] | None:
    # neither the first entry nor the last: a key made of these would tell the two arrays from one another
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    for row in range(len(rows) - 1, -1, -1):
        for column in range(rows.shape[1] - 1):
            position = row * rows.shape[1] + column
            inner = position > 0 and position + 1 < rows.size - 1
            if inner and rows[row, column] != rows[row, column + 1]:
                changed = rows.copy()
                changed[row, [column, column + 1]] = rows[row, [column + 1, column]]
                return changed.reshape(array.shape)
    return None


def single(*args: Argument) -> tuple[Argument, ...]:
    """Return arrays in single precision, in records too; masks and what isn't an array stay what they are."""
    return _with_floats(args, np.float32)


def half(*args: Argument) -> tuple[Argument, ...]:
    """Return arrays in half precision (float16)."""
    return _with_floats(args, np.float16)


def _with_floats(args: Arguments, dtype: type[np.floating[Any]]) -> tuple[Argument, ...]:
    leaves = (
        leaf.astype(dtype) if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" else leaf
        for leaf in flat(args)
    )
    return rebuilt(args, list(leaves))


def beyond_blocks(sizes: tuple[int, ...], values: ExactValues) -> list[tuple[int, ...]]:
    """Return the sizes with one of them after the other beyond all usual blocks, and all beyond some."""
    longer = [(*sizes[:place], BLOCKS[-1], *sizes[place + 1 :]) for place in range(len(sizes))]
    blocks = [BLOCKS[choice] for choice in values.integers(0, 1, (len(sizes),))]
    unchanged = max(0, len(sizes) - _SEVERAL)
    return [*longer, (*sizes[:unchanged], *blocks[unchanged:])]


def misfits(letters: Sequence[str], args: Arguments) -> dict[str, tuple[Argument, ...]]:
    """Return arguments of which one axis doesn't fit the others, those that would be broadcast included.

    Parameters
    ----------
    letters : sequence of str
        Axes of every array, those of a record's too; equal letters have equal sizes.
    args : sequence of Argument
        Arguments that fit.
    """
    leaves = list(flat(args))
    shared = {letter for letter, count in Counter("".join(letters)).items() if count > 1}
    misfitting: dict[str, tuple[Argument, ...]] = {}
    for place, names in enumerate(letters):
        array = leaves[place]
        if not isinstance(array, np.ndarray):
            continue  # a plain value
        for axis, letter in enumerate(names):
            for size in _other_sizes(array.shape[axis]) if letter in shared else ():
                changed = [*leaves[:place], _resized(array, axis, size), *leaves[place + 1 :]]
                misfitting[f"{place}-{axis}-of-{size}"] = rebuilt(args, changed)
    return misfitting


def _other_sizes(size: int) -> Iterator[int]:
    # 1, which is broadcast to everything, and the neighbours, at which an index or a slice still fits
    if size != 1:
        yield 1
    if size > 2:
        yield size - 1
    yield size + 1


def _resized(array: NDArray[Any], axis: int, size: int) -> NDArray[Any]:
    # what is needed beyond the end is repeated: nothing but the size is odd about the array
    return np.asarray(np.take(array, np.arange(size) % array.shape[axis], axis=axis))


def spread(size: int) -> NDArray[np.float64]:
    """Return 0, 1, 2 … where they stay below 8, else as many numbers that do, no two equal."""
    step = 1.0
    while step * (size - 1) >= 8:
        step /= 2
    return np.asarray(np.arange(size) * step, dtype=np.float64)


class ExactValues:
    """A stream of small exact numbers, a function of the seed: PCG64's raw integers.

    They are small multiples of 1/8, which every floating dtype from float16 on holds exactly, so relations
    such as x + 1e4 are exact in float64 and float32.
    """

    def __init__(self, seed: bytes) -> None:
        self._bits = np.random.PCG64(int.from_bytes(hashlib.sha256(b"values" + seed).digest(), "big"))

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return integers from `low` to `high`, both included."""
        count = math.prod(shape)
        # raw integers, whose stream numpy keeps from version to version; its distributions may change
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64).reshape(shape)
        return (raw % np.uint64(high - low + 1)).astype(np.int64) + low

    def eighths(self, bound: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return multiples of 1/8 from -bound to bound."""
        return self.integers(-8 * bound, 8 * bound, shape) / 8.0

    def distinct(self, bound: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return multiples of 1/8 from -bound to bound, of 1/16 and so on if need be, no two equal."""
        size, steps = math.prod(shape), 8
        while size > 2 * steps * bound + 1:
            steps *= 2
        available = 2 * steps * bound + 1
        return (self.order(available)[:size].reshape(shape) - steps * bound) / float(steps)

    def shuffled(self, size: int) -> NDArray[np.int64]:
        """Return any permutation of 0 … size-1, each as likely as the others."""
        # of 2**40 numbers two are hardly ever equal, so every order is as likely
        return np.argsort(self.integers(0, 2**40, (size,)), kind="stable")

    def order(self, size: int) -> NDArray[np.int64]:
        """Return a permutation of 0 … size-1 that moves something; size 2 or more."""
        order = self.shuffled(size)
        return np.roll(order, 1) if np.array_equal(order, np.arange(size)) else order

    def partial_mask(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return a mask under which every row sees something and misses something."""
        mask = np.empty(shape, dtype=bool)
        for row in mask.reshape(-1, shape[-1]):
            row[:] = self.integers(0, 1, row.shape) == 1
            order = self.order(len(row))
            row[order[0]], row[order[1]] = True, False
        return mask

    def weights(self, shape: tuple[int, ...], *, step: int, noise: int, total: int) -> NDArray[np.float64]:
        """Return positive rows that sum to 1 exactly, no two entries of a row equal.

        Parameters
        ----------
        shape : tuple of int
        step, noise : int
            All entries but the largest lie `step` apart, plus 0 … `noise`, in units of 1/`total`.
        total : int
            A power of two, large enough for the largest entry to take up the rest.
        """
        n = shape[-1]
        rows = []
        for _ in range(math.prod(shape[:-1])):
            parts = step * (1 + self.shuffled(n)) + self.integers(0, noise, (n,))
            parts[np.argmax(parts)] += total - parts.sum()
            rows.append(parts / total)
        return np.array(rows).reshape(shape)
