"""Building a plan: a family adds cases and says which property is judged on which of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from engine.code.case import Argument, Case, Expected, Group, Part, Plan, group_key
from engine.code.tolerance import widened

__all__ = ["PlanBuilder"]


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
        self._returning: set[int] = set()

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

    def arguments_return(self, *members: int) -> None:
        """Have the arguments of these cases come back, and judge that they didn't change."""
        self._returning.update(members)
        self.judge_each("pure", list(members))

    def argument(self, member: int, position: int = 0) -> Any:
        """Return one argument of a case that was added before."""
        return self._cases[member].args[position]

    def plan(self) -> Plan:
        """Return the frozen plan."""
        return Plan.of(self._family, self._cases, self._groups, frozenset(self._returning))

    @staticmethod
    def _narrowed(expected: Expected, dtype: str) -> Expected:
        """Return the same values with the dtype and the tolerance of a narrower computation."""
        parts = []
        for part in expected.parts:
            relative = widened(part.relative, dtype)
            parts.append(Part(part.values, dtype, relative, part.slack * relative / part.relative))
        return replace(expected, parts=tuple(parts))
