"""``grade hint``: the next hint of an item."""

from __future__ import annotations

import ast
import json
import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, item_argument, json_option
from engine.errors import InputError, SoftmarkError, UsageError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.items import CodeAnswer, ProblemSpec
    from engine.model import GradeReport, Variant
    from engine.practice.session import PracticeSession
    from engine.practice.starter import HintRecord

__all__ = ["code_spec", "command", "commands_for", "need_item", "open_session", "quoted", "submission_path"]


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
    from engine.commands.context import find_context

    context = find_context(course_path)
    need_item(context, item, file)
    variant = context.draw(item, seed)
    record = _record(context)
    if reset:
        if show_all or file is not None:
            raise UsageError("--reset stands alone", expected=f"grade hint {item} --reset")
        _remember(record, item, 0)
        _tell(_Given(variant, seed, 0, 0, None), as_json)
        return
    report = _graded(context, item, file) if file is not None else None
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


def _record(context: CommandContext) -> HintRecord:
    from engine.practice.starter import HintRecord

    return HintRecord(context.private_folder() / "hints.json")


def _remember(record: HintRecord, item: str, count: int) -> None:
    """Write the count down; whoever can't write still gets the hint."""
    if record.seen(item) == count:
        return
    try:
        record.remember(item, count)
    except OSError as error:
        click.echo(f"note: can't remember which hints you saw ({error.strerror}): {record.path}", err=True)


def _graded(context: CommandContext, item: str, file: Path) -> GradeReport:
    from engine.intake import read_code_file

    code_spec(context, item)
    submission = read_code_file(submission_path(item, file))
    from engine.commands.terminal import running

    with running("running your file"), open_session(context, item, None) as session:
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
    from engine.text.escape import clean

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
    return f"You have seen all {count_noun(total, 'hint')} (again: {given.command('hint')} --all). {solution}"


# ----------------------------------------------------------------------------------------------------
# What the commands for practice share: items that are code, a sandbox kept open, a block per report.

NOTICE = (
    "note: no sandbox (tier T3): your file runs as an ordinary program with time limits. "
    "Use it for your own code only; grade doctor says what is missing."
)


def code_spec(context: CommandContext, item: str, file: Path | None = None) -> tuple[ProblemSpec, CodeAnswer]:
    """Return the spec of a code exercise; a :class:`UsageError` tells how other items are answered."""
    need_item(context, item, file)
    spec = context.bank.load(item)
    if spec.answer is None or spec.answer.type != "code":
        raise UsageError(
            f"{item} asks for an answer, not for code",
            next_step=f"grade show {item}, then grade submit {item} --answer TEXT",
        )
    return spec, spec.answer


_FILES = (".py", ".ipynb", ".yaml", ".yml", ".txt", ".zip", ".md", ".csv", ".json", ".pdf")


def need_item(context: CommandContext, item: str, file: Path | None = None) -> None:
    """Refuse a file where an item is asked for, and say what the whole command would be.

    Whoever forgets the item, or types the file first, is told the command to type; a word that is neither
    is left to the bank, which knows the nearest ids.
    """
    if item in context.bank:
        return
    path = Path(item)
    if path.suffix.lower() not in _FILES and not path.exists():
        return
    called = click.get_current_context().command_path
    takes_file = called.rpartition(" ")[2] in ("submit", "watch", "hint")
    if path.name.lower().endswith((".yaml.txt", ".yml.txt")) and takes_file:
        raise UsageError(
            "a quiz file ends in .yaml; something added .txt to this one",
            where=item,
            next_step=f"rename it to {quoted(path.name[:-4])}, then {called} {quoted(item[:-4])}",
        )
    if file is not None and str(file) in context.bank:
        raise UsageError(
            "the item comes first",
            expected=f"{called} {file} {quoted(item)}",
            got=f"{called} {quoted(item)} {file}",
        )
    meant = _items_of(context, path)
    after = f" {quoted(item)}" if takes_file else ""
    raise UsageError(
        "say which item this file is for" if takes_file else "this is a file, not the id of an item",
        where=item,
        expected=f"{called} ITEM{after}",
        next_step=f"{called} {meant[0]}{after}" if meant else "grade list shows the items",
    )


def _items_of(context: CommandContext, path: Path) -> list[str]:
    """Return the code exercises whose id is the file's name, or whose function the file defines."""
    from engine.code.source import parse_python, top_level
    from engine.intake import read_code_file

    stem = path.stem.replace("_", "-").casefold()
    functions = {item: _function(context, item) for item in context.bank.code_ids()}
    named = [item for item in functions if item in (stem, path.stem)]
    if named or not path.is_file():
        return named
    try:
        tree = parse_python(read_code_file(path).source)
    except (SoftmarkError, SyntaxError, ValueError):
        return []
    defined = {statement.name for statement in top_level(tree) if isinstance(statement, ast.FunctionDef)}
    return [item for item, function in functions.items() if function in defined]


def _function(context: CommandContext, item: str) -> str:
    """Return the name of the function that a code exercise asks for; its id where it can't be read."""
    try:
        answer = context.bank.load(item).answer
    except InputError:
        return item
    return answer.function if answer is not None and answer.type == "code" else item


def submission_path(item: str, file: Path) -> Path:
    """Return the path of a file that can be watched or graded; a :class:`UsageError` if it never can."""
    if not file.exists():
        raise UsageError(
            "there is no such file",
            where=str(file),
            next_step=f"grade start {item} --to {quoted(file)} writes the starter there",
        )
    if not file.is_file():
        kind = "a folder" if file.is_dir() else "no ordinary file"
        raise UsageError(f"this is {kind}", where=str(file), expected="a .py or .ipynb file")
    if file.suffix.lower() not in (".py", ".ipynb"):
        raise UsageError("this kind of file isn't graded", where=str(file), expected="a .py or .ipynb file")
    return file


def open_session(context: CommandContext, item: str, tier: str | None) -> PracticeSession:
    """Open the sandbox and load the exercise beside it; say so where there is only T3.

    It is practice, in a course for marks too: nothing is recorded, so T3 may stand in.
    """
    from engine.runner import SandboxOptions

    runner = context.open_runner(SandboxOptions(tier, unsafe_local=True))  # starts while we load the rest
    try:
        if runner.tier == "T3":
            click.echo(NOTICE, err=True)
        from engine.code import exercise_of
        from engine.practice.session import PracticeSession

        return PracticeSession(exercise_of(context.bank, item), runner, secrets.token_bytes(16))
    except BaseException:
        runner.close()
        raise


def commands_for(item: str, file: Path | str) -> dict[str, str]:
    """Return what can be done with a file, by name."""
    return {
        "watch": f"grade watch {item} {quoted(file)}",
        "hint": f"grade hint {item}",
        "submit": f"grade submit {item} {quoted(file)}",
    }


def quoted(file: Path | str) -> str:
    """Return a path as a shell takes it."""
    text = str(file)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
