"""The class: a table of marks that is live, and a page for each assignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.course.person_search import has_words
from engine.course.students import Student
from engine.marks import terms_of
from engine.marks.class_table import StudentRow, TableColumn, mean_percent, median_percent
from engine.store.student_requests import RequestState
from engine.web.instructor.live_table import TableState, live_table
from engine.web.instructor.staff import StudentNames, choice, with_query
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

# Word of the query → what the page calls it.
FILTERS = {
    "all": "everybody",
    "missing": "nothing handed in",
    "waiting": "waiting for a mark",
    "unreadable": "can't be read",
    "strangers": "not in the roster",
}


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A line of the table as the page shows it: who, and the row."""

    row: StudentRow
    name: str
    id: str
    handle: str


@dataclass(frozen=True, slots=True)
class AssignmentFigures:
    """How far a class is with one assignment.

    Parameters
    ----------
    name, title : str
    columns : tuple of TableColumn
    handed_in, missing, waiting : int
        Students; those missing are in the roster and have handed in nothing.
    mean, median : float or None
        In percent of the full points of graded work: of all of it, and of the student in the middle.
    """

    name: str
    title: str
    columns: tuple[TableColumn, ...]
    handed_in: int
    missing: int
    waiting: int
    mean: float | None
    median: float | None

    @property
    def is_quiz(self) -> bool:
        """Whether its columns are questions."""
        return any(column.number for column in self.columns)


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """The columns of one assignment, under its name in the head of the table.

    Parameters
    ----------
    name, title : str
    columns : tuple of TableColumn
    has_sum : bool
        Whether a column with their sum follows them.
    """

    name: str
    title: str
    columns: tuple[TableColumn, ...]
    has_sum: bool

    @property
    def is_quiz(self) -> bool:
        """Whether its columns are questions; an exercise is one column, and needs no name above it."""
        return any(column.number for column in self.columns)

    @property
    def key(self) -> str:
        """What the address says that sorts by the sum."""
        return f"of:{self.name}"


def assignments_of(visit: Visit, state: TableState) -> list[AssignmentFigures]:
    """Return the figures of every assignment in the table, in its order."""
    titles = visit.site.store.sittings.quiz_titles()
    return [
        _figures(name, titles.get(name, columns[0].title), columns, state.table.rows)
        for name, columns in _by_assignment(state.table.columns).items()
    ]


def _by_assignment(columns: Iterable[TableColumn]) -> dict[str, tuple[TableColumn, ...]]:
    by_name: dict[str, tuple[TableColumn, ...]] = {}
    for column in columns:
        by_name[column.assignment] = (*by_name.get(column.assignment, ()), column)
    return by_name


def _groups(visit: Visit, columns: Sequence[TableColumn]) -> list[ColumnGroup]:
    titles = visit.site.store.sittings.quiz_titles()
    by_name = _by_assignment(columns)
    # Of a single assignment the total is the sum already.
    return [
        ColumnGroup(
            name, titles.get(name, group[0].title), group, has_sum=len(group) > 1 and len(by_name) > 1
        )
        for name, group in by_name.items()
    ]


def _figures(
    name: str, title: str, columns: tuple[TableColumn, ...], rows: Sequence[StudentRow]
) -> AssignmentFigures:
    cells = [[row.cells[c.id] for c in columns if c.id in row.cells] for row in rows]
    # A mark by hand without work is no hand-in.
    handed_in = [any(cell.outcome is not None for cell in line) for line in cells]
    return AssignmentFigures(
        name,
        title,
        columns,
        handed_in=sum(handed_in),
        missing=sum(row.in_roster and not has for row, has in zip(rows, handed_in, strict=True)),
        waiting=sum(any(cell.is_waiting for cell in line) for line in cells),
        mean=mean_percent(rows, columns),
        median=median_percent(rows, columns),
    )


def class_page(visit: Visit) -> Response:
    """Show the class, or its part that the query asks for."""
    state = live_table(visit.site, fresh=visit.query.get("fresh") == "1", may_lag=_is_asking_again(visit))
    cells = [cell for row in state.table.rows for cell in row.cells.values() if cell.is_waiting]
    return _table_page(
        visit,
        state,
        "instructor/class.html.j2",
        state.table.columns,
        figures=_figures("", "", tuple(state.table.columns), state.table.rows),
        requests=len(visit.site.store.requests.all(RequestState.OPEN)),
        to_mark=sum(cell.needs_person for cell in cells),
        ungraded=sum(not cell.needs_person for cell in cells),
    )


def assignment_page(visit: Visit) -> Response:
    """Show one assignment: who has handed in, who waits, how it went, and what can be done about it."""
    name = visit.path["name"]
    state = live_table(visit.site, may_lag=_is_asking_again(visit))
    figures = next((f for f in assignments_of(visit, state) if f.name == name), None)
    quizzes = visit.site.store.quizzes(name)
    if figures is None:
        if not quizzes and visit.site.bank.code_points(name) is None:
            raise NotFoundError("there is no such assignment")
        title = quizzes[0].title if quizzes else visit.site.bank.title_of(name)
        figures = _figures(name, title, (), state.table.rows)
    return _table_page(
        visit,
        state,
        "instructor/assignment.html.j2",
        figures.columns,
        figures=figures,
        quizzes=quizzes,
        terms=terms_of(visit.site.policies(), "", name),
    )


