"""``grade list``: what the bank holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from engine.commands.context import find_context, warn_unreadable
from engine.commands.options import course_option, json_option
from engine.commands.terminal import number, print_json, width
from engine.errors import UsageError
from engine.text.words import suggestion


@click.command("list")
@click.option("--topic", default=None, help="Only items of this topic.")
@click.option("--type", "answer_type", default=None, help="Only items of this answer type, e.g. vector.")
@json_option
@course_option
def command(topic: str | None, answer_type: str | None, as_json: bool, course_path: Path | None) -> int:
    """List the items of the bank.

    Exit code 0: all are listed; 2: a problem file can't be read (it is named, and the others are listed).

    \b
    Example:
      grade list --topic softmax
    """
    items, faulty = find_context(course_path).bank.summaries()
    _check_filter("topic", topic, {t for item in items for t in item.topics})
    _check_filter("type", answer_type, {item.kind for item in items})
    rows = [
        {
            "item": item.id,
            "title": item.title,
            "type": item.kind,
            "difficulty": item.difficulty,
            "bloom": item.bloom,
            "points": item.points,
            "topics": list(item.topics),
            "status": item.status,
        }
        for item in items
        if (not topic or topic in item.topics) and (not answer_type or answer_type == item.kind)
    ]
    warn_unreadable(faulty)
    if as_json:
        print_json(rows)
    else:
        _show(rows)
    return 2 if faulty else 0


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    # Ids are whole, so that they can be copied; titles get what room is left.
    table = [["item", "type", "difficulty", "points", "title"]]
    table += [[r["item"], r["type"], str(r["difficulty"]), number(r["points"]), r["title"]] for r in rows]
    columns = width()
    # Narrow lines: below 100 columns difficulty and points leave titles no room, below 70 the type neither.
    if columns is not None and columns < 100:
        table = [[row[0], *([row[1]] if columns >= 70 else []), row[-1]] for row in table]
    widths = [max(len(row[index]) for row in table) for index in range(len(table[0]) - 1)]
    room = None if columns is None else columns - sum(widths) - 2 * len(widths)
    for row in table:
        head = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=False))
        click.echo(f"{head}  {_shortened(row[-1], room)}".rstrip())


def _shortened(title: str, room: int | None) -> str:
    if room is None or len(title) <= room:
        return title
    return f"{title[: room - 1].rstrip()}…" if room >= 8 else ""  # fewer letters say nothing


def _check_filter(name: str, word: str | None, known: set[str]) -> None:
    # An empty table would look like an answer: that there are no such items.
    if word is None or word in known:
        return
    raise UsageError(
        f"no item has the {name} {word!r}",
        expected=", ".join(sorted(known)),
        next_step=suggestion(word, sorted(known)),
    )
