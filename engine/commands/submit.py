"""``grade submit``: one hand-in, marked at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import (
    check_student,
    complete_items,
    course_option,
    device_option,
    json_option,
    store_option,
)
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.model import GradeReport
    from engine.runner import SandboxOptions
    from engine.store import Attempt

__all__ = ["command", "exit_code"]


@dataclass(frozen=True)
class _Told:
    """What is shown of one attempt.

    Parameters
    ----------
    report : GradeReport
    next_step : str
        The command that helps where it isn't all right.
    printed : str
        By the file, while it was graded.
    is_blank : bool
        Whether nothing at all was answered.
    """

    report: GradeReport
    next_step: str
    printed: str = ""
    is_blank: bool = False


@click.command("submit")
@click.argument("what", metavar="ITEM|QUIZ.yaml", shell_complete=complete_items)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--answer", "answers", multiple=True, metavar="TEXT", help="The answer; PART=TEXT, repeated, for steps."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Variant of the item."
)
@click.option("--student", default=None, help="Student id; in a course the attempt is recorded under it.")
@click.option("--tier", type=click.Choice(["T1", "T2", "T3"]), default=None, help="Demand this sandbox tier.")
@click.option("--unsafe-local", is_flag=True, help="Allow marks at T3 and on a GPU: for trusted code only.")
@device_option
@click.option(
    "--plan-seed", default=None, metavar="HEX", help="Replay the hidden plan of an earlier attempt."
)
@click.option(
    "--checks", "every_check", is_flag=True, help="List the checks that passed or were skipped too."
)
@json_option
@course_option
@store_option
def command(
    what: str,
    file: Path | None,
    answers: tuple[str, ...],
    seed: int,
    student: str | None,
    tier: str | None,
    unsafe_local: bool,
    device: str,
    plan_seed: str | None,
    every_check: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Grade code (ITEM FILE or ITEM FOLDER), an answer (ITEM --answer TEXT) or a filled-in quiz (QUIZ.yaml).

    Exit code 0: all right; 1: not all right; 2: bad usage or input; 3: engine error.

    \b
    Examples:
      grade submit softmax my_softmax.py
      grade submit softmax my_folder
      grade submit softmax-weights --seed 7 --answer "0.054 0.653 0.293"
      grade submit l16-full-pass --answer "e=[0.5, 1]" --answer "w=[0.38, 0.62]" --answer "c=[1, 2]"
      grade submit quiz.yaml
    """
    from engine.commands.context import find_context
    from engine.commands.hint import need_item

    if student is not None:
        check_student(student)
    context = find_context(course_path)
    if what.endswith((".yaml", ".yml")):
        if file is not None or answers:
            raise UsageError("a quiz file stands alone", expected="grade submit QUIZ.yaml")
        return _submit_quiz(context, Path(what), as_json)
    need_item(context, what, file)
    if context.bank.load(what).kind == "code":
        if file is None or answers:
            raise UsageError(f"{what} is a code exercise", expected=f"grade submit {what} FILE.py")
        from engine.runner import SandboxOptions

        options = SandboxOptions(tier, unsafe_local, device)
        told = _submit_code(context, what, file, student, options, plan_seed)
    else:
        if file is not None or not answers:
            raise UsageError(
                f"{what} asks for an answer", expected=f"grade submit {what} --seed {seed} --answer TEXT"
            )
        told = _submit_answer(context, what, seed, answers, student)
    return _tell_one(told, as_json, every_check=every_check)


def _submit_quiz(context: CommandContext, path: Path, as_json: bool) -> int:
    """Grade a filled-in quiz file against the stored quiz, record the attempt and tell what may be shown."""
    from engine.commands.quiz.sheet import results_json, show_results, tell_when
    from engine.model import ResultDisclosure
    from engine.quiz import hand_in, read_filled, total
    from engine.quiz import release as clock
    from engine.quiz.sitting import sitting_of
    from engine.text.files import read_hand_in
    from engine.text.words import plain_points, points_text

    filled = read_filled(read_hand_in(path), str(path))
    place, quiz = context.of_quiz(filled, path)
    with place.open_store() as store:
        handed = hand_in(store, quiz, filled, mode=place.mode, filename=path.name)
        sitting = sitting_of(store, quiz, place.mode, place.bank)
    level = quiz.rules.shown(clock.now())
    if as_json:
        click.echo(json.dumps(results_json(handed, sitting, level), ensure_ascii=False, indent=2))
    else:
        show_results(handed, sitting, level)
        score, maximum = total(handed.reports)
        if not handed.recorded:
            click.echo("Nothing was recorded: mend what can't be read and hand the file in again.")
        elif not level.includes(ResultDisclosure.SCORE):
            click.echo(tell_when(quiz.rules))
        elif score is not None:
            click.echo(f"Total: {plain_points(score)} of {points_text(maximum)}")
            if sitting.score > score + 1e-9:
                click.echo(f"Best so far: {plain_points(sitting.score)} of {points_text(maximum)}")
    if handed.recorded and not level.includes(ResultDisclosure.SCORE):
        return 0  # right or wrong would be shown by the exit code
    return exit_code(handed.reports)


