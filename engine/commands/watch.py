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

from engine.commands.options import course_option, item_argument, json_option
from engine.errors import SoftmarkError, UsageError
from engine.text.escape import clean
from engine.text.words import agree, count_noun, plain_points

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text as RichText

    from engine.model import GradeReport
    from engine.practice.session import CheckChanges, PracticeSession

__all__ = ["WatchOutput", "command"]

INTERRUPTED = 130


@click.command("watch")
@item_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--tier", type=click.Choice(["T1", "T2", "T3"]), default=None, help="Demand this sandbox tier.")
@json_option
@course_option
def command(item: str, file: Path | None, tier: str | None, as_json: bool, course_path: Path | None) -> int:
    """Grade FILE for the code exercise ITEM, and again on every save, until Ctrl-C.

    Practice: nothing is recorded, in a course neither. The hidden inputs stay the same from start to end.
    Printed is what changed since the save before; with --json, one object a line.

    Exit code of the last result: 0 all right, 1 not all right, 2 not readable, 3 engine error.

    \b
    Example:
      grade watch softmax softmax.py
    """
    from engine.commands.context import find_context
    from engine.commands.hint import code_spec, open_session, submission_path

    context = find_context(course_path)
    code_spec(context, item, file)
    if file is None:
        raise UsageError("say which file is to be watched", expected=f"grade watch {item} FILE.py")
    path = submission_path(item, file)
    blocks = None
    try:
        with open_session(context, item, tier) as session:
            blocks = WatchOutput(as_json)
            click.echo(f"watching {path}; nothing is recorded; Ctrl-C ends", err=True)
            _follow(session, path, blocks)
    except KeyboardInterrupt:
        code = INTERRUPTED if blocks is None or blocks.code is None else blocks.code
        click.echo("", err=True)  # behind the terminal's ^C
        return code
    return 0


def _follow(session: PracticeSession, path: Path, blocks: WatchOutput) -> None:
    """Grade what each save left, until an interrupt."""
    from engine.practice.saves import readings
    from engine.practice.session import compare

    last = None
    for reading in readings(path):
        if reading.is_repeat:
            blocks.repeat()
        elif reading.submission is None:
            assert reading.fault is not None
            blocks.unreadable(reading.fault)
        else:
            report = session.grade(reading.submission)
            seconds = time.monotonic() - reading.noticed_s
            blocks.report(report, compare(last, report), seconds, session.printed)
            # a file that can't be read for a moment is nothing to compare with
            last = report if report.score is not None else last
        session.rehearse()


# ----------------------------------------------------------------------------------------------------
# The blocks that ``grade watch`` prints, one a save: lines without a blank one, then a blank one.

# One mistake can fail a dozen checks; the first ones stand in the order of the rubric.
MOST_ROWS = 5


class WatchOutput:
    """Prints what came of each save and keeps the exit code of the last.

    Parameters
    ----------
    as_json : bool
        One JSON object a line instead.
    """

    def __init__(self, as_json: bool) -> None:
        from engine.commands.render import console

        self._as_json = as_json
        self._console = console()
        self._saves = 0
        self.code: int | None = None

    def report(self, report: GradeReport, changes: CheckChanges, seconds: float, printed: str = "") -> None:
        """Print a graded save; `seconds` from noticing it to the report, `printed` by the file meanwhile."""
        from rich.text import Text as RichText

        from engine.commands.render import explanation, printed_text, report_head
        from engine.commands.submit import exit_code

        self.code = exit_code([report])
        if self._as_json:
            more = {"milliseconds": round(seconds * 1000, 1), "changes": changes.as_json()}
            self._print_json("graded", **more, report=report.as_json(), printed=printed)
            return
        first = RichText(f"{_clock()} ", style="dim")
        first.append_text(report_head(report))
        if changes.score_before not in (None, report.score) and report.score is not None:
            first.append(f" (was {plain_points(changes.score_before)})")
        first.append(f"  {seconds * 1000:.0f} ms", style="dim")
        changed = [] if report.score is None else _changed(changes)
        self._print([first, *changed, *_checks(report), *explanation(report), *printed_text(printed)])

    def unreadable(self, fault: SoftmarkError) -> None:
        """Print why a save couldn't be read."""
        from rich.text import Text as RichText

        self.code = fault.exit_code
        if self._as_json:
            parts = ("what", "where", "expected", "got", "next_step")
            told = {name: getattr(fault, name) for name in parts}
            self._print_json("unreadable", error=told | {"kind": type(fault).__name__})
            return
        first = RichText(f"{_clock()} ", style="dim")
        first.append("not graded: ", style="bold magenta")
        first.append(clean("\n".join(fault.lines())))
        self._print([first])

    def repeat(self) -> None:
        """Print that a save changed nothing; the last result stands."""
        from rich.text import Text as RichText

        if self._as_json:
            self._print_json("unchanged")
        else:
            self._print([RichText(f"{_clock()} saved, but the file is as before", style="dim")])

    def _print_json(self, event: str, **more: Any) -> None:
        self._saves += 1
        at = datetime.now().astimezone().isoformat(timespec="milliseconds")
        click.echo(json.dumps({"event": event, "save": self._saves, "at": at, **more}, ensure_ascii=False))
        sys.stdout.flush()

    def _print(self, parts: Sequence[RichText | Table]) -> None:
        """Print one block at once: whoever reads a pipe gets all of it together."""
        with self._console.capture() as capture:
            for part in parts:
                self._console.print(part)
        lines = [line.rstrip() for line in capture.get().splitlines()]
        click.echo("\n".join(line for line in lines if line) + "\n")
        sys.stdout.flush()


def _clock() -> str:
    return datetime.now().strftime("%H:%M:%S")


def _changed(changes: CheckChanges) -> list[RichText]:
    from rich.text import Text as RichText

    if changes.is_first:
        return []
    lines = []
    if changes.now_pass:
        lines.append(RichText(f"  now pass: {', '.join(changes.now_pass)}", style="green"))
    if changes.no_longer_pass:
        lines.append(RichText(f"  no longer pass: {', '.join(changes.no_longer_pass)}", style="red"))
    return lines or [RichText("  the same checks pass as before", style="dim")]


def _checks(report: GradeReport) -> list[RichText | Table]:
    """Return the checks that didn't pass, and how many did."""
    from rich.text import Text as RichText

    from engine.commands.render import check_table
    from engine.model import Outcome, Verdict

    passed = [check for check in report.checks if check.verdict is Verdict.PASSED]
    skipped = [check for check in report.checks if check.verdict is Verdict.SKIPPED]
    others = [check for check in report.checks if check not in passed and check not in skipped]
    lines: list[RichText | Table] = []
    if others and report.outcome is not Outcome.UNGRADED:
        lines.append(check_table(others[:MOST_ROWS]))
    if len(others) > MOST_ROWS and report.outcome is not Outcome.UNGRADED:
        rest = [check.id for check in others[MOST_ROWS:]]
        lines.append(RichText(f"  … and {len(rest)} more: {', '.join(rest)}", style="red"))
    if report.outcome in (Outcome.PARTIAL, Outcome.WRONG):
        told = f"  {len(passed)} of {count_noun(len(report.checks), 'check')} {agree(len(passed), 'pass')}"
        if skipped:
            told += f", {len(skipped)} skipped"
        lines.append(RichText(told, style="dim"))
    return lines
