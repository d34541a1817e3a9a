"""``grade store check``: whether everything in a store is sound."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.commands.options import course_option, json_option, store_option

__all__ = ["check"]


@click.command("check")
@json_option
@course_option
@store_option
def check(as_json: bool, course_path: Path | None) -> int:
    """Look at everything in the store: the file, every row, and whether marks fit their reports.

    Exit code 0: all is sound; 1: faults are listed; 3: it can't be opened at all.

    \b
    Example:
      grade store check --course attention-2026
      grade store check --store monday.db
    """
    from engine.commands.store.existing import open_existing, show_rows
    from engine.commands.workplace import find_workplace
    from engine.foreign import clean_line

    with open_existing(find_workplace(course_path)) as store:
        found = store.upkeep.check()
    if as_json:
        told = {"where": store.where, "schema": found.schema, "rows": found.rows, "faults": found.faults}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return 1 if found.faults else 0
    show_rows(found.rows)
    click.echo()
    for fault in found.faults:
        click.echo(f"fault: {clean_line(fault, 500)}")
    if found.faults:
        click.echo(f"next: stop grading, keep a copy of {store.where}, and go back to the last backup")
        return 1
    click.echo(f"{store.where} is sound (schema {found.schema})")
    return 0
