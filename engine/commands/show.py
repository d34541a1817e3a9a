"""``grade show``: one variant as a student sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import find_context
from engine.commands.exercise import starter_text
from engine.commands.options import course_option, item_argument, json_option, seed_option
from engine.commands.terminal import print_json

if TYPE_CHECKING:
    from engine.model import Part, Variant


@click.command("show")
@item_argument
@seed_option
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
    context = find_context(course_path)
    context.need_item(item)
    variant = context.draw(item, seed)
    starter = starter_text(context, item) if context.bank.summary(item).kind == "code" else None
    if as_json:
        print_json(_as_json(variant, seed, hints, solution, starter))
    # For other programs, which want the stem alone.
    elif form != "text":
        click.echo(variant.stem.html if form == "html" else variant.stem.latex)
    else:
        _show(variant, hints, solution, starter)


def _show(variant: Variant, hints: bool, solution: bool, starter: str | None) -> None:
    from engine.commands.report_text import show_variant

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
    from engine.answers import kind_of, right_response

    kind = kind_of(part.type)
    if not kind.takes_text:
        return "see the solutions beside the problem file"
    if not kind.needs_person:
        return right_response(part)
    from engine.answers.free_text import rubric_lines

    rubric = "\n".join(f"  {line}" for line in rubric_lines(part))
    return f"marked by a person; an answer that earns full marks:\n{right_response(part)}\nRubric:\n{rubric}"


def _as_json(variant: Variant, seed: int, hints: bool, solution: bool, starter: str | None) -> dict[str, Any]:
    from engine.model import Mode

    document: dict[str, Any] = {
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
        document["starter"] = starter
    if hints:
        document["hints"] = [hint.plain for hint in variant.hints]
    if solution:
        document["keys"] = {part.id: _key_text(part) for part in variant.parts}
        document["told_after"] = [note.plain for note in variant.told_after]
        document["solution"] = variant.solution.plain if variant.solution else None
    return document
