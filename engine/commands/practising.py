"""What the commands for practice share: items that are code, a sandbox kept open, a block per report."""

from __future__ import annotations

import ast
import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.errors import InputError, SoftmarkError, UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.practice.session import PracticeSession
    from engine.spec.schema import CodeAnswer, ProblemSpec

__all__ = ["code_spec", "commands_for", "need_item", "open_session", "quoted", "submission_path"]

NOTICE = (
    "note: no sandbox (tier T3): your file runs as an ordinary program with time limits. "
    "Use it for your own code only; grade doctor says what is missing."
)


def code_spec(workplace: Workplace, item: str, file: Path | None = None) -> tuple[ProblemSpec, CodeAnswer]:
    """Return the spec of a code exercise; a :class:`UsageError` tells how other items are answered."""
    need_item(workplace, item, file)
    spec = workplace.bank.load(item)
    if spec.answer is None or spec.answer.type != "code":
        raise UsageError(
            f"{item} asks for an answer, not for code",
            next_step=f"grade show {item}, then grade submit {item} --answer TEXT",
        )
    return spec, spec.answer


_FILES = (".py", ".ipynb", ".yaml", ".yml", ".txt", ".zip", ".md", ".csv", ".json", ".pdf")


def need_item(workplace: Workplace, item: str, file: Path | None = None) -> None:
    """Refuse a file where an item is asked for, and say what the whole command would be.

    Whoever forgets the item, or types the file first, is told the command to type; a word that is neither
    is left to the bank, which knows the nearest ids.
    """
    if item in workplace.bank:
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
    if file is not None and str(file) in workplace.bank:
        raise UsageError(
            "the item comes first",
            expected=f"{called} {file} {quoted(item)}",
            got=f"{called} {quoted(item)} {file}",
        )
    meant = _items_of(workplace, path)
    after = f" {quoted(item)}" if takes_file else ""
    raise UsageError(
        "say which item this file is for" if takes_file else "this is a file, not the id of an item",
        where=item,
        expected=f"{called} ITEM{after}",
        next_step=f"{called} {meant[0]}{after}" if meant else "grade list shows the items",
    )


def _items_of(workplace: Workplace, path: Path) -> list[str]:
    """Return the code exercises whose id is the file's name, or whose function the file defines."""
    from engine.intake import read_code_file
    from engine.python_source import parse_python, top_level

    stem = path.stem.replace("_", "-").casefold()
    functions = {item: _function(workplace, item) for item in workplace.bank.code_ids()}
    named = [item for item in functions if item in (stem, path.stem)]
    if named or not path.is_file():
        return named
    try:
        tree = parse_python(read_code_file(path).source)
    except (SoftmarkError, SyntaxError, ValueError):
        return []
    defined = {statement.name for statement in top_level(tree) if isinstance(statement, ast.FunctionDef)}
    return [item for item, function in functions.items() if function in defined]


def _function(workplace: Workplace, item: str) -> str:
    """Return the name of the function that a code exercise asks for; its id where it can't be read."""
    try:
        answer = workplace.bank.load(item).answer
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


def open_session(workplace: Workplace, item: str, tier: str | None) -> PracticeSession:
    """Open the sandbox and load the exercise beside it; say so where there is only T3.

    It is practice, in a course for marks too: nothing is recorded, so T3 may stand in.
    """
    runner = workplace.open_runner(tier, unsafe_local=True)  # its processes start while we load the rest
    try:
        if runner.tier == "T3":
            click.echo(NOTICE, err=True)
        from engine.code import exercise_of
        from engine.practice.session import PracticeSession

        return PracticeSession(exercise_of(workplace.bank, item), runner, secrets.token_bytes(16))
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
