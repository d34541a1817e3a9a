"""``grade hint``: the next hint of an item."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.exercise import code_spec, open_session, submission_path
from engine.commands.options import course_option, item_argument, json_option, seed_option
from engine.commands.terminal import console, print_json, running
from engine.errors import UsageError
from engine.text.words import clean, count_noun

if TYPE_CHECKING:
    from engine.model import GradeReport, Variant
    from engine.practice.starter import HintRecord


@click.command("hint")
@item_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@seed_option
@click.option("--all", "show_all", is_flag=True, help="Show every hint.")
@click.option("--reset", is_flag=True, help="Begin with the first hint again.")
@json_option
@course_option
def command(
    item: str,
    file: Path | None,
    seed: int,
    show_all: bool,
    reset: bool,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Give the next hint of ITEM; with FILE, first say which known mistake FILE makes.

    Which hints you have seen is remembered per item. Nothing is recorded, and hints cost no points here.

    \b
    Examples:
      grade hint softmax
      grade hint softmax softmax.py
    """
    from engine.practice.starter import HintRecord

    context = find_context(course_path)
    context.need_item(item, file)
    variant = context.draw(item, seed)
    # Per course: another course may ask the same item with its own hints.
    record = HintRecord(context.private_folder() / "hints.json")
    if reset:
        if show_all or file is not None:
            raise UsageError("--reset is used by itself", expected=f"grade hint {item} --reset")
        _remember(record, item, 0)
        _show(_HintReply(variant, seed, 0, 0, None), as_json)
        return
    report = _graded(context, item, file) if file is not None else None
    total = len(variant.hints)
    before = min(record.seen(item), total)  # the item may have lost hints since
    is_right = report is not None and report.score == report.max_score
    # Whose file is right needs no hint, and doesn't use one up.
    first, last = (0, total) if show_all else (before, before if is_right else min(before + 1, total))
    _remember(record, item, max(before, last))
    _show(_HintReply(variant, seed, first, last, report), as_json)


@dataclass(frozen=True)
class _HintReply:
    """The hints from `first` to before `last`, and the report of a file."""

    variant: Variant
    seed: int
    first: int
    last: int
    report: GradeReport | None

    @property
    def numbers(self) -> range:
        return range(self.first, self.last)

    def command(self, name: str) -> str:
        same_variant = f" --seed {self.seed}" if self.seed else ""
        return f"grade {name} {self.variant.item}{same_variant}"


def _remember(record: HintRecord, item: str, count: int) -> None:
    # Whoever can't write still gets the hint: no mark depends on the count.
    if record.seen(item) == count:
        return
    try:
        record.remember(item, count)
    except OSError as error:
        click.echo(f"note: can't remember which hints you saw ({error.strerror}): {record.path}", err=True)


def _graded(context: CommandContext, item: str, file: Path) -> GradeReport:
    from engine.intake import read_code_file
    from engine.runner import SandboxOptions

    code_spec(context, item)
    path = submission_path(item, file)
    submission = read_code_file(path, exercise=item)
    with running("running your file"), open_session(context, item, path, SandboxOptions()) as session:
        return session.grade(submission)


def _show(reply: _HintReply, as_json: bool) -> None:
    from engine.model import Outcome

    hints, report = reply.variant.hints, reply.report
    if as_json:
        document: dict[str, Any] = {
            "item": reply.variant.item,
            "hints": [{"number": n + 1, "text": hints[n].plain} for n in reply.numbers],
            "seen": reply.last,
            "total": len(hints),
        }
        print_json(document if report is None else document | {"report": report.as_json()})
        return
    lines = [] if report is None else _file_lines(report)
    lines += [(f"Hint {n + 1} of {len(hints)}: ", hints[n].plain) for n in reply.numbers]
    if report is None or report.outcome is not Outcome.RIGHT or reply.numbers:
        lines.append(("", _next_step(reply)))
    from rich.text import Text as RichText

    out = console()
    for head, text in lines:
        out.print(RichText(head, style="bold").append(clean(text), style="not bold"))


def _file_lines(report: GradeReport) -> list[tuple[str, str]]:
    """Return what the file shows: the known mistakes it makes, else the first check that failed."""
    from engine.model import Outcome, Verdict

    if report.outcome is Outcome.RIGHT:
        return [("Your file: ", "every check passes, so there is nothing to correct.")]
    if report.diagnosis:
        return [("Your file: ", diagnosis.message) for diagnosis in report.diagnosis]
    messages = [check.message for check in report.checks if check.verdict is not Verdict.PASSED]
    if report.outcome is Outcome.UNGRADED:  # the notes say why the machine couldn't grade it
        messages = [*report.notes, *messages]
    return [("Your file: ", messages[0])] if messages else []


def _next_step(reply: _HintReply) -> str:
    total = len(reply.variant.hints)
    if total == 0:
        return f"{reply.variant.item} has no hints. What it asks for: {reply.command('show')}"
    if reply.last < total:
        return f"  next: {reply.command('hint')}"
    solution = f"The solution: {reply.command('show')} --solution"
    if reply.numbers:
        return f"That was the last hint. {solution}"
    return f"You have seen all {count_noun(total, 'hint')} (again: {reply.command('hint')} --all). {solution}"
