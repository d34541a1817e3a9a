"""Building a plan: a family adds cases and says which property is judged on which of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.code.case import Argument, Case, Expected, Group, Plan, group_key

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

    def case(self, name: str, *args: Argument, aspect: str = "ordinary", public: bool = False) -> int:
        """Add an input and return its position; an aspect of ``"refused"`` expects an exception."""
        expected = None if aspect == "refused" else self._expected(args)
        self._cases.append(Case(name, args, aspect, public, expected))
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
