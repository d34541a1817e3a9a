"""Building a plan: a family adds cases and says which property is judged on which of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import arrays_of, flat, key_of, rebuilt
from engine.code.case import Argument, Case, Expected, Group, Part, Plan, group_key
from engine.code.tolerance import widened

__all__ = ["PlanBuilder"]


_BY_TWIN = {"layout", "precision", "half"}


def _plain(value: Argument) -> Argument:
    if isinstance(value, Mapping):
        return {name: _doubled(array) for name, array in value.items()}
    return _doubled(value) if isinstance(value, np.ndarray) else value


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _ordinary(case: Case) -> bool:
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

    def __init__(self, family: str, expected: Callable[[tuple[Argument, ...]], Expected]) -> None:
        self._family = family
        self._expected = expected
        self._cases: list[Case] = []
        self._groups: list[Group] = []

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
        self._cases.append(Case(name, args, aspect, public, expected, narrow, layout))
        return len(self._cases) - 1

    def gradient_case(
        self,
        name: str,
        *args: Argument,
        cotangents: Sequence[NDArray[Any]],
        gradients: Sequence[Part],
        public: bool = False,
    ) -> int:
        """Add an input whose gradients are judged as well (``grad``), where torch can give them.

        Parameters
        ----------
        name : str
        *args : Argument
        cotangents : sequence of ndarray
            One for each part of the result, of its shape and dtype.
        gradients : sequence of Part
            The right gradients, one for each floating array among the arguments.
        public : bool
        """
        expected = replace(self._expected(args), gradients=tuple(gradients))
        case = Case(name, args, "gradient", public, expected, cotangents=tuple(cotangents))
        self._cases.append(case)
        self.judge("grad", len(self._cases) - 1)
        return len(self._cases) - 1

    def judge(self, name: str, *members: int, cases: str | None = None, **data: Any) -> None:
        """Have a property judged once, over these cases together."""
        self._groups.append(Group(group_key(name, cases), members, data))

    def judge_each(self, name: str, members: list[int], cases: str | None = None, **data: Any) -> None:
        """Have a property judged on each of these cases alone."""
        for member in members:
            self.judge(name, member, cases=cases, **data)

    def argument(self, member: int, position: int = 0) -> Any:
        """Return one argument of a case that was added before."""
        return self._cases[member].args[position]

    def plan(self) -> Plan:
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
        return Plan.of(self._family, self._cases, self._groups, frozenset(computed))

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
    def _narrowed(expected: Expected, dtype: str) -> Expected:
        """Return the same values with the dtype and the tolerance of a narrower computation."""
        parts = []
        for part in expected.parts:
            relative = widened(part.relative, dtype)
            parts.append(Part(part.values, dtype, relative, part.slack * relative / part.relative))
        return replace(expected, parts=tuple(parts))
