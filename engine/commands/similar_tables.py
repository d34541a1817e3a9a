"""What ``grade similar`` prints."""

from __future__ import annotations

import click

from engine.commands.render import show_table
from engine.foreign import clean_line
from engine.plurals import counted
from engine.similar.findings import Findings, Found, odds
from engine.similar.labels import Labels
from engine.similar.side import Detail
from engine.similar.tables import NOT_A_VERDICT

__all__ = ["show_findings"]

_SHOWN = 10


def show_findings(findings: Findings, labels: Labels) -> None:
    """Print the first pairs of each exercise, the groups, the answers, and that it is no verdict."""
    for found in findings.exercises:
        _tell_exercise(found, labels)
    if findings.crossings is not None:
        _tell_crossings(findings, labels)
    if not findings.exercises and findings.crossings is None:
        click.echo("there is no code to compare")
    if labels.is_hidden and findings.problems:
        click.echo(f"not compared: {counted(len(findings.problems), 'file')}")
    for problem in () if labels.is_hidden else findings.problems:
        click.echo(f"not compared: {clean_line(problem.where)}: {clean_line(problem.message)}")
    click.echo(NOT_A_VERDICT)


def _tell_exercise(found: Found, labels: Labels) -> None:
    comparison = found.comparison
    click.echo(
        f"{comparison.item}: {counted(comparison.files, 'file')} of {counted(comparison.students, 'student')}"
    )
    usual, known = comparison.spread, found.known
    if usual.pairs:
        click.echo(
            f"  usual here: half of the pairs share at most {_percent(usual.half)}, "
            f"95 % {_percent(usual.most)}"
        )
    if known:
        click.echo(
            f"  right solutions written independently: half at most {_percent(known.half)}, "
            f"95 % {_percent(known.most)}, the highest {_percent(known.highest)}"
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
                _percent(entry.pair.share_first),
                _percent(entry.pair.share_second),
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


def _is_identical(found: Found, entry: Detail) -> bool:
    both = {entry.pair.first.person, entry.pair.second.person}
    return any(both <= {work.person for work in group} for group in found.comparison.identical)


def _tell_crossings(findings: Findings, labels: Labels) -> None:
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
        click.echo(f"  {counted(len(crossings.found) - _SHOWN, 'more pair')} with --out or --json")
    if crossings.explained:
        pairs = "pair" if crossings.explained == 1 else "pairs"
        click.echo(f"  {crossings.explained} further {pairs} with a match that chance explains")
    click.echo()


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
