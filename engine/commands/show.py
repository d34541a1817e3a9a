"""``grade show``: one variant as a student sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import course_option, item_argument, json_option

if TYPE_CHECKING:
    from engine.model import Part, Variant

__all__ = ["command"]


@click.command("show")
@item_argument
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Which variant."
)
@click.option("--hints", is_flag=True, help="Show the hints too.")
@click.option("--solution", is_flag=True, help="Show key and worked solution (instructors, practice).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "html", "latex"]),
    default="text",
    show_default=True,
    help="Form of the stem.",
)
@json_option
@course_option
def command(
    item: str, seed: int, hints: bool, solution: bool, form: str, as_json: bool, course_path: Path | None
) -> None:
    """Show one variant of ITEM; a code exercise shows its statement and starter file.

    \b
    Example:
      grade show softmax-weights --seed 7
    """
    from engine.commands.context import find_context
    from engine.commands.hint import need_item
    from engine.text.files import read_text

    context = find_context(course_path)
    need_item(context, item)
    spec = context.bank.load(item)
    variant = context.draw(item, seed)
    starter = None
    if spec.answer is not None and spec.answer.type == "code":
        starter = read_text(context.bank.path(item).parent / spec.answer.starter)
    if as_json:
        click.echo(
            json.dumps(_as_json(variant, seed, hints, solution, starter), ensure_ascii=False, indent=2)
        )
    elif form != "text":
        click.echo(variant.stem.html if form == "html" else variant.stem.latex)
    else:
        _show_text(variant, hints, solution, starter)


def _show_text(variant: Variant, hints: bool, solution: bool, starter: str | None) -> None:
    from engine.commands.render import show_variant

    show_variant(variant, with_hints=hints)
    if starter is not None:
        click.echo("\nStarter file:\n\n" + starter)
    if solution:
        for part in variant.parts:
            click.echo(f"\nKey of {part.id}: {_key_text(part)}")
        for note in variant.told_after:
            click.echo(f"\nNote: {note.plain}")
        if variant.solution is not None:
            click.echo(f"\nSolution: {variant.solution.plain}")


def _key_text(part: Part) -> str:
    from engine.answers import right_response

    return right_response(part) if part.type != "code" else "see the solutions beside the problem file"


def _as_json(variant: Variant, seed: int, hints: bool, solution: bool, starter: str | None) -> dict[str, Any]:
    from engine.model import Mode

    shown: dict[str, Any] = {
        "item": variant.item,
        "item_version": variant.item_version,
        "variant": variant.id,
        "seed": seed,
        "mode": str(Mode.PRACTICE),
        "title": variant.title,
        "points": variant.points,
        "stem": {"text": variant.stem.plain, "html": variant.stem.html, "latex": variant.stem.latex},
        "notes": [note.plain for note in variant.notes],
        "parts": [
            {
                "id": part.id,
                "type": part.type,
                "points": part.points,
                "prompt": part.prompt.plain if part.prompt else None,
                "prompts": {p.id: p.text.plain for p in part.prompts},
                "options": {o.id: o.text.plain for o in part.options},
            }
            for part in variant.parts
        ],
    }
    if starter is not None:
        shown["starter"] = starter
    if hints:
        shown["hints"] = [hint.plain for hint in variant.hints]
    if solution:
        shown["keys"] = {part.id: _key_text(part) for part in variant.parts}
        shown["told_after"] = [note.plain for note in variant.told_after]
        shown["solution"] = variant.solution.plain if variant.solution else None
    return shown
