"""``grade mutants``: what the operators make of an exercise's solutions, and a name for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.exercise import code_spec
from engine.commands.options import complete_items, course_option, json_option
from engine.commands.terminal import ask, print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.words import count_noun, did_you_mean, shell_word

if TYPE_CHECKING:
    from engine.authoring.mutation.survey import MutantSurvey, TriedMutant
    from engine.code.exercise import CodeExercise
    from engine.items import ProblemSpec

_VERDICTS = ("survives", "equivalent", "killed")


@click.command("mutants")
@click.argument("item", metavar="ITEM|FILE.yaml", shell_complete=complete_items)
@click.argument("mutant", required=False)
@click.option("--only", type=click.Choice(_VERDICTS), default=None, help="List those of one verdict.")
@click.option("--name", default=None, help="Make MUTANT a known mistake of the exercise under this id.")
@click.option("--feedback", default=None, help="With --name: what a student with this mistake reads.")
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86_400),
    default=120,
    show_default=True,
    help="How long mutants are tried.",
)
@json_option
@course_option
def command(
    item: str,
    mutant: str | None,
    only: str | None,
    name: str | None,
    feedback: str | None,
    seconds: float,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """List programs that differ from a solution of a code exercise in one place, and whether a check fails.

    A mutant that survives passes every check: it is right, which the problem file declares under
    `equivalent`, or the rubric has a hole. With MUTANT, one is shown with its difference from the solution.
    --name writes it to mutants/, with an entry in the problem file: a student who makes this mistake is
    told the feedback.

    \b
    Examples:
      grade mutants softmax --only survives
      grade mutants softmax solution_numpy:keepdims:5:19
      grade mutants my-softmax/my-softmax.yaml solution:axis:5:31 --name m-axis --feedback "Wrong axis."
    """
    context = find_context(course_path)
    if name is None and feedback is not None:
        raise UsageError("--feedback goes with --name")
    if name is not None and mutant is None:
        raise UsageError("--name goes with one mutant", expected="grade mutants ITEM MUTANT --name ID")
    path, spec, exercise = _exercise(context, item)
    if name is not None and item in context.bank:
        _check_place(path)
    survey = _survey(item, path, spec, exercise, mutant, seconds)
    if mutant is None:
        chosen = survey.tried if only is None else survey.with_verdict(only)
        _show_all(survey, chosen, as_json)
        return
    (entry,) = survey.tried
    if name is not None:
        _name(item, path, spec, exercise, entry, name, feedback, as_json)
    elif as_json:
        print_json(_as_json(entry))
    else:
        _show_one(entry)


def _exercise(context: CommandContext, item: str) -> tuple[Path, ProblemSpec, CodeExercise]:
    from engine.code import load_exercise
    from engine.items import CodeAnswer, item_version, load_spec

    if item.endswith((".yaml", ".yml")):
        path = Path(item)
        spec = load_spec(path, registry=context.bank.registry())
        if not isinstance(spec.answer, CodeAnswer):
            raise UsageError(f"{spec.id} asks for an answer, not for code", where=item)
    else:
        spec, _ = code_spec(context, item)
        path = context.bank.path(item)
    return path, spec, load_exercise(spec, path.parent, item_version(spec, path))


def _check_place(path: Path) -> None:
    from engine.items import builtin_root

    # a file that is named is meant; an id may be that of an item that comes with the program
    if path.resolve().is_relative_to(builtin_root().resolve()):
        raise UsageError(
            "this exercise comes with Softmark, and an update would undo the change",
            where=str(path),
            next_step="copy its folder into the course's problems, and name the mutant there",
        )


def _survey(
    item: str, path: Path, spec: ProblemSpec, exercise: CodeExercise, mutant: str | None, seconds: float
) -> MutantSurvey:
    from engine.authoring.lint.rules.code_exercises import PLANS
    from engine.authoring.mutation.generated import generated_mutants
    from engine.authoring.mutation.survey import survey_mutants

    if mutant is not None:
        ids = [entry.id for entry in generated_mutants(exercise.solutions, exercise.function)]
        if mutant not in ids:
            message = f"{exercise.item} has no generated mutant {mutant}{did_you_mean(mutant, ids)}"
            raise UsageError(message, next_step=f"grade mutants {shell_word(item)} lists them")
    with ExitStack() as stack:
        watch = lambda total: stack.enter_context(progress_bar("generated mutants", total))  # noqa: E731
        return survey_mutants(
            spec, path.parent, exercise, PLANS, seconds=seconds, only=mutant, progress=watch
        )


def _show_all(survey: MutantSurvey, chosen: Sequence[TriedMutant], as_json: bool) -> None:
    if as_json:
        more = {"not_tried": len(survey.untried), "seconds": round(survey.seconds, 1)}
        print_json({"mutants": [_as_json(entry) for entry in chosen], **more})
        return
    if chosen:
        rows = [[e.mutant.id, e.verdict, e.mutant.after, _cell(e)] for e in chosen]
        show_table(["mutant", "verdict", "what it has there", "failed checks, or why it is right"], rows)
    killed, equal, others = (len(survey.with_verdict(verdict)) for verdict in _VERDICTS[::-1])
    total = count_noun(len(survey.tried), "generated mutant")
    click.echo(f"{total}: {killed} killed, {equal} declared equivalent, {others} not")
    if survey.untried:
        click.echo(f"{len(survey.untried)} not tried: give more time with --seconds")


def _cell(entry: TriedMutant) -> str:
    return entry.because or ", ".join(sorted({name for kills in entry.kills for name in kills})) or "-"


def _show_one(entry: TriedMutant) -> None:
    mutant = entry.mutant
    click.echo(f"{mutant.id}: {entry.verdict}")
    click.echo("\n".join(mutant.diff()))
    if entry.because:
        click.echo(f"right, because: {entry.because}")
    for number, kills in enumerate(entry.kills, 1):
        click.echo(f"plan {number}: {', '.join(sorted(kills)) or 'passes every check'}")


def _name(
    item: str,
    path: Path,
    spec: ProblemSpec,
    exercise: CodeExercise,
    entry: TriedMutant,
    name: str,
    feedback: str | None,
    as_json: bool,
) -> None:
    from engine.authoring.mutation.naming import killers_to_name, name_mutant

    comparing = frozenset(check.id for check in exercise.checks if check.property.compares)
    killers = killers_to_name(entry, comparing, [check.id for check in exercise.checks])
    if feedback is None:
        feedback = "" if as_json else ask("What does a student with this mistake read?").strip()
    if not feedback:
        raise UsageError("a student with this mistake must read something", next_step="add --feedback TEXT")
    file = name_mutant(path, spec, entry, killers, name, feedback)
    only_compared = set(killers) <= comparing
    if as_json:
        print_json({"file": str(file), "killed_by": killers, "reference_only": only_compared})
        return
    click.echo(f"wrote {file}")
    click.echo(f"  its entry is the last of the mutants in {path.name}: killed by {', '.join(killers)}")
    if only_compared:
        click.echo("  only comparing with the reference kills it: say under reference_only why no law does")
    click.echo(f"  check it: grade lint --mutants {shell_word(item)}")


def _as_json(entry: TriedMutant) -> dict[str, Any]:
    mutant = entry.mutant
    return {
        "id": mutant.id,
        "verdict": entry.verdict,
        "file": mutant.file,
        "line": mutant.before,
        "becomes": mutant.after,
        "killed_by": [sorted(kills) for kills in entry.kills],
        "because": entry.because,
        "diff": mutant.diff(),
    }
