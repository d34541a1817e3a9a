"""The blocks that ``grade watch`` prints, one a save: lines without a blank one, then a blank one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click
from rich.table import Table
from rich.text import Text as RichText

from engine.commands.render import check_table, console, explanation, number, printed_text, report_head
from engine.commands.submit import exit_code
from engine.errors import SoftmarkError
from engine.foreign import clean
from engine.model import GradeReport, Outcome, Verdict
from engine.plurals import agree, counted
from engine.practice.changes import Changes

__all__ = ["Blocks"]


# One mistake can fail a dozen checks; the first ones stand in the order of the rubric.
MOST_ROWS = 5


class Blocks:
    """Prints what came of each save and keeps the exit code of the last.

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

    def report(self, report: GradeReport, changes: Changes, seconds: float, printed: str = "") -> None:
        """Print a graded save; `seconds` from noticing it to the report, `printed` by the file meanwhile."""
        self.code = exit_code([report])
        if self._as_json:
            more = {"milliseconds": round(seconds * 1000, 1), "changes": changes.as_json()}
            self._print_json("graded", **more, report=report.as_json(), printed=printed)
            return
        first = RichText(f"{_clock()} ", style="dim")
        first.append_text(report_head(report))
        if changes.score_before not in (None, report.score) and report.score is not None:
            first.append(f" (was {number(changes.score_before)})")
        first.append(f"  {seconds * 1000:.0f} ms", style="dim")
        changed = [] if report.score is None else _changed(changes)
        self._print([first, *changed, *_checks(report), *explanation(report), *printed_text(printed)])

    def unreadable(self, fault: SoftmarkError) -> None:
        """Print why a save couldn't be read."""
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


def _changed(changes: Changes) -> list[RichText]:
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
        told = f"  {len(passed)} of {counted(len(report.checks), 'check')} {agree(len(passed), 'pass')}"
        if skipped:
            told += f", {len(skipped)} skipped"
        lines.append(RichText(told, style="dim"))
    return lines
