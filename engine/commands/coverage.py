"""``grade coverage``: which items cover what the course is about."""

from __future__ import annotations

from pathlib import Path

import click

from engine.commands.context import find_context, warn_unreadable
from engine.commands.options import course_option, json_option
from engine.commands.terminal import print_json, show_table
from engine.text.words import count_noun


@click.command("coverage")
@click.option("--gaps", is_flag=True, help="Only entries that no item covers.")
@json_option
@course_option
def command(gaps: bool, as_json: bool, course_path: Path | None) -> int:
    """Show which items cover each entry of the syllabus.

    The syllabus (`syllabus.yaml` beside the items) lists equations, algorithms, claims and named systems,
    and where the lectures are wrong or disagree; items name what they cover under `covers` and `errata`.

    Exit code 0: every entry is covered, or says why not; 1: there are gaps; 2: a file can't be read.

    \b
    Examples:
      grade coverage
      grade coverage --gaps
    """
    from engine.authoring.lint.syllabus_coverage import coverage

    bank = find_context(course_path).bank
    specs, faulty = bank.readable()
    entries = coverage(bank, specs)
    missing = [entry for entry in entries if entry.is_gap]
    selected = missing if gaps else entries
    warn_unreadable(faulty)
    if as_json:
        print_json([entry.as_json() for entry in selected])
    else:
        if selected:
            rows = [[e.group, e.id, e.entry.title, _items_cell(e.items, e.entry.no_item)] for e in selected]
            show_table(["group", "entry", "title", "items"], rows)
        covered = sum(bool(entry.items) for entry in entries)
        excused = len(entries) - covered - len(missing)
        total, gap_count = count_noun(len(entries), "entry"), count_noun(len(missing), "gap")
        click.echo(f"{total}: {covered} covered, {excused} without an item by decision, {gap_count}")
    # An item that can't be read may cover a gap: the count isn't to be trusted then.
    return 2 if faulty else 1 if missing else 0


def _items_cell(items: tuple[str, ...], reason: str | None) -> str:
    if items:
        return ", ".join(items)
    return f"no item: {reason}" if reason else "-"
