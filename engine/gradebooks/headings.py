"""Which heading of a learning system's file is which of our assignments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from engine.course import ClassTable
from engine.errors import UsageError
from engine.foreign import clean_line
from engine.gradebooks.gradebook import Request
from engine.gradebooks.targets import (
    Target,
    assignment_targets,
    has_number,
    named_targets,
    plain_heading,
    spoken,
)

__all__ = ["wanted_targets", "where_headed"]


def wanted_targets(request: Request) -> list[Target]:
    """Return what a file for a learning system holds: what was asked for, or every assignment."""
    if request.columns:
        return named_targets(request.table, request.columns)
    return assignment_targets(request.table, request.titles)


def where_headed(
    targets: Sequence[Target],
    header: Sequence[str],
    open_columns: Collection[int],
    request: Request,
    plain: Callable[[str], str] = plain_heading,
) -> list[tuple[Target, int | None]]:
    """Return each target with the column of the file that it goes to; None where there is none.

    Parameters
    ----------
    targets : sequence of Target
    header : sequence of str
        Headings of the file.
    open_columns : collection of int
        Those that may hold marks.
    request : Request
    plain : callable
        Heading → what of it compares.

    Raises
    ------
    UsageError
        Two columns can be meant, one column is meant twice, or a named one holds no marks.
    """
    found = [(target, _column(target, header, open_columns, request, plain)) for target in targets]
    taken: dict[int, Target] = {}
    for target, column in found:
        if column is not None and taken.setdefault(column, target) is not target:
            two = f"{taken[column].ids} and {target.ids}"
            raise UsageError(
                f"{two} both go to {clean_line(header[column], 80)!r}",
                next_step="say with --column what goes where",
            )
    return found


def _column(
    target: Target,
    header: Sequence[str],
    open_columns: Collection[int],
    request: Request,
    plain: Callable[[str], str],
) -> int | None:
    exact = [place for place, head in enumerate(header) if head == target.heading]
    if request.columns and exact and not set(exact) & set(open_columns):
        raise UsageError(
            f"{clean_line(target.heading, 80)!r} can't hold marks: it is read only, or about the student"
        )
    names = {plain(name) for name in _names(target, request.columns, request.table, request.titles)}
    alike = [place for place in open_columns if plain(header[place]) in names]
    places = [place for place in exact if place in open_columns] or alike
    if request.columns and alike == places and has_number(target.heading) and places:
        wanted = spoken(target.heading)
        places = [place for place in places if spoken(header[place]) == wanted]
        if not places:  # a number says which of several is meant: another one is another column
            raise UsageError(
                f"the file has no column {clean_line(target.heading, 80)!r}",
                next_step=f"did you mean {clean_line(header[alike[0]], 80)!r}?",
            )
    if len(places) > 1:
        heads = " or ".join(repr(clean_line(header[place], 80)) for place in places)
        raise UsageError(
            f"{target.ids} can go to {heads}",
            next_step=f'say which: --column "{clean_line(header[places[0]], 80)}={target.ids}"',
        )
    return places[0] if places else None


def _names(target: Target, given: Collection[str], table: ClassTable, titles: Mapping[str, str]) -> list[str]:
    """Return what a target may be called; only its heading where a person has named it."""
    if given:
        return [target.heading]
    return [target.heading, target.ids, titles.get(target.ids, target.ids)]
