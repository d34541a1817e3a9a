"""``grade mark``: marks, excuses and comments that a person sets."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import CommandGroup, course_option, json_option, store_option
from engine.errors import CourseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.marks.manual import ManualMarks
    from engine.store import HandMark, Store

__all__ = ["command", "decision_text", "list_marks", "mark_json"]


# ----------------------------------------------------------------------------------------------------
# ``grade mark list``: what people decided about marks.


@click.command("list")
@click.option("--student", default=None, help="Only this student's.")
@click.option("--column", default=None, help="Only this column's.")
@click.option("--history", is_flag=True, help="Also what was changed or taken back since, oldest first.")
@json_option
@course_option
@store_option
def list_marks(
    student: str | None, column: str | None, history: bool, as_json: bool, course_path: Path | None
) -> None:
    """List the marks that people set and that stand now.

    \b
    Example:
      grade mark list --student ada --history
    """
    from engine.commands.context import find_context
    from engine.commands.render import show_table
    from engine.text.escape import clean_line

    with find_context(course_path).open_store() as store:
        found = store.hand_marks.history(student=student, column=column)
        if not history:
            standing = store.hand_marks.current()
            found = [mark for mark in found if standing.get((mark.student, mark.column)) == mark]
    if as_json:
        click.echo(json.dumps([mark_json(mark) for mark in found], ensure_ascii=False, indent=2))
    elif found:
        rows = [
            [
                clean_line(mark.student),
                clean_line(mark.column),
                decision_text(mark),
                clean_line(mark.comment, 500),
                clean_line(mark.by),
                f"{mark.at:%Y-%m-%d %H:%M} UTC",
            ]
            for mark in found
        ]
        show_table(["student", "column", "mark", "comment", "by", "at"], rows)
    else:
        click.echo("no mark was set by hand")


def decision_text(mark: HandMark) -> str:
    """Return what a decision says about points: a number, ``excused``, ``as graded`` or ``taken back``."""
    from engine.text.words import plain_points

    if mark.excused:
        return "excused"
    if mark.score is not None:
        return str(plain_points(mark.score))
    return "as graded" if mark.comment else "taken back"


def mark_json(mark: HandMark) -> dict[str, object]:
    """Return a decision as scripts read it."""
    from engine.text.escape import clean

    return {
        "student": mark.student,
        "column": mark.column,
        "score": mark.score,
        "excused": mark.excused,
        "comment": clean(mark.comment),
        "by": clean(mark.by),
        "at": mark.at.isoformat(),
    }


class _Marks(CommandGroup):
    """A group in which ``grade mark STUDENT COLUMN`` means ``grade mark set STUDENT COLUMN``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; any other first word is a student."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["set", *args]
        return super().resolve_command(ctx, args)


@click.group("mark", cls=_Marks)
def command() -> None:
    """Set marks by hand: they stand above what is graded and ruled, and survive regrades.

    \b
    Example:
      grade mark ada softmax --score 7 --comment "explained it in person"
      grade mark list
    """


