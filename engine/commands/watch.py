"""``grade watch``: regrade a file on every save."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, item_argument, json_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.watch_blocks import Blocks
    from engine.practice.session import PracticeSession

__all__ = ["command"]

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
    from engine.commands.practising import code_spec, open_session, submission_path
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    code_spec(workplace, item, file)
    if file is None:
        raise UsageError("say which file is to be watched", expected=f"grade watch {item} FILE.py")
    path = submission_path(item, file)
    blocks = None
    try:
        with open_session(workplace, item, tier) as session:
            from engine.commands.watch_blocks import Blocks

            blocks = Blocks(as_json)
            click.echo(f"watching {path}; nothing is recorded; Ctrl-C ends", err=True)
            _follow(session, path, blocks)
    except KeyboardInterrupt:
        code = INTERRUPTED if blocks is None or blocks.code is None else blocks.code
        click.echo("", err=True)  # behind the terminal's ^C
        return code
    return 0


def _follow(session: PracticeSession, path: Path, blocks: Blocks) -> None:
    """Grade what each save left, until an interrupt."""
    from engine.practice.changes import compare
    from engine.practice.saves import readings

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
