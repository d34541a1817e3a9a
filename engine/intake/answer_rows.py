"""A file of a class's answers as rows: one row is what one student answered to one quiz.

Tables that somebody made, and the responses of Google Forms, Microsoft Forms and Moodle, differ only in
what their columns are called: each kind is a function from the header to a :class:`TableLayout`, and the
first that knows the header reads the table. YAML files are read by :mod:`engine.intake.row_hand_ins`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.course.students import person_columns, plain_head
from engine.errors import IntakeError
from engine.hand_ins import IntakeProblem
from engine.text.tables import DelimitedTable, TableRow, read_delimited
from engine.text.words import clean_line, count_noun


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One hand-in of one student.

    Parameters
    ----------
    line : int
        Where it begins in its file, from 1.
    who : mapping of str to str
        What identifies the student, by field of :func:`engine.course.students.person_columns`.
    answers : mapping of str to str
        What a question is called there → the answer as typed; blank where there is none.
    quiz : str
        Name or id of the quiz, where the row tells.
    handed : str
        When it was handed in, as written.
    """

    line: int
    who: Mapping[str, str]
    answers: Mapping[str, str]
    quiz: str = ""
    handed: str = ""


@dataclass(frozen=True)
class ClassAnswers:
    """A file read: its rows, what isn't one, and where each question is named.

    Every row of the file is in exactly one of `rows`, `problems` and `ignored`.
    """

    file: str
    rows: tuple[AnswerRow, ...]
    heads: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[IntakeProblem, ...] = ()
    ignored: tuple[str, ...] = ()


# Which files hold the answers of a whole class, by name and first look.

# Suffixes of tables; YAML has to be looked into, since a student's own quiz file is YAML too.
TABLES = frozenset({".csv", ".tsv", ".xlsx"})
_OWN_QUIZ = re.compile(r"^(questions|student)[ \t]*:", re.MULTILINE)
# A line without indent that begins an entry of a list, or a student's mapping or list.
_ENTRY = re.compile(r"^(?:-(?:[ \t].*)?|[^\s#\-].*:[ \t]*(?:[{\[].*|#.*)?)$", re.MULTILINE)


def is_class_yaml(text: str) -> bool:
    """Return whether a YAML text is a list or mapping of students, and no student's own quiz file."""
    return _OWN_QUIZ.search(text) is None and _ENTRY.search(text.removeprefix("\ufeff")) is not None


# Which column of a table is what: the value that every kind of table fills in.


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns of a table, by their places from 0.

    Parameters
    ----------
    who : mapping of str to int
        The columns that identify the student, by field.
    questions : mapping of str to int
        The columns of answers, by their heads.
    handed, quiz : int or None
        The columns of the time of handing in and of the quiz's name.
    state : int or None
        The column that says whether an attempt was handed in at all.
    no_answer : collection of str
        What such a table writes where nothing was answered.
    ambiguous : tuple of str
        Heads that stand over several columns: which of them counts isn't known.
    """

    who: Mapping[str, int]
    questions: Mapping[str, int]
    handed: int | None = None
    quiz: int | None = None
    state: int | None = None
    no_answer: Collection[str] = ()
    ambiguous: tuple[str, ...] = field(default=())


# A kind of table: its header → its columns, None where it is another kind.
TableKind = Callable[[Sequence[str]], TableLayout | None]


def head_place(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the place of the first head that is called so; None where there is none."""
    heads = [plain_head(cell) for cell in header]
    return next((heads.index(name) for name in names if name in heads), None)


