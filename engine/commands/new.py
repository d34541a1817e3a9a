"""``grade new``: files to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.options import CommandGroup, RegistryChoice, course_option, json_option
from engine.commands.terminal import print_json
from engine.errors import UsageError
from engine.text.words import shell_word


@click.group("new", cls=CommandGroup)
def command() -> None:
    """Begin a new item with a file that is valid as it is.

    \b
    Example:
      grade new item my-first-item --type number
    """


@command.command("item")
@click.argument("item", metavar="ID")
@click.option(
    "--type",
    "kind",
    type=RegistryChoice("engine.authoring.scaffold", "KINDS"),
    required=True,
    help="What the item asks for.",
)
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
    An existing file is never overwritten.

    \b
    Examples:
      grade new item my-first-item --type number
      grade new item lstm-gates --type matching --folder problems/rnn --title "Gates of an LSTM"
    """
    from engine.authoring.scaffold import scaffold, write_new_files

    context = find_context(course_path)
    texts = scaffold(kind, item, title, folder or context.problems_folder() or Path())
    replaces_builtin = _replaces_builtin(context, item, next(iter(texts)))
    write_new_files(texts)
    _show(item, kind, list(texts), replaces_builtin, as_json)


def _replaces_builtin(context: CommandContext, item: str, path: Path) -> bool:
    """Return whether the new item takes the place of a built-in one; refuse an id that the course has."""
    if item not in context.bank:
        return False
    existing, course = context.bank.path(item), context.course
    if course is None or not existing.absolute().is_relative_to(course.problems.absolute()):
        # Outside a course the file is only a draft, which replaces nothing.
        return course is not None
    if existing.absolute() == path.absolute():
        return False  # nothing is overwritten: writing it says so
    raise UsageError(
        f"the course has an item {item} already",
        where=str(existing),
        next_step="choose another id: ids are unique in a course",
    )


def _show(item: str, kind: str, paths: list[Path], replaces_builtin: bool, as_json: bool) -> None:
    file = shell_word(paths[0])
    commands = {"preview": f"grade preview {file}", "lint": f"grade lint {file}"}
    if as_json:
        document = {"item": item, "type": kind, "files": [str(path) for path in paths]}
        print_json({**document, "replaces_builtin": replaces_builtin, "next": commands})
        return
    for path in paths:
        click.echo(f"wrote {path}")
    if replaces_builtin:
        click.echo(f"  in this course it takes the place of the built-in item {item}")
    click.echo("  change what it asks; the notes in it say how")
    click.echo(f"  see it while you write:  {commands['preview']}")
    click.echo(f"  check it:                {commands['lint']}")
