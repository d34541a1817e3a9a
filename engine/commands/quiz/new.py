"""``grade quiz new``: one quiz per student, stored with its keys and written without them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import check_student, course_option, json_option, store_option
from engine.errors import QuizError, UsageError
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.model import Quiz

__all__ = [
    "deadline",
    "file_stem",
    "find_blueprint",
    "is_quiz_file",
    "make_quizzes",
    "new",
    "write_quizzes",
    "write_starters",
]


# ----------------------------------------------------------------------------------------------------
# Blueprints are found here, and the files of a quiz written.

_ELSEWHERE = "choose a folder that you may write to: --out FOLDER"

_MANY = 40  # students whose files are worth starting processes for


def find_blueprint(context: CommandContext, blueprint: str) -> Path:
    """Return the file of a blueprint: a path, one of the course's, or a built-in one."""
    from engine.items.misconceptions import builtin_root

    if blueprint.endswith((".yaml", ".yml")):
        if not Path(blueprint).is_file():
            raise QuizError("no such blueprint file", where=blueprint)
        return Path(blueprint)
    if Path(blueprint).is_file():
        raise QuizError(
            "this is neither a quiz file nor a blueprint", where=blueprint, expected="a file NAME.yaml"
        )
    folders = [builtin_root() / "blueprints"]
    if context.course:
        folders.insert(0, context.course.blueprints)
    for folder in folders:
        path = folder / f"{blueprint}.yaml"
        if path.is_file():
            return path
    known = sorted({p.stem for folder in folders for p in folder.glob("*.yaml")})
    raise QuizError(
        f"no blueprint {blueprint!r}", expected=", ".join(known) or "a blueprint file", got=blueprint
    )


def is_quiz_file(path: Path) -> bool:
    """Tell whether a file is a fill-in file, and no blueprint."""
    from engine.text.files import read_hand_in

    return any(line.startswith("quiz:") for line in read_hand_in(path).splitlines())


def write_quizzes(
    folder: Path, quizzes: Sequence[Quiz], names: Mapping[str, str] | None = None
) -> list[tuple[Path, Path]]:
    """Write each student's fill-in file and page; a fill-in file that is there stays as it is.

    It may hold answers. A :class:`QuizError` if it is another quiz's.
    """
    from engine.parallel import on_all_cores

    stems = _stems(quizzes)

    def write(number: int) -> tuple[Path, Path]:
        quiz = quizzes[number]
        return _write(folder, quiz, stems[number], (names or {}).get(quiz.student))

    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = on_all_cores(write, range(len(quizzes)), least=_MANY)
        return [written[n] if n in written else write(n) for n in range(len(quizzes))]
    except OSError as error:
        raise QuizError(
            "the quiz files can't be written",
            where=str(error.filename or folder),
            got=str(error.strerror),
            next_step=_ELSEWHERE,
        ) from error


def write_starters(context: CommandContext, folder: Path, quiz: Quiz) -> list[Path]:
    """Write the starter of each code exercise of a quiz to ``starters/`` and return the files.

    Students who don't have the command get them together with their quiz. A starter is the same for
    everybody; one that is there is written anew.
    """
    from engine.commands.hint import code_spec, commands_for
    from engine.practice.starter import starter_source
    from engine.text.files import read_text, replace_text

    written = []
    for exercise in quiz.exercises:
        _, answer = code_spec(context, exercise.item)
        path = folder / "starters" / f"{exercise.item}.py"
        starter = read_text(context.bank.path(exercise.item).parent / answer.starter)
        following = tuple(commands_for(exercise.item, path.name).values())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, starter_source(context.draw(exercise.item, 0), starter, following))
        except OSError as error:
            raise QuizError(
                "a starter can't be written",
                where=str(error.filename or path),
                got=str(error.strerror),
                next_step=_ELSEWHERE,
            ) from error
        written.append(path)
    return written


