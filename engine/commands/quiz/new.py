"""``grade quiz new``: one quiz per student, stored with its keys and written without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import check_student, course_option, json_option, store_option
from engine.commands.quiz.files import find_blueprint, write_quizzes, write_starters
from engine.cores import without_collecting
from engine.errors import UsageError
from engine.plurals import agree, counted

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.model import Quiz

__all__ = ["make_quizzes", "new"]


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
@json_option
@course_option
@store_option
def new(
    blueprint: str,
    students: tuple[str, ...],
    name: str | None,
    attempt: int,
    out: Path | None,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Draw a quiz from BLUEPRINT (a name or a file): per student a fill-in YAML file and a page.

    Called again, it writes the same files and draws for new students only: what was drawn stays as it is,
    whatever becomes of the items or the blueprint.

    \b
    Examples:
      grade quiz new l16 --course attention-2026
      grade quiz new my_blueprint.yaml --student me --out .
    """
    from engine.commands.practising import quoted
    from engine.commands.workplace import find_workplace
    from engine.quiz.rules_text import not_on_files

    for student in students:
        check_student(student)
    workplace = find_workplace(course_path)
    path = find_blueprint(workplace, blueprint)
    quiz_name = _checked(name or path.stem)
    ids = list(dict.fromkeys(students)) or (workplace.course.roster_ids() if workplace.course else ["me"])
    if not ids:
        raise UsageError(
            "the roster is empty", next_step="add students to roster.csv, or name one with --student"
        )
    for student in students if workplace.course else ():
        _note_a_stranger(workplace, student)
    folder = out or (workplace.course.quizzes / quiz_name if workplace.course else Path())
    with without_collecting():
        quizzes = make_quizzes(workplace, path, ids, quiz_name, attempt)
        files = write_quizzes(folder, quizzes, _names(workplace))
        starters = write_starters(workplace, folder, quizzes[0])
    if as_json:
        rows = [
            {"student": q.student, "quiz": q.id, "files": [str(f) for f in fs]}
            for q, fs in zip(quizzes, files, strict=True)
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        click.echo(f"{_counted(quizzes)} in {folder}")
        for sentence in not_on_files(quizzes[0].rules) if workplace.course else ():
            click.echo(f"note: {sentence}")
        if starters:
            names = ", ".join(path.name for path in starters)
            click.echo(f"starters of the code exercises in {starters[0].parent}: {names}")
        if workplace.course is None:
            click.echo(f"  next: grade quiz take {files[0][0]}")
        else:
            named = f" --course {quoted(course_path)}" if course_path else ""
            click.echo("  next: hand out the .yaml files (and the .html ones, to read or print)")
            click.echo(f"  then: grade batch DIR{named} --out results, with what comes back in DIR")


def _note_a_stranger(workplace: Workplace, student: str) -> None:
    """Say where an id that isn't in the roster is nearly one that is; others, such as `me`, are meant."""
    from engine.spec.wording import near_words

    roster = workplace.course.roster(tolerant=True) if workplace.course else None
    known = [person.id for person in roster.students] if roster else []
    near = [] if student in known else near_words(student, known)
    if near:
        click.echo(f"note: {student} isn't in the roster; did you mean '{near[0]}'?", err=True)


def _names(workplace: Workplace) -> dict[str, str]:
    """Return the roster's names by id: a printed quiz is handed to a person, not to a number."""
    roster = workplace.course.roster(tolerant=True) if workplace.course else None
    return {student.id: student.name for student in roster.students if student.name} if roster else {}


def _counted(quizzes: list[Quiz]) -> str:
    """Return ``1 quiz of 1 question lies`` or ``20 quizzes of 9 questions lie``."""
    questions = counted(len(quizzes[0].questions), "question")
    return f"{counted(len(quizzes), 'quiz')} of {questions} {agree(len(quizzes), 'lie')}"


def _checked(name: str) -> str:
    """Return the quiz's name; refuse one that is no folder's name."""
    from engine.foreign import clean_line

    if not name.strip(". ") or "/" in name or clean_line(name, 100) != name:
        raise UsageError(
            "this can't be the name of a quiz",
            expected="a word of at most 100 characters",
            got=repr(name[:120]),
            next_step="give it another one with --name",
        )
    return name


def make_quizzes(
    workplace: Workplace, path: Path, students: list[str], name: str, attempt: int
) -> list[Quiz]:
    """Return everybody's quiz: as it is stored, or drawn and stored now; a progress bar on a terminal."""
    from engine.commands.terminal import progress_bar
    from engine.commands.workplace import tell_unreadable
    from engine.model import Mode
    from engine.quiz import compose, read_blueprint

    plan = read_blueprint(path)
    with workplace.open_store() as store, progress_bar("drawing", len(students)) as advance:
        stored = store.quizzes(name)
        if workplace.mode is Mode.PRACTICE:  # there another attempt is another quiz, from the plan as it is
            stored = [quiz for quiz in stored if quiz.attempt == attempt]
        quizzes = compose(
            plan,
            workplace.bank,
            students,
            secret=workplace.secret(),
            name=name,
            attempt=attempt,
            stored=stored,
            progress=advance,
        )
        store.save_quizzes(quizzes)
    if any(quiz.plan not in ("", plan.fingerprint) for quiz in quizzes):
        click.echo(
            f"note: quiz {name} was drawn from another state of this blueprint and stays as it was drawn\n"
            "  next: a quiz from the blueprint as it is now needs another --name (practice: --attempt)",
            err=True,
        )
    kept = {(quiz.id, quiz.student) for quiz in stored}
    _note_changed_items(workplace, name, [quiz for quiz in quizzes if (quiz.id, quiz.student) in kept])
    _warn_of_faulty_items(workplace, [quiz for quiz in quizzes if (quiz.id, quiz.student) not in kept])
    if any(section.draws for section in plan.blueprint.sections) and len(stored) < len(quizzes):
        tell_unreadable(workplace.bank.readable()[1])
    return quizzes


def _note_changed_items(workplace: Workplace, name: str, kept: list[Quiz]) -> None:
    """Say which items were corrected since these quizzes were drawn: they keep what was drawn."""
    asked = dict.fromkeys((q.variant.item, q.variant.item_version) for quiz in kept for q in quiz.questions)
    changed = list(dict.fromkeys(item for item, version in asked if workplace.has_changed(item, version)))
    if changed and workplace.course is not None:
        verb, step = agree(len(changed), "have"), f"grade regrade {' '.join(changed)} --dry-run"
        click.echo(
            f"note: {', '.join(changed)} {verb} changed since quiz {name} was drawn; it stays as it was\n"
            f"  next: {step} shows what that changes about marks and about the keys of these quizzes",
            err=True,
        )


_SEEDS = 10  # variants that are tried: enough to see a wrong key, and quick


def _warn_of_faulty_items(workplace: Workplace, drawn: list[Quiz]) -> None:
    """Say which of the course's own items in new quizzes ``grade lint`` finds at fault."""
    from engine.lint import lint_bank

    if workplace.course is None:
        return
    asked = dict.fromkeys(question.variant.item for quiz in drawn for question in quiz.questions)
    own = [item for item in asked if workplace.bank.path(item).is_relative_to(workplace.course.problems)]
    for report in lint_bank(workplace.bank, own, seeds=_SEEDS) if own else ():
        if report.errors:
            click.echo(
                f"warning: {report.item} is in this quiz and has {counted(len(report.errors), 'fault')}: "
                f"{report.errors[0].message}\n"
                f"  next: grade lint {report.item} shows all; when it is mended, grade regrade {report.item} "
                "gives these quizzes the keys that hold then",
                err=True,
            )
