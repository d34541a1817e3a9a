"""``grade print``: exams on paper, with answer sheets that ``grade scan`` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import check_student, course_option, json_option, store_option
from engine.commands.terminal import print_json, progress_bar
from engine.errors import PaperError, QuizError, UsageError
from engine.text.files import check_target, write_errors
from engine.text.words import agree, clean_line, count_noun, near_words, points_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.model import Quiz
    from engine.paper.exam_draws import CopyDraw, ExamDrawer
    from engine.paper.print_record import PrintRecord
    from engine.paper.printing import PlannedPrint
    from engine.quiz.answer_key import KeyQuestion
    from engine.store import Store

# Of a student number where the roster has none to go by.
_USUAL_DIGITS = 7


@click.command("print")
@click.argument("quiz", metavar="QUIZ")
@click.option(
    "--versions",
    type=click.IntRange(1, 100),
    default=None,
    help="So many versions for all, handed out in turn (default: each student has one of their own).",
)
@click.option(
    "--spare",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Further copies without a name, for whoever needs one.",
)
@click.option("--student", "students", multiple=True, help="Only this student (repeatable).")
@click.option("--name", default=None, help="Name of the quiz (default: the blueprint's name).")
@click.option(
    "--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True, help="Size of the paper."
)
@click.option(
    "--large-print",
    is_flag=True,
    help="18-point text and larger bubbles, for people who see or write with difficulty.",
)
@click.option("--keep-order", is_flag=True, help="Leave the questions of a section in their order.")
@click.option(
    "--minutes", type=click.IntRange(1, 10_080), default=None, help="Time on the cover (default: the quiz's)."
)
@click.option("--note", "notes", multiple=True, help="A further rule on the cover (repeatable).")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Copy all exams, merged for the printer, to this PDF file too.",
)
@json_option
@course_option
@store_option
def command(
    quiz: str,
    versions: int | None,
    spare: int,
    students: tuple[str, ...],
    name: str | None,
    paper: str,
    large_print: bool,
    keep_order: bool,
    minutes: int | None,
    notes: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Print QUIZ as exams: a quiz that was drawn, or a blueprint, which is drawn first.

    Each copy has a cover, its questions with space for working, and an answer sheet; each page has a code, by
    which grade scan knows whose it is. Everything is in the course's folder prints/ID/: the exams one by one
    and merged for the printer, and key booklets. Asked for again, a print that was stopped goes on.

    \b
    Examples:
      grade print l16 --course attention-2026
      grade print exam --versions 4 --spare 10 --minutes 60 --out exams.pdf
    """
    from dataclasses import replace

    from engine.paper.printing import MERGED_FILE, PrintOptions, make_print, plan_print, record_json

    for student in students:
        check_student(student)
    context = find_context(course_path)
    course = context.require_course()
    secret = context.secret()
    chosen = list(dict.fromkeys(students)) or course.roster_ids()
    if not chosen and not spare:
        raise UsageError(
            "the roster is empty",
            next_step="add students to roster.csv, name one with --student, or print --spare copies",
        )
    if out is not None:
        _check_target(out)
    options = PrintOptions(
        "letter" if paper == "letter" else "a4",
        large_print,
        not keep_order,
        notes=tuple(clean_line(note, 500) for note in notes),
    )
    with context.open_store() as store:
        drawer = _drawer(context, store, quiz, name, secret)
        # Drawn and stored first: what is printed can be marked, whatever happens to the rest.
        draws = _draws(drawer, chosen, spare, versions)
        _note_unlisted(context, students)
        _note_left_out(draws[0].quiz)
        _note_spares(context, spare)
        limit = minutes or draws[0].quiz.rules.time_limit
        options = replace(options, minutes=None if limit is None else float(limit))
        digits = _number_digits(context)
        plan = plan_print(
            course.folder, context.title, draws, context.names, options, secret, number_digits=digits
        )
        with (
            write_errors(
                "the print can't be written",
                plan.folder,
                next_step="make room, or see to your rights there; asked for again, the print goes on",
                kind=PaperError,
            ),
            progress_bar("typesetting", len(draws) + len(plan.record.versions)) as advance,
        ):
            record = make_print(plan, lambda drawn: _keys(store, context, drawn), advance)
        log(context, store, "exam.print", record.quiz, print=record.id, copies=len(record.copies))
    if out is not None:
        _copy_merged(plan.folder / MERGED_FILE, out)
    if as_json:
        print_json(record_json(plan, record))
        return
    _show(plan, record, out)


