"""``grade export quiz``: questions for another platform's question bank."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import (
    RegistryChoice,
    complete_items,
    course_option,
    json_option,
    seed_option,
    store_option,
)
from engine.commands.terminal import print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.files import check_target, replacing, write_errors
from engine.text.words import clean_line, count_noun, join_words

if TYPE_CHECKING:
    from engine.export.exported_item import ExportedQuiz, ExportLoss
    from engine.export.formats import QuizFormat


@click.command("quiz")
@click.argument("format_name", metavar="FORMAT", type=RegistryChoice("engine.export.formats", "FORMATS"))
@click.argument("items", metavar="[ITEM…]", nargs=-1, shell_complete=complete_items)
@click.option("--blueprint", metavar="NAME|FILE", help="The items and points of a blueprint.")
@click.option(
    "--variants",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Variants of each item, as a bank from which the platform draws.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")
@click.option("--leave-out", is_flag=True, help="Export the others where the format can't carry an item.")
@seed_option
@json_option
@course_option
@store_option
def quiz(
    format_name: str,
    items: tuple[str, ...],
    blueprint: str | None,
    variants: int,
    out: Path,
    leave_out: bool,
    seed: int,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Write questions for another platform: FORMAT names the file that it reads.

    FORMAT is qti3, qti21, moodle, canvas, olx (Open edX) or gift.

    Before anything is written, what the format can't carry is listed item by item. The same seed gives the
    same file; in a course the numbers depend on its secret too, so that nobody outside can draw them.

    \b
    Examples:
      grade export quiz moodle softmax-weights --variants 20 --out softmax.xml
      grade export quiz gift l16-ex2-greedy-vs-beam --out quiz.gift
    """
    from engine.export.formats import quiz_format

    if bool(items) == (blueprint is not None):
        raise UsageError(
            "there is nothing to export" if not items else "items and a blueprint can't be named together",
            expected="ids of items, or --blueprint",
            next_step="grade list shows the items",
        )
    # A thousand variants take a while: said before they are drawn.
    with _file_errors(out):
        check_target(out)
    context = find_context(course_path)
    chosen = quiz_format(format_name)
    # .tar.gz is one ending, of which a path knows but the last half
    name = out.name.removesuffix(chosen.suffix) if out.name.endswith(chosen.suffix) else out.stem
    made, lost = _drawn(context, items, blueprint, variants, seed, name)
    carriable, losses = _carried(chosen, made, lost, leave_out=leave_out)
    few = {family.item: len(family.items) for family in carriable.families if len(family.items) < variants}
    if not as_json:
        _show_losses(chosen, losses, few)
    with progress_bar("writing", sum(1 for _ in carriable.items())) as advance:
        content = chosen.write(carriable, advance)
    if context.course is not None:
        # before the file is there: nothing is out that the log doesn't know
        with context.open_store() as store:
            log(context, store, "export.quiz", f"Questions for {chosen.title}")
    with _file_errors(out), replacing(out) as file:
        file.write(content)
    count = sum(1 for _ in carriable.items())
    if as_json:
        print_json(_as_json(out, chosen, carriable, losses, few))
    else:
        click.echo(
            f"{count_noun(len(carriable.families), 'question')} with {count_noun(count, 'variant')} for "
            f"{chosen.title}: {out}"
        )


def _file_errors(out: Path) -> AbstractContextManager[None]:
    step = "name a file in a folder that you may write to: --out FILE"
    return write_errors("the quiz can't be written", out, next_step=step)


def _drawn(
    context: CommandContext, items: tuple[str, ...], blueprint: str | None, count: int, seed: int, name: str
) -> tuple[ExportedQuiz, list[ExportLoss]]:
    """Return the quiz, and the items that no other platform can ask."""
    from engine.export.drawn_families import draw_families, quiz_name, wanted_items, wanted_of_blueprint

    if blueprint is None:
        for item in items:
            context.need_item(item)
        title, questions = context.title, wanted_items(context.bank, items)
    else:
        from engine.commands.quiz.new import blueprint_path
        from engine.quiz import read_blueprint

        path = blueprint_path(context, blueprint)
        plan = read_blueprint(path)
        title = plan.blueprint.title
        questions = wanted_of_blueprint(plan, context.bank, context.secret(), path.stem)
    secret = context.secret() if context.course is not None else None
    with progress_bar("drawing", len(questions) * count) as advance:
        families, lost = draw_families(
            context.bank, questions, count, secret=secret, seed=seed, progress=advance
        )
    from engine.export.exported_item import ExportedQuiz

    return ExportedQuiz(quiz_name(name), title, families), lost


def _carried(
    chosen: QuizFormat, made: ExportedQuiz, lost: Sequence[ExportLoss], *, leave_out: bool
) -> tuple[ExportedQuiz, list[ExportLoss]]:
    """Return the quiz of what the format carries, and everything that is lost."""
    from dataclasses import replace

    losses = [*lost, *(loss for family in made.families for loss in chosen.losses(family))]
    refusals = {loss.item: loss.message for loss in losses if loss.is_refusal}
    carriable = tuple(family for family in made.families if family.item not in refusals)
    if not refusals or (leave_out and carriable):
        return replace(made, families=carriable), losses
    # What no platform can ask is never a question of the format.
    steps = ["export the others with --leave-out"] if carriable else []
    if set(refusals) - {loss.item for loss in lost}:
        steps.append("choose another format")
    elif not carriable:
        steps.append("hand programs out with grade start or grade export notebook")
    raise UsageError(
        f"{chosen.title} can't carry {join_words(sorted(refusals), limit=6)}"
        if carriable
        else f"{chosen.title} can carry none of these items",
        got="; ".join(f"{item}: {message}" for item, message in sorted(refusals.items())[:6]),
        next_step=", or ".join(steps),
    )


def _show_losses(chosen: QuizFormat, losses: Sequence[ExportLoss], few: dict[str, int]) -> None:
    if losses:
        # Fields of an item that lose the same share a line: steps would repeat it five times.
        fields: dict[tuple[str, str], list[str]] = {}
        for loss in losses:
            message = ("left out: " if loss.is_refusal else "") + clean_line(loss.message)
            fields.setdefault((loss.item, message), []).append(loss.field)
        rows = [[item, ", ".join(filter(None, names)), what] for (item, what), names in fields.items()]
        click.echo(f"What {chosen.title} can't carry:")
        show_table(["item", "field", "what happens instead"], rows)
        click.echo()
    for item, count in few.items():
        click.echo(f"note: {item} has no more than {count_noun(count, 'variant')}")


def _as_json(
    out: Path, chosen: QuizFormat, carriable: ExportedQuiz, losses: Sequence[ExportLoss], few: dict[str, int]
) -> dict[str, object]:
    return {
        "file": str(out),
        "format": chosen.name,
        "items": {family.item: len(family.items) for family in carriable.families},
        "fewer_variants": few,
        "losses": [
            {"item": loss.item, "field": loss.field, "message": loss.message, "left_out": loss.is_refusal}
            for loss in losses
        ],
    }
