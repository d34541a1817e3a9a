"""What the commands for practice share: items that are code, a sandbox kept open, a block per report."""

from __future__ import annotations

import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.practice.session import PracticeSession
    from engine.spec.schema import CodeAnswer, ProblemSpec

__all__ = ["code_spec", "commands_for", "open_session", "submission_path"]

NOTICE = (
    "note: no sandbox (tier T3): your file runs as an ordinary program with time limits. "
    "Use it for your own code only; grade doctor says what is missing."
)


def code_spec(workplace: Workplace, item: str) -> tuple[ProblemSpec, CodeAnswer]:
    """Return the spec of a code exercise; a :class:`UsageError` tells how other items are answered."""
    spec = workplace.bank.load(item)
    if spec.answer is None or spec.answer.type != "code":
        raise UsageError(
            f"{item} asks for an answer, not for code",
            next_step=f"grade show {item}, then grade submit {item} --answer TEXT",
        )
    return spec, spec.answer


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
