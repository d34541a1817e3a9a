"""``grade submit``: one hand-in, marked at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import (
    check_student,
    complete_items,
    course_option,
    json_option,
    sandbox_options,
    seed_option,
    store_option,
)
from engine.commands.terminal import number, print_json, running
from engine.errors import UsageError
from engine.text.words import points_text

if TYPE_CHECKING:
    from engine.items.bank import ItemSummary
    from engine.model import GradeReport, Variant
    from engine.runner import SandboxOptions
    from engine.store import Attempt


@dataclass(frozen=True)
class _Submission:
    """One graded attempt, with what is said beside its report."""

    report: GradeReport
    next_step: str  # the command that helps where it isn't all right
    printed: str = ""  # by the file, while it was graded
    is_answered: bool = False  # something was typed, so that it may be a known mistake
    sample_step: str = ""  # the command that shows the key


@click.command("submit")
@click.argument("target", metavar="ITEM|QUIZ.yaml", shell_complete=complete_items)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--answer", "answers", multiple=True, metavar="TEXT", help="The answer; PART=TEXT, repeated, for steps."
)
@seed_option
@click.option("--student", default=None, help="Student id; in a course the attempt is recorded under it.")
@sandbox_options()
@click.option(
    "--plan-seed", default=None, metavar="HEX", help="Replay the hidden plan of an earlier attempt."
)
@click.option(
    "--checks", "every_check", is_flag=True, help="List the checks that passed or were skipped too."
)
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report as JSON to FILE too.",
)
@json_option
@course_option
@store_option
def command(
    target: str,
    file: Path | None,
    answers: tuple[str, ...],
    seed: int,
    student: str | None,
    sandbox: SandboxOptions,
    plan_seed: str | None,
    every_check: bool,
    report_file: Path | None,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Grade code (ITEM FILE or ITEM FOLDER), an answer (ITEM --answer TEXT) or a filled-in quiz (QUIZ.yaml).

    A notebook that `grade export notebook` wrote is a FILE for each of its items, answers among them.

    Exit code 0: all right; 1: not all right; 2: bad usage or input; 3: engine error.

    \b
    Examples:
      grade submit softmax my_softmax.py
      grade submit softmax my_folder
      grade submit softmax-weights --seed 7 --answer "0.054 0.653 0.293"
      grade submit l16-full-pass --answer "e=[0.5, 1]" --answer "w=[0.38, 0.62]" --answer "c=[1, 2]"
      grade submit quiz.yaml
      grade submit softmax week-3.ipynb
    """
    if student is not None:
        check_student(student)
    context = find_context(course_path)
    # Ids hold no dots, so a suffix tells a quiz file from an item.
    if target.endswith((".yaml", ".yml")):
        if file is not None or answers or report_file is not None:
            raise UsageError("a quiz file is handed in by itself", expected="grade submit QUIZ.yaml")
        return _submit_quiz(context, Path(target), as_json)
    context.need_item(target, file)
    summary = context.bank.summary(target)
    if summary.kind == "code":
        if file is None or answers:
            raise UsageError(f"{target} is a code exercise", expected=f"grade submit {target} FILE.py")
        submission = _submit_code(context, summary, file, student, sandbox, plan_seed)
    else:
        if file is not None and file.suffix.lower() == ".ipynb" and not answers:
            submission = _submit_notebook_answer(context, target, file, student)
        elif file is not None or not answers:
            raise UsageError(
                f"{target} asks for an answer", expected=f"grade submit {target} --seed {seed} --answer TEXT"
            )
        else:
            submission = _submit_answer(context, target, seed, answers, student)
    if report_file is not None:
        _write_report(report_file, submission.report)
    _show(submission, as_json, every_check=every_check)
    return exit_code([submission.report])


