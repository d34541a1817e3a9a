"""``grade export gradebook``: a gradebook for a learning system or a spreadsheet."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import find_context
from engine.commands.journal import log
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.files import check_target, replacing, write_errors
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.marks.gradebooks import GradebookFile


@click.command("gradebook")
@click.argument("format_name", metavar="FORMAT")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")
@click.option(
    "--into", type=click.Path(path_type=Path), help="The learning system's own file: marks are put into it."
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="HEADING=ID[+ID…]",
    help="A column of the file and what it sums: quizzes, items, quiz/item, total or percent. Repeatable.",
)
@click.option("--scale", is_flag=True, help="Scale marks to the full points in the --into file.")
@click.option("--feedback", is_flag=True, help="Write comments too: why a mark is what it is.")
@click.option(
    "--key",
    type=click.Choice(["email", "idnumber", "username"]),
    help="How a new Moodle file identifies people (default: email where all have one).",
)
@click.option("--delimiter", metavar="CHAR", help="Of a CSV file: , ; or tab.")
@click.option("--decimal-comma", is_flag=True, help="Write 7,5 for 7.5 in a CSV file.")
@click.option("--excel", is_flag=True, help="CSV to open in Excel: a byte order mark, ids kept as text.")
@json_option
@store_option
@course_option
def gradebook(
    format_name: str,
    out: Path,
    columns: tuple[str, ...],
    excel: bool,
    as_json: bool,
    course_path: Path | None,
    **settings: Any,
) -> int:
    """Write the course's marks as a gradebook: FORMAT is canvas, moodle, csv or excel.

    `grade export FORMAT` is short for `grade export gradebook FORMAT`.

    With --into, marks are put into the gradebook that you exported from Canvas or Moodle; all else stays as
    it is. Missing work is blank and never 0, and so is what isn't graded yet, which is listed.

    Exit code 0: all marks are written; 1: something needs a person (listed); 2: bad usage or input.

    \b
    Examples:
      grade export gradebook canvas --into canvas.csv --out upload.csv --column "HW 1 (4711)=l16"
      grade export moodle --out moodle.csv --feedback
      grade export excel --out marks.xlsx
    """
    from engine.marks.gradebooks import check_settings, gradebook_format, gradebook_request

    # Refused before the store is read: a mistyped option shouldn't cost a minute.
    with _file_errors(out):
        check_target(out)
    context = find_context(course_path)
    chosen = gradebook_format(format_name)
    if context.is_practice:
        raise UsageError(
            "practice never reaches a gradebook", next_step="export the marks of a course: --course FOLDER"
        )
    settings = check_settings(chosen, {**settings, "marked": excel, "protect_ids": excel}, out)
    with context.open_marks() as store:
        log(context, store, "export.gradebook", f"Gradebook for {chosen.name}")
        students = context.results(store)
        request = gradebook_request(
            store, students, context.roster, context.title, columns=columns, settings=settings
        )
    made = chosen.make(request)
    with _file_errors(out), replacing(out) as file:
        file.write(made.content)
    # Marks of a course whose rules or roster are at fault may be incomplete: the exit code says so.
    rules = context.course.rule_problems() if context.course else ()
    problems = [f"{p.where}: {p.message}" for p in (*rules, *request.roster.problems())]
    if as_json:
        print_json(_as_json(out, made, problems))
    else:
        _show(out, made, problems)
    return 0 if made.is_complete and not problems else 1


def _file_errors(out: Path) -> AbstractContextManager[None]:
    step = "name a file in a folder that you may write to: --out FILE"
    return write_errors("the gradebook can't be written", out, next_step=step)


def _as_json(out: Path, gradebook: GradebookFile, problems: list[str]) -> dict[str, Any]:
    from engine.marks.gradebooks import NoticeKind

    return {
        "file": str(out),
        "marks": gradebook.marks,
        "columns": dict(gradebook.headings),
        "problems": problems,
        "listed": {
            str(kind): [
                {"where": notice.where, "message": notice.message}
                for notice in gradebook.notices
                if notice.kind is kind
            ]
            for kind in NoticeKind
        },
    }


def _show(out: Path, gradebook: GradebookFile, problems: list[str]) -> None:
    show_table(["column", "holds"], [[heading, ids] for heading, ids in gradebook.headings.items()])
    click.echo()
    if gradebook.notices:
        rows = [[str(notice.kind), notice.where, notice.message] for notice in gradebook.notices]
        show_table(["listed", "where", "why"], rows)
        click.echo()
    for problem in problems:
        click.echo(f"problem: {problem}")
    click.echo(f"{count_noun(gradebook.marks, 'mark')} written: {out}")
