"""A frozen plan: cases (inputs), groups (which property is judged on which of them), expected outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import (
    Argument,
    SpecialArgument,
    arrays_of,
    flat,
    key_of,
    leaf_of,
    rebuilt,
    wire_argument,
)
from engine.code.results import ArrayResult, ResultKind
from engine.code.tolerance import widened
from engine.runner import Call

__all__ = [
    "CaseGroup",
    "ExpectedPart",
    "ExpectedResult",
    "InputPlan",
    "PlanBuilder",
    "PlanCase",
    "group_key",
]


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedPart:
    """One array of what the reference gives for one input.

    Parameters
    ----------
    values : ndarray of float64
        Computed in float64 from the inputs as they are, whatever their own dtype.
    dtype : str
        The floating dtype that the result must have.
    relative : float
        Tolerance of one weight, relative to the weight itself (see :mod:`engine.code.tolerance`).
    slack : float
        Absolute tolerance of one entry of the output.
    """

    values: NDArray[np.float64]
    dtype: str
    relative: float
    slack: float


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedResult:
    """What the reference gives for one input: the parts of a result, one for most functions.

    Parameters
    ----------
    parts : tuple of ExpectedPart
        As many as `result` has.
    result : ResultKind
        Kind of the result.
    gradients : tuple of ExpectedPart or None
        For a case with cotangents: one for each floating array among the arguments, in their order.
    """

    parts: tuple[ExpectedPart, ...]
    result: ResultKind = field(default_factory=ArrayResult)
    gradients: tuple[ExpectedPart, ...] | None = None

    @classmethod
    def array(cls, values: NDArray[np.float64], dtype: str, relative: float, slack: float) -> ExpectedResult:
        """Return what is expected of a function that returns one array."""
        return cls((ExpectedPart(values, dtype, relative, slack),))

    def text(self, library: str, digits: int = 6) -> str:
        """Return the right result as Python would print it."""
        return self.result.text(self.parts, library, digits)

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the first part."""
        return self.parts[0].values

    @property
    def dtype(self) -> str:
        """Dtype of the first part."""
        return self.parts[0].dtype

    @property
    def relative(self) -> float:
        """Relative tolerance of the first part."""
        return self.parts[0].relative

    @property
    def slack(self) -> float:
        """Absolute tolerance of the first part."""
        return self.parts[0].slack


@dataclass(frozen=True, slots=True, eq=False)
class PlanCase:
    """One input of the plan.

    Parameters
    ----------
    id : str
        Unique in the plan.
    args : tuple
        Positional arguments: numpy arrays, plain values, records of arrays, special ones.
    aspect : str
        ``"ordinary"``, ``"batch"``, ``"masked"``, ``"all-hidden"``, ``"large"``, ``"precision"``,
        ``"half"``, ``"layout"``, ``"empty"``, ``"gradient"`` or ``"refused"``.
    public : bool
        Whether a student may see it with its expected value.
    expected : ExpectedResult or None
        None where the function must refuse the input.
    narrow : str or None
        ``"bfloat16"``: in torch the float32 arrays arrive in this dtype, in numpy as they are.
    layout : {"plain", "strided", "read-only"}
        How the arrays lie in memory.
    cotangents : tuple of ndarray or None
        One for each part of the result: in torch the gradients of the sum of ``part * cotangent`` come
        back as well, if the result is differentiable. Numpy just makes the call.
    """

    id: str
    args: tuple[Argument, ...]
    aspect: str
    public: bool
    expected: ExpectedResult | None
    narrow: str | None = None
    layout: str = "plain"
    cotangents: tuple[NDArray[Any], ...] | None = None

    def call(self, function: str, library: str, returning: bool = False) -> Call:
        """Return the call on this input; `library` is ``"numpy"`` or ``"torch"``."""
        args = tuple(
            wire_argument(value, library, narrow=self.narrow, layout=self.layout) for value in self.args
        )
        if self.cotangents is None or library == "numpy":
            return Call(function, args, return_arguments=returning, overwrite_result=returning)
        cotangents = tuple(leaf_of(array, library) for array in self.cotangents)
        return Call(function, args, return_arguments=returning, cotangents=cotangents)


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """The cases, by position in the plan, over which one property is judged once."""

    property: str
    members: tuple[int, ...]
    data: Mapping[str, Any] = field(default_factory=dict)


def group_key(name: str, cases: str | None = None) -> str:
    """Return the name under which a plan keeps the groups of a property, maybe of one kind of cases."""
    return name if cases is None else f"{name}@{cases}"