def questions_of(
    header: Sequence[str], known: Collection[int | None], others: Callable[[str], bool] = lambda head: False
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the columns that are left for questions, and the heads among them that appear twice.

    Parameters
    ----------
    header : sequence of str
    known : collection of int or None
        Columns that are something else.
    others : callable
        Head in small letters → whether such a table has this column for something else.
    """
    person = set(person_columns(header).values())
    places: dict[str, int] = {}
    repeated: list[str] = []
    for place, head in enumerate(header):
        if not head or place in known or place in person or others(head.casefold()):
            continue
        if head in places:
            repeated.append(head)
        else:
            places[head] = place
    for head in repeated:
        places.pop(head, None)
    return places, tuple(dict.fromkeys(repeated))


# A table that somebody made: who, perhaps quiz and time, and a column for each question.

# In the order in which they count where a table has several of them.
HANDED = ("handed", "handed in", "submitted", "submitted at", "submission time", "timestamp", "time")
QUIZ = ("quiz", "quiz id", "quiz name")


def plain_table(header: Sequence[str]) -> TableLayout | None:
    """Return the columns of any table that says who answered."""
    who = person_columns(header)
    handed, quiz = head_place(header, HANDED), head_place(header, QUIZ)
    questions, repeated = questions_of(header, {handed, quiz})
    if not set(who) - {"section"}:
        return None
    return TableLayout(who, questions, handed=handed, quiz=quiz, ambiguous=repeated)


# The responses of a Google form: ``Timestamp``, an address, and a column headed by each question.

_TIME = ("timestamp", "zeitstempel", "horodateur", "marca temporal")
# Google and Microsoft put columns of their own between the questions, in quiz forms one after each.
_GOOGLE_OTHERS = frozenset({"score", "total score"})


def google_forms(header: Sequence[str]) -> TableLayout | None:
    """Return the columns of such responses, of a quiz form too (with ``[Score]`` beside each question)."""
    if plain_head(header[0]) not in _TIME:
        return None
    quiz = head_place(header, QUIZ)
    questions, repeated = questions_of(header, {0, quiz}, _is_google_other)
    return TableLayout(person_columns(header), questions, handed=0, quiz=quiz, ambiguous=repeated)


def _is_google_other(head: str) -> bool:
    return head in _GOOGLE_OTHERS or head.endswith((" [score]", " [feedback]"))


# The responses of a Microsoft form: ``ID``, ``Start time``, ``Completion time``, ``Email``, ``Name``, …

_MICROSOFT_OTHERS = frozenset(
    {"id", "start time", "last modified time", "total points", "quiz feedback", "grade posted time"}
)


def microsoft_forms(header: Sequence[str]) -> TableLayout | None:
    """Return the columns of such responses, of a quiz form too (with ``Points - …`` beside each question)."""
    handed, begun = head_place(header, ["completion time"]), head_place(header, ["start time"])
    if handed is None or begun is None:
        return None
    quiz = head_place(header, QUIZ)
    # Its ID numbers the responses: it is nobody's.
    heads = ["" if place == head_place(header, ["id"]) else head for place, head in enumerate(header)]
    questions, repeated = questions_of(heads, {handed, quiz}, _is_microsoft_other)
    return TableLayout(
        person_columns(heads),
        questions,
        handed=handed,
        quiz=quiz,
        no_answer=("anonymous",),
        ambiguous=repeated,
    )


def _is_microsoft_other(head: str) -> bool:
    return head in _MICROSOFT_OTHERS or head.startswith(("points - ", "feedback - "))


# The responses report of a Moodle quiz: names, ``State``, ``Completed``, ``Response 1`` …

# Moodle numbers the answers; beside them it may print the questions and the right answers, which are no
# answers.
_RESPONSE = re.compile(r"response ?[0-9]+")
_STARTED, _STATE = ("started on", "started"), ("state", "status")


def moodle_responses(header: Sequence[str]) -> TableLayout | None:
    """Return the columns of such a report; a hyphen there means that nothing was answered."""
    state = head_place(header, _STATE)
    if state is None or head_place(header, _STARTED) is None:
        return None
    if all(_is_moodle_other(head) for head in header):
        return None
    questions, repeated = questions_of(header, {state}, _is_moodle_other)
    return TableLayout(
        person_columns(header),
        questions,
        handed=head_place(header, ["completed"]),
        state=state,
        no_answer=("-",),
        ambiguous=repeated,
    )


def _is_moodle_other(head: str) -> bool:
    return _RESPONSE.fullmatch(plain_head(head)) is None


# The plain table is any table that names students, so it comes last.
_KINDS: tuple[TableKind, ...] = (moodle_responses, google_forms, microsoft_forms, plain_table)
# A response with one of these states was never handed in.
_UNFINISHED = frozenset({"in progress", "overdue", "never submitted", "abandoned", "not started", "-"})
_SUMMARIES = frozenset({"overall average", "points possible", "manual posting"})
_STEP = "fix this row, then grade again: what is graded is kept"


def read_table(path: Path, name: str) -> ClassAnswers:
    """Read a table of the class's answers.

    Parameters
    ----------
    path : Path
    name : str
        Name as handed in, clean.

    Raises
    ------
    IntakeError
        It isn't a table, or nothing in it says who answered.
    """
    if path.suffix.lower() == ".xlsx":
        from engine.intake.workbook import read_workbook

        table = read_workbook(path, name)
    else:
        table = read_delimited(path, noun="the table", error=IntakeError, file=name)
    if not table.rows:
        raise IntakeError(
            "there is no row in it", where=f"{name}:1", next_step="check that it is the right file"
        )
    head, *body = table.rows
    layout = next((columns for kind in _KINDS if (columns := kind(head.cells)) is not None), None)
    if layout is None:
        raise IntakeError(
            "the first line names no column that says who answered",
            where=f"{name}:{head.line}",
            expected="a first line such as: id,1,2,3",
            next_step="name the columns: id, login, email or name, then the questions",
        )
    return _Reading(table, layout, len(head.cells)).read(head.line, body)


class _Reading:
    def __init__(self, table: DelimitedTable, layout: TableLayout, width: int) -> None:
        self._table = table
        self._layout = layout
        self._width = width
        self._rows: list[AnswerRow] = []
        self._ignored: list[str] = []
        self._problems = [
            IntakeProblem(f"{fault.file}:{fault.line}", fault.message, _STEP) for fault in table.faults
        ]

    def read(self, head_line: int, body: list[TableRow]) -> ClassAnswers:
        for head in self._layout.ambiguous:
            message = f"two columns are headed {clean_line(head, 60)!r}: which one counts isn't known"
            self._problems.append(
                IntakeProblem(f"{self._table.file}:{head_line}", message, "rename or delete one of them")
            )
        for row in body:
            self._take(row)
        return ClassAnswers(
            self._table.file,
            tuple(self._rows),
            dict.fromkeys(self._layout.questions, head_line),
            tuple(self._problems),
            tuple(self._ignored),
        )

    def _take(self, row: TableRow) -> None:
        if any(row.cells[self._width :]):
            message = f"{count_noun(len(row.cells), 'field')}, but the header has {self._width}"
            self._refuse(row, message, "put an answer with commas in quotes")
            return
        who = self._named(row, self._layout.who)
        state = self._cell(row, self._layout.state)
        if any(cell.casefold() in _SUMMARIES for cell in row.cells) and not who.get("id"):
            self._ignored.append(f"{self._table.file}:{row.line}: {clean_line(row.cells[0], 60)}")
        elif state.casefold() in _UNFINISHED:
            self._refuse(row, f"this attempt wasn't handed in: its state is {clean_line(state, 40)!r}")
        else:
            self._rows.append(
                AnswerRow(
                    row.line,
                    {field: text for field, text in who.items() if text},
                    self._named(row, self._layout.questions),
                    quiz=self._cell(row, self._layout.quiz),
                    handed=self._cell(row, self._layout.handed),
                )
            )

    def _named(self, row: TableRow, places: Mapping[str, int]) -> dict[str, str]:
        return {name: self._cell(row, place) for name, place in places.items()}

    def _cell(self, row: TableRow, place: int | None) -> str:
        cell = row.cells[place] if place is not None and place < len(row.cells) else ""
        return "" if cell in self._layout.no_answer else cell

    def _refuse(self, row: TableRow, message: str, step: str = "") -> None:
        self._problems.append(IntakeProblem(f"{self._table.file}:{row.line}", message, step))
