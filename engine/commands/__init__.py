"""The commands of ``grade``, one file each, and the one place where errors become messages and exit codes.

A command's module declares its options, calls the packages below, and prints. All of them are imported for
``grade --help``, so none may import anything heavy (numpy, rich, pydantic, the store) outside its functions.
"""

from __future__ import annotations

import errno
import gc
import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import click

from engine import __version__
from engine.commands.options import CommandGroup, write_commands
from engine.commands.terminal import replace_signs, width, wrapped
from engine.errors import EngineError, SoftmarkError
from engine.text.files import keep_libraries_tidy
from engine.text.words import clean, near_words

__all__ = ["LazyGroup", "grade", "main", "run"]

# What `grade --help` lists: heading -> name -> module below engine.commands, in the order in which people
# meet them. A module holds the command as `command`, or under the name after a colon.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Practise": {
        "submit": "submit",
        "start": "start",
        "watch": "watch",
        "hint": "hint",
        "list": "list_items",
        "show": "show",
    },
    "Make quizzes, grade a class": {
        "init": "init",
        "course": "course",
        "serve": "serve",
        "lti": "lti",
        "quiz": "quiz",
        "print": "print_exam",
        "intake": "intake",
        "batch": "batch",
        "scan": "scan",
        "mark": "mark",
        "similar": "similar",
        "find-variant": "find_variant",
        "regrade": "regrade",
        "report": "report",
        "feedback": "feedback",
        "export": "export",
        "autograder": "autograder",
    },
    "Write items": {
        "new": "new",
        "preview": "preview",
        "import": "import_items",
        "lint": "lint",
        "mutants": "mutants",
        "coverage": "coverage",
        "schema": "schema",
    },
    "Look after it": {
        "store": "store",
        "worker": "worker",
        "queue": "queue",
        "doctor": "doctor",
        "help": "about:help_command",
        "version": "about:version_command",
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}


class LazyGroup(CommandGroup):
    """A group that imports a command's module when the command is called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        module_name = COMMANDS.get(cmd_name)
        if module_name is None:
            matches = near_words(cmd_name, COMMANDS)
            hint = f" Did you mean {matches[0]}?" if matches else ""
            ctx.fail(f"No such command {cmd_name!r}.{hint}")
        module, _, attribute = module_name.partition(":")
        command = getattr(importlib.import_module(f"engine.commands.{module}"), attribute or "command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what people do with them."""
        # Imports every command: their first sentences are written once, in their docstrings.
        for heading, names in GROUPS.items():
            write_commands(formatter, heading, [(name, self.get_command(ctx, name)) for name in names])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 right, 1 not all right, 2 bad usage or input, 3 engine error.",
)
@click.version_option(__version__, prog_name="grade")
def grade() -> None:
    """Grade exercises and quizzes on attention mechanisms.

    \b
    Examples:
      grade start softmax
      grade submit softmax softmax.py
      grade submit softmax-weights --seed 7 --answer "0.054 0.653 0.293"
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the documented code."""
    # What is imported stays: looking through it for garbage again and again takes a tenth of a short command.
    gc.set_threshold(50_000)
    args = list(sys.argv[1:] if arguments is None else arguments)
    replace_signs()
    sys.exit(run(args))


