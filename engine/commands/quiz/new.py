"""``grade quiz new``: one quiz per student, stored with its keys and written without them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context, warn_unreadable
from engine.commands.exercise import starter_file
from engine.commands.journal import log
from engine.commands.options import check_student, course_option, json_option, store_option
from engine.commands.terminal import print_json, progress_bar
from engine.errors import QuizError, UsageError
from engine.text.files import replace_text, write_errors
from engine.text.words import agree, count_noun, near_words, shell_word

if TYPE_CHECKING:
    from engine.model import Quiz


@click.command("new")
@click.argument("blueprint")
@click.option(
    "--student", "students", multiple=True, help="Only this student (repeatable); default: the roster."
)
@click.option("--name", default=None, help="Name of the quiz (default: the blueprint's name).")
@click.option(
    "--attempt",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Another attempt, another draw.",
)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the files.")
@click.option(
    "--cluster", is_flag=True, help="Draw on the workers (grade worker) of the store's server, too."
)
@json_option
@course_option
@store_option
def new(
    blueprint: str,
    students: tuple[str, ...],
    name: str | None,
    attempt: int,
    out: Path | None,
    cluster: bool,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Draw a quiz from BLUEPRINT (a name or a file): per student a fill-in YAML file and a page.

    Run again, it writes the same files and draws for new students only: what was drawn stays as it is,
    however the items or the blueprint change.

    With --cluster, workers draw a part of a large class; the quizzes are the same (docs/scaling.md).

    \b
    Examples:
      grade quiz new l16 --course attention-2026
      grade quiz new l16 --course attention-2026 --cluster
      grade quiz new my_blueprint.yaml --student me --out .
    """
    from engine.pages.quiz import write_quizzes
    from engine.parallel import without_collecting
    from engine.quiz.drawn_class import checked_quiz_name
    from engine.quiz.rules import not_on_files

    for student in students:
        check_student(student)
    context = find_context(course_path)
    if cluster:
        from engine.commands.worker import check_cluster

        check_cluster(context)
    path = blueprint_path(context, blueprint)
    quiz_name = checked_quiz_name(name or path.stem)
    # "me" is the one student of practice.
    ids = list(dict.fromkeys(students)) or (context.course.roster_ids() if context.course else ["me"])
    if not ids:
        raise UsageError(
            "the roster is empty", next_step="add students to roster.csv, or name one with --student"
        )
    for student in students if context.course else ():
        _note_unlisted(context, student)
    folder = out or (context.course.quizzes / quiz_name if context.course else Path())
    # A class's quizzes are a million small values that all stay: collecting finds nothing and takes seconds.
    with without_collecting():
        quizzes = make_quizzes(context, path, ids, quiz_name, attempt, cluster=cluster)
        files = write_quizzes(folder, quizzes, context.names)
        starters = _write_starters(context, folder, quizzes[0])
    if as_json:
        print_json(
            [
                {"student": quiz.student, "quiz": quiz.id, "files": [str(path) for path in paths]}
                for quiz, paths in zip(quizzes, files, strict=True)
            ]
        )
        return
    questions = count_noun(len(quizzes[0].questions), "question")
    click.echo(f"{count_noun(len(quizzes), 'quiz')} of {questions} {agree(len(quizzes), 'are')} in {folder}")
    for sentence in not_on_files(quizzes[0].rules) if context.course else ():
        click.echo(f"note: {sentence}")
    if starters:
        names = ", ".join(path.name for path in starters)
        click.echo(f"starters of the code exercises in {starters[0].parent}: {names}")
    if context.course is None:
        click.echo(f"  next: grade quiz take {files[0][0]}")
    else:
        course = f" --course {shell_word(course_path)}" if course_path else ""
        click.echo(f"  next: grade quiz publish {shell_word(quiz_name)}{course}, for the site (grade serve)")
        click.echo("  or: hand out the .yaml files (and the .html ones, to read or print), and when they")
        click.echo(f"      come back in a folder DIR: grade batch DIR{course} --out results")


def blueprint_path(context: CommandContext, blueprint: str) -> Path:
    """Return the file of a blueprint: a path, one of the course's, or a built-in one."""
    from engine.quiz.blueprint import blueprint_folders, find_blueprint

    return find_blueprint(blueprint, blueprint_folders(context.course.blueprints if context.course else None))