@dataclass(frozen=True, eq=False)
class InputPlan:
    """All inputs of one grading, frozen before any student code is loaded.

    Parameters
    ----------
    id : str
        Hash of every input: two plans of one id ask the same.
    family : str
        Name of the family that built it.
    cases : tuple of PlanCase
        Public canonical cases first, adversarial ones last.
    groups : mapping of str to tuple of CaseGroup
        By :func:`group_key`; groups over public cases first.
    returning : frozenset of int
        The cases whose arguments come back after the call.
    """

    id: str
    family: str
    cases: tuple[PlanCase, ...]
    groups: Mapping[str, tuple[CaseGroup, ...]]
    returning: frozenset[int]
    _wires: dict[str, tuple[Call, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Position of every case by its id."""
        return {case.id: place for place, case in enumerate(self.cases)}

    def calls(self, function: str, library: str) -> tuple[Call, ...]:
        """Return the calls of one submission, the same object each time.

        Parameters
        ----------
        function : str
        library : {"numpy", "torch"}
        """
        key = f"{library} {function}"
        if key not in self._wires:
            self._wires[key] = tuple(replace(call, function=function) for call in self.sent(library))
        return self._wires[key]

    def sent(self, library: str) -> tuple[Call, ...]:
        """Return the calls without a function's name: leaves are made once for a class."""
        if library not in self._wires:
            self._wires[library] = tuple(
                case.call("", library, index in self.returning) for index, case in enumerate(self.cases)
            )
        return self._wires[library]

    @classmethod
    def of(
        cls, family: str, cases: Sequence[PlanCase], groups: Sequence[CaseGroup], returning: frozenset[int]
    ) -> InputPlan:
        """Return the plan of these cases; of each property, groups over public cases come first."""
        by_key: dict[str, list[CaseGroup]] = {}
        for group in groups:
            by_key.setdefault(group.property, []).append(group)
        for found in by_key.values():
            found.sort(key=lambda group: not all(cases[member].public for member in group.members))
        frozen = MappingProxyType({key: tuple(found) for key, found in by_key.items()})
        return cls(_digest(family, cases), family, tuple(cases), frozen, returning)

    def only(self, keys: set[str], always: frozenset[int]) -> InputPlan:
        """Return the plan without the groups that no check asks for, nor the cases that only they need.

        That a call leaves its arguments alone is judged of every case that is needed for something else.
        """
        asked = [group for key, found in self.groups.items() if key in keys for group in found]
        needed = always.union(*(group.members for group in asked if not _follows(group)))
        groups = [group for group in asked if not _follows(group) or group.members[0] in needed]
        kept = sorted(needed)
        place = {old: new for new, old in enumerate(kept)}
        moved = [
            CaseGroup(group.property, tuple(place[member] for member in group.members), group.data)
            for group in groups
        ]
        returning = frozenset(place[old] for old in self.returning if old in place)
        return InputPlan.of(self.family, [self.cases[old] for old in kept], moved, returning)


def _follows(group: CaseGroup) -> bool:
    return group.property == "pure" and len(group.members) == 1


def _digest(family: str, cases: Sequence[PlanCase]) -> str:
    digest = hashlib.sha256(family.encode())
    for case in cases:
        digest.update(f"|{case.id}|{case.aspect}|{case.public}|{case.narrow}|{case.layout}".encode())
        for value in (*flat(case.args), *(case.cotangents or ())):
            if isinstance(value, np.ndarray):
                digest.update(f"|{value.dtype.name}{value.shape}".encode() + value.tobytes())
            else:
                digest.update(f"|{value.key() if isinstance(value, SpecialArgument) else value!r}".encode())
    return digest.hexdigest()[:32]


# ----------------------------------------------------------------------------------------------------
# Building a plan: a family adds cases and says which property is judged on which of them.

_BY_TWIN = {"layout", "precision", "half"}


def _plain(value: Argument) -> Argument:
    if isinstance(value, Mapping):
        return {name: _doubled(array) for name, array in value.items()}
    return _doubled(value) if isinstance(value, np.ndarray) else value


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _ordinary(case: PlanCase) -> bool:
    """Return whether a case is hidden, with arrays of more than a few entries."""
    plain = case.expected is not None and case.narrow is None and case.layout == "plain"
    arrays = arrays_of(case.args)
    usual = case.aspect in ("ordinary", "masked") and bool(arrays) and arrays[0].dtype == np.float64
    return plain and usual and not case.public and _exchanged(arrays[0]) is not None


def _exchanged(array: NDArray[Any]) -> NDArray[Any] | None:
    """Return an array with two different entries of one row exchanged, neither the first nor the last."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    for row in range(len(rows) - 1, -1, -1):
        for left in range(rows.shape[1] - 1):
            flat_place = row * rows.shape[1] + left
            inner = flat_place > 0 and flat_place + 1 < rows.size - 1
            if inner and rows[row, left] != rows[row, left + 1]:
                found = rows.copy()
                found[row, [left, left + 1]] = rows[row, [left + 1, left]]
                return found.reshape(array.shape)
    return None


class PlanBuilder:
    """Collects the cases and groups of one plan.

    Parameters
    ----------
    family : str
        Name of the family.
    expected : callable
        Gives the reference's result for the arguments of a case.
    """

    def __init__(self, family: str, expected: Callable[[tuple[Argument, ...]], ExpectedResult]) -> None:
        self._family = family
        self._expected = expected
        self._cases: list[PlanCase] = []
        self._groups: list[CaseGroup] = []

    def case(
        self,
        name: str,
        *args: Argument,
        aspect: str = "ordinary",
        public: bool = False,
        narrow: str | None = None,
        layout: str = "plain",
    ) -> int:
        """Add an input and return its position; an aspect of ``"refused"`` expects an exception."""
        expected = None if aspect == "refused" else self._expected(args)
        if narrow is not None and expected is not None:
            expected = self._narrowed(expected, narrow)
        self._cases.append(PlanCase(name, args, aspect, public, expected, narrow, layout))
        return len(self._cases) - 1

    def gradient_case(
        self,
        name: str,
        *args: Argument,
        cotangents: Sequence[NDArray[Any]],
        gradients: Sequence[ExpectedPart],
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
            The right gradients, one for each floating array among the arguments.
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

    def judge_each(self, name: str, members: list[int], cases: str | None = None, **data: Any) -> None:
        """Have a property judged on each of these cases alone."""
        for member in members:
            self.judge(name, member, cases=cases, **data)

    def argument(self, member: int, position: int = 0) -> Any:
        """Return one argument of a case that was added before."""
        return self._cases[member].args[position]

    def plan(self) -> InputPlan:
        """Return the frozen plan.

        Inputs in another layout or precision get the plain input beside them that they are judged by, and
        of every case the arguments are looked at afterwards.
        """
        self._groups = [
            replace(group, members=(*group.members, self._twin(group.members[0])))
            if group.property in _BY_TWIN
            else group
            for group in self._groups
        ]
        self._add_similar()
        computed = [place for place, case in enumerate(self._cases) if case.expected is not None]
        self.judge_each("pure", computed)
        return InputPlan.of(self._family, self._cases, self._groups, frozenset(computed))

    def _add_similar(self) -> None:
        """Add inputs that differ from an earlier one in two entries only: a result that was kept shows.

        Shape, sum, first and last entry are the same, so that whatever a program takes an input for, this
        one looks like the other.
        """
        place = next((place for place, case in enumerate(self._cases) if _ordinary(case)), None)
        if place is None:
            return
        case = self._cases[place]
        leaves = flat(case.args)
        for at, value in enumerate(leaves):
            other = _exchanged(value) if isinstance(value, np.ndarray) else None
            if other is None:
                continue
            args = rebuilt(case.args, [*leaves[:at], other, *leaves[at + 1 :]])
            similar = self.case(f"{case.id}-similar-{at}", *args, aspect=case.aspect)
            self.judge("pure", place, similar, similar=True)

    def _twin(self, member: int) -> int:
        """Return the case of the same numbers as plain arrays, in double precision where they are floats."""
        case = self._cases[member]
        args = tuple(_plain(value) for value in case.args)
        key = key_of(args)
        for place, other in enumerate(self._cases):
            plain = other.layout == "plain" and other.narrow is None and other.cotangents is None
            if plain and other.expected is not None and key_of(other.args) == key:
                return place
        masked = any(array.dtype == np.bool_ for array in arrays_of(args))
        aspect = "masked" if masked else "batch" if case.aspect == "batch" else "ordinary"
        return self.case(f"{case.id}-plain", *args, aspect=aspect, public=case.public)

    @staticmethod
    def _narrowed(expected: ExpectedResult, dtype: str) -> ExpectedResult:
        """Return the same values with the dtype and the tolerance of a narrower computation."""
        parts = []
        for part in expected.parts:
            relative = widened(part.relative, dtype)
            parts.append(ExpectedPart(part.values, dtype, relative, part.slack * relative / part.relative))
        return replace(expected, parts=tuple(parts))
