"""``grade quiz check``: a quiz drawn for the class, without handing it out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context, warn_unreadable
from engine.commands.options import course_option, json_option
from engine.commands.quiz.new import blueprint_path
from engine.commands.terminal import number, print_json, progress_bar, show_table
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.items import ProblemSpec
    from engine.quiz.quiz_statistics import QuestionFigures, QuizStatistics

_USUAL_CLASS = 30  # students, where there is no roster to count


@click.command("check")
@click.argument("blueprint")
@click.option(
    "--students",
    "count",
    type=click.IntRange(1, 5000),
    default=None,
    help="Size of an invented class (default: the roster, else 30).",
)
@click.option("--name", default=None, help="Name of the quiz (default: the blueprint's name).")
@json_option
@course_option
def check(
    blueprint: str, count: int | None, name: str | None, as_json: bool, course_path: Path | None
) -> int:
    """Draw BLUEPRINT (a name or a file) for a whole class and say what the quiz will be like.

    For each question: difficulty, how many students share a variant or a right answer, what guessing earns
    with all attempts used, the time it takes if its item says so. With a roster it is the same draw as
    `grade quiz new` makes; nothing is stored or written.

    Exit code 0: nothing to report; 1: there are warnings; 2: the blueprint can't be used.

    \b
    Examples:
      grade quiz check l16 --course attention-2026
      grade quiz check my_blueprint.yaml --students 200
    """
    from engine.quiz import compose, read_blueprint
    from engine.quiz.quiz_statistics import statistics_of, warnings_of
    from engine.quiz.rules import now

    context = find_context(course_path)
    path = blueprint_path(context, blueprint)
    plan = read_blueprint(path)
    students = _students(context, count)
    with progress_bar("drawing", len(students)) as advance:
        quizzes = compose(
            plan, context.bank, students, secret=context.secret(), name=name or path.stem, progress=advance
        )
    rehearsal = statistics_of(quizzes, context.bank, observed=_observed(context))
    # Computed from the drawn quizzes, so they are about this class and no other.
    warnings = warnings_of(rehearsal, context.bank, now(), plan.blueprint)
    if any(section.draws for section in plan.blueprint.sections):
        warn_unreadable(context.bank.summaries()[1])
    exercises = [context.bank.load(item) for item in plan.blueprint.exercises]
    if as_json:
        print_json(_as_json(rehearsal, plan.blueprint.title, warnings, exercises))
    else:
        _show(rehearsal, plan.blueprint.title, warnings, exercises, on_files=context.course is not None)
    return 1 if warnings else 0


def _students(context: CommandContext, count: int | None) -> list[str]:
    roster = context.course.roster_ids() if context.course and count is None else []
    # Any ids do: seeds are hashes of them.
    return roster or [f"student-{number}" for number in range(1, (count or _USUAL_CLASS) + 1)]


def _observed(context: CommandContext) -> dict[str, float]:
    from engine.quiz.drawn_class import shares_before

    if context.course is None:
        return {}
    with context.open_store() as store:
        return shares_before(store, context.mode)


def _as_json(
    rehearsal: QuizStatistics, title: str, warnings: list[str], exercises: list[ProblemSpec]
) -> dict[str, object]:
    from engine.text.words import plain_points

    low, high = rehearsal.difficulty_of_students
    return {
        "title": title,
        "students": rehearsal.students,
        "points": plain_points(rehearsal.points),
        "guessing": round(rehearsal.guessing, 4),
        "minutes": rehearsal.minutes,
        "difficulty_of_students": {"least": round(low, 2), "greatest": round(high, 2)},
        "questions": [question.as_json() for question in rehearsal.questions],
        "exercises": [
            {"item": spec.id, "points": plain_points(spec.points), "minutes": spec.minutes}
            for spec in exercises
        ],
        "warnings": warnings,
    }


def _show(
    rehearsal: QuizStatistics,
    title: str,
    warnings: list[str],
    exercises: list[ProblemSpec],
    *,
    on_files: bool,
) -> None:
    from engine.quiz.rules import not_on_files, rules_text
    from engine.text.words import percent, points_text

    total = len(rehearsal.questions)
    click.echo(
        f"{clean_line(title)}: {count_noun(total, 'question')}, {points_text(rehearsal.points)}, "
        f"drawn for {count_noun(rehearsal.students, 'student')}"
    )
    for sentence in rules_text(rehearsal.rules):
        click.echo(f"  {sentence}")
    click.echo()
    with_observed = any(question.observed is not None for question in rehearsal.questions)
    columns = ["question", "item", "type", "points", "difficulty", "variants", "keys", "guessing", "minutes"]
    rows = [_row(question, with_observed) for question in rehearsal.questions]
    show_table([*columns, *(["before"] if with_observed else [])], rows)
    click.echo()
    click.echo(f"Guessing earns {percent(rehearsal.guessing)} of the points on average.")
    if rehearsal.minutes is not None:
        click.echo(f"Expected time: {count_noun(rehearsal.minutes, 'minute', 'g')}.")
    else:
        lacking = sum(question.minutes is None for question in rehearsal.questions)
        click.echo(
            f"Expected time: unknown; the items of {lacking} of {count_noun(total, 'question')} "
            "don't say `minutes`."
        )
    for spec in exercises:
        time = "" if spec.minutes is None else f", about {count_noun(spec.minutes, 'minute', 'g')}"
        click.echo(f"Code exercise: {spec.id} ({points_text(spec.points)}{time}).")
    low, high = rehearsal.difficulty_of_students
    if high > low:
        click.echo(f"Mean difficulty of a student's quiz: {low:.1f} to {high:.1f}.")
    for sentence in not_on_files(rehearsal.rules) if on_files else ():
        click.echo(f"note: {sentence}")
    for warning in warnings:
        click.echo(f"warning: {clean_line(warning, 500)}")


def _row(question: QuestionFigures, with_observed: bool) -> list[str]:
    from engine.text.words import percent

    items = list(question.items)
    low, mean, high = question.difficulty
    row = [
        str(question.number),
        items[0] if len(items) == 1 else f"{count_noun(len(items), 'item')}, one per student",
        ", ".join(question.kinds),
        number(question.points),
        f"{mean:.1f} ({low:g}-{high:g})" if high > low else f"{low:g}",
        str(question.variants),
        str(question.keys),
        percent(question.guessing) + ("" if question.is_exact else " (simulated)"),
        "-" if question.minutes is None else f"{question.minutes:g}",
    ]
    if with_observed:
        row.append("-" if question.observed is None else percent(question.observed))
    return row
