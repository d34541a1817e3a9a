"""``grade feedback``: write feedback pages from the store, pack them for upload, check receipts."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.commands.feedback.verify import verify
from engine.commands.options import Group, course_option, json_option, store_option
from engine.errors import UsageError

__all__ = ["command"]

_LAYOUTS = ("canvas", "moodle", "plain")


@click.group("feedback", cls=Group, invoke_without_command=True)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the pages.")
@click.option(
    "--student", "students", multiple=True, help="Only this student's page (several times: theirs)."
)
@click.option(
    "--solutions", is_flag=True, help="Show worked solutions and keys, whatever a quiz's rules say."
)
@click.option(
    "--zip", "layout", type=click.Choice(_LAYOUTS), default=None, help="Pack the pages to be uploaded there."
)
@click.option(
    "--assignment",
    default=None,
    help="For --zip: take the names from the hand-ins of this quiz or code item (default: the newest).",
)
@json_option
@course_option
@store_option
@click.pass_context
def command(
    context: click.Context,
    out: Path | None,
    students: tuple[str, ...],
    solutions: bool,
    layout: str | None,
    assignment: str | None,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Write every student's feedback page from the store; nothing is graded.

    Quizzes show as much as their rules and the course's allow now. With --zip the pages are packed as the
    learning system takes them back: in Moodle under “Upload multiple feedback files in a zip”, in Canvas
    under “Upload Submissions”. plain makes one folder per student id.

    Exit code 0: done; 1: some pages can't be packed (listed); 2: bad usage or input.

    \b
    Example:
      grade feedback --out results --course attention-2026
      grade feedback --out results --course attention-2026 --zip moodle
      grade feedback verify results/students/ada.html softmax.py --course attention-2026
    """
    if context.invoked_subcommand is not None:
        return 0
    if out is None:
        raise UsageError("it isn't said where to write", expected="--out FOLDER")
    if assignment is not None and layout is None:
        raise UsageError("--assignment is for --zip", next_step="add --zip, or leave --assignment out")
    from engine.commands.feedback.pages import as_json as told
    from engine.commands.feedback.pages import tell, write_feedback

    written = write_feedback(
        course_path, out, students=students, solutions=solutions, layout=layout, assignment=assignment
    )
    if as_json:
        click.echo(json.dumps(told(written), ensure_ascii=False, indent=2))
    else:
        tell(written)
    return 1 if written.left_out else 0


command.add_command(verify)
