"""Groups of assignments: the lowest that are dropped, and the percentage that the groups' weights make.

A student's mark in a group is the sum of its points over the sum of its full points; an assignment may have
several columns, and is dropped or counted as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from engine.course.policies import Policies
from engine.marks.class_table import ColumnMark, TableColumn
from engine.marks.late_work import exact, rounded


def indices_to_drop(marks: Sequence[tuple[Fraction, Fraction]], count: int) -> frozenset[int]:
    """Return which marks to leave out so that the rest has the largest share of its full points.

    Parameters
    ----------
    marks : sequence of (Fraction, Fraction)
        Points and full points (more than 0) of each.
    count : int
        How many to leave out; one always stays.

    Returns
    -------
    frozenset of int
        Their indices. Where all marks have the same full points these are the lowest.

    Notes
    -----
    With different full points the lowest marks aren't always the ones to drop. The best share q is
    found by Dinkelbach's method: keep those with the largest points - q · full points, take their share
    as the next q, until it stays. It rises each time, and there are finitely many choices.
    """
    # A group with nothing left would have no share at all.
    count = min(count, len(marks) - 1)
    if count <= 0:
        return frozenset()
    share = Fraction(0)
    while True:
        # Of equal ones the earlier is dropped: sorted() is stable, and callers put missing work first.
        excess = [points - share * full for points, full in marks]
        order = sorted(range(len(marks)), key=excess.__getitem__)
        rest = [marks[index] for index in order[count:]]
        next_share = sum((points for points, _ in rest), Fraction(0)) / sum(full for _, full in rest)
        if next_share <= share:
            return frozenset(order[:count])
        share = next_share


@dataclass(slots=True)
class _Sum:
    """The columns of one assignment for one student, with their points and full points in all."""

    columns: list[TableColumn] = field(default_factory=list)
    points: Fraction = Fraction(0)
    full: Fraction = Fraction(0)
    is_missing: bool = True

    def add(self, column: TableColumn, mark: ColumnMark) -> None:
        self.columns.append(column)
        self.points += exact(mark.adjusted or 0.0)
        self.full += exact(column.max_score)
        # One graded column is enough: only an assignment without any work is dropped before a 0.
        self.is_missing = self.is_missing and mark.raw is None


def drop_lowest(
    marks: Mapping[TableColumn, ColumnMark],
    policies: Policies,
    *,
    waiting: Collection[TableColumn],
    due: Collection[TableColumn],
) -> dict[TableColumn, ColumnMark]:
    """Return the marks that don't count because they are among the lowest of their group.

    Work that is due and missing is dropped like a 0.

    Parameters
    ----------
    marks : mapping of TableColumn to ColumnMark
    policies : Policies
    waiting : collection of TableColumn
        Columns with ungraded work.
    due : collection of TableColumn
        Columns that are due by now.
    """
    left_out: dict[TableColumn, ColumnMark] = {}
    for name, group in policies.groups.items():
        mine = _of_group(marks, policies, name)
        # A mark that is still to come could be the lowest.
        if not group.drop_lowest or not mine.keys().isdisjoint(waiting):
            continue
        sums = _sums(mine, due)
        indices = indices_to_drop([(each.points, each.full) for each in sums], group.drop_lowest)
        why = f"not counted: {_best(len(sums) - len(indices), len(sums))}"
        for column in (column for index in indices for column in sums[index].columns):
            left_out[column] = replace(mine[column], why=(*mine[column].why, why), dropped=True)
    return left_out


def weighted_percent(
    marks: Mapping[TableColumn, ColumnMark], policies: Policies, *, waiting: Collection[TableColumn]
) -> float | None:
    """Return a student's weighted percentage.

    Groups in which nothing counts yet are left out, and the weights of the others make up the whole.

    Returns
    -------
    float or None
        None where no group has a weight, nothing counts, or something is ungraded.
    """
    earned = weights = Fraction(0)
    for name, group in policies.groups.items():
        if group.weight is None:
            continue
        mine = _of_group(marks, policies, name)
        # No percentage is better than one that will change by itself.
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


def _best(count: int, of: int) -> str:
    return f"only the best of {of} counts" if count == 1 else f"only the best {count} of {of} count"


def _of_group(
    marks: Mapping[TableColumn, ColumnMark], policies: Policies, group: str
) -> dict[TableColumn, ColumnMark]:
    return {
        column: mark
        for column, mark in marks.items()
        if not mark.excused and policies.rules_of(column.assignment).group == group
    }


def _sums(marks: Mapping[TableColumn, ColumnMark], due: Collection[TableColumn]) -> list[_Sum]:
    """Return the assignments that count, or are due and missing; the missing ones first."""
    sums: dict[str, _Sum] = {}
    for column, mark in marks.items():
        if column.max_score > 0 and (mark.adjusted is not None or column in due):
            sums.setdefault(column.assignment, _Sum()).add(column, mark)
    return sorted(sums.values(), key=lambda each: not each.is_missing)
