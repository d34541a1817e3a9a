"""``grade mark``: marks, excuses and comments that a person sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.journal import LogLine, log_lines
from engine.commands.mark_answers import export_answers, import_answers, list_answers, mark_answer
from engine.commands.options import CommandGroup, F, by_option, course_option, json_option, store_option
from engine.commands.terminal import number, print_json, show_table
from engine.errors import CourseError, UsageError
from engine.text.words import clean, clean_line

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.marks.manual import ManualMarks
    from engine.store import HandMark, Store


class _MarkGroup(CommandGroup):
    """A group in which ``grade mark STUDENT COLUMN`` means ``grade mark set STUDENT COLUMN``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; any other first word is a student."""
        # Ids of students are never `set`, `list` or `import`; if one is, `grade mark set list …` names it.
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["set", *args]
        return super().resolve_command(ctx, args)


@click.group("mark", cls=_MarkGroup)
def command() -> None:
    """Set marks by hand: they take precedence over grading and the course's rules, and survive regrades.

    \b
    Examples:
      grade mark ada softmax --score 7 --comment "explained it in person"
      grade mark list
      grade mark answers
    """


for _command in (list_answers, mark_answer, export_answers, import_answers):
    command.add_command(_command)


def _decision_options(function: F) -> F:
    """Add what ``set`` and ``import`` share: ``--allow-extra``, ``--by``, ``--json``, course and store."""
    options: tuple[Callable[[F], F], ...] = (store_option, course_option, json_option, by_option)
    for option in options:
        function = option(function)
    return click.option(
        "--allow-extra", is_flag=True, help="Allow scores above full marks, e.g. for bonus work."
    )(function)


@command.command("set")
@click.argument("student")
@click.argument("column")
@click.option("--score", type=float, default=None, help="The score that counts, in points.")
@click.option("--excuse", is_flag=True, help="Leave the column out for this student.")
@click.option("--comment", default=None, help="A sentence for the student.")
@click.option("--withdraw", is_flag=True, help="Withdraw what was set: the graded mark counts again.")
@_decision_options
def set_mark(
    student: str,
    column: str,
    score: float | None,
    excuse: bool,
    comment: str | None,
    withdraw: bool,
    allow_extra: bool,
    by: str,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Set the mark of STUDENT in COLUMN, a code exercise or QUIZ/ITEM as in the gradebook.

    What you leave out stays as it was; a score and an excuse replace each other. `set` may be left out.

    \b
    Examples:
      grade mark set ada softmax --score 7.5
      grade mark set 007 week-1/softmax-weights --excuse
      grade mark set ada softmax --withdraw
    """
    from engine.marks.manual import ManualDecision

    if withdraw == (score is not None or excuse or comment is not None):
        raise UsageError(
            "say what to set, or use --withdraw by itself",
            expected="--score POINTS, --excuse, --comment TEXT, or --withdraw",
        )
    if excuse and score is not None:
        raise UsageError("--score and --excuse contradict each other", expected="one of them")
    context = find_context(course_path)
    with _open_marks(context) as (manual, store, now):
        if withdraw:
            mark: HandMark | None = manual.withdraw(student, column, by=by, at=now)
        else:
            decision = ManualDecision(score, True if excuse else None, comment)
            mark = manual.decide(student, column, decision, by=by, at=now, allow_extra=allow_extra)
        with store.one_transaction():
            store.hand_marks.add_all([mark] if mark else [])
            action = "mark.withdraw" if withdraw else "mark.set"
            log_lines(context, store, [_log_line(mark, action)] if mark else [], by=by)
    if as_json:
        print_json(None if mark is None else _mark_json(mark))
    else:
        _show(mark, student, column)
    return 0


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--keep-going", is_flag=True, help="Store the lines without faults and leave out the others.")
@_decision_options
def import_marks(
    file: Path, keep_going: bool, allow_extra: bool, by: str, as_json: bool, course_path: Path | None
) -> int:
    """Set the marks of FILE, a CSV file with the columns student,column,score,comment,excused.

    An empty cell leaves things as they are. If any line is at fault, every such line is reported and nothing
    is stored. A mark that is there already isn't stored again.

    Exit code 0: all is stored; 1: with --keep-going, all but some lines; 2: nothing is stored.

    \b
    Example:
      grade mark import oral.csv --by "Prof. Weber"
    """
    from engine.marks.manual import read_marks

    context = find_context(course_path)
    with _open_marks(context) as (manual, store, now):
        decide = partial(manual.decide, by=by, at=now, allow_extra=allow_extra)
        marks, stood, faults = read_marks(file, decide)
        # All or nothing: half a list would be typed in twice.
        if faults and not keep_going:
            raise CourseError.of_file(faults)
        with store.one_transaction():
            store.hand_marks.add_all(marks)
            log_lines(context, store, [_log_line(mark) for mark in marks], by=by)
    for fault in faults:
        click.echo("\n".join(fault.lines()), err=True)
    if as_json:
        lines = [{"line": fault.line, "message": fault.message} for fault in faults]
        print_json({"stored": len(marks), "stood": stood, "faults": lines})
    else:
        click.echo(f"{len(marks)} stored, {stood} were there already, {len(faults)} at fault")
    return 1 if faults else 0


