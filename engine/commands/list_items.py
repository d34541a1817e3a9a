"""``grade list``: what the bank holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from engine.commands.options import course_option, json_option

__all__ = ["command"]


@click.command("list")
@click.option("--topic", default=None, help="Only items of this topic.")
@click.option("--type", "answer_type", default=None, help="Only items of this answer type, e.g. vector.")
@json_option
@course_option
def command(topic: str | None, answer_type: str | None, as_json: bool, course_path: Path | None) -> None:
    """List the items of the bank.

    \b
    Example:
      grade list --topic softmax
    """
    from engine.commands.workplace import find_workplace

    bank = find_workplace(course_path).bank
    rows: list[dict[str, Any]] = []
    for item in bank.ids():
        spec = bank.load(item)
        kind = spec.answer.type if spec.answer else "steps"
        if (topic and topic not in spec.topics) or (answer_type and answer_type != kind):
            continue
        rows.append(
            {
                "item": spec.id,
                "title": spec.title,
                "type": kind,
                "difficulty": spec.difficulty,
                "bloom": spec.bloom,
                "points": spec.points,
                "topics": list(spec.topics),
                "status": spec.status,
            }
        )
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    from engine.commands.render import number, show_table

    show_table(
        ["item", "type", "difficulty", "points", "title"],
        [[r["item"], r["type"], str(r["difficulty"]), number(r["points"]), r["title"]] for r in rows],
    )
