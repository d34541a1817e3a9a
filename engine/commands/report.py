"""``grade report``: which items worked, from first attempts."""

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
    from engine.analysis.class_report import ItemReport, TestFigures
    from engine.analysis.first_attempts import ItemTest
    from engine.analysis.item_figures import ItemFigures
    from engine.commands.context import CommandContext
    from engine.store import Store

__all__ = ["command", "tell_report"]


@click.command("report")
@click.option("--quiz", "quizzes", multiple=True, help="The quiz of this name; may be given several times.")
@click.option("--code", is_flag=True, help="The code exercises.")
@click.option("--item", "items", multiple=True, help="Show only this item, set against its whole test.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the page and tables.")
@click.option("--anonymous", is_flag=True, help="Number the students instead of naming them.")
@click.option("--abilities", is_flag=True, help="Also write abilities.csv, where a model was fitted.")
@json_option
@course_option
@store_option
def command(
    quizzes: tuple[str, ...],
    code: bool,
    items: tuple[str, ...],
    out: Path | None,
    anonymous: bool,
    abilities: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Show how each item worked: how hard it was, whether it tells students apart, which mistakes came up.

    Counts first attempts in the store, of everything or of what is named. Nothing is stored and no mark
    changes. Tests and models need: pip install "softmark[stats]".

    \b
    Example:
      grade report --course attention-2026 --out report
      grade report --quiz week-3 --item softmax-weights
      grade report --code --anonymous --json
    """
    from engine.analysis.report_page import write_report
    from engine.analysis.report_tables import as_json as document
    from engine.commands.context import find_context
    from engine.course import StudentLabels

    if abilities and out is None:
        raise UsageError("--abilities writes a file", expected="--abilities with --out DIR")
    context = find_context(course_path)
    roster = context.course.roster(tolerant=True) if context.course else None
    with context.open_marks() as store:
        report = _report(context, store, quizzes, code, items)
    names = {student.id: student.name for student in roster.students} if roster else {}
    people = StudentLabels(names, is_hidden=anonymous)
    written = write_report(out, report, people, with_abilities=abilities) if out else []
    if as_json:
        click.echo(json.dumps(document(report, people), ensure_ascii=True, indent=2))
    else:
        tell_report(report, written)
    return 0


def _report(
    context: CommandContext, store: Store, quizzes: tuple[str, ...], code: bool, items: tuple[str, ...]
) -> ItemReport:
    from engine.analysis.class_report import build
    from engine.analysis.first_attempts import ItemTest, ItemTestKind, collect
    from engine.analysis.mistakes import KnownMistakes

    titles = store.sittings.quiz_titles()
    for quiz in quizzes:
        if quiz not in titles:
            raise UsageError(
                "no quiz of this name was drawn", got=quiz, expected=", ".join(titles) or "there is none yet"
            )
    chosen = {ItemTest(ItemTestKind.QUIZ, quiz) for quiz in quizzes} | (
        {ItemTest(ItemTestKind.CODE)} if code else set()
    )
    collected = collect(
        store,
        context.mode,
        title_of=_title_of(context),
        wanted=lambda test: not chosen or test in chosen,
    )
    seen = sorted({item for _, item in collected.missing})
    for item in items:
        if item not in seen:
            from engine.text.words import did_you_mean

            raise UsageError(f"nobody handed in anything for {item!r} there{did_you_mean(item, seen)}")
    return build(
        collected,
        KnownMistakes.of_bank(context.bank, seen),
        title=context.course.title if context.course else "Practice",
        mode=str(context.mode),
        title_of=lambda test: _test_title(test, titles),
        items=items,
    )


def _title_of(context: CommandContext) -> Callable[[str], str]:
    from functools import cache

    from engine.errors import InputError

    @cache
    def title(item: str) -> str:
        try:
            return context.bank.load(item).title
        except InputError:
            return item

    return title


def _test_title(test: ItemTest, titles: dict[str, str]) -> str:
    if test.name:
        return titles.get(test.name, test.name)
    return "Code exercises" if test.kind == "code" else "Answers outside quizzes"


# ----------------------------------------------------------------------------------------------------
# What ``grade report`` prints: a table for each test, and where the files lie.

_SHOWN = 10


def tell_report(report: ItemReport, written: Sequence[Path]) -> None:
    """Print the report in short."""
    for test in report.tests:
        _tell_test(test)
    if not report.tests:
        click.echo("there is no graded first attempt to report on")
    for item, missing in report.missing.items():
        causes = (
            (missing.ungraded, "not graded yet"),
            (missing.unreadable, "unreadable"),
            (missing.blank, "in a quiz that came back blank"),
        )
        told = ", ".join(f"{count} {cause}" for count, cause in causes if count)
        click.echo(f"no figure: {clean_line(item)}: {told}")
    _tell_mistakes(report)
    if "scipy" in report.lacking:
        click.echo('left out, scipy is missing: tests, models, trends; pip install "softmark[stats]"')
    if "matplotlib" in report.lacking and written:
        click.echo('left out, matplotlib is missing: figures; pip install "softmark[stats]"')
    for path in written:
        click.echo(f"{'page' if path.suffix == '.html' else 'table'}: {path}")


def _tell_test(test: TestFigures) -> None:
    from engine.analysis.report_tables import test_limits
    from engine.commands.render import show_table

    click.echo(f"{clean_line(test.title)} ({clean_line(test.test.id)}): {_students(len(test.students))}")
    whole, spread = test.reliability, test.histogram
    told = [] if spread.mean is None else [f"mean {percent(spread.mean, 0)}"]
    if spread.deviation is not None:
        told.append(f"sd {percent(spread.deviation, 0)}")
    if whole.alpha is not None:
        interval = f" ({whole.interval[0]:.2f} to {whole.interval[1]:.2f})" if whole.interval else ""
        told.append(f"alpha {whole.alpha:.2f}{interval}")
    if whole.standard_error is not None:
        told.append(f"standard error {count_noun(whole.standard_error, 'point', '.2f')}")
    if told:
        click.echo(f"  {', '.join(told)}")
    show_table(
        ["item", "N", "mean", "95 %", "item-rest", "upper-lower", "alpha without", "flags"],
        [_row(item) for item in test.items],
    )
    for sentence in test_limits(test):
        click.echo(f"  {sentence}")
    click.echo()


def _row(item: ItemFigures) -> list[str]:
    own = item.statistics
    return [
        item.item,
        f"{own.students}",
        _figure(own.mean_share),
        f"{item.mean_interval[0]:.2f} to {item.mean_interval[1]:.2f}",
        _figure(own.item_rest),
        _figure(own.index),
        _figure(item.alpha_without),
        "; ".join(item.flags),
    ]


def _tell_mistakes(report: ItemReport) -> None:
    from engine.commands.render import show_table

    rows = [
        [
            mistake.id,
            f"{len(mistake.holders)} of {mistake.exposed}",
            ", ".join(item for item, _ in mistake.items),
        ]
        for mistake in report.mistakes[:_SHOWN]
    ]
    if rows:
        show_table(["misconception", "students", "in"], rows)
        more = len(report.mistakes) - _SHOWN
        if more > 0:
            click.echo(f"  {more} more with --out or --json")
        click.echo()


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def _students(count: int) -> str:
    return count_noun(count, "student")
