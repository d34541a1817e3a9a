"""Groups of assignments: the lowest that don't count, and weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from engine.course.policies import Policies
from engine.marks.late_work import exact, rounded
from engine.marks.results import ColumnMark, TableColumn

__all__ = ["drop_lowest", "dropped", "percent"]


# ----------------------------------------------------------------------------------------------------
# Dropping the lowest of a group.


def dropped(marks: Sequence[tuple[Fraction, Fraction]], count: int) -> frozenset[int]:
    """Return which marks to leave out, so that the others make the largest share of their full points.

    Parameters
    ----------
    marks : sequence of (Fraction, Fraction)
        Points and full points (more than 0) of each.
    count : int
        How many are left out; one always stays.

    Returns
    -------
    frozenset of int
        Their places. Where all have the same full points these are the lowest.

    Notes
    -----
    With different full points the lowest marks aren't always the ones to drop. The best share q is
    found by Dinkelbach's method: keep those with the largest points - q · full points, take their share
    as the next q, until it stays. It rises each time, and there are finitely many choices.
    """
    count = min(count, len(marks) - 1)
    if count <= 0:
        return frozenset()
    share = Fraction(0)
    while True:
        # Of equal ones the earlier is dropped.
        excess = [points - share * full for points, full in marks]
        order = sorted(range(len(marks)), key=excess.__getitem__)
        kept = [marks[place] for place in order[count:]]
        found = sum((points for points, _ in kept), Fraction(0)) / sum(full for _, full in kept)
        if found <= share:
            return frozenset(order[:count])
        share = found


@dataclass(slots=True)
class _Sum:
    """Some columns of one student: their points and what they count."""

    columns: list[TableColumn] = field(default_factory=list)
    points: Fraction = Fraction(0)
    full: Fraction = Fraction(0)
    is_missing: bool = True

    def add(self, column: TableColumn, mark: ColumnMark) -> None:
        self.columns.append(column)
        self.points += exact(mark.adjusted or 0.0)
        self.full += exact(column.max_score)
        self.is_missing = self.is_missing and mark.raw is None


def drop_lowest(
    marks: Mapping[TableColumn, ColumnMark],
    policies: Policies,
    *,
    waiting: Collection[TableColumn],
    due: Collection[TableColumn],
) -> dict[TableColumn, ColumnMark]:
    """Return the marks that aren't counted because they are among the lowest of their group.

    Nothing is dropped in a group with ungraded work. Work that is due and missing is dropped like a 0.

    Parameters
    ----------
    marks : mapping of TableColumn to ColumnMark
    policies : Policies
    waiting : collection of TableColumn
        Ungraded.
    due : collection of TableColumn
        What is due by now.
    """
    found: dict[TableColumn, ColumnMark] = {}
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


def percent(
    marks: Mapping[TableColumn, ColumnMark], policies: Policies, *, waiting: Collection[TableColumn]
) -> float | None:
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


def _of_group(
    marks: Mapping[TableColumn, ColumnMark], policies: Policies, group: str
) -> dict[TableColumn, ColumnMark]:
    return {
        column: mark
        for column, mark in marks.items()
        if not mark.excused and policies.rules_of(column.assignment).group == group
    }


def _sums(marks: Mapping[TableColumn, ColumnMark], due: Collection[TableColumn]) -> list[_Sum]:
    """Return the assignments that count or are missing although they are due, the missing ones first."""
    sums: dict[str, _Sum] = {}
    for column, mark in marks.items():
        if column.max_score > 0 and (mark.adjusted is not None or column in due):
            sums.setdefault(column.assignment, _Sum()).add(column, mark)
    return sorted(sums.values(), key=lambda one: not one.is_missing)
