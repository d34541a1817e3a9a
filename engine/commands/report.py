"""``grade report``: which items worked, from first attempts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.journal import log
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun, percent

if TYPE_CHECKING:
    from engine.analysis.class_report import ItemReport, TestFigures
    from engine.analysis.item_figures import ItemFigures

# The terminal shows the beginning of a long table; the page and --json have all of it.
_MOST_ROWS = 10


@click.command("report")
@click.option("--quiz", "quizzes", multiple=True, help="The quiz of this name; may be given several times.")
@click.option("--code", is_flag=True, help="The code exercises.")
@click.option("--item", "items", multiple=True, help="Show only this item, compared with its whole test.")
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

    It counts first attempts in the store: all of them, or those at the quizzes and exercises named. Nothing
    is stored and no mark changes. Tests and models need: pip install "softmark[stats]".

    \b
    Examples:
      grade report --course attention-2026 --out report
      grade report --quiz week-3 --item softmax-weights
      grade report --code --anonymous --json
    """
    from engine.analysis.report_of_store import report_of_store
    from engine.analysis.report_page import write_report
    from engine.analysis.report_tables import as_json as report_json
    from engine.course import StudentLabels

    if abilities and out is None:
        raise UsageError("--abilities writes a file", expected="--abilities with --out DIR")
    context = find_context(course_path)
    # Not open_store(): a lost store would give a report about nobody.
    with context.open_marks() as store:
        report = report_of_store(
            store, context.bank, context.mode, title=context.title, quizzes=quizzes, code=code, items=items
        )
        subject = f"Item analysis of {', '.join([*quizzes, *items]) or 'everything'}"
        log(context, store, "export.analysis", subject)
    labels = StudentLabels(context.names, is_hidden=anonymous)
    paths = write_report(out, report, labels, with_abilities=abilities) if out else []
    if as_json:
        # ASCII, as in report.json: statistics packages guess encodings.
        click.echo(json.dumps(report_json(report, labels), ensure_ascii=True, indent=2))
    else:
        _show(report, paths)
    return 0


def _show(report: ItemReport, paths: Sequence[Path]) -> None:
    for test in report.tests:
        _show_test(test)
    if not report.tests:
        click.echo("there is no graded first attempt to report on")
    for item, missing in report.missing.items():
        causes = (
            (missing.ungraded, "not graded yet"),
            (missing.unreadable, "unreadable"),
            (missing.blank, "in a quiz that came back blank"),
        )
        counts = ", ".join(f"{count} {cause}" for count, cause in causes if count)
        click.echo(f"no figure: {clean_line(item)}: {counts}")
    _show_mistakes(report)
    if "scipy" in report.lacking:
        click.echo('left out, scipy is missing: tests, models, trends; pip install "softmark[stats]"')
    # Figures are on the page only.
    if "matplotlib" in report.lacking and paths:
        click.echo('left out, matplotlib is missing: figures; pip install "softmark[stats]"')
    for path in paths:
        click.echo(f"{'page' if path.suffix == '.html' else 'table'}: {path}")


def _show_test(test: TestFigures) -> None:
    from engine.analysis.report_tables import test_limits

    students = count_noun(len(test.students), "student")
    click.echo(f"{clean_line(test.title)} ({clean_line(test.test.id)}): {students}")
    reliability, histogram = test.reliability, test.histogram
    figures = [] if histogram.mean is None else [f"mean {percent(histogram.mean, 0)}"]
    if histogram.deviation is not None:
        figures.append(f"sd {percent(histogram.deviation, 0)}")
    if reliability.alpha is not None:
        bounds = reliability.interval
        interval = f" ({bounds[0]:.2f} to {bounds[1]:.2f})" if bounds else ""
        figures.append(f"alpha {reliability.alpha:.2f}{interval}")
    if reliability.standard_error is not None:
        figures.append(f"standard error {count_noun(reliability.standard_error, 'point', '.2f')}")
    if figures:
        click.echo(f"  {', '.join(figures)}")
    columns = ["item", "N", "mean", "95 %", "item-rest", "upper-lower", "alpha without", "flags"]
    show_table(columns, [_item_row(item) for item in test.items])
    for sentence in test_limits(test):
        click.echo(f"  {sentence}")
    click.echo()


def _item_row(item: ItemFigures) -> list[str]:
    statistics = item.statistics
    return [
        item.item,
        f"{statistics.students}",
        _figure(statistics.mean_share),
        f"{item.mean_interval[0]:.2f} to {item.mean_interval[1]:.2f}",
        _figure(statistics.item_rest),
        _figure(statistics.index),
        _figure(item.alpha_without),
        "; ".join(item.flags),
    ]


def _show_mistakes(report: ItemReport) -> None:
    rows = [
        [
            mistake.id,
            f"{len(mistake.holders)} of {mistake.exposed}",
            ", ".join(item for item, _ in mistake.items),
        ]
        for mistake in report.mistakes[:_MOST_ROWS]
    ]
    if rows:
        show_table(["misconception", "students", "in"], rows)
        more = len(report.mistakes) - _MOST_ROWS
        if more > 0:
            click.echo(f"  {more} more with --out or --json")
        click.echo()


def _figure(value: float | None) -> str:
    # A correlation of -0.001 isn't a negative one to a reader.
    return "" if value is None else f"{value:.2f}".replace("-0.00", "0.00")