def _submit_quiz(context: CommandContext, path: Path, as_json: bool) -> int:
    """Grade a filled-in quiz file against the stored quiz, record the attempt and show what may be shown."""
    from engine.commands.quiz.results import release_text, results_json, show_results, waiting_text
    from engine.model import ResultDisclosure
    from engine.quiz import hand_in, total
    from engine.quiz.quiz_progress import sitting_of
    from engine.quiz.rules import least_disclosure, now

    filled, home, quiz = context.stored_quiz(path)
    with home.open_store() as store:
        results = hand_in(store, quiz, filled, mode=home.mode, filename=path.name)
        sitting = sitting_of(store, quiz, home.mode, home.bank)
        if results.recorded:
            log(home, store, "quiz.handed_in", quiz.name, student=quiz.student)
    level = least_disclosure(quiz, now())
    if as_json:
        print_json(results_json(results, sitting))
    else:
        show_results(results, sitting)
        score, maximum = total(results.reports)
        if not results.recorded:
            click.echo("Nothing was recorded: correct what can't be read and hand the file in again.")
        elif not level.includes(ResultDisclosure.SCORE):
            click.echo(release_text(quiz.rules))
        elif score is None and sitting.is_waiting:
            click.echo(f"Total so far: {number(sitting.score)} of {points_text(maximum)}")
            click.echo(waiting_text(sitting))
        elif score is not None:
            click.echo(f"Total: {number(score)} of {points_text(maximum)}")
            if sitting.score > score + 1e-9:  # sums of the same shares may differ in their last digit
                click.echo(f"Best so far: {number(sitting.score)} of {points_text(maximum)}")
    if results.recorded and not level.includes(ResultDisclosure.SCORE):
        return 0  # right or wrong would be shown by the exit code
    return exit_code(results.reports)


def _submit_answer(
    context: CommandContext, item: str, seed: int, answers: Sequence[str], student: str | None
) -> _Submission:
    variant = context.draw(item, seed)
    texts = _by_part(answers, [part.id for part in variant.parts])
    return _grade_answer(context, variant, seed, texts, student)


def _submit_notebook_answer(
    context: CommandContext, item: str, file: Path, student: str | None
) -> _Submission:
    from dataclasses import replace

    from engine.intake.code_files import assignment_of
    from engine.intake.notebook_answers import answered_variant, texts_of

    notebook = assignment_of(file, file.name)
    assigned = notebook.find(item) if notebook is not None else None
    if notebook is None or assigned is None or assigned.is_code:
        raise UsageError(
            f"this notebook has no cell for an answer to {item}",
            where=str(file),
            expected="a notebook that grade export notebook wrote with this item",
        )
    # A check cell whose kernel runs within a course: it has no seals, and nothing of it is recorded.
    is_check = notebook.is_history and student is None
    secret = None if context.is_practice or is_check else context.secret()
    variant = answered_variant(assigned, context.draw(item, assigned.seed), secret)
    written = notebook.answers(item)
    submission = _grade_answer(context, variant, assigned.seed, texts_of(written, variant), student)
    report = replace(submission.report, notes=(*submission.report.notes, *written.notes))
    return replace(submission, report=report)


def _grade_answer(
    context: CommandContext, variant: Variant, seed: int, texts: Mapping[str, str], student: str | None
) -> _Submission:
    from engine.grading import grade_answers
    from engine.model import QuizQuestion, Response

    started = datetime.now(UTC)
    item, response = variant.item, Response(texts)
    report = grade_answers(variant, response, mode=context.mode, student=student, can_change=True)
    if student is not None and context.course is not None:
        from engine.store import Attempt

        question = QuizQuestion(1, variant, variant.points)
        attempt = Attempt.of_answer(student, question, response, report, quiz=None, started=started)
        report = _record(context, attempt)
    same_variant = f" --seed {seed}" if seed else ""
    step = (
        f"grade hint {item}{same_variant}" if variant.hints else f"grade show {item}{same_variant} --solution"
    )
    is_answered = any(text.strip() for text in response.answers.values())
    sample_step = f"grade show {item}{same_variant} --solution"
    return _Submission(report, step, is_answered=is_answered, sample_step=sample_step)


