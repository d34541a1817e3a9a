"""``grade export notebook``: an assignment for Jupyter."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import complete_items, course_option, json_option, seed_option, store_option
from engine.commands.terminal import print_json, progress_bar
from engine.errors import UsageError
from engine.text.files import check_target, keep_work, replace_text, write_errors
from engine.text.words import count_noun, join_words, points_text, shell_word

if TYPE_CHECKING:
    from engine.export.jupyter import NotebookItem


@click.command("notebook")
@click.argument("items", metavar="ITEM…", nargs=-1, required=True, shell_complete=complete_items)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write: NAME.ipynb.")
@click.option("--title", default="Assignment", show_default=True, help="Heading of the notebook.")
@click.option("--force", is_flag=True, help="Replace a notebook of this name, and the work in it.")
@seed_option
@json_option
@course_option
@store_option
def notebook(
    items: tuple[str, ...],
    out: Path,
    title: str,
    force: bool,
    seed: int,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Write an assignment as a Jupyter notebook: each ITEM with a cell to work in and a check cell.

    Check cells give the feedback of `grade submit` and record nothing. An nbgrader course can release the
    file. What is handed in is graded by `grade submit ITEM NOTEBOOK` and `grade batch`, each item by itself.

    \b
    Example:
      grade export notebook softmax softmax-weights --seed 7 --title "Week 3" --out week-3.ipynb
    """
    from engine.export.jupyter import assignment_notebook

    if out.suffix != ".ipynb":
        raise UsageError("a notebook's name ends in .ipynb", where=str(out), expected="--out NAME.ipynb")
    with _file_errors(out):
        check_target(out)
    context = find_context(course_path)
    for item in items:
        context.need_item(item)
    with progress_bar("drawing", len(items)) as advance:
        chosen = [_drawn(context, item, seed, advance) for item in items]
    secret = context.secret() if context.course is not None else None
    text = assignment_notebook(chosen, title, secret=secret)
    _write(out, text, force=force)
    if context.course is not None:
        with context.open_store() as store:
            log(context, store, "export.notebook", f"Notebook {out.name}")
    points = sum(item.variant.points for item in chosen)
    private = _private(context, items)
    if as_json:
        print_json({"file": str(out), "items": list(items), "points": points, "not_checked": private})
        return
    click.echo(f"{count_noun(len(chosen), 'item')}, {points_text(points)}: {out}")
    if private:
        click.echo(
            "note: students don't have the items of this course, so that the check cell grades nothing on "
            f"their machines: {join_words(private)}"
        )
    click.echo(f"  grade one item that was handed in:  grade submit {items[0]} {shell_word(out.name)}")


def _drawn(context: CommandContext, item: str, seed: int, advance: Callable[[], None]) -> NotebookItem:
    from engine.export.jupyter import NotebookItem
    from engine.practice.starter import starter_text

    bank = context.bank
    spec = bank.load(item)
    is_code = spec.kind == "code"
    # The statement of an exercise is the same for all seeds.
    drawn = 0 if is_code else seed
    starter = starter_text(bank, item) if is_code else ""
    result = NotebookItem(spec, context.draw(item, drawn), bank.registry(), drawn, starter)
    advance()
    return result


def _private(context: CommandContext, items: tuple[str, ...]) -> list[str]:
    """Return the items that students don't have, since they don't come with Softmark."""
    if context.course is None:
        return []
    from engine.items import builtin_bank

    builtin, bank = builtin_bank(), context.bank
    return [item for item in items if item not in builtin or builtin.version(item) != bank.version(item)]


def _write(out: Path, text: str, *, force: bool) -> None:
    if not force:
        keep_work(out, text, next_step="choose another name, or replace it with --force")
    with _file_errors(out):
        replace_text(out, text)


def _file_errors(out: Path) -> AbstractContextManager[None]:
    step = "name a file in a folder that you may write to: --out FILE"
    return write_errors("the notebook can't be written", out, next_step=step)
