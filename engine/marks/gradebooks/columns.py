"""Match our columns to the headings of a gradebook file.

``--column "HW 1=week-1+softmax"`` puts the sum of two assignments under a heading of one's choice; without it
an assignment goes to the heading that is its title or id. A mark under the wrong heading goes unnoticed, so
whatever is ambiguous is refused, with the option that would say which.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.errors import UsageError
from engine.marks.class_table import ClassTable, TableColumn
from engine.marks.gradebooks.formats import GradebookRequest
from engine.text.words import clean_line, suggestion

TOTAL, PERCENT = "total", "percent"
# Possessive: a heading of a thousand blanks must not take a second.
_NUMBERED = re.compile(r"(?:(?<!\s)\s++)?\([0-9]++\)$")  # Canvas: "HW 1 (123)"


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """One column of the file to write: a heading over the sum of some of our columns.

    Parameters
    ----------
    heading : str
    columns : tuple of TableColumn
        Summed; all of them for ``total``.
    ids : str
        The columns, as a person would name them on the command line.
    maximum : float
        Full points: the most that any student can have, because what is excused or dropped isn't counted.
    is_percent : bool
        It holds the weighted percent instead of points.
    """

    heading: str
    columns: tuple[TableColumn, ...]
    ids: str
    maximum: float
    is_percent: bool = False


def _assignment_targets(table: ClassTable, titles: Mapping[str, str]) -> list[TargetColumn]:
    """Return a target for every assignment, headed by its title (by its id where two have one title)."""
    # dict.fromkeys keeps the order of the columns, unlike a set.
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


def named_targets(table: ClassTable, assignments: Sequence[str]) -> list[TargetColumn]:
    """Return the targets of ``HEADING=ID+ID``.

    Raises
    ------
    UsageError
        It isn't of that form, names a column that doesn't exist, or gives two columns one heading.
    """
    targets: dict[str, TargetColumn] = {}
    for text in assignments:
        # The last "=": a heading may hold one, an id can't.
        heading, equals, ids = text.rpartition("=")
        heading = heading.strip()
        if not equals or not heading or not ids.strip():
            raise UsageError(
                "--column can't be read", expected="HEADING=ID or HEADING=ID+ID", got=clean_line(text)
            )
        if heading in targets:
            raise UsageError(f"two columns are headed {clean_line(heading)!r}")
        targets[heading] = _target(table, heading, ids)
    return list(targets.values())


def plain_heading(text: str) -> str:
    """Return a heading for comparison: without the number in brackets, case and extra blanks."""
    return _NUMBERED.sub("", _folded_heading(text))


def _folded_heading(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def _has_number(heading: str) -> bool:
    """Return whether a heading ends in Canvas's number of the assignment."""
    return _NUMBERED.search(heading.rstrip()) is not None


def _target(table: ClassTable, heading: str, ids: str) -> TargetColumn:
    if ids.strip() == PERCENT and not _columns(table, PERCENT):
        return TargetColumn(heading, table.columns, PERCENT, 100.0, is_percent=True)
    names = [name.strip() for name in ids.split("+")]
    columns = dict.fromkeys(column for name in names for column in _known(table, name))
    # In the order of the table, whatever the order of the ids.
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
    # An excused student's full points are fewer; the column's are those of whoever must do everything.
    return max((row.maximum(columns) for row in table.rows), default=0.0) or sum(c.max_score for c in columns)


def wanted_targets(request: GradebookRequest) -> list[TargetColumn]:
    """Return the targets of a file for a learning system: those asked for, or every assignment."""
    if request.columns:
        return named_targets(request.table, request.columns)
    return _assignment_targets(request.table, request.titles)


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
        The columns that may hold marks.
    request : GradebookRequest
    plain : callable
        Heading → its form for comparison.

    Raises
    ------
    UsageError
        A target fits two columns, two targets fit one column, or a named column holds no marks.
    """
    pairs = [(target, _column(target, header, open_columns, request, plain)) for target in targets]
    first: dict[int, TargetColumn] = {}
    for target, column in pairs:
        if column is not None and first.setdefault(column, target) is not target:
            raise UsageError(
                f"{first[column].ids} and {target.ids} both go to {clean_line(header[column], 80)!r}",
                next_step="say with --column what goes where",
            )
    return pairs


def _column(
    target: TargetColumn,
    header: Sequence[str],
    open_columns: Collection[int],
    request: GradebookRequest,
    plain: Callable[[str], str],
) -> int | None:
    # The very heading first: "HW 1" must not go to "hw 1" while there is a "HW 1".
    exact = [place for place, head in enumerate(header) if head == target.heading]
    if request.columns and exact and not set(exact) & set(open_columns):
        raise UsageError(
            f"{clean_line(target.heading, 80)!r} can't hold marks: it is read only, or about the student"
        )
    # A heading that a person has typed is meant literally; otherwise title and id will do.
    aliases = [] if request.columns else [target.ids, request.titles.get(target.ids, target.ids)]
    names = {plain(name) for name in (target.heading, *aliases)}
    alike = [place for place in open_columns if plain(header[place]) in names]
    places = [place for place in exact if place in open_columns] or alike
    if request.columns and alike == places and _has_number(target.heading) and places:
        places = [
            place for place in places if _folded_heading(header[place]) == _folded_heading(target.heading)
        ]
        if not places:  # Canvas's number identifies the assignment: another number is another column
            raise UsageError(
                f"the file has no column {clean_line(target.heading, 80)!r}",
                next_step=f"did you mean {clean_line(header[alike[0]], 80)!r}?",
            )
    # A person decides: a wrong guess would put marks under another assignment.
    if len(places) > 1:
        heads = " or ".join(repr(clean_line(header[place], 80)) for place in places)
        raise UsageError(
            f"{target.ids} can go to {heads}",
            next_step=f'say which: --column "{clean_line(header[places[0]], 80)}={target.ids}"',
        )
    return places[0] if places else None
