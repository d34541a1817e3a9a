"""``grade mark list``: what people decided about marks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option, store_option

if TYPE_CHECKING:
    from engine.store import HandMark

__all__ = ["decision_text", "list_marks", "mark_json"]


@click.command("list")
@click.option("--student", default=None, help="Only this student's.")
@click.option("--column", default=None, help="Only this column's.")
@click.option("--history", is_flag=True, help="Also what was changed or taken back since, oldest first.")
@json_option
@course_option
@store_option
def list_marks(
    student: str | None, column: str | None, history: bool, as_json: bool, course_path: Path | None
) -> None:
    """List the marks that people set and that stand now.

    \b
    Example:
      grade mark list --student ada --history
    """
    from engine.commands.render import show_table
    from engine.commands.workplace import find_workplace
    from engine.foreign import clean_line

    with find_workplace(course_path).open_store() as store:
        found = store.hand_marks.history(student=student, column=column)
        if not history:
            standing = store.hand_marks.standing()
            found = [mark for mark in found if standing.get((mark.student, mark.column)) == mark]
    if as_json:
        click.echo(json.dumps([mark_json(mark) for mark in found], ensure_ascii=False, indent=2))
    elif found:
        rows = [
            [
                clean_line(mark.student),
                clean_line(mark.column),
                decision_text(mark),
                clean_line(mark.comment, 500),
                clean_line(mark.by),
                f"{mark.at:%Y-%m-%d %H:%M} UTC",
            ]
            for mark in found
        ]
        show_table(["student", "column", "mark", "comment", "by", "at"], rows)
    else:
        click.echo("no mark was set by hand")


def decision_text(mark: HandMark) -> str:
    """Return what a decision says about points: a number, ``excused``, ``as graded`` or ``taken back``."""
    from engine.commands.render import number

    if mark.excused:
        return "excused"
    if mark.score is not None:
        return number(mark.score)
    return "as graded" if mark.comment else "taken back"


def mark_json(mark: HandMark) -> dict[str, object]:
    """Return a decision as scripts read it."""
    from engine.foreign import clean

    return {
        "student": mark.student,
        "column": mark.column,
        "score": mark.score,
        "excused": mark.excused,
        "comment": clean(mark.comment),
        "by": clean(mark.by),
        "at": mark.at.isoformat(),
    }
