"""``grade coverage``: which items cover what the course is about."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.commands.options import course_option, json_option
from engine.text.words import count_noun

__all__ = ["command"]


@click.command("coverage")
@click.option("--gaps", is_flag=True, help="Only entries that no item covers.")
@json_option
@course_option
def command(gaps: bool, as_json: bool, course_path: Path | None) -> int:
    """Show which items cover each entry of the syllabus.

    The syllabus (`syllabus.yaml` beside the items) lists equations, algorithms, claims, named systems, and
    the lectures' faults and disagreements; items name what they cover under `covers` and `errata`.

    Exit code 0: every entry is covered, or says why not; 1: there are gaps; 2: a file can't be read.

    \b
    Examples:
      grade coverage
      grade coverage --gaps
    """
    from engine.authoring.lint.syllabus_coverage import coverage
    from engine.commands.context import find_context, tell_unreadable

    bank = find_context(course_path).bank
    specs, faulty = bank.readable()
    entries = coverage(bank, specs)
    missing = [entry for entry in entries if entry.is_gap]
    shown = missing if gaps else entries
    tell_unreadable(faulty)
    if as_json:
        click.echo(json.dumps([entry.as_json() for entry in shown], ensure_ascii=False, indent=2))
    else:
        from engine.commands.render import show_table

        if shown:
            rows = [[e.group, e.id, e.entry.title, _answer(e.items, e.entry.no_item)] for e in shown]
            show_table(["group", "entry", "title", "items"], rows)
        covered = sum(bool(entry.items) for entry in entries)
        excused = len(entries) - covered - len(missing)
        gap = count_noun(len(missing), "gap")
        click.echo(
            f"{count_noun(len(entries), 'entry')}: {covered} covered, {excused} without an item by "
            f"decision, {gap}"
        )
    return 2 if faulty else 1 if missing else 0


def _answer(items: tuple[str, ...], reason: str | None) -> str:
    if items:
        return ", ".join(items)
    return f"no item: {reason}" if reason else "-"
