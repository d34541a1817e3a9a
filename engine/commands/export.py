"""``grade export``: a gradebook for a learning system or a spreadsheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.marks.gradebooks import GradebookFile, GradebookFormat, GradebookRequest
    from engine.store import Store

__all__ = ["command"]

_DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
# Field of a request → the option that sets it.
_OPTIONS = {
    "into": "--into",
    "scale": "--scale",
    "feedback": "--feedback",
    "key": "--key",
    "delimiter": "--delimiter",
    "decimal_comma": "--decimal-comma",
    "marked": "--excel",
    "protect_ids": "--excel",
}


@click.command("export")
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
@click.option("--scale", is_flag=True, help="Scale marks to the full points that the --into file has.")
@click.option("--feedback", is_flag=True, help="Write comments too: why a mark is what it is.")
@click.option(
    "--key",
    type=click.Choice(["email", "idnumber", "username"]),
    help="By what a new Moodle file names people (default: email where all have one).",
)
@click.option("--delimiter", metavar="CHAR", help="Of a CSV file: , ; or tab.")
@click.option("--decimal-comma", is_flag=True, help="Write 7,5 for 7.5 in a CSV file.")
@click.option("--excel", is_flag=True, help="CSV to open in Excel: a byte order mark, ids kept as text.")
@json_option
@store_option
@course_option
def command(
    format_name: str,
    out: Path,
    into: Path | None,
    columns: tuple[str, ...],
    scale: bool,
    feedback: bool,
    key: str | None,
    delimiter: str | None,
    decimal_comma: bool,
    excel: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Write the course's marks as a gradebook: FORMAT is canvas, moodle, csv or excel.

    With --into, marks are put into the gradebook that you exported from Canvas or Moodle; all else stays as
    it is. Missing work is blank and never 0, and so is what isn't graded yet, which is listed.

    Exit code 0: all marks are written; 1: something needs a person (listed); 2: bad usage or input.

    \b
    Examples:
      grade export canvas --into canvas.csv --out upload.csv --column "HW 1 (4711)=l16"
      grade export moodle --out moodle.csv --feedback
      grade export excel --out marks.xlsx
    """
    from engine.commands.context import find_context
    from engine.marks.gradebooks import gradebook_format

    context = find_context(course_path)
    chosen = gradebook_format(format_name)
    given: dict[str, Any] = {
        "into": into,
        "scale": scale,
        "feedback": feedback,
        "key": key,
        "delimiter": _delimiter(delimiter),
        "decimal_comma": decimal_comma,
        "marked": excel,
        "protect_ids": excel,
    }
    _check(context, chosen, given, out)
    with context.open_marks() as store:
        request = _request(context, store, columns, given)
    gradebook = chosen.make(request)
    _write(out, gradebook)
    rules = context.course.rule_problems() if context.course else ()
    problems = [f"{p.where}: {p.message}" for p in (*rules, *request.roster.problems())]
    if as_json:
        click.echo(json.dumps(_as_json(out, gradebook, problems), ensure_ascii=False, indent=2))
    else:
        _tell(out, gradebook, problems)
    return 0 if gradebook.is_complete and not problems else 1


def _delimiter(given: str | None) -> str | None:
    delimiter = _DELIMITERS.get(given or "", given)
    if delimiter is not None and delimiter not in _DELIMITERS.values():
        raise UsageError("--delimiter can't be used", expected=", ; or tab", got=repr(given))
    return delimiter


def _check(context: CommandContext, chosen: GradebookFormat, given: dict[str, Any], out: Path) -> None:
    from engine.model import Mode

    if context.mode is Mode.PRACTICE:
        raise UsageError(
            "practice never reaches a gradebook", next_step="export the marks of a course: --course FOLDER"
        )
    for field, option in _OPTIONS.items():
        if given[field] and field not in chosen.takes:
            raise UsageError(f"{option} isn't for {chosen.name}", next_step="grade export --help")
    into = given["into"]
    if given["scale"] and into is None:
        raise UsageError("--scale needs a file that says the full points", expected="--into FILE")
    if given["key"] and into is not None:
        raise UsageError("--key is for a new file: the one of --into names people by itself")
    if into is not None and out.exists() and into.exists() and out.samefile(into):
        raise UsageError("--out is the file of --into", next_step="write another file, and keep this one")
    is_workbook = out.suffix.lower() in {".xlsx", ".xlsm", ".xls"}
    if is_workbook is not (chosen.name == "excel") and out.suffix:
        raise UsageError(
            f"--out is no file name for {chosen.name}",
            expected="a name ending in .xlsx" if chosen.name == "excel" else "a name ending in .csv",
            got=str(out),
        )


def _request(
    context: CommandContext, store: Store, columns: tuple[str, ...], given: dict[str, Any]
) -> GradebookRequest:
    from engine.course import Roster
    from engine.marks.gradebooks import GradebookRequest
    from engine.marks.results import class_table

    course = context.course
    roster = course.roster(tolerant=True) if course else Roster()
    table = class_table(course.title if course else "", context.results(store, roster=roster))
    if not table.columns:
        raise UsageError("there are no marks yet", where=store.where, next_step="grade batch grades hand-ins")
    quizzes = store.sittings.quiz_titles()
    titles = {c.assignment: quizzes.get(c.quiz, c.quiz) if c.number else c.title for c in table.columns}
    return GradebookRequest(table=table, roster=roster, titles=titles, columns=columns, **given)


def _write(out: Path, gradebook: GradebookFile) -> None:
    from engine.text.files import replacing

    try:
        with replacing(out) as file:
            file.write(gradebook.content)
    except OSError as error:
        raise UsageError(
            "the gradebook can't be written",
            where=str(out),
            got=error.strerror or str(error),
            next_step="name a file in a folder that you may write to: --out FILE",
        ) from error


def _as_json(out: Path, gradebook: GradebookFile, problems: list[str]) -> dict[str, Any]:
    from engine.marks.gradebooks import NoticeKind

    return {
        "file": str(out),
        "marks": gradebook.marks,
        "columns": dict(gradebook.headings),
        "problems": problems,
        "listed": {
            str(kind): [
                {"where": one.where, "message": one.message} for one in gradebook.notices if one.kind is kind
            ]
            for kind in NoticeKind
        },
    }


def _tell(out: Path, gradebook: GradebookFile, problems: list[str]) -> None:
    from engine.commands.render import show_table

    show_table(["column", "holds"], [[heading, ids] for heading, ids in gradebook.headings.items()])
    click.echo()
    if gradebook.notices:
        listed = [[str(one.kind), one.where, one.message] for one in gradebook.notices]
        show_table(["listed", "where", "why"], listed)
        click.echo()
    for problem in problems:
        click.echo(f"problem: {problem}")
    click.echo(f"{count_noun(gradebook.marks, 'mark')} written: {out}")