def _write_report(path: Path, report: GradeReport) -> None:
    import json

    from engine.text.files import replace_text, write_errors

    step = "name a file in a folder that you may write to: --report FILE"
    with write_errors("the report can't be written", path, next_step=step):
        replace_text(path, json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n")


def _by_part(answers: Sequence[str], parts: Sequence[str]) -> dict[str, str]:
    """Return the answers by the part they are for: PART=TEXT where there are several parts."""
    if len(parts) == 1:
        if len(answers) > 1:
            raise UsageError(
                "this item has one answer", expected="one --answer", got=f"{len(answers)} of them"
            )
        return {parts[0]: answers[0]}
    by_part: dict[str, str] = {}
    for text in answers:
        part, equals, value = text.partition("=")
        part = part.strip()
        if not equals or part not in parts:
            raise UsageError(
                "this item has no such part" if equals else "this item has several parts",
                expected=" ".join(f"--answer '{part}=…'" for part in parts),
                got=f"--answer {text!r}",
            )
        if part in by_part:
            raise UsageError(f"part {part} is answered twice")
        by_part[part] = value.strip()
    return by_part


def _submit_code(
    context: CommandContext,
    summary: ItemSummary,
    file: Path,
    student: str | None,
    sandbox: SandboxOptions,
    plan_seed: str | None,
) -> _Submission:
    import secrets

    from engine.intake import read_submission
    from engine.runner import EchoingRunner

    submission = read_submission(file, summary.function)
    try:
        seed = bytes.fromhex(plan_seed) if plan_seed is not None else secrets.token_bytes(16)
    except ValueError:
        raise UsageError("--plan-seed isn't a hexadecimal number", got=repr(plan_seed)) from None
    sandbox.check(context.mode)
    started = datetime.now(UTC)
    source = "\n".join((submission.source, *submission.modules.values()))
    with running("running your file"), EchoingRunner(context.open_runner(sandbox, source)) as runner:
        # Imported behind the runner: its processes start meanwhile.
        from engine.code import exercise_of, freeze_plan
        from engine.grading import grade_code

        exercise = exercise_of(context.bank, summary.id)
        plan = freeze_plan(exercise, seed)
        runner.listen(submission.source)
        report = grade_code(exercise, plan, submission, runner, mode=context.mode, student=student)
    report = sandbox.add_device_note(report)
    if student is not None and context.course is not None:
        from engine.store import Attempt

        report = _record(context, Attempt.of_code(student, submission, report, started=started))
    return _Submission(report, f"grade hint {summary.id}", runner.printed)


def _record(context: CommandContext, attempt: Attempt) -> GradeReport:
    # What was graded once stays graded: the store returns the first report of the same work.
    from engine.model import Outcome

    if attempt.report.outcome is Outcome.FORMAT_ERROR:  # costs no attempt
        return attempt.report
    with context.open_store() as store:
        report = store.record(attempt).report
        action = "code.hand_in" if attempt.source is not None else "quiz.handed_in"
        log(context, store, action, attempt.item, student=attempt.student, submission=attempt.submission)
        return report


def exit_code(reports: Sequence[GradeReport]) -> int:
    """Return 0 all right, 1 not all right, 2 an answer that can't be read, 3 something ungraded.

    An answer that a person marks is handed in, and no fault: it counts among those that are right.
    """
    from engine.model import Outcome

    # The worst comes first: a script that sees 1 may rely on everything having been graded.
    outcomes = {report.outcome for report in reports if not report.needs_person}
    if Outcome.UNGRADED in outcomes:
        return 3
    if Outcome.FORMAT_ERROR in outcomes:
        return 2
    return 0 if outcomes <= {Outcome.RIGHT} else 1


def _show(submission: _Submission, as_json: bool, *, every_check: bool) -> None:
    from engine.commands.report_text import printed_text, show_report
    from engine.commands.terminal import console
    from engine.model import Mode, Outcome

    report = submission.report
    is_practice = report.mode is Mode.PRACTICE  # for marks, what is printed could show hidden inputs
    if as_json:
        more = {"printed": submission.printed} if is_practice and submission.printed else {}
        print_json({**report.as_json(), **more})
        return
    show_report(report, every_check=every_check)
    if not is_practice:
        return
    for line in printed_text(submission.printed):
        console().print(line)
    if report.needs_person:  # in practice nobody does
        click.echo("In practice nobody marks this: compare it with an answer that earns full marks.")
        click.echo(f"  next: {submission.sample_step}")
    if report.outcome in (Outcome.WRONG, Outcome.PARTIAL):
        if submission.is_answered and not report.diagnosis:
            click.echo("This answer matches none of the known mistakes.")
        click.echo(f"  next: {submission.next_step}")
