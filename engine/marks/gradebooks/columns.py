"""Which of our columns stand under which heading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.errors import UsageError
from engine.marks.gradebooks.formats import GradebookRequest
from engine.marks.results import ClassTable, TableColumn
from engine.text.escape import clean_line
from engine.text.words import suggestion

__all__ = [
    "TargetColumn",
    "assignment_targets",
    "column_targets",
    "has_number",
    "named_targets",
    "plain_heading",
    "spoken",
    "wanted_targets",
    "where_headed",
]

TOTAL, PERCENT = "total", "percent"
_NUMBERED = re.compile(r"(?:(?<!\s)\s++)?\([0-9]++\)$")  # Canvas: "HW 1 (123)"


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """One column of the file to be: a heading over the sum of some of our columns.

    Parameters
    ----------
    heading : str
    columns : tuple of TableColumn
        Summed; all of them for ``total``.
    ids : str
        As a person would write them.
    maximum : float
        Full points: the most that they are for any student, for what is excused or dropped isn't counted.
    is_percent : bool
        It holds the weighted percent instead of points.
    """

    heading: str
    columns: tuple[TableColumn, ...]
    ids: str
    maximum: float
    is_percent: bool = False


def assignment_targets(table: ClassTable, titles: Mapping[str, str]) -> list[TargetColumn]:
    """Return a target for every assignment, headed by its title (by its id where two have one title)."""
    names = list(dict.fromkeys(column.assignment for column in table.columns))
    heads = [titles.get(name, name) for name in names]
    plain = [plain_heading(head) for head in heads]
    return [
        _target(table, head if plain.count(plain_heading(head)) == 1 else name, name)
        for name, head in zip(names, heads, strict=True)
    ]


def column_targets(table: ClassTable) -> list[TargetColumn]:
    """Return a target for every column, and the total; the weighted percent where there is one."""
    ids = [column.id for column in table.columns]
    percent = [PERCENT] if any(row.percent is not None for row in table.rows) else []
    return [_target(table, name, name) for name in (*ids, TOTAL, *percent)]


def named_targets(table: ClassTable, given: Sequence[str]) -> list[TargetColumn]:
    """Return the targets of ``HEADING=ID+ID``.

    Raises
    ------
    UsageError
        It isn't of that form, names what there is no mark for, or heads two columns the same.
    """
    found: dict[str, TargetColumn] = {}
    for text in given:
        heading, equals, ids = text.rpartition("=")
        heading = heading.strip()
        if not equals or not heading or not ids.strip():
            raise UsageError(
                "--column can't be read", expected="HEADING=ID or HEADING=ID+ID", got=clean_line(text)
            )
        if heading in found:
            raise UsageError(f"two columns are headed {clean_line(heading)!r}")
        found[heading] = _target(table, heading, ids)
    return list(found.values())


def plain_heading(text: str) -> str:
    """Return a heading as it compares: without the number in brackets, case and needless blanks."""
    return _NUMBERED.sub("", spoken(text))


def spoken(text: str) -> str:
    """Return a heading without case and needless blanks."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def has_number(heading: str) -> bool:
    """Tell whether a heading ends in Canvas's number of the assignment."""
    return _NUMBERED.search(heading.rstrip()) is not None


def _target(table: ClassTable, heading: str, ids: str) -> TargetColumn:
    if ids.strip() == PERCENT and not _columns(table, PERCENT):
        return TargetColumn(heading, table.columns, PERCENT, 100.0, is_percent=True)
    names = [name.strip() for name in ids.split("+")]
    columns = dict.fromkeys(column for name in names for column in _known(table, name))
    ordered = tuple(column for column in table.columns if column in columns)
    return TargetColumn(heading, ordered, "+".join(names), _full(table, ordered))


def _known(table: ClassTable, name: str) -> Iterable[TableColumn]:
    columns = _columns(table, name) or (table.columns if name == TOTAL else ())
    if columns:
        return columns
    known = sorted({i for c in table.columns for i in (c.id, c.assignment)} | {TOTAL, PERCENT})
    raise UsageError(
        f"there is no mark for {clean_line(name, 80)!r}",
        expected=", ".join(known),
        next_step=suggestion(name, known),
    )


def _columns(table: ClassTable, name: str) -> list[TableColumn]:
    return [c for c in table.columns if c.id == name] or [c for c in table.columns if c.assignment == name]


def _full(table: ClassTable, columns: Sequence[TableColumn]) -> float:
    return max((row.maximum(columns) for row in table.rows), default=0.0) or sum(c.max_score for c in columns)


# ----------------------------------------------------------------------------------------------------
# Which heading of a learning system's file is which of our assignments.


def wanted_targets(request: GradebookRequest) -> list[TargetColumn]:
    """Return what a file for a learning system holds: what was asked for, or every assignment."""
    if request.columns:
        return named_targets(request.table, request.columns)
    return assignment_targets(request.table, request.titles)


def where_headed(
    targets: Sequence[TargetColumn],
    header: Sequence[str],
    open_columns: Collection[int],
    request: GradebookRequest,
    plain: Callable[[str], str] = plain_heading,
) -> list[tuple[TargetColumn, int | None]]:
    """Return each target with the column of the file that it goes to; None where there is none.

    Parameters
    ----------
    targets : sequence of TargetColumn
    header : sequence of str
        Headings of the file.
    open_columns : collection of int
        Those that may hold marks.
    request : GradebookRequest
    plain : callable
        Heading → what of it compares.

    Raises
    ------
    UsageError
        Two columns can be meant, one column is meant twice, or a named one holds no marks.
    """
    found = [(target, _column(target, header, open_columns, request, plain)) for target in targets]
    taken: dict[int, TargetColumn] = {}
    for target, column in found:
        if column is not None and taken.setdefault(column, target) is not target:
            two = f"{taken[column].ids} and {target.ids}"
            raise UsageError(
                f"{two} both go to {clean_line(header[column], 80)!r}",
                next_step="say with --column what goes where",
            )
    return found


def _column(
    target: TargetColumn,
    header: Sequence[str],
    open_columns: Collection[int],
    request: GradebookRequest,
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


def _names(
    target: TargetColumn, given: Collection[str], table: ClassTable, titles: Mapping[str, str]
) -> list[str]:
    """Return what a target may be called; only its heading where a person has named it."""
    if given:
        return [target.heading]
    return [target.heading, target.ids, titles.get(target.ids, target.ids)]
