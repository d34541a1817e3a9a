"""``grade watch``: regrade a file on every save."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import find_context
from engine.commands.exercise import code_spec, open_session, submission_path
from engine.commands.options import course_option, item_argument, json_option, sandbox_options
from engine.commands.submit import exit_code
from engine.commands.terminal import console, number
from engine.errors import SoftmarkError, UsageError
from engine.text.words import agree, clean, count_noun

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text as RichText

    from engine.model import GradeReport
    from engine.practice.session import CheckChanges, PracticeSession
    from engine.runner import SandboxOptions


@click.command("watch")
@item_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@sandbox_options("tier")
@json_option
@course_option
def command(
    item: str, file: Path | None, sandbox: SandboxOptions, as_json: bool, course_path: Path | None
) -> int:
    """Grade FILE for the code exercise ITEM, and again on every save, until Ctrl-C.

    It is practice: nothing is recorded, not even in a course. The hidden inputs stay the same from start to
    end. Each time the checks that changed since the last save are printed; with --json, one object a line.

    Exit code of the last result: 0 all right, 1 not all right, 2 not readable, 3 engine error.

    \b
    Example:
      grade watch softmax softmax.py
    """
    context = find_context(course_path)
    # The item first: whoever forgot it typed the file in its place.
    code_spec(context, item, file)
    if file is None:
        raise UsageError("name the file to watch", expected=f"grade watch {item} FILE.py")
    path = submission_path(item, file)
    # Set when the sandbox is open: Ctrl-C before that has nothing to report.
    output = None
    try:
        with open_session(context, item, path, sandbox) as session:
            output = WatchOutput(as_json)
            click.echo(f"watching {path}; nothing is recorded; Ctrl-C ends", err=True)
            _follow(session, path, output)
    except KeyboardInterrupt:
        click.echo("", err=True)  # behind the terminal's ^C
        # Ctrl-C is the usual end; only where nothing was graded yet it is an interruption.
        return 130 if output is None or output.code is None else output.code
    return 0


def _follow(session: PracticeSession, path: Path, output: WatchOutput) -> None:
    from engine.practice.session import compare, readings

    last = None
    for reading in readings(path):
        if reading.is_repeat:
            output.repeat()
        elif reading.submission is None:
            assert reading.fault is not None
            output.unreadable(reading.fault)
        else:
            report = session.grade(reading.submission)
            seconds = time.monotonic() - reading.noticed_s
            output.report(report, compare(last, report), seconds, session.printed)
            # A file that can't be read for a moment is nothing to compare with.
            last = report if report.score is not None else last
        # While the person edits: the first wrong save is then explained as fast as the next ones.
        session.rehearse()


# One mistake can fail a dozen checks; the first ones stand in the order of the rubric.
MOST_ROWS = 5


class WatchOutput:
    """Prints a block for each save, a blank line after it, and keeps the exit code of the last.

    Parameters
    ----------
    as_json : bool
        One JSON object a line instead.
    """

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._console = console()
        self._saves = 0
        self.code: int | None = None

    def report(self, report: GradeReport, changes: CheckChanges, seconds: float, printed: str = "") -> None:
        """Print a graded save; `seconds` from noticing it to the report, `printed` by the file meanwhile."""
        from engine.commands.report_text import explanation, printed_text, report_head

        self.code = exit_code([report])
        if self._as_json:
            more = {"milliseconds": round(seconds * 1000, 1), "changes": changes.as_json()}
            self._print_json("graded", **more, report=report.as_json(), printed=printed)
            return
        head = _clock_text().append_text(report_head(report))
        if changes.score_before not in (None, report.score) and report.score is not None:
            head.append(f" (was {number(changes.score_before)})")
        head.append(f"  {seconds * 1000:.0f} ms", style="dim")
        changed = [] if report.score is None else _change_lines(changes)
        self._print([head, *changed, *_check_lines(report), *explanation(report), *printed_text(printed)])

    def unreadable(self, fault: SoftmarkError) -> None:
        """Print why a save couldn't be read."""
        self.code = fault.exit_code
        if self._as_json:
            fields = ("what", "where", "expected", "got", "next_step")
            error = {name: getattr(fault, name) for name in fields}
            self._print_json("unreadable", error=error | {"kind": type(fault).__name__})
            return
        head = _clock_text().append("not graded: ", style="bold magenta")
        self._print([head.append(clean("\n".join(fault.lines())))])

    def repeat(self) -> None:
        """Print that a save changed nothing; the last result stands."""
        if self._as_json:
            self._print_json("unchanged")
        else:
            self._print([_clock_text().append("saved, but the file is as before", style="dim")])

    def _print_json(self, event: str, **more: Any) -> None:
        self._saves += 1
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        click.echo(json.dumps({"event": event, "save": self._saves, "at": now, **more}, ensure_ascii=False))
        sys.stdout.flush()  # a program reads line by line; a pipe would be flushed every 8 KiB

    def _print(self, parts: Sequence[RichText | Table]) -> None:
        # One write a block: whoever reads a pipe gets all of it together.
        with self._console.capture() as capture:
            for part in parts:
                self._console.print(part)
        # A blank line ends a block, so none may stand in it.
        lines = [line.rstrip() for line in capture.get().splitlines()]
        click.echo("\n".join(line for line in lines if line) + "\n")
        sys.stdout.flush()


def _clock_text() -> RichText:
    from rich.text import Text as RichText

    # The style of a part, not of the whole: what is appended has its own.
    return RichText().append(f"{datetime.now():%H:%M:%S} ", style="dim")


def _change_lines(changes: CheckChanges) -> list[RichText]:
    from rich.text import Text as RichText

    if changes.is_first:
        return []
    lines = []
    if changes.now_pass:
        lines.append(RichText(f"  now pass: {', '.join(changes.now_pass)}", style="green"))
    if changes.no_longer_pass:
        lines.append(RichText(f"  no longer pass: {', '.join(changes.no_longer_pass)}", style="red"))
    return lines or [RichText("  the same checks pass as before", style="dim")]


def _check_lines(report: GradeReport) -> list[RichText | Table]:
    from rich.text import Text as RichText

    from engine.commands.report_text import check_table
    from engine.model import Outcome, Verdict

    passed = [check for check in report.checks if check.verdict is Verdict.PASSED]
    skipped = [check for check in report.checks if check.verdict is Verdict.SKIPPED]
    others = [check for check in report.checks if check not in passed and check not in skipped]
    lines: list[RichText | Table] = []
    if others and report.outcome is not Outcome.UNGRADED:
        lines.append(check_table(others[:MOST_ROWS]))
        rest = [check.id for check in others[MOST_ROWS:]]
        if rest:
            lines.append(RichText(f"  … and {len(rest)} more: {', '.join(rest)}", style="red"))
    if report.outcome in (Outcome.PARTIAL, Outcome.WRONG):
        line = f"  {len(passed)} of {count_noun(len(report.checks), 'check')} {agree(len(passed), 'pass')}"
        line += f", {len(skipped)} skipped" if skipped else ""
        lines.append(RichText(line, style="dim"))
    return lines
