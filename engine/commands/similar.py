"""``grade similar``: hand-ins that are more alike than chance explains, for a person to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.exercise import starter_file
from engine.commands.journal import log
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json, progress_bar, show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun, percent

if TYPE_CHECKING:
    from engine.course import Roster
    from engine.similarity.findings import ExerciseFindings, SimilarityFindings
    from engine.similarity.gather import CollectedFiles, FileLabels
    from engine.similarity.passages import PairDetail

# The terminal shows the beginning of a long table; the pages and --json have all of it.
_MOST_ROWS = 10


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
    help="Another file that everybody was given: what comes from it doesn't count.",
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
    """Rank pairs of hand-ins that are alike, and list wrong answers that match a classmate's key.

    It compares what the course's store holds (all of it, or ITEM), or the code in DIR or ZIP. Names,
    order and layout don't matter; the starter and what most of the class has don't count. This is
    evidence to read, not a verdict: nothing is stored and no mark changes, so the exit code is 0
    whatever is found.

    \b
    Examples:
      grade similar --course attention-2026 --out alike
      grade similar softmax --against handed-in-2025.zip --out alike --anonymous
      grade similar handed-in.zip --item softmax --json
    """
    from engine.similarity.findings import find
    from engine.similarity.gather import FileLabels, of_store
    from engine.similarity.page import as_json as findings_json
    from engine.similarity.page import write_similarity_pages

    context = find_context(course_path)
    folder, item = _source(context, source, item)
    copied_answers = None
    if folder is None:
        with context.open_marks() as store:
            collected, copied_answers = of_store(store, context.mode, item)
            log(context, store, "export.similar", f"Similar hand-ins of {item or 'everything'}")
    else:
        collected = _of_folder(context, folder, item, context.roster)
    # Earlier years are compared with this one, not among themselves: those cases are closed.
    for path in against:
        collected.add_earlier(_of_folder(context, path, item, is_earlier=True))
    with progress_bar("comparing", len(collected.works)) as advance:
        common = _common_sources(context, starter)
        findings = find(collected, handouts=common, copied_answers=copied_answers, keep=top, progress=advance)
    labels = FileLabels(context.names, is_hidden=anonymous)
    title = context.title if context.course or folder is None else folder.name
    index = write_similarity_pages(out, findings, labels, title=title) if out else None
    if as_json:
        print_json(findings_json(findings, labels))
    else:
        _show(findings, labels)
        if index is not None:
            click.echo(f"pages: {index}")
    return 0


def _source(context: CommandContext, source: str | None, item: str | None) -> tuple[Path | None, str | None]:
    """Return the folder to read, None for the store; and the one item that is compared, if it is one."""
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
    # A folder of this year is the named item's; one of an earlier year may hold several exercises.
    if is_earlier or item is None:
        collected = of_folder(path, items=items, roster=roster, is_earlier=is_earlier)
        if item is None or item in collected.works:
            return collected
    return of_folder(path, items=[*items, item], roster=roster, only_item=item, is_earlier=is_earlier)


def _common_sources(context: CommandContext, files: Sequence[Path]) -> Callable[[str], list[str]]:
    """Return what gives the sources that everybody got for an item: its starter, and `files`."""
    from engine.intake import read_code_file

    sources = [read_code_file(path).source for path in files]
    return lambda item: [starter_file(context, item), *sources] if item in context.bank else sources


def _show(findings: SimilarityFindings, labels: FileLabels) -> None:
    from engine.similarity.page import NOT_A_VERDICT

    for exercise in findings.exercises:
        _show_exercise(exercise, labels)
    if findings.copied_answers is not None:
        _show_copied_answers(findings, labels)
    if not findings.exercises and findings.copied_answers is None:
        click.echo("there is no code to compare")
    if labels.is_hidden and findings.problems:  # a file's name is often its student's
        click.echo(f"not compared: {count_noun(len(findings.problems), 'file')}")
    for problem in () if labels.is_hidden else findings.problems:
        click.echo(f"not compared: {clean_line(problem.where)}: {clean_line(problem.message)}")
    click.echo(NOT_A_VERDICT)


def _show_exercise(exercise: ExerciseFindings, labels: FileLabels) -> None:
    comparison = exercise.comparison
    click.echo(
        f"{comparison.item}: {count_noun(comparison.files, 'file')} of "
        f"{count_noun(comparison.students, 'student')}"
    )
    usual, independent = comparison.spread, exercise.known
    if usual.pairs:
        click.echo(
            f"  usual here: half of the pairs share at most {percent(usual.half, 0)}, "
            f"95 % {percent(usual.most, 0)}"
        )
    if independent:
        click.echo(
            f"  right solutions written independently: half at most {percent(independent.half, 0)}, "
            f"95 % {percent(independent.most, 0)}, the highest {percent(independent.highest, 0)}"
        )
    for group in comparison.identical:
        click.echo(f"identical files of {len(group)}: {', '.join(labels.of(work) for work in group)}")
    for kind, every in (("structure", exercise.pairs), ("wording", exercise.by_wording)):
        details = [entry for entry in every if not _is_identical(exercise, entry)]  # listed above
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
                "stands out" if exercise.is_close(entry) else "",
            ]
            for rank, entry in enumerate(details[:_MOST_ROWS], start=1)
        ]
        if rows:
            heads = ["of first", "of second", "longest", "surprise", "words", ""]
            show_table([f"by {kind}", "first", "second", *heads], rows)
        if len(details) > _MOST_ROWS:
            click.echo(f"  {len(details) - _MOST_ROWS} more with --out or --json")
    for group in comparison.groups:
        click.echo(f"group of {len(group)}: {', '.join(labels.of(work) for work in group)}")
    click.echo()


def _is_identical(exercise: ExerciseFindings, entry: PairDetail) -> bool:
    both = {entry.pair.first.person, entry.pair.second.person}
    return any(both <= {work.person for work in group} for group in exercise.comparison.identical)


def _show_copied_answers(findings: SimilarityFindings, labels: FileLabels) -> None:
    from engine.similarity.findings import odds

    copied_answers = findings.copied_answers
    assert copied_answers is not None
    click.echo(f"wrong answers that match a classmate's key: {copied_answers.compared} compared")
    rows = [
        [
            labels.student(match.who),
            labels.student(match.whose),
            f"{answer.item}" + ("" if answer.part == "answer" else f" ({answer.part})"),
            answer.answer,
            odds(answer.chance),
            f"{match.expected:.2g}",
        ]
        for match in copied_answers.unlikely[:_MOST_ROWS]
        for answer in match.answers
    ]
    if rows:
        show_table(["answered by", "key of", "item", "answer", "by chance", "pairs expected"], rows)
    if len(copied_answers.unlikely) > _MOST_ROWS:
        click.echo(
            f"  {count_noun(len(copied_answers.unlikely) - _MOST_ROWS, 'more pair')} with --out or --json"
        )
    if copied_answers.explained:
        click.echo(
            f"  {count_noun(copied_answers.explained, 'further pair')} with a match that chance explains"
        )
    click.echo()