def _note_unlisted(context: CommandContext, student: str) -> None:
    # Only near misses are mentioned: an id outside the roster, such as `me`, is usually meant.
    known = [person.id for person in context.roster.students] if context.roster else []
    matches = [] if student in known else near_words(student, known)
    if matches:
        click.echo(f"note: {student} isn't in the roster; did you mean '{matches[0]}'?", err=True)


def make_quizzes(
    context: CommandContext,
    path: Path,
    students: list[str],
    name: str,
    attempt: int,
    *,
    cluster: bool = False,
) -> list[Quiz]:
    """Return everybody's quiz: as it is stored, or drawn and stored now; a progress bar on a terminal."""
    from engine.model import Mode
    from engine.quiz import read_blueprint
    from engine.quiz.compose import DrawingPlace, on_this_machine
    from engine.quiz.drawn_class import draw_class

    plan = read_blueprint(path)
    place: DrawingPlace = on_this_machine
    if cluster:
        from engine.commands.worker import drawing_on_cluster

        place = workers = drawing_on_cluster(context)
    with context.open_store() as store, progress_bar("drawing", len(students)) as advance:
        # Stored before any file is written: a file whose quiz isn't stored could never be graded.
        drawn = draw_class(
            store,
            context.bank,
            plan,
            students,
            secret=context.secret(),
            name=name,
            mode=Mode.PRACTICE if context.is_practice else Mode.MARKS,
            attempt=attempt,
            progress=advance,
            place=place,
        )
        if drawn.new:
            log(context, store, "quiz.draw", name, blueprint=path.stem, students=len(drawn.new))
    for note in workers.notes if cluster else ():
        click.echo(f"note: {note}", err=True)
    if drawn.is_of_another_plan:
        click.echo(
            f"note: quiz {name} was drawn from another state of this blueprint and stays as it was drawn\n"
            "  next: a quiz from the blueprint as it is now needs another --name (practice: --attempt)",
            err=True,
        )
    if context.course is not None:
        _note_changed_items(drawn.changed_items(context.bank), name)
        _warn_of_faulty_items(context, drawn.course_items(context.bank, context.course.problems))
    # A faulty file matters only where a section drew from the whole bank.
    if drawn.draws_from_bank:
        warn_unreadable(context.bank.summaries()[1])
    return list(drawn.quizzes)


def _note_changed_items(changed: list[str], name: str) -> None:
    """Say which items were corrected since these quizzes were drawn: they stay as they were drawn."""
    if changed:
        verb, step = agree(len(changed), "have"), f"grade regrade {' '.join(changed)} --dry-run"
        click.echo(
            f"note: {', '.join(changed)} {verb} changed since quiz {name} was drawn; it stays as it was\n"
            f"  next: {step} shows what that changes about marks and about the keys of these quizzes",
            err=True,
        )


def _warn_of_faulty_items(context: CommandContext, items: list[str]) -> None:
    """Say which of the course's own items in new quizzes ``grade lint`` finds at fault."""
    from engine.authoring.lint import lint_bank
    from engine.quiz.drawn_class import LINT_SEEDS

    for report in lint_bank(context.bank, items, seeds=LINT_SEEDS) if items else ():
        if report.errors:
            click.echo(
                f"warning: {report.item} is in this quiz and has {count_noun(len(report.errors), 'fault')}: "
                f"{report.errors[0].message}\n"
                f"  next: grade lint {report.item} shows all; when it is corrected, grade regrade "
                f"{report.item} gives these quizzes the right keys",
                err=True,
            )


def _write_starters(context: CommandContext, folder: Path, quiz: Quiz) -> list[Path]:
    """Write the starter of each code exercise of a quiz to ``starters/`` and return the files.

    Students who don't have the command get them together with their quiz. A starter is the same for
    everybody; an existing one is overwritten.
    """
    paths = [folder / "starters" / f"{exercise.item}.py" for exercise in quiz.exercises]
    step = "choose a folder that you may write to: --out FOLDER"
    for exercise, path in zip(quiz.exercises, paths, strict=True):
        text = starter_file(context, exercise.item, path.name)
        with write_errors("a starter can't be written", path, next_step=step, kind=QuizError):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, text)
    return paths