def _drawer(context: CommandContext, store: Store, quiz: str, name: str | None, secret: bytes) -> ExamDrawer:
    """Return what draws; a quiz that is stored needs no blueprint unless somebody has none yet."""
    from engine.commands.quiz.new import blueprint_path
    from engine.paper.exam_draws import ExamDrawer
    from engine.quiz import read_blueprint
    from engine.quiz.drawn_class import checked_quiz_name

    # The blueprint is read even where the quiz is stored: newcomers and spares are drawn from it.
    plan = None
    stem = Path(quiz).stem if quiz.endswith((".yaml", ".yml")) else quiz
    quiz_name = checked_quiz_name(name or stem)
    stored = store.quiz_names()
    try:
        plan = read_blueprint(blueprint_path(context, quiz))
    except QuizError as error:
        if quiz_name not in stored:
            # A name of neither is most likely a slip in one of both.
            matches = near_words(quiz, stored)
            if matches and error.next_step is None:
                error.next_step = f"did you mean the quiz {matches[0]}?"
            raise
    return ExamDrawer(store, context.bank, plan, quiz_name, secret, context.mode)


def _draws(drawer: ExamDrawer, students: Sequence[str], spare: int, versions: int | None) -> list[CopyDraw]:
    with progress_bar("drawing", len(students)) as advance:
        if versions is None:
            return drawer.own_versions(students, spare, advance)
        return drawer.shared_versions(students, spare, versions, advance)


def _note_unlisted(context: CommandContext, students: Sequence[str]) -> None:
    """Name the students who aren't in the roster: most likely a slip, and then paper for nobody."""
    known = [student.id for student in context.roster.students] if context.roster else []
    for student in students:
        if known and student not in known:
            matches = near_words(student, known)
            ending = f"; did you mean '{matches[0]}'?" if matches else ""
            click.echo(f"note: {student} isn't in the roster, and has an exam all the same{ending}", err=True)


def _note_left_out(quiz: Quiz) -> None:
    """Name what can't be on paper, item by item, before anything is written."""
    left_out = [f"{exercise.item} ({points_text(exercise.points)})" for exercise in quiz.exercises]
    left_out += [
        f"question {question.number}, {question.variant.item}"
        for question in quiz.questions
        if any(part.type == "code" for part in question.variant.parts)
    ]
    for item in left_out:
        click.echo(f"not on paper: {item}: a program is handed in as a file", err=True)
    written = [
        question.variant.item
        for question in quiz.questions
        if any(part.type == "free_text" for part in question.variant.parts)
    ]
    for item in written:
        click.echo(f"note: {item} is answered in words: a person marks it", err=True)


def _note_spares(context: CommandContext, spare: int) -> None:
    ids = [student.id for student in context.roster.students] if spare and context.roster else []
    others = [student for student in ids if not student.isdigit()]
    if others:
        click.echo(
            f"note: spare copies ask for a number, but {count_noun(len(others), 'id')} of the roster, "
            f"such as {others[0]}, {agree(len(others), 'contain')} more than digits: "
            "a person may have to say whose copy it is",
            err=True,
        )


def _number_digits(context: CommandContext) -> int:
    ids = [student.id for student in context.roster.students] if context.roster else []
    lengths = [sum(c.isdigit() for c in student) for student in ids]
    # A number of more digits than a sheet is wide is no student number.
    return min(max(lengths, default=0) or _USUAL_DIGITS, 10)


def _keys(store: Store, context: CommandContext, quiz: Quiz) -> Mapping[int, KeyQuestion]:
    from engine.quiz.answer_key import quiz_key

    return {
        entry.question.number: entry
        for entry in quiz_key(store, quiz, context.bank).questions
        if not entry.question.retry
    }


def _check_target(out: Path) -> None:
    """Refuse a target that can't be written before an hour of work goes into it."""
    if out.suffix.lower() != ".pdf":
        raise UsageError("the exams are a PDF file", where=str(out), expected="a name that ends in .pdf")
    with write_errors("the exams can't be written there", out, next_step="name another --out FILE"):
        check_target(out)


def _copy_merged(merged: Path, out: Path) -> None:
    import shutil

    from engine.text.files import replacing

    step = "the exams are in the print's folder as well; copy them from there"
    with (
        write_errors("the exams can't be written", out, next_step=step, kind=PaperError),
        replacing(out, private=True) as file,
        merged.open("rb") as source,
    ):
        shutil.copyfileobj(source, file)


def _show(plan: PlannedPrint, record: PrintRecord, out: Path | None) -> None:
    from engine.paper.printing import KEYS_FOLDER, MERGED_FILE

    spares = sum(copy.is_spare for copy in record.copies)
    pages = sum(copy.pages for copy in record.copies)
    what = count_noun(len(record.copies), "exam")
    spare = f", {spares} of them spare" if spares else ""
    click.echo(
        f"{what} of {count_noun(len(record.versions), 'version')}{spare}: "
        f"{count_noun(pages, 'page')}, print {record.id}"
    )
    click.echo(f"  to print: {out or plan.folder / MERGED_FILE}")
    click.echo(f"  keys, for you alone: {plan.folder / KEYS_FOLDER}")
