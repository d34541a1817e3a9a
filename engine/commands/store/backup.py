"""``grade store backup`` and ``grade store copy``: the same rows somewhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from engine.commands.options import course_option, json_option, store_option

__all__ = ["backup", "copy"]


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@course_option
@store_option
def backup(file: Path, as_json: bool, course_path: Path | None) -> None:
    """Write the store, as it is at this moment, to the new SQLite file FILE; grading may go on.

    A file that is there is never replaced. FILE holds marks and keys: only you may read it.

    \b
    Example:
      grade store backup monday.db --course attention-2026
    """
    from engine.commands.store.existing import open_existing
    from engine.commands.workplace import find_workplace

    with open_existing(find_workplace(course_path)) as store:
        rows = store.upkeep.back_up(file)
    _tell(rows, store.where, str(file), as_json)


@click.command("copy")
@click.argument("target", metavar="URL|FILE")
@json_option
@course_option
@store_option
def copy(target: str, as_json: bool, course_path: Path | None) -> None:
    """Copy the store to URL or FILE, which must be empty: to move to a server, or back from a backup.

    Both are compared afterwards. The course goes on using its store until `store:` in course.yaml says
    otherwise.

    \b
    Examples:
      grade store copy postgresql://grader@db/attention --course attention-2026
      grade store copy attention-2026/.softmark/store.db --store monday.db
    """
    from engine.commands.options import checked_store
    from engine.commands.store.existing import open_existing
    from engine.commands.workplace import find_workplace

    checked_store(target, "the store to copy to")
    with open_existing(find_workplace(course_path)) as store:
        rows, where = store.upkeep.copy_to(target)
    _tell(rows, store.where, where, as_json)


def _tell(rows: Mapping[str, int], source: str, target: str, as_json: bool) -> None:
    from engine.commands.store.existing import show_rows

    if as_json:
        click.echo(json.dumps({"from": source, "to": target, "rows": rows}, ensure_ascii=False, indent=2))
        return
    show_rows(rows)
    click.echo()
    click.echo(f"{source} is copied to {target}")