def _write(folder: Path, quiz: Quiz, stem: str, name: str | None) -> tuple[Path, Path]:
    from engine.pages import quiz_page
    from engine.quiz import fill_in_text
    from engine.text.files import replace_text

    fill_in, page = folder / f"{stem}.yaml", folder / f"{stem}.html"
    if not fill_in.exists():
        replace_text(fill_in, fill_in_text(quiz))
    elif not _is_of(quiz, fill_in):
        raise QuizError(
            "another quiz's file is there already",
            where=str(fill_in),
            next_step="move it away, or choose another --out, --name or --attempt",
        )
    replace_text(page, quiz_page(quiz, student=f"{name} ({quiz.student})" if name else None))
    return fill_in, page


def _is_of(quiz: Quiz, path: Path) -> bool:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    named = (line.removeprefix("quiz:").strip().strip("'\"") for line in lines if line.startswith("quiz:"))
    return quiz.id in named


def file_stem(quiz: Quiz) -> str:
    """Return a quiz's file name without anything that a file system or a shell could take amiss."""
    text = f"{quiz.name}-{quiz.student}" + (f"-{quiz.attempt}" if quiz.attempt else "")
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text).strip(".") or "quiz"


def _stems(quizzes: Sequence[Quiz]) -> list[str]:
    """Return the files' names; two that a file system could take for one get the quiz's id added."""
    stems = [file_stem(quiz) for quiz in quizzes]
    often = Counter(stem.casefold() for stem in stems)
    return [
        f"{stem}-{quiz.id[:6]}" if often[stem.casefold()] > 1 else stem
        for stem, quiz in zip(stems, quizzes, strict=True)
    ]


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
    from engine.commands.context import find_context
    from engine.commands.hint import quoted
    from engine.parallel import without_collecting
    from engine.quiz.release import not_on_files

    for student in students:
        check_student(student)
    context = find_context(course_path)
    path = find_blueprint(context, blueprint)
    quiz_name = _checked(name or path.stem)
    ids = list(dict.fromkeys(students)) or (context.course.roster_ids() if context.course else ["me"])
    if not ids:
        raise UsageError(
            "the roster is empty", next_step="add students to roster.csv, or name one with --student"
        )
    for student in students if context.course else ():
        _note_a_stranger(context, student)
    folder = out or (context.course.quizzes / quiz_name if context.course else Path())
    with without_collecting():
        quizzes = make_quizzes(context, path, ids, quiz_name, attempt)
        files = write_quizzes(folder, quizzes, _names(context))
        starters = write_starters(context, folder, quizzes[0])
    if as_json:
        rows = [
            {"student": q.student, "quiz": q.id, "files": [str(f) for f in fs]}
            for q, fs in zip(quizzes, files, strict=True)
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        click.echo(f"{_counted(quizzes)} in {folder}")
        for sentence in not_on_files(quizzes[0].rules) if context.course else ():
            click.echo(f"note: {sentence}")
        if starters:
            names = ", ".join(path.name for path in starters)
            click.echo(f"starters of the code exercises in {starters[0].parent}: {names}")
        if context.course is None:
            click.echo(f"  next: grade quiz take {files[0][0]}")
        else:
            named = f" --course {quoted(course_path)}" if course_path else ""
            click.echo("  next: hand out the .yaml files (and the .html ones, to read or print)")
            click.echo(f"  then: grade batch DIR{named} --out results, with what comes back in DIR")


def _note_a_stranger(context: CommandContext, student: str) -> None:
    """Say where an id that isn't in the roster is nearly one that is; others, such as `me`, are meant."""
    from engine.text.words import near_words

    roster = context.course.roster(tolerant=True) if context.course else None
    known = [person.id for person in roster.students] if roster else []
    near = [] if student in known else near_words(student, known)
    if near:
        click.echo(f"note: {student} isn't in the roster; did you mean '{near[0]}'?", err=True)


def _names(context: CommandContext) -> dict[str, str]:
    """Return the roster's names by id: a printed quiz is handed to a person, not to a number."""
    roster = context.course.roster(tolerant=True) if context.course else None
    return {student.id: student.name for student in roster.students if student.name} if roster else {}


def _counted(quizzes: list[Quiz]) -> str:
    """Return ``1 quiz of 1 question lies`` or ``20 quizzes of 9 questions lie``."""
    questions = count_noun(len(quizzes[0].questions), "question")
    return f"{count_noun(len(quizzes), 'quiz')} of {questions} {agree(len(quizzes), 'lie')}"


def _checked(name: str) -> str:
    """Return the quiz's name; refuse one that is no folder's name."""
    from engine.text.escape import clean_line

    if not name.strip(". ") or "/" in name or clean_line(name, 100) != name:
        raise UsageError(
            "this can't be the name of a quiz",
            expected="a word of at most 100 characters",
            got=repr(name[:120]),
            next_step="give it another one with --name",
        )
    return name


def make_quizzes(
    context: CommandContext, path: Path, students: list[str], name: str, attempt: int
) -> list[Quiz]:
    """Return everybody's quiz: as it is stored, or drawn and stored now; a progress bar on a terminal."""
    from engine.commands.context import tell_unreadable
    from engine.commands.terminal import progress_bar
    from engine.model import Mode
    from engine.quiz import compose, read_blueprint

    plan = read_blueprint(path)
    with context.open_store() as store, progress_bar("drawing", len(students)) as advance:
        stored = store.quizzes(name)
        if context.mode is Mode.PRACTICE:  # there another attempt is another quiz, from the plan as it is
            stored = [quiz for quiz in stored if quiz.attempt == attempt]
        quizzes = compose(
            plan,
            context.bank,
            students,
            secret=context.secret(),
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
    _note_changed_items(context, name, [quiz for quiz in quizzes if (quiz.id, quiz.student) in kept])
    _warn_of_faulty_items(context, [quiz for quiz in quizzes if (quiz.id, quiz.student) not in kept])
    if any(section.draws for section in plan.blueprint.sections) and len(stored) < len(quizzes):
        tell_unreadable(context.bank.readable()[1])
    return quizzes


def _note_changed_items(context: CommandContext, name: str, kept: list[Quiz]) -> None:
    """Say which items were corrected since these quizzes were drawn: they keep what was drawn."""
    asked = dict.fromkeys((q.variant.item, q.variant.item_version) for quiz in kept for q in quiz.questions)
    changed = list(dict.fromkeys(item for item, version in asked if context.has_changed(item, version)))
    if changed and context.course is not None:
        verb, step = agree(len(changed), "have"), f"grade regrade {' '.join(changed)} --dry-run"
        click.echo(
            f"note: {', '.join(changed)} {verb} changed since quiz {name} was drawn; it stays as it was\n"
            f"  next: {step} shows what that changes about marks and about the keys of these quizzes",
            err=True,
        )


_SEEDS = 10  # variants that are tried: enough to see a wrong key, and quick


def _warn_of_faulty_items(context: CommandContext, drawn: list[Quiz]) -> None:
    """Say which of the course's own items in new quizzes ``grade lint`` finds at fault."""
    from engine.authoring.lint import lint_bank

    if context.course is None:
        return
    asked = dict.fromkeys(question.variant.item for quiz in drawn for question in quiz.questions)
    own = [item for item in asked if context.bank.path(item).is_relative_to(context.course.problems)]
    for report in lint_bank(context.bank, own, seeds=_SEEDS) if own else ():
        if report.errors:
            click.echo(
                f"warning: {report.item} is in this quiz and has {count_noun(len(report.errors), 'fault')}: "
                f"{report.errors[0].message}\n"
                f"  next: grade lint {report.item} shows all; when it is mended, grade regrade {report.item} "
                "gives these quizzes the keys that hold then",
                err=True,
            )


# ----------------------------------------------------------------------------------------------------
# ``grade quiz deadline``: see when a quiz closes, or move it, for all or for one student.


@click.command("deadline")
@click.argument("quiz", metavar="QUIZ")
@click.argument("time", required=False)
@click.option("--student", "students", multiple=True, help="Only this student's (repeatable); default: all.")
@json_option
@course_option
@store_option
def deadline(
    quiz: str, time: str | None, students: tuple[str, ...], as_json: bool, course_path: Path | None
) -> None:
    """Move the deadline of QUIZ (its name) to TIME, or show it; `none` takes it away.

    It is the only thing of a quiz that changes once it is drawn. Files that are out still name the old one.
    The dates of course.yaml are shown beside it: after `due` work is late, after `closes` it doesn't count.

    \b
    Examples:
      grade quiz deadline l16 --course attention-2026
      grade quiz deadline l16 2026-12-03T12:00+01:00 --student 007 --course attention-2026
    """
    from engine.commands.context import find_context

    moment = None if time is None else _moment(time)
    context = find_context(course_path)
    with context.open_store() as store:
        found = [q for q in store.quizzes(quiz) if not students or q.student in students]
        missing = sorted(set(students) - {q.student for q in found})
        if not found or missing:
            names = ", ".join(store.quiz_names()) or "none was drawn here"
            raise QuizError(
                f"quiz {quiz!r} was not drawn" + (f" for {', '.join(missing)}" if missing else ""),
                expected=f"a quiz that was drawn: {names}",
            )
        if time is not None:
            found = [after for _, after in store.sittings.move_deadline(quiz, moment, students)]
    dates = [_dates(context, q) for q in found]
    if as_json:
        rows = [
            {
                "student": q.student,
                "quiz": q.id,
                "deadline": q.rules.deadline and q.rules.deadline.isoformat(),
                "due": due and due.isoformat(),
                "closes": closes and closes.isoformat(),
            }
            for q, (due, closes) in zip(found, dates, strict=True)
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        _show(found, dates)


def _moment(time: str) -> datetime | None:
    from pydantic import TypeAdapter, ValidationError

    from engine.quiz.blueprint import Deadline

    if time == "none":
        return None
    try:
        moment: datetime = TypeAdapter(Deadline).validate_python(time)
    except ValidationError as error:
        raise UsageError(error.errors()[0]["msg"], got=repr(time)) from None
    return moment


def _dates(context: CommandContext, quiz: Quiz) -> tuple[datetime | None, datetime | None]:
    """Return until when the course's rules say that work is in time, and until when it counts."""
    from engine.marks import terms_of

    if context.course is None:
        return None, None
    terms = terms_of(context.course.policies, quiz.student, quiz.name)
    return terms.due, terms.closes


def _show(quizzes: list[Quiz], dates: list[tuple[datetime | None, datetime | None]]) -> None:
    from engine.commands.render import show_table
    from engine.quiz import release as clock
    from engine.quiz.release import deadline_text, time_left

    now = clock.now()
    groups: dict[tuple[datetime | None, datetime | None, datetime | None], list[str]] = {}
    for quiz, of_course in zip(quizzes, dates, strict=True):
        groups.setdefault((quiz.rules.deadline, *of_course), []).append(quiz.student)
    heads = ["deadline", "", "due (course.yaml)", "closes (course.yaml)"]
    rows = []
    for (moment, due, closes), students in groups.items():
        left = "" if moment is None else "over" if now > moment else f"in {time_left(moment, now)}"
        texts = ["" if date is None else deadline_text(date) for date in (due, closes)]
        who = ", ".join(students[:10]) + (" …" if len(students) > 10 else "")
        own = "none" if moment is None else deadline_text(moment)
        rows.append([own, left, *texts, str(len(students)), who])
    # Dates that the course doesn't have get no column.
    kept = [at for at in range(len(heads)) if at < 2 or any(row[at] for row in rows)]
    shown = [[*(row[at] for at in kept), *row[len(heads) :]] for row in rows]
    show_table([*(heads[at] for at in kept), "quizzes", "students"], shown)