def _submit_answer(
    context: CommandContext, item: str, seed: int, answers: Sequence[str], student: str | None
) -> _Told:
    from engine.grading import grade_answers
    from engine.model import QuizQuestion, Response

    started = datetime.now(UTC)
    variant = context.draw(item, seed)
    response = Response(_by_part(answers, [part.id for part in variant.parts]))
    report = grade_answers(variant, response, mode=context.mode, student=student)
    is_blank = not any(text.strip() for text in response.answers.values())
    seeded = f" --seed {seed}" if seed else ""
    step = f"grade hint {item}{seeded}" if variant.hints else f"grade show {item}{seeded} --solution"
    if student is None or context.course is None:
        return _Told(report, step, is_blank=is_blank)
    from engine.store import Attempt

    question = QuizQuestion(1, variant, variant.points)
    attempt = Attempt.of_answer(student, question, response, report, quiz=None, started=started)
    return _Told(_record(context, attempt), step, is_blank=is_blank)


def _by_part(answers: Sequence[str], ids: Sequence[str]) -> dict[str, str]:
    if len(ids) == 1:
        if len(answers) > 1:
            raise UsageError(
                "this item has one answer", expected="one --answer", got=f"{len(answers)} of them"
            )
        return {ids[0]: answers[0]}
    given: dict[str, str] = {}
    for text in answers:
        part, equals, value = text.partition("=")
        part = part.strip()
        if not equals or part not in ids:
            raise UsageError(
                "this item has several parts",
                expected=" ".join(f"--answer '{i}=…'" for i in ids),
                got=f"--answer {text!r}",
            )
        if part in given:
            raise UsageError(f"part {part} is answered twice")
        given[part] = value.strip()
    return given


def _submit_code(
    context: CommandContext,
    item: str,
    file: Path,
    student: str | None,
    options: SandboxOptions,
    plan_seed: str | None,
) -> _Told:
    import secrets

    from engine.commands.terminal import running
    from engine.intake import read_submission
    from engine.practice.session import EchoingRunner

    submission = read_submission(file, _function(context, item))
    try:
        seed = bytes.fromhex(plan_seed) if plan_seed is not None else secrets.token_bytes(16)
    except ValueError:
        raise UsageError("--plan-seed is no hexadecimal text", got=repr(plan_seed)) from None
    context.check_tier(options)
    started = datetime.now(UTC)
    with (
        running("running your file"),
        EchoingRunner(context.open_runner(options)) as runner,
    ):
        from engine.code import exercise_of, freeze_plan, grade_code

        exercise = exercise_of(context.bank, item)
        plan = freeze_plan(exercise, seed)
        runner.listen(submission.source)
        report = grade_code(exercise, plan, submission, runner, mode=context.mode, student=student)
    if options.device != "cpu" and report.tier and not report.tier.endswith(options.device):
        note = f"Nothing here is a torch tensor, so it was graded on the CPU, at {report.tier}."
        report = replace(report, notes=(*report.notes, note))
    if student is not None and context.course is not None:
        from engine.store import Attempt

        report = _record(context, Attempt.of_code(student, submission, report, started=started))
    return _Told(report, f"grade hint {item}", runner.printed)


def _function(context: CommandContext, item: str) -> str:
    """Return the name of the function that a code exercise asks for."""
    from engine.items import CodeAnswer

    answer = context.bank.load(item).answer
    assert isinstance(answer, CodeAnswer)  # the caller has asked for the item's kind
    return answer.function


def _record(context: CommandContext, attempt: Attempt) -> GradeReport:
    """Keep an attempt and return what the store now holds: what was graded once stays graded."""
    from engine.model import Outcome

    if attempt.report.outcome is Outcome.FORMAT_ERROR:  # costs no attempt
        return attempt.report
    with context.open_store() as store:
        return store.record(attempt).report


def exit_code(reports: Sequence[GradeReport]) -> int:
    """Return 0 all right, 1 not all right, 2 an answer that can't be read, 3 something ungraded."""
    from engine.model import Outcome

    outcomes = {report.outcome for report in reports}
    if Outcome.UNGRADED in outcomes:
        return 3
    if Outcome.FORMAT_ERROR in outcomes:
        return 2
    return 0 if outcomes <= {Outcome.RIGHT} else 1


def _tell_one(told: _Told, as_json: bool, *, every_check: bool) -> int:
    from engine.model import Mode, Outcome

    report = told.report
    is_practice = report.mode is Mode.PRACTICE  # for marks, what is printed could show hidden inputs
    if as_json:
        more = {"printed": told.printed} if is_practice and told.printed else {}
        click.echo(json.dumps({**report.as_json(), **more}, ensure_ascii=False, indent=2))
        return exit_code([report])
    from engine.commands.render import console, printed_text, show_report

    show_report(report, every_check=every_check)
    if is_practice:
        for line in printed_text(told.printed):
            console().print(line)
        if report.outcome in (Outcome.WRONG, Outcome.PARTIAL):
            if report.tier is None and not report.diagnosis and not told.is_blank:
                click.echo("None of the mistakes that are known here gives this answer.")
            click.echo(f"  next: {told.next_step}")
    return exit_code([report])
