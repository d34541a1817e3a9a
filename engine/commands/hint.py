"""``grade hint``: the next hint of an item."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, item_argument, json_option
from engine.errors import UsageError
from engine.plurals import counted

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.model import GradeReport, Variant
    from engine.practice.hints import HintRecord

__all__ = ["command"]


@click.command("hint")
@item_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Variant of the item."
)
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
    Example:
      grade hint softmax
      grade hint softmax softmax.py
    """
    from engine.commands.practising import need_item
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    need_item(workplace, item, file)
    variant = workplace.draw(item, seed)
    record = _record(workplace)
    if reset:
        if show_all or file is not None:
            raise UsageError("--reset stands alone", expected=f"grade hint {item} --reset")
        _remember(record, item, 0)
        _tell(_Given(variant, seed, 0, 0, None), as_json)
        return
    report = _graded(workplace, item, file) if file is not None else None
    total = len(variant.hints)
    before = min(record.seen(item), total)
    is_right = report is not None and report.score == report.max_score
    first, last = (0, total) if show_all else (before, before if is_right else min(before + 1, total))
    _remember(record, item, max(before, last))
    _tell(_Given(variant, seed, first, last, report), as_json)


@dataclass(frozen=True)
class _Given:
    """What is told: the hints from `first` to before `last`, and the report of a file."""

    variant: Variant
    seed: int
    first: int
    last: int
    report: GradeReport | None

    @property
    def numbers(self) -> range:
        return range(self.first, self.last)

    def command(self, name: str) -> str:
        seeded = f" --seed {self.seed}" if self.seed else ""
        return f"grade {name} {self.variant.item}{seeded}"


def _record(workplace: Workplace) -> HintRecord:
    from engine.practice.hints import HintRecord

    return HintRecord(workplace.private_folder() / "hints.json")


def _remember(record: HintRecord, item: str, count: int) -> None:
    """Write the count down; whoever can't write still gets the hint."""
    if record.seen(item) == count:
        return
    try:
        record.remember(item, count)
    except OSError as error:
        click.echo(f"note: can't remember which hints you saw ({error.strerror}): {record.path}", err=True)


def _graded(workplace: Workplace, item: str, file: Path) -> GradeReport:
    from engine.commands.practising import code_spec, open_session, submission_path
    from engine.intake import read_code_file

    code_spec(workplace, item)
    submission = read_code_file(submission_path(item, file))
    from engine.commands.terminal import running

    with running("running your file"), open_session(workplace, item, None) as session:
        return session.grade(submission)


def _tell(given: _Given, as_json: bool) -> None:
    hints, report = given.variant.hints, given.report
    if as_json:
        told: dict[str, Any] = {
            "item": given.variant.item,
            "hints": [{"number": n + 1, "text": hints[n].plain} for n in given.numbers],
            "seen": given.last,
            "total": len(hints),
        }
        if report is not None:
            told["report"] = report.as_json()
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    lines = [] if report is None else _of_file(report)
    lines += [(f"Hint {n + 1} of {len(hints)}: ", hints[n].plain) for n in given.numbers]
    if not _is_done(given):
        lines.append(("", _what_next(given)))
    _show(lines)


def _is_done(given: _Given) -> bool:
    """Tell whether a file was looked at that needs no hint, and none was asked for."""
    from engine.model import Outcome

    return given.report is not None and given.report.outcome is Outcome.RIGHT and not given.numbers


def _show(lines: list[tuple[str, str]]) -> None:
    from rich.text import Text as RichText

    from engine.commands.render import console
    from engine.foreign import clean

    out = console()
    for head, text in lines:
        out.print(RichText(head, style="bold").append(clean(text), style="not bold"))


def _of_file(report: GradeReport) -> list[tuple[str, str]]:
    """Return what the file shows: the known mistakes it makes, else the first check that failed."""
    from engine.model import Outcome, Verdict

    if report.outcome is Outcome.RIGHT:
        return [("Your file: ", "every check passes, so there is nothing to mend.")]
    if report.diagnosis:
        return [("Your file: ", found.message) for found in report.diagnosis]
    told = [check.message for check in report.checks if check.verdict is not Verdict.PASSED]
    told = [*report.notes, *told] if report.outcome is Outcome.UNGRADED else told
    return [("Your file: ", told[0])] if told else []


def _what_next(given: _Given) -> str:
    total, seen = len(given.variant.hints), given.last
    if total == 0:
        return f"{given.variant.item} has no hints. What it asks for: {given.command('show')}"
    if seen < total:
        return f"  next: {given.command('hint')}"
    solution = f"The solution: {given.command('show')} --solution"
    if given.numbers:
        return f"That was the last hint. {solution}"
    return f"You have seen all {counted(total, 'hint')} (again: {given.command('hint')} --all). {solution}"
