"""What the commands about one item share: naming it, its files, and a sandbox kept open for it."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext
from engine.errors import InputError, SoftmarkError, UsageError
from engine.text.words import shell_word

if TYPE_CHECKING:
    from engine.items import CodeAnswer, ProblemSpec
    from engine.practice.session import PracticeSession
    from engine.runner import SandboxOptions

NO_SANDBOX_NOTE = (
    "note: no sandbox (tier T3): your file runs as an ordinary program with time limits. "
    "Use it for your own code only; grade doctor says what is missing."
)
# Suffixes of files that people hand in: no item has one in its id, so a word that ends so is a file.
_SUFFIXES = (".py", ".ipynb", ".yaml", ".yml", ".txt", ".zip", ".md", ".csv", ".json", ".pdf")


def code_spec(context: CommandContext, item: str, file: Path | None = None) -> tuple[ProblemSpec, CodeAnswer]:
    """Return the spec of a code exercise; a :class:`UsageError` says how other items are answered."""
    context.need_item(item, file)
    spec = context.bank.load(item)
    if spec.answer is None or spec.answer.type != "code":
        raise UsageError(
            f"{item} asks for an answer, not for code",
            next_step=f"grade show {item}, then grade submit {item} --answer TEXT",
        )
    return spec, spec.answer


def refuse_file(context: CommandContext, item: str, file: Path | None) -> None:
    """Say what the whole command would be if this word, which isn't an item's id, looks like a file.

    Whoever forgets the item, or types the file first, reads the command to type; a word that is neither is
    left to the bank, which knows the nearest ids.
    """
    # Ids have no dots or slashes, so a suffix or an existing path means a file.
    path = Path(item)
    if path.suffix.lower() not in _SUFFIXES and not path.exists():
        return
    command = click.get_current_context().command_path
    takes_file = command.rpartition(" ")[2] in ("submit", "watch", "hint")
    # Windows hides .txt, and its editors add it.
    if path.name.lower().endswith((".yaml.txt", ".yml.txt")) and takes_file:
        raise UsageError(
            "a quiz file ends in .yaml; something added .txt to this one",
            where=item,
            next_step=f"rename it to {shell_word(path.name[:-4])}, then {command} {shell_word(item[:-4])}",
        )
    if file is not None and str(file) in context.bank:
        raise UsageError(
            "the item comes first",
            expected=f"{command} {file} {shell_word(item)}",
            got=f"{command} {shell_word(item)} {file}",
        )
    candidates = _items_of(context, path)
    after = f" {shell_word(item)}" if takes_file else ""
    raise UsageError(
        "say which item this file is for" if takes_file else "this is a file, not the id of an item",
        where=item,
        expected=f"{command} ITEM{after}",
        next_step=f"{command} {candidates[0]}{after}" if candidates else "grade list shows the items",
    )


def _items_of(context: CommandContext, path: Path) -> list[str]:
    """Return the code exercises whose id is the file's name, or whose function the file defines."""
    import ast

    from engine.code.source import parse_python, top_level
    from engine.intake import read_code_file

    stem = path.stem.replace("_", "-").casefold()
    # Most files are called after their function, with underscores where the id has hyphens.
    functions = {item: _function(context, item) for item in context.bank.code_ids()}
    by_name = [item for item in functions if item in (stem, path.stem)]
    if by_name or not path.is_file():
        return by_name
    # Parsed, not imported: nothing of a student's file runs outside the sandbox.
    try:
        tree = parse_python(read_code_file(path).source)
    except (SoftmarkError, SyntaxError, ValueError):
        return []
    defined = {statement.name for statement in top_level(tree) if isinstance(statement, ast.FunctionDef)}
    return [item for item, function in functions.items() if function in defined]


def _function(context: CommandContext, item: str) -> str:
    # Suggestions must not fail because one of the bank's items can't be read.
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
            next_step=f"grade start {item} --to {shell_word(file)} writes the starter there",
        )
    if not file.is_file():
        kind = "a folder" if file.is_dir() else "not a regular file"
        raise UsageError(f"this is {kind}", where=str(file), expected="a .py or .ipynb file")
    if file.suffix.lower() not in (".py", ".ipynb"):
        raise UsageError("this kind of file isn't graded", where=str(file), expected="a .py or .ipynb file")
    return file


def open_session(context: CommandContext, item: str, file: Path, sandbox: SandboxOptions) -> PracticeSession:
    """Open the sandbox for a file and load the exercise beside it; a note says so where there is only T3.

    It is practice, in a course for marks too: nothing is recorded, so T3 is enough.
    """
    from engine.intake import read_code_file

    try:
        source = read_code_file(file, exercise=item).source
    except SoftmarkError:  # it is said where the file is graded
        source = ""
    runner = context.open_runner(replace(sandbox, unsafe_local=True), source)
    try:
        if runner.tier == "T3":
            click.echo(NO_SANDBOX_NOTE, err=True)
        # Imported behind the runner: its processes start meanwhile.
        from engine.code import exercise_of
        from engine.practice.session import PracticeSession

        return PracticeSession(exercise_of(context.bank, item), runner, secrets.token_bytes(16))
    # Ctrl-C too: the sandbox's processes must not outlive the command.
    except BaseException:
        runner.close()
        raise


def starter_file(context: CommandContext, item: str, filename: str | None = None) -> str:
    """Return a starter as it is handed out: with the statement and the commands to type above it.

    `filename` is used in those commands; the function's name by default.
    """
    from engine.practice.starter import starter_file as handed_out

    _, answer = code_spec(context, item)
    return handed_out(context.bank, item, context.draw(item, 0), filename or f"{answer.function}.py")


def starter_text(context: CommandContext, item: str) -> str:
    """Return the source of an exercise's starter file."""
    from engine.practice.starter import starter_text as text_of

    return text_of(context.bank, item)