@command.command("set")
@click.argument("student")
@click.argument("column")
@click.option("--score", type=float, default=None, help="Points that count.")
@click.option("--excuse", is_flag=True, help="Leave the column out for this student.")
@click.option("--comment", default=None, help="A sentence for the student.")
@click.option("--withdraw", is_flag=True, help="Take back what was set: the graded mark counts again.")
@click.option("--allow-extra", is_flag=True, help="Let the score be above the full points.")
@click.option("--by", default=None, help="Who decides (default: this account's name).")
@json_option
@course_option
@store_option
def set_mark(
    student: str,
    column: str,
    score: float | None,
    excuse: bool,
    comment: str | None,
    withdraw: bool,
    allow_extra: bool,
    by: str | None,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Set the mark of STUDENT in COLUMN, a code exercise or QUIZ/ITEM as in the gradebook.

    What isn't given stays as it was; a score and an excuse take each other's place. `set` may be left out.

    \b
    Examples:
      grade mark set ada softmax --score 7.5
      grade mark set 007 week-1/softmax-weights --excuse
      grade mark set ada softmax --withdraw
    """
    from engine.marks.manual import ManualDecision

    if withdraw == (score is not None or excuse or comment is not None):
        raise UsageError(
            "say what is to be set, or --withdraw alone",
            expected="--score POINTS, --excuse, --comment TEXT, or --withdraw",
        )
    if excuse and score is not None:
        raise UsageError("--score and --excuse contradict each other", expected="one of them")
    with _desk(course_path, by) as at:
        if withdraw:
            mark: HandMark | None = at.manual.withdraw(student, column, by=at.by, at=at.now)
        else:
            decision = ManualDecision(score, True if excuse else None, comment)
            mark = at.manual.decide(student, column, decision, by=at.by, at=at.now, allow_extra=allow_extra)
        at.store.hand_marks.add_all([mark] if mark else [])
    _tell(mark, student, column, as_json)
    return 0


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--keep-going", is_flag=True, help="Store the lines in good order, whatever others are like.")
@click.option("--allow-extra", is_flag=True, help="Let scores be above the full points.")
@click.option("--by", default=None, help="Who decides (default: this account's name).")
@json_option
@course_option
@store_option
def import_marks(
    file: Path, keep_going: bool, allow_extra: bool, by: str | None, as_json: bool, course_path: Path | None
) -> int:
    """Set the marks of FILE, a CSV file with the columns student,column,score,comment,excused.

    An empty cell leaves things as they are. Where a line is at fault nothing is stored, and each such line
    is told. What stands already isn't stored again.

    Exit code 0: all is stored; 1: with --keep-going, all but some lines; 2: nothing is stored.

    \b
    Example:
      grade mark import oral.csv --by "Prof. Weber"
    """
    from functools import partial

    from engine.marks.manual import read_marks

    with _desk(course_path, by) as at:
        decide = partial(at.manual.decide, by=at.by, at=at.now, allow_extra=allow_extra)
        marks, stand, faults = read_marks(file, decide)
        if faults and not keep_going:
            raise CourseError.of_file(faults)
        at.store.hand_marks.add_all(marks)
    for fault in faults:
        click.echo("\n".join(fault.lines()), err=True)
    if as_json:
        told = [{"line": fault.line, "message": fault.message} for fault in faults]
        click.echo(json.dumps({"stored": len(marks), "stood": stand, "faults": told}, indent=2))
    else:
        click.echo(f"{len(marks)} stored, {stand} stood already, {len(faults)} at fault")
    return 1 if faults else 0


@dataclass(frozen=True, slots=True)
class _At:
    """Who decides, when, and where it is checked and stored."""

    manual: ManualMarks
    store: Store
    by: str
    now: datetime


@contextmanager
def _desk(course_path: Path | None, by: str | None) -> Iterator[_At]:
    from engine.commands.context import find_context
    from engine.commands.options import decider
    from engine.marks.manual import ManualMarks
    from engine.model import Mode

    name = decider(by)
    context = find_context(course_path)
    if context.course is None:
        raise UsageError("there is no course here", next_step="name its folder: --course FOLDER")
    if context.mode is not Mode.MARKS:
        raise UsageError("this course is for practice: it has no marks")
    roster = context.course.roster(tolerant=True)
    with context.open_store() as store:
        students = set(roster.by_id) | set(store.students(Mode.MARKS))
        manual = ManualMarks(store, students, context.bank.code_ids(), context.points_of, roster.match_cell)
        yield _At(manual, store, name, datetime.now(UTC))


def _tell(mark: HandMark | None, student: str, column: str, as_json: bool) -> None:
    from engine.text.escape import clean_line

    if as_json:
        click.echo(json.dumps(None if mark is None else mark_json(mark), ensure_ascii=False, indent=2))
        return
    what = "nothing changes: it stands already" if mark is None else decision_text(mark)
    if mark is not None and mark.comment:
        what += f", with the comment: {clean_line(mark.comment, 500)}"
    who = student if mark is None else mark.student
    if who != student:
        click.echo(f"note: {clean_line(student)} was taken for {clean_line(who)} of the roster", err=True)
    click.echo(f"{clean_line(who)} {clean_line(column)}: {what}")


command.add_command(list_marks)
