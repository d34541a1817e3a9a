"""``grade similar``: hand-ins that are more alike than chance explains, for a person to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError
from engine.text.escape import clean_line
from engine.text.words import count_noun, percent

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.course import Roster
    from engine.similarity.findings import ExerciseFindings, SimilarityFindings
    from engine.similarity.gather import CollectedFiles, FileLabels
    from engine.similarity.passages import PairDetail

__all__ = ["command", "show_findings"]


@click.command("similar")
@click.argument("source", metavar="[ITEM|DIR|ZIP]", required=False)
@click.option("--item", default=None, help="All code in DIR is for this item; any name will do.")
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Folder or archive of an earlier year; may be given several times.",
)
@click.option(
    "--starter",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A further file that everybody got: what comes from there doesn't count.",
)
@click.option("--top", type=click.IntRange(1, 1000), default=50, show_default=True, help="Pairs per item.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for pages and tables.")
@click.option("--anonymous", is_flag=True, help="Number the students instead of naming them.")
@json_option
@course_option
@store_option
def command(
    source: str | None,
    item: str | None,
    against: tuple[Path, ...],
    starter: tuple[Path, ...],
    top: int,
    out: Path | None,
    anonymous: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Rank pairs of hand-ins that are alike, and list wrong answers that are a classmate's key.

    Looks at what the course's store holds (all of it, or ITEM), or at the code in DIR or ZIP. Names,
    order and layout don't matter; the starter and what most of the class has don't count. This is
    evidence to read, not a verdict: nothing is stored and no mark changes, so the exit code is 0
    whatever is found.

    \b
    Example:
      grade similar --course attention-2026 --out alike
      grade similar softmax --against handed-in-2025.zip --out alike --anonymous
      grade similar handed-in.zip --item softmax --json
    """
    from engine.commands.context import find_context
    from engine.commands.terminal import progress_bar
    from engine.similarity.findings import find
    from engine.similarity.gather import FileLabels, of_store
    from engine.similarity.page import as_json as document
    from engine.similarity.page import write_pages

    context = find_context(course_path)
    folder, item = _source(context, source, item)
    roster = context.course.roster(tolerant=True) if context.course else None
    crossings = None
    if folder is None:
        with context.open_marks() as store:
            collected, crossings = of_store(store, context.mode, item)
    else:
        collected = _of_folder(context, folder, item, roster)
    for path in against:
        collected.add_earlier(_of_folder(context, path, item, is_earlier=True))
    with progress_bar("comparing", len(collected.works)) as advance:
        given = _given(context, starter)
        findings = find(collected, given=given, crossings=crossings, keep=top, progress=advance)
    labels = FileLabels({s.id: s.name for s in roster.students} if roster else {}, is_hidden=anonymous)
    title = context.course.title if context.course else folder.name if folder else "Practice"
    index = write_pages(out, findings, labels, title=title) if out else None
    if as_json:
        click.echo(json.dumps(document(findings, labels), ensure_ascii=False, indent=2))
    else:
        show_findings(findings, labels)
        if index is not None:
            click.echo(f"pages: {index}")
    return 0


def _source(context: CommandContext, source: str | None, item: str | None) -> tuple[Path | None, str | None]:
    """Return the folder to read, None for the store; and the one item that is looked at, if it is one."""
    if source is None or source in context.bank:
        if item is not None:
            raise UsageError(
                "--item says what all code in a folder is for", expected="--item with DIR or ZIP"
            )
        if context.course is None and context.store is None:
            raise UsageError(
                "there is no course here, so nothing is stored that can be compared",
                next_step="name one with --course FOLDER, or give a folder of files",
            )
        return None, source
    if not Path(source).exists():
        raise UsageError(
            f"there is neither an item nor a folder {source!r}",
            next_step="grade list shows the items; a folder or archive holds one folder or file per student",
        )
    return Path(source), item


def _of_folder(
    context: CommandContext,
    path: Path,
    item: str | None,
    roster: Roster | None = None,
    *,
    is_earlier: bool = False,
) -> CollectedFiles:
    """Read a folder: by the files' own names, or else all of it as the item that was named."""
    from engine.similarity.gather import of_folder

    items = context.bank.code_ids()
    if is_earlier or item is None:
        found = of_folder(path, items=items, roster=roster, is_earlier=is_earlier)
        if item is None or item in found.works:
            return found
    return of_folder(path, items=[*items, item], roster=roster, only_item=item, is_earlier=is_earlier)


