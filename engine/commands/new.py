"""``grade new``: files to begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.authoring.scaffold import KINDS
from engine.commands.options import CommandGroup, course_option, json_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.context import CommandContext

__all__ = ["command"]


@click.group("new", cls=CommandGroup)
def command() -> None:
    """Begin a new item with a file that is valid as it is.

    \b
    Example:
      grade new item my-first-item --type number
    """


@command.command("item")
@click.argument("item", metavar="ID")
@click.option("--type", "kind", type=click.Choice(KINDS), required=True, help="What the item asks for.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=None,
    help="Where to write it (default: the course's problems, or this folder outside a course).",
)
@click.option("--title", default=None, help="Title of the item (default: its id in words).")
@json_option
@course_option
def new_item(
    item: str, kind: str, folder: Path | None, title: str | None, as_json: bool, course_path: Path | None
) -> None:
    """Write ID.yaml: a complete item of one type, with notes on what to change.

    Type single_choice has options that are computed, single_choice_pool a pool of statements from which
    each variant draws; code makes a folder with starter, solution and a known-wrong program.
    A file that is there already is never overwritten.

    \b
    Examples:
      grade new item my-first-item --type number
      grade new item lstm-gates --type matching --folder problems/rnn --title "Gates of an LSTM"
    """
    from engine.authoring.scaffold import scaffold, write_new_files
    from engine.commands.context import find_context

    context = find_context(course_path)
    place = folder if folder is not None else _usual_folder(context)
    texts = scaffold(kind, item, title, place)
    path = next(iter(texts))
    replaced = _replaced(context, item, path)
    write_new_files(texts)
    _tell(item, kind, list(texts), replaced, as_json)


def _usual_folder(context: CommandContext) -> Path:
    if context.course is None:
        return Path()
    problems = context.course.problems
    try:  # shorter, and what people type
        return problems.relative_to(Path.cwd())
    except ValueError:
        return problems


def _replaced(context: CommandContext, item: str, path: Path) -> bool:
    """Tell whether the new item takes the place of a built-in one; refuse an id that the course has."""
    if item not in context.bank:
        return False
    there = context.bank.path(item)
    course = context.course
    if course is None or not there.absolute().is_relative_to(course.problems.absolute()):
        return course is not None
    if there.absolute() == path.absolute():
        return False  # nothing is overwritten: writing it says so
    raise UsageError(
        f"the course has an item {item} already",
        where=str(there),
        next_step="choose another id: ids are unique in a course",
    )


def _tell(item: str, kind: str, paths: list[Path], replaced: bool, as_json: bool) -> None:
    from engine.commands.hint import quoted

    file = quoted(paths[0])
    following = {"preview": f"grade preview {file}", "lint": f"grade lint {file}"}
    if as_json:
        told = {
            "item": item,
            "type": kind,
            "files": [str(path) for path in paths],
            "replaces_builtin": replaced,
            "next": following,
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for path in paths:
        click.echo(f"wrote {path}")
    if replaced:
        click.echo(f"  in this course it takes the place of the built-in item {item}")
    click.echo("  change what it asks; the notes in it say how")
    click.echo(f"  see it while you write:  {following['preview']}")
    click.echo(f"  check it:                {following['lint']}")