def _is_asking_again(visit: Visit) -> bool:
    """Return whether the script of an open page asks which rows have changed."""
    return "since" in visit.query and "json" in visit.headers.get("accept", "")


def _table_page(
    visit: Visit, state: TableState, template: str, columns: Sequence[TableColumn], **more: Any
) -> Response:
    names = StudentNames(visit)
    groups = _groups(visit, columns)
    lines = _lines(visit, state, columns, groups, names)
    if _is_asking_again(visit):
        return _changes(visit, state, columns, groups, lines, visit.query["since"])
    return visit.page(
        template,
        state=state,
        columns=columns,
        groups=groups,
        lines=lines,
        names=names,
        filters=FILTERS,
        chosen=choice(visit, "show", list(FILTERS), "all"),
        everybody=len(state.table.rows),
        sorted_by=visit.query.get("sort", "name"),
        is_down=visit.query.get("down") == "1",
        with_query=lambda **changes: with_query(visit, **changes),
        assignments=assignments_of(visit, state),
        percents=any(line.row.percent is not None for line in lines),
        **more,
    )


def _changes(
    visit: Visit,
    state: TableState,
    columns: Sequence[TableColumn],
    groups: Sequence[ColumnGroup],
    lines: Sequence[ClassLine],
    since: str,
) -> Response:
    """Return the rows that changed, for the script of a page that is open."""
    changed = state.since(since)
    if changed is None:
        return visit.json({"mark": state.mark, "reload": True})
    # Rows that the query filters out stay as they are until the page is loaded again.
    rows = {
        line.handle: visit.html(
            "instructor/class_row.html.j2",
            line=line,
            columns=columns,
            groups=groups,
            percents=any(line.row.percent is not None for line in lines),
        )
        for line in lines
        if line.row.student in changed
    }
    return visit.json({"mark": state.mark, "rows": rows})


def _lines(
    visit: Visit,
    state: TableState,
    columns: Sequence[TableColumn],
    groups: Sequence[ColumnGroup],
    names: StudentNames,
) -> list[ClassLine]:
    kind = choice(visit, "show", list(FILTERS), "all")
    words = visit.query.get("find", "").strip()
    rows: Sequence[StudentRow] = state.table.rows
    # Beside some columns, a total over all of them would be read as theirs.
    if len(columns) < len(state.table.columns):
        rows = [row.within(columns) for row in rows]
    lines = [
        ClassLine(row, names.name(row.student), names.id(row.student), names.handle(row.student))
        for row in rows
        if _is_asked_for(row, columns, kind)
    ]
    if words:
        roster = {} if names.is_hidden else visit.site.state.roster.by_id
        lines = [line for line in lines if has_words(words, _labels(line, roster.get(line.row.student)))]
    _sort(lines, visit.query.get("sort", "name"), columns, groups, visit.query.get("down") == "1")
    return lines


def _labels(line: ClassLine, student: Student | None) -> list[str]:
    """Return by what a line can be found: what stands in it, and what else the roster knows."""
    return [line.name, line.id, *((student.login, student.email) if student is not None else ())]


def _is_asked_for(row: StudentRow, columns: Sequence[TableColumn], kind: str) -> bool:
    cells = [row.cells[column.id] for column in columns if column.id in row.cells]
    match kind:
        case "missing":
            return row.in_roster and not any(cell.outcome is not None for cell in cells)
        case "waiting":
            return any(cell.is_waiting for cell in cells)
        case "unreadable":
            return any(cell.is_unreadable for cell in cells)
        case "strangers":
            return not row.in_roster
        case _:
            return True


def _sort(
    lines: list[ClassLine],
    key: str,
    columns: Sequence[TableColumn],
    groups: Sequence[ColumnGroup],
    is_down: bool,
) -> None:
    summed = next((group.columns for group in groups if group.has_sum and group.key == key), None)
    # By name first, so that equal points keep the order of names.
    lines.sort(key=lambda line: (line.name.casefold(), line.id))
    if key in ("total", "percent") or summed or any(column.id == key for column in columns):

        def points(line: ClassLine) -> float | None:
            if key == "total":
                return line.row.total()
            if key == "percent":
                return line.row.percent
            if summed:
                return line.row.within(summed).total()
            cell = line.row.cells.get(key)
            return None if cell is None else cell.counted

        # Those without points come last either way: nobody looks for them there.
        lines.sort(key=lambda line: -(points(line) or 0.0) if is_down else (points(line) or 0.0))
        lines.sort(key=lambda line: points(line) is None)
    elif key == "id" and lines and lines[0].id:
        lines.sort(key=lambda line: line.row.student, reverse=is_down)
    elif is_down:
        lines.reverse()
