"""Groups of assignments: the lowest that don't count, and weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from engine.course.policies.drops import dropped
from engine.course.policies.points import exact, rounded
from engine.course.policies.schema import Policies
from engine.course.results import Column, Mark

__all__ = ["drop_lowest", "percent"]


@dataclass(slots=True)
class _Sum:
    """Some columns of one student: their points and what they count."""

    columns: list[Column] = field(default_factory=list)
    points: Fraction = Fraction(0)
    full: Fraction = Fraction(0)
    is_missing: bool = True

    def add(self, column: Column, mark: Mark) -> None:
        self.columns.append(column)
        self.points += exact(mark.adjusted or 0.0)
        self.full += exact(column.max_score)
        self.is_missing = self.is_missing and mark.raw is None


def drop_lowest(
    marks: Mapping[Column, Mark], policies: Policies, *, waiting: Collection[Column], due: Collection[Column]
) -> dict[Column, Mark]:
    """Return the marks that aren't counted because they are among the lowest of their group.

    Nothing is dropped in a group with ungraded work. Work that is due and missing is dropped like a 0.

    Parameters
    ----------
    marks : mapping of Column to Mark
    policies : Policies
    waiting : collection of Column
        Ungraded.
    due : collection of Column
        What is due by now.
    """
    found: dict[Column, Mark] = {}
    for name, group in policies.groups.items():
        mine = _of_group(marks, policies, name)
        if not group.drop_lowest or not mine.keys().isdisjoint(waiting):
            continue
        sums = _sums(mine, due)
        left_out = dropped([(one.points, one.full) for one in sums], group.drop_lowest)
        why = f"not counted: {_best(len(sums) - len(left_out), len(sums))}"
        for column in (column for place in left_out for column in sums[place].columns):
            found[column] = replace(mine[column], why=(*mine[column].why, why), dropped=True)
    return found


def percent(marks: Mapping[Column, Mark], policies: Policies, *, waiting: Collection[Column]) -> float | None:
    """Return what a student has, in percent, by the weights of the groups.

    Groups in which nothing counts yet are left out, and the others make up the whole.

    Returns
    -------
    float or None
        None where no group has a weight, where nothing counts, or while something is ungraded.
    """
    earned = weights = Fraction(0)
    for name, group in policies.groups.items():
        if group.weight is None:
            continue
        mine = _of_group(marks, policies, name)
        if not mine.keys().isdisjoint(waiting):
            return None
        whole = _Sum()
        for column, mark in mine.items():
            if mark.adjusted is not None and not mark.dropped:
                whole.add(column, mark)
        if whole.full:
            weights += exact(group.weight)
            earned += exact(group.weight) * whole.points / whole.full
    return rounded(100 * earned / weights) if weights else None


def _best(kept: int, of: int) -> str:
    return f"only the best of {of} counts" if kept == 1 else f"only the best {kept} of {of} count"


def _of_group(marks: Mapping[Column, Mark], policies: Policies, group: str) -> dict[Column, Mark]:
    return {
        column: mark
        for column, mark in marks.items()
        if not mark.excused and policies.rules_of(column.assignment).group == group
    }


def _sums(marks: Mapping[Column, Mark], due: Collection[Column]) -> list[_Sum]:
    """Return the assignments that count or are missing although they are due, the missing ones first."""
    sums: dict[str, _Sum] = {}
    for column, mark in marks.items():
        if column.max_score > 0 and (mark.adjusted is not None or column in due):
            sums.setdefault(column.assignment, _Sum()).add(column, mark)
    return sorted(sums.values(), key=lambda one: not one.is_missing)
