"""A frozen plan: cases (inputs), groups (which property is judged on which of them), expected outputs.

Expected outputs come with their tolerance: it depends on the input, so it is fixed with it, before any
student code is loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, SpecialArgument, flat, leaf_of, wire_argument
from engine.code.result_kinds import ArrayResult, ResultKind
from engine.model import Check
from engine.runner import Call, LastingCalls

# How far a right result may lie from the reference's, from the dtype and the size of the problem. A weight is
# exp of a score difference, so an error of one score is a *relative* error of the weight: rounding scores of
# size S gives eps * S, a dot product of d terms d * eps * S more, a sum of n exponentials n * eps. A mixture
# of n values is as wrong as its weights, times the largest value.
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# What else a right program may do (another order of steps, log space, a division by the temperature) stays
# below this, and every known mistake lies far above it.
FLOOR = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
# the check of the values looks for wrong results; lost precision is for the checks of sums to find
VALUES_TOLERANCE = 1e-6
# roundings per quantity that a right program may need; with 8 of them the bound for half precision would
# be wider than the numbers, so its cases are small and mild, where 2 and 1 are twice what theory needs
_STEPS = {"float64": 8.0, "float32": 8.0, "float16": 2.0, "bfloat16": 1.0}


def relative_tolerance(dtype: str, *, keys: int, score: float, terms: int = 1) -> float:
    """Return the relative tolerance of one softmax weight.

    Parameters
    ----------
    dtype : str
        Floating dtype of the computation.
    keys : int
        n, how many exponentials are summed.
    score : float
        Largest absolute score; with dot products the sum of the absolute products, scaled.
    terms : int
        d, how many products one score sums.
    """
    return FLOOR[dtype] + _STEPS[dtype] * EPS[dtype] * (keys + (1 + terms) * score + 8.0)


def widen_tolerance(relative: float, dtype: str, wide: str = "float32") -> float:
    """Return the tolerance in a narrower dtype of what has this relative tolerance in a wide one."""
    roundings = max(0.0, relative - FLOOR[wide]) / (_STEPS[wide] * EPS[wide])
    return FLOOR[dtype] + _STEPS[dtype] * EPS[dtype] * roundings


def close(got: np.ndarray, due: np.ndarray, slack: float) -> bool:
    """Return whether two arrays of one shape agree within `slack` everywhere; NaN never does."""
    return got.shape == due.shape and bool(np.all(np.abs(got - due) <= slack))


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
        Tolerance of one weight, relative to the weight itself (see :func:`relative_tolerance`).
    slack : float
        Absolute tolerance of one entry of the output.
    """

    values: NDArray[np.float64]
    dtype: str
    relative: float
    slack: float

    def widened(self, dtype: str, wide: str = "float32") -> ExpectedPart:
        """Return it with the tolerances of a narrower dtype, of which `self` has those of the wide one."""
        if self.relative == 0:  # of whole numbers and truth values nothing is lost
            return self
        relative = widen_tolerance(self.relative, dtype, wide)
        return replace(self, relative=relative, slack=self.slack * relative / self.relative)


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
        For a case with cotangents: one for each floating array among the arguments, in their order; None
        where it isn't judged.
    """

    parts: tuple[ExpectedPart, ...]
    result: ResultKind = field(default_factory=ArrayResult)
    gradients: tuple[ExpectedPart | None, ...] | None = None

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
    kind : str
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
    kind: str
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
        # where gradients are asked for, no result is overwritten: what is kept or shared shows elsewhere
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
    exercise : str
        Id of the exercise whose file built it.
    cases : tuple of PlanCase
        Public canonical cases first, adversarial ones last.
    groups : mapping of str to tuple of CaseGroup
        By :func:`group_key`; groups over public cases first.
    returning : frozenset of int
        The cases whose arguments come back after the call.
    """

    id: str
    exercise: str
    cases: tuple[PlanCase, ...]
    groups: Mapping[str, tuple[CaseGroup, ...]]
    returning: frozenset[int]
    # made once for a class, not for each of its submissions
    _wires: dict[str, tuple[Call, ...]] = field(default_factory=dict, repr=False)
    # what outcomes, results and calls came to that came before: see `remembered`
    seen: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    judged: dict[Hashable, Check] = field(default_factory=dict, repr=False)
    texts: dict[Hashable, str] = field(default_factory=dict, repr=False)

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
            self._wires[key] = LastingCalls(replace(call, function=function) for call in self.sent(library))
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
        cls, exercise: str, cases: Sequence[PlanCase], groups: Sequence[CaseGroup], returning: frozenset[int]
    ) -> InputPlan:
        """Return the plan of these cases; of each property, groups over public cases come first."""
        by_key: dict[str, list[CaseGroup]] = {}
        for group in groups:
            by_key.setdefault(group.property, []).append(group)
        # the first problem is the one that is reported, and only that of public cases may show its numbers
        for same_property in by_key.values():
            same_property.sort(key=lambda group: not all(cases[member].public for member in group.members))
        frozen = MappingProxyType({key: tuple(same_property) for key, same_property in by_key.items()})
        return cls(_digest(exercise, cases), exercise, tuple(cases), frozen, returning)

    def only(self, keys: set[str], always: frozenset[int]) -> InputPlan:
        """Return the plan without the groups that no check asks for, nor the cases that only they need.

        That a call leaves its arguments alone is judged of every case that is needed for something else.
        """
        groups_asked = [
            group for key, same_property in self.groups.items() if key in keys for group in same_property
        ]
        needed = always.union(*(group.members for group in groups_asked if not _follows(group)))
        groups = [group for group in groups_asked if not _follows(group) or group.members[0] in needed]
        members = sorted(needed)
        place = {old: new for new, old in enumerate(members)}
        moved = [
            CaseGroup(group.property, tuple(place[member] for member in group.members), group.data)
            for group in groups
        ]
        returning = frozenset(place[old] for old in self.returning if old in place)
        return InputPlan.of(self.exercise, [self.cases[old] for old in members], moved, returning)


T = TypeVar("T")
_MOST_REMEMBERED = 2000  # about what the distinct programs of a class give on a plan


def remembered(
    memory: dict[Hashable, T], key: Hashable, make: Callable[[], T], most: int = _MOST_REMEMBERED
) -> T:
    """Return what was made for an equal key before, or make it; a full memory begins anew.

    Most programs of a class give results that others gave too, right and wrong: they are judged once.
    """
    value = memory.get(key)
    if value is None:
        value = make()
        if len(memory) >= most:
            memory.clear()
        memory[key] = value
    return value


def _follows(group: CaseGroup) -> bool:
    return group.property == "pure" and len(group.members) == 1


def _digest(exercise: str, cases: Sequence[PlanCase]) -> str:
    # not of the expected values: they follow from the inputs, up to the last bit of the machine's rounding
    digest = hashlib.sha256(exercise.encode())
    for case in cases:
        digest.update(f"|{case.id}|{case.kind}|{case.public}|{case.narrow}|{case.layout}".encode())
        for value in (*flat(case.args), *(case.cotangents or ())):
            if isinstance(value, np.ndarray):
                digest.update(f"|{value.dtype.name}{value.shape}".encode() + value.tobytes())
            else:
                digest.update(f"|{value.key() if isinstance(value, SpecialArgument) else value!r}".encode())
    return digest.hexdigest()[:32]  # 128 bits: plans of a course never collide
