"""``grade hint``: the next hint of an item."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, json_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.model import GradeReport, Variant
    from engine.practice.hints import HintRecord

__all__ = ["command"]


@click.command("hint")
@click.argument("item")
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
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    variant = workplace.draw(item, seed)
    record = _record(workplace)
    if reset:
        if show_all or file is not None:
            raise UsageError("--reset stands alone", expected=f"grade hint {item} --reset")
        _remember(record, item, 0)
        _tell(variant, [], 0, None, as_json)
        return
    report = _graded(workplace, item, file) if file is not None else None
    total, before = len(variant.hints), record.seen(item)
    first, last = (0, total) if show_all else (before, min(before + 1, total))
    _remember(record, item, max(before, last))
    _tell(variant, list(range(min(first, total), last)), last, report, as_json)


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
    with open_session(workplace, item, None) as session:
        return session.grade(submission)


def _tell(variant: Variant, numbers: list[int], seen: int, report: GradeReport | None, as_json: bool) -> None:
    total = len(variant.hints)
    if as_json:
        told: dict[str, Any] = {
            "item": variant.item,
            "hints": [{"number": n + 1, "text": variant.hints[n].plain} for n in numbers],
            "seen": seen,
            "total": total,
        }
        if report is not None:
            told["report"] = report.as_json()
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    lines = [] if report is None else _of_file(report)
    lines += [(f"Hint {n + 1} of {total}: ", variant.hints[n].plain) for n in numbers]
    lines.append(("", _what_next(variant.item, total, seen, given=bool(numbers))))
    _show(lines)


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
        return [("Your file: ", "every check passes.")]
    if report.diagnosis:
        return [("Your file: ", found.message) for found in report.diagnosis]
    told = [check.message for check in report.checks if check.verdict is not Verdict.PASSED]
    told = [*report.notes, *told] if report.outcome is Outcome.UNGRADED else told
    return [("Your file: ", told[0])] if told else []


def _what_next(item: str, total: int, seen: int, *, given: bool) -> str:
    if total == 0:
        return f"{item} has no hints. What it asks for: grade show {item}"
    if seen < total:
        return f"  next: grade hint {item}"
    if given:
        return f"That was the last hint. The solution: grade show {item} --solution"
    again = f"all of them again: grade hint {item} --all"
    return f"You have seen all {total} hints ({again}). The solution: grade show {item} --solution"