def _given(context: CommandContext, starter: Sequence[Path]) -> Callable[[str], list[str]]:
    """Return what gives the sources that everybody got for an item: its starter, and files named here."""
    from engine.commands.hint import code_spec, commands_for
    from engine.intake import read_code_file
    from engine.practice.starter import starter_source
    from engine.text.files import read_text

    named = [read_code_file(path).source for path in starter]

    def given(item: str) -> list[str]:
        if item not in context.bank:
            return named
        _, answer = code_spec(context, item)
        text = read_text(context.bank.path(item).parent / answer.starter)
        told = tuple(commands_for(item, f"{answer.function}.py").values())
        return [starter_source(context.draw(item, 0), text, told), *named]

    return given


# ----------------------------------------------------------------------------------------------------
# What ``grade similar`` prints.

_SHOWN = 10


def show_findings(findings: SimilarityFindings, labels: FileLabels) -> None:
    """Print the first pairs of each exercise, the groups, the answers, and that it is no verdict."""
    from engine.similarity.page import NOT_A_VERDICT

    for found in findings.exercises:
        _tell_exercise(found, labels)
    if findings.crossings is not None:
        _tell_crossings(findings, labels)
    if not findings.exercises and findings.crossings is None:
        click.echo("there is no code to compare")
    if labels.is_hidden and findings.problems:
        click.echo(f"not compared: {count_noun(len(findings.problems), 'file')}")
    for problem in () if labels.is_hidden else findings.problems:
        click.echo(f"not compared: {clean_line(problem.where)}: {clean_line(problem.message)}")
    click.echo(NOT_A_VERDICT)


def _tell_exercise(found: ExerciseFindings, labels: FileLabels) -> None:
    from engine.commands.render import show_table

    comparison = found.comparison
    click.echo(
        f"{comparison.item}: {count_noun(comparison.files, 'file')} of "
        f"{count_noun(comparison.students, 'student')}"
    )
    usual, known = comparison.spread, found.known
    if usual.pairs:
        click.echo(
            f"  usual here: half of the pairs share at most {percent(usual.half, 0)}, "
            f"95 % {percent(usual.most, 0)}"
        )
    if known:
        click.echo(
            f"  right solutions written independently: half at most {percent(known.half, 0)}, "
            f"95 % {percent(known.most, 0)}, the highest {percent(known.highest, 0)}"
        )
    for group in comparison.identical:
        click.echo(f"identical files of {len(group)}: {', '.join(labels.of(work) for work in group)}")
    for kind, every in (("structure", found.pairs), ("wording", found.by_wording)):
        details = [entry for entry in every if not _is_identical(found, entry)]  # told above, once
        rows = [
            [
                f"{rank}",
                labels.of(entry.pair.first),
                labels.of(entry.pair.second),
                percent(entry.pair.share_first, 0),
                percent(entry.pair.share_second, 0),
                f"{entry.longest}",
                f"{entry.pair.surprise:.0f}",
                f"{entry.pair.wording:.0f}",
                "stands out" if found.is_close(entry) else "",
            ]
            for rank, entry in enumerate(details[:_SHOWN], start=1)
        ]
        if rows:
            heads = ["of first", "of second", "longest", "surprise", "words", ""]
            show_table([f"by {kind}", "first", "second", *heads], rows)
        if len(details) > _SHOWN:
            click.echo(f"  {len(details) - _SHOWN} more with --out or --json")
    for group in comparison.groups:
        click.echo(f"group of {len(group)}: {', '.join(labels.of(work) for work in group)}")
    click.echo()


def _is_identical(found: ExerciseFindings, entry: PairDetail) -> bool:
    both = {entry.pair.first.person, entry.pair.second.person}
    return any(both <= {work.person for work in group} for group in found.comparison.identical)


def _tell_crossings(findings: SimilarityFindings, labels: FileLabels) -> None:
    from engine.commands.render import show_table
    from engine.similarity.findings import odds

    crossings = findings.crossings
    assert crossings is not None
    click.echo(f"wrong answers that are a classmate's key: {crossings.compared} compared")
    rows = [
        [
            labels.student(crossing.who),
            labels.student(crossing.whose),
            f"{answer.item}" + ("" if answer.part == "answer" else f" ({answer.part})"),
            answer.answer,
            odds(answer.chance),
            f"{crossing.expected:.2g}",
        ]
        for crossing in crossings.found[:_SHOWN]
        for answer in crossing.answers
    ]
    if rows:
        show_table(["answered by", "key of", "item", "answer", "by chance", "pairs expected"], rows)
    if len(crossings.found) > _SHOWN:
        click.echo(f"  {count_noun(len(crossings.found) - _SHOWN, 'more pair')} with --out or --json")
    if crossings.explained:
        pairs = count_noun(crossings.explained, "further pair")
        click.echo(f"  {pairs} with a match that chance explains")
    click.echo()
