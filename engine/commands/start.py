"""``grade start``: the file to begin a code exercise with."""

from __future__ import annotations

from pathlib import Path

import click

from engine.commands.context import find_context
from engine.commands.exercise import code_spec, starter_file, starter_text
from engine.commands.options import course_option, item_argument, json_option
from engine.commands.terminal import print_json
from engine.errors import UsageError


@click.command("start")
@item_argument
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    default=Path(),
    help="File or folder to write to (default: this folder, under the function's name).",
)
@click.option("--notebook", is_flag=True, help="Write a notebook (.ipynb).")
@click.option(
    "--force", is_flag=True, help="Start over where there is a file already; a copy of it is made first."
)
@json_option
@course_option
def command(
    item: str, target: Path, notebook: bool, force: bool, as_json: bool, course_path: Path | None
) -> None:
    """Write the starter file of the code exercise ITEM, with its statement as comments.

    An existing file is never overwritten.

    \b
    Examples:
      grade start softmax
      grade start softmax --to week3/ --notebook
    """
    from engine.practice.starter import commands_for, starter_notebook, write_starter

    context = find_context(course_path)
    spec, answer = code_spec(context, item)
    path = _file_to_write(target, answer.function, notebook)
    # The suffix of --to decides as well as --notebook.
    if path.suffix.lower() == ".ipynb":
        commands = tuple(commands_for(item, path.name).values())
        variant = context.draw(item, 0)
        text = starter_notebook(variant, spec.stem, starter_text(context, item), commands)
    else:
        text = starter_file(context, item, path.name)
    backup = write_starter(path, text, force=force)
    _show(item, spec.title, path, backup, as_json)


def _file_to_write(target: Path, function: str, notebook: bool) -> Path:
    suffix = ".ipynb" if notebook else ".py"
    if target.suffix.lower() in (".py", ".ipynb") and not target.is_dir():
        if notebook and target.suffix.lower() == ".py":
            raise UsageError("a notebook's name ends in .ipynb", where=str(target), expected="NAME.ipynb")
        folder, path = target.parent, target
    else:
        folder, path = target, target / f"{function}{suffix}"
    # A folder isn't made: a mistyped name would hide the file from the person who looks for it.
    if not folder.is_dir():
        kind = "this isn't a folder" if folder.exists() else "there is no such folder"
        raise UsageError(kind, where=str(folder), expected="a folder, or a name that ends in .py or .ipynb")
    return path


def _show(item: str, title: str, path: Path, backup: Path | None, as_json: bool) -> None:
    from engine.practice.starter import commands_for

    commands = commands_for(item, path)
    if as_json:
        files = {"file": str(path), "backup": str(backup) if backup else None}
        print_json({"item": item, "title": title, **files, "next": commands})
        return
    if backup is not None:
        click.echo(f"kept your old file as {backup}")
    click.echo(f"wrote {path}: {title}")
    click.echo(f"  grade it on every save:   {commands['watch']}")
    click.echo(f"  get the next hint:        {commands['hint']}")
    click.echo(f"  grade it once:            {commands['submit']}")
