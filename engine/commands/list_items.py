"""``grade list``: what the bank holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from engine.commands.options import course_option, json_option
from engine.errors import UsageError

__all__ = ["command"]


@click.command("list")
@click.option("--topic", default=None, help="Only items of this topic.")
@click.option("--type", "answer_type", default=None, help="Only items of this answer type, e.g. vector.")
@json_option
@course_option
def command(topic: str | None, answer_type: str | None, as_json: bool, course_path: Path | None) -> int:
    """List the items of the bank.

    Exit code 0: all are listed; 2: a problem file can't be read (named; the others are listed).

    \b
    Example:
      grade list --topic softmax
    """
    from engine.commands.context import find_context, tell_unreadable

    specs, faulty = find_context(course_path).bank.readable()
    _check_filter("topic", topic, {t for spec in specs for t in spec.topics})
    _check_filter("type", answer_type, {spec.kind for spec in specs})
    rows: list[dict[str, Any]] = []
    for spec in specs:
        if (topic and topic not in spec.topics) or (answer_type and answer_type != spec.kind):
            continue
        rows.append(
            {
                "item": spec.id,
                "title": spec.title,
                "type": spec.kind,
                "difficulty": spec.difficulty,
                "bloom": spec.bloom,
                "points": spec.points,
                "topics": list(spec.topics),
                "status": spec.status,
            }
        )
    tell_unreadable(faulty)
    code = 2 if faulty else 0
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return code
    _show(rows)
    return code


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one line for each item: ids are whole, and titles as long as the line has room for."""
    from engine.commands.terminal import width
    from engine.text.words import plain_points

    table = [["item", "type", "difficulty", "points", "title"]]
    table += [
        [r["item"], r["type"], str(r["difficulty"]), str(plain_points(r["points"])), r["title"]] for r in rows
    ]
    columns = width()
    if columns is not None and columns < 100:  # a narrow line is for the id and its title
        table = [[row[0], *([row[1]] if columns >= 70 else []), row[-1]] for row in table]
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]) - 1)]
    room = None if columns is None else columns - sum(widths) - 2 * len(widths)
    for row in table:
        head = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=False))
        click.echo(f"{head}  {_shortened(row[-1], room)}".rstrip())


def _shortened(title: str, room: int | None) -> str:
    if room is None or len(title) <= room:
        return title
    return f"{title[: room - 1].rstrip()}…" if room >= 8 else ""  # fewer letters say nothing


def _check_filter(name: str, word: str | None, known: set[str]) -> None:
    """Refuse a topic or type that no item has: an empty table would look like an answer."""
    if word is None or word in known:
        return
    from engine.text.words import suggestion

    raise UsageError(
        f"no item has the {name} {word!r}",
        expected=", ".join(sorted(known)),
        next_step=suggestion(word, sorted(known)),
    )
