"""``grade import``: other lecturers' questions as problem files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.options import RegistryChoice, course_option, json_option
from engine.commands.terminal import print_json, progress_bar
from engine.errors import UsageError
from engine.text.words import clean, clean_line, count_noun, shell_word

if TYPE_CHECKING:
    from engine.authoring.importing.item_drafts import ImportedItem, ImportReport


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for the problem files (default: the course's problems).",
)
@click.option(
    "--format",
    "form",
    type=RegistryChoice("engine.authoring.importing.import_file", "READERS"),
    default=None,
    help="Format of the file (default: detected).",
)
@click.option("--keep-going", is_flag=True, help="Import what can be read of a broken file.")
@json_option
@course_option
def command(
    file: Path,
    folder: Path | None,
    form: str | None,
    keep_going: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Read the questions of FILE into problem files, one each.

    FILE is Moodle XML, GIFT, QTI (3.0, 2.1, or 1.2 as Canvas has it) or OLX (Open edX). QTI is a package
    (ZIP) or a single XML file; OLX is a course, as an archive or a folder, or the file of one problem.

    Nothing is overwritten, and nothing is written if the file is broken. What can't be kept is reported, and
    so are keys that were typed by hand but could be recomputed.

    Exit code 0: all read; 1: faults were left out, or no question could be used; 2: the file is broken.

    \b
    Examples:
      grade import question-bank.xml
      grade import week3.gift --out drafts
      grade import qti-package.zip --out drafts
      grade import course.tar.gz --out drafts
    """
    from engine.authoring.importing.import_file import import_file

    context = find_context(course_path)
    folder = folder if folder is not None else context.problems_folder()
    if folder is None:
        raise UsageError(
            "there is no course here to import into",
            expected="--out FOLDER, or a course",
            next_step="name a folder with --out, or a course with --course",
        )
    # said before five thousand questions are read
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            "the items can't be written there: it is a file",
            where=str(folder),
            expected="a folder",
            next_step="name another folder with --out",
        )
    report = import_file(
        file, folder, context.bank, form=form, keep_going=keep_going, watch=partial(progress_bar, "checking")
    )
    if as_json:
        print_json(report.as_json())
    else:
        _show(report)
    # A file without a usable question imports nothing, though nothing failed.
    return 1 if report.faults or not report.items else 0


def _show(report: ImportReport) -> None:
    lines: list[str] = []
    for item in report.items:
        lines += _item_lines(item)
    for skip in report.skipped:
        lines.append(
            f"skipped, {_one_line(str(skip.place))}: {_one_line(skip.name) or 'a question'} ({skip.type})"
        )
        lines.append(f"  {_one_line(skip.reason)}")
        if skip.next_step:
            lines.append(f"  next: {_one_line(skip.next_step)}")
    faults = [line for fault in report.faults for line in fault.lines()]
    if faults:
        click.echo(clean("\n".join(faults), 50_000), err=True)
    click.echo("\n".join([*lines, *_summary(report)]))


def _item_lines(item: ImportedItem) -> list[str]:
    state = "" if item.is_new else ", there already"
    lines = [f"{clean_line(str(item.path), 300)} ({item.type}{state}): {_one_line(item.name)}"]
    for note in item.notes:
        place = note.place if note.place is not None else item.place
        lines.append(f"  {_one_line(str(place))}: {_one_line(note.message)}")
    # The first line says what can be recomputed; the file itself has all of them.
    return lines + [f"  {_one_line(line)}" for line in item.key_suggestion[:1]]


def _one_line(text: str) -> str:
    return clean_line(text, 400)  # question names are often the first line of the question


def _summary(report: ImportReport) -> list[str]:
    new = [item for item in report.items if item.is_new]
    parts = [f"{len(new)} imported"]
    if old := len(report.items) - len(new):
        parts.append(f"{old} there already")
    if report.skipped:
        parts.append(f"{len(report.skipped)} skipped")
    if report.faults:
        parts.append(f"{count_noun(len(report.faults), 'fault')} left out")
    lines = [f"{_one_line(report.file)}: {', '.join(parts)}"]
    # Old exports of Windows: nearly every byte is a letter there, so a wrong guess shows in accents alone.
    if report.guessed_encoding:
        lines.append("  the file isn't UTF-8; it was read as Windows-1252: look at accents and quotes")
    if suggestions := report.key_suggestions:
        items = ", ".join(suggestions)
        lines.append(f"key typed by hand: give a key expression ({len(suggestions)}): {items}")
    if new:
        # Eight paths are about what a line takes; the ellipsis says that there are more.
        files = " ".join(shell_word(item.path) for item in new[:8])
        lines.append(f"  next: grade lint {files}{' …' if len(new) > 8 else ''}")
    return lines
