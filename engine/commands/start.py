"""``grade start``: the file to begin a code exercise with."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.commands.options import course_option, item_argument, json_option
from engine.errors import UsageError

__all__ = ["command"]


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
@click.option("--force", is_flag=True, help="Start anew where there is a file; a copy of it is made first.")
@json_option
@course_option
def command(
    item: str, target: Path, notebook: bool, force: bool, as_json: bool, course_path: Path | None
) -> None:
    """Write the starter file of the code exercise ITEM, with its statement as comments.

    A file that is there already is never overwritten.

    \b
    Example:
      grade start softmax
      grade start softmax --to week3/ --notebook
    """
    from engine.commands.context import find_context
    from engine.commands.hint import code_spec, commands_for
    from engine.practice.starter import starter_notebook, starter_source, write_starter
    from engine.text.files import read_text

    context = find_context(course_path)
    spec, answer = code_spec(context, item)
    path = _place(target, answer.function, notebook)
    starter = read_text(context.bank.path(item).parent / answer.starter)
    variant = context.draw(item, 0)
    told = tuple(commands_for(item, path.name).values())
    if path.suffix.lower() == ".ipynb":
        text = starter_notebook(variant, spec.stem, starter, told)
    else:
        text = starter_source(variant, starter, told)
    backup = write_starter(path, text, force=force)
    _tell(item, variant.title, path, backup, as_json)


def _place(target: Path, function: str, notebook: bool) -> Path:
    """Return the file to write; a :class:`UsageError` if its folder isn't there."""
    suffix = ".ipynb" if notebook else ".py"
    if target.suffix.lower() in (".py", ".ipynb") and not target.is_dir():
        if notebook and target.suffix.lower() == ".py":
            raise UsageError("a notebook has another ending", where=str(target), expected="NAME.ipynb")
        folder, path = target.parent, target
    else:
        folder, path = target, target / f"{function}{suffix}"
    if not folder.is_dir():
        kind = "this is no folder" if folder.exists() else "there is no such folder"
        raise UsageError(kind, where=str(folder), expected="a folder, or a name that ends in .py or .ipynb")
    return path


def _tell(item: str, title: str, path: Path, backup: Path | None, as_json: bool) -> None:
    from engine.commands.hint import commands_for

    following = commands_for(item, path)
    if as_json:
        told = {
            "item": item,
            "title": title,
            "file": str(path),
            "backup": str(backup) if backup else None,
            "next": following,
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    if backup is not None:
        click.echo(f"kept your old file as {backup}")
    click.echo(f"wrote {path}: {title}")
    click.echo(f"  graded on every save:  {following['watch']}")
    click.echo(f"  the next hint:         {following['hint']}")
    click.echo(f"  graded once:           {following['submit']}")