def _log_line(mark: HandMark, action: str = "mark.set") -> LogLine:
    return LogLine(action, mark.column, mark.student, {"score": mark.score, "excused": mark.excused or None})


@contextmanager
def _open_marks(context: CommandContext) -> Iterator[tuple[ManualMarks, Store, datetime]]:
    """Give what checks decisions, the store to keep them in, and the time that they get."""
    from engine.marks.manual import ManualMarks
    from engine.model import Mode

    roster = context.require_course().roster(tolerant=True)
    if context.mode is not Mode.MARKS:
        raise UsageError("this course is for practice: it has no marks")
    bank = context.bank
    with context.open_store() as store:
        # People who left the roster keep their marks, and may get new ones.
        students = set(roster.by_id) | set(store.students(Mode.MARKS))
        manual = ManualMarks(
            store, students, bank.code_ids(), bank.code_points, roster.match_cell, people=roster.by_id
        )
        yield manual, store, datetime.now(UTC)


def _show(mark: HandMark | None, student: str, column: str) -> None:
    # A name or an id without its zeros was understood; whoever typed it must see as whom.
    if mark is not None and mark.student != student:
        note = f"{clean_line(student)} was matched to {clean_line(mark.student)} in the roster"
        click.echo(f"note: {note}", err=True)
    decision = "nothing changes: this mark is set already" if mark is None else _decision_text(mark)
    if mark is not None and mark.comment:
        decision += f", with the comment: {clean_line(mark.comment, 500)}"
    click.echo(f"{clean_line(mark.student if mark else student)} {clean_line(column)}: {decision}")


@command.command("list")
@click.option("--student", default=None, help="Only this student's.")
@click.option("--column", default=None, help="Only this column's.")
@click.option("--history", is_flag=True, help="Also those that were changed or withdrawn, oldest first.")
@json_option
@course_option
@store_option
def list_marks(
    student: str | None, column: str | None, history: bool, as_json: bool, course_path: Path | None
) -> None:
    """List the marks set by hand.

    \b
    Example:
      grade mark list --student ada --history
    """
    context = find_context(course_path)
    with context.open_store() as store:
        marks = store.hand_marks.history(student=student, column=column)
        if not history:
            # The history has every decision; only the last one of a column stands.
            current = store.hand_marks.current()
            marks = [mark for mark in marks if current.get((mark.student, mark.column)) == mark]
    if as_json:
        print_json([_mark_json(mark) for mark in marks])
    elif marks:
        rows = [
            [
                clean_line(mark.student),
                clean_line(mark.column),
                _decision_text(mark),
                clean_line(mark.comment, 500),
                clean_line(mark.by),
                context.local_text(mark.at),
            ]
            for mark in marks
        ]
        show_table(["student", "column", "mark", "comment", "by", f"at ({context.zone_name})"], rows)
    else:
        click.echo("no mark was set by hand")


def _decision_text(mark: HandMark) -> str:
    """Return what a decision says about points: a number, ``excused``, ``as graded`` or ``withdrawn``."""
    if mark.excused:
        return "excused"
    if mark.score is not None:
        return number(mark.score)
    return "as graded" if mark.comment else "withdrawn"


def _mark_json(mark: HandMark) -> dict[str, object]:
    decision = {"score": mark.score, "excused": mark.excused, "comment": clean(mark.comment)}
    place = {"student": mark.student, "column": mark.column}
    return {**place, **decision, "by": clean(mark.by), "at": mark.at.isoformat()}