def run(args: list[str]) -> int:
    """Run one command line and return its exit code; no exception gets out."""
    # Arrays have a few entries: waking a second thread costs a hundred times what it saves.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Nobody else's plugin has a part in reading an item, and looking for them takes time, too.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    keep_libraries_tidy()
    # Looked for by hand: click may refuse the arguments before it has parsed this one.
    wants_json = "--json" in args
    # Compared below to tell click's exit from another one.
    stdout = sys.stdout
    try:
        # Not standalone: click would print errors itself, without a place or a next step, and exit.
        result = grade.main(args=args, prog_name="grade", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except SystemExit:
        # click replaces sys.stdout and exits where nobody reads the output (`grade list | head`).
        if sys.stdout is stdout:
            raise
        _drop_output()
        return 0
    except click.ClickException as error:
        return _show_click_error(error, wants_json)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return 130  # as shells report SIGINT: 128 + 2
    except SoftmarkError as error:
        return _show_error(error, wants_json)
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        return _show_system_error(error, wants_json)
    except Exception as error:  # the last net: a person never sees a traceback
        return _show_bug(error, wants_json)
    # Commands return their exit code; click returns whatever a callback returned.
    return int(result) if isinstance(result, int) else 0


def _print_json_error(message: str, code: int, **more: Any) -> None:
    try:
        click.echo(json.dumps({"error": {"what": message, "exit_code": code, **more}}, ensure_ascii=False))
    except OSError:  # standard output is what failed; standard error has said it
        _drop_output()


def _drop_output() -> None:
    # Python flushes standard output at exit, and would report the same error once more.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no real file behind it, as in tests
        return


def _show_error(error: SoftmarkError, wants_json: bool) -> int:
    text = "error: " + clean("\n".join(error.lines()), 50_000)
    faults = getattr(error, "diagnostics", ())
    # A line of a file with a caret below it must stay in one piece.
    click.echo(text if faults else wrapped(text, width(err=True)), err=True)
    if wants_json:
        more = [{"line": f.line, "column": f.column, "message": clean(f.message, 2_000)} for f in faults]
        _print_json_error(
            clean(error.what, 50_000),
            error.exit_code,
            **({"faults": more} if more else {}),
            kind=type(error).__name__,
            where=error.where,
            expected=error.expected,
            got=error.got,
            next_step=error.next_step,
        )
    return error.exit_code


def _show_click_error(error: click.ClickException, wants_json: bool) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):  # `grade` alone asks for help
        click.echo(error.format_message())
        return 0
    # Arguments may come from a script that passes on students' texts: nothing in them steers the terminal.
    message = _in_words(clean(error.format_message(), 2_000))
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"\n  next: {error.ctx.command_path} --help"
    click.echo(wrapped(f"error: {message}{hint}", width(err=True)), err=True)
    if wants_json:
        _print_json_error(message, 2, kind="UsageError")
    return 2


# click's names of types -> what a person would call them
_TYPES = {
    "is not a valid integer range": "is not a whole number",
    "is not a valid integer": "is not a whole number",
    "is not a valid float range": "is not a number",
    "is not a valid float": "is not a number",
}
_LARGEST = str(2**63 - 1)  # the upper end of --seed: no limit that anybody would meet


def _in_words(message: str) -> str:
    """Return click's message as a person would say it: whole numbers, from what to what."""
    import re  # only a mistyped value needs it

    for theirs, ours in _TYPES.items():
        message = message.replace(theirs, ours)

    def bounds(match: re.Match[str]) -> str:
        value, low, high = match[1], match[2], match[3]
        # whoever typed twenty digits has met the limit after all
        is_below = high == _LARGEST and value.startswith("-")
        return f"{value} must be {low} or more" if is_below else f"{value} must be between {low} and {high}"

    number = r"(-?\d+(?:\.\d+)?)"
    return re.sub(rf"{number} is not in the range {number}<=x<={number}", bounds, message)


# What helps, by what the system complains of.
_SYSTEM_STEPS = {
    errno.ENOENT: "check that the file and its folder are still there",
    errno.ENOSPC: "free some space on the disk, then run it again",
    errno.EDQUOT: "free some space within your quota, then run it again",
}


def _show_system_error(error: OSError, wants_json: bool) -> int:
    # Output to a full disk, a file of another user: what the system says, and of which file.
    failure = EngineError(
        "the system refused to read or write",
        where=str(error.filename) if error.filename is not None else None,
        got=error.strerror or str(error),
        next_step=_SYSTEM_STEPS.get(error.errno or 0, "check that this user may use the file or device"),
    )
    code = _show_error(failure, wants_json)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    return code


def _show_bug(error: Exception, wants_json: bool) -> int:
    message = f"Softmark itself failed ({type(error).__name__}: {clean(str(error), 300)}); no mark was given"
    click.echo(f"error: {message}", err=True)
    # A traceback frightens whoever can't read it, and may show a key or an answer.
    if os.environ.get("SOFTMARK_DEBUG"):
        traceback.print_exc()
    else:
        click.echo("  next: run it again with SOFTMARK_DEBUG=1 and report what it prints", err=True)
    if wants_json:
        _print_json_error(message, 3, kind="EngineError")
    return 3
