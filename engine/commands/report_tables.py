"""What ``grade report`` prints: a table for each test, and where the files lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from engine.commands.render import show_table
from engine.foreign import clean_line
from engine.itemreport.build import Report, TestFigures
from engine.itemreport.items import ItemFigures
from engine.itemreport.limits import test_limits
from engine.plurals import counted

__all__ = ["tell_report"]

_SHOWN = 10


def tell_report(report: Report, written: Sequence[Path]) -> None:
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
    click.echo(f"{clean_line(test.title)} ({clean_line(test.test.id)}): {_students(len(test.students))}")
    whole, spread = test.reliability, test.histogram
    told = [] if spread.mean is None else [f"mean {100 * spread.mean:.0f} %"]
    if spread.deviation is not None:
        told.append(f"sd {100 * spread.deviation:.0f} %")
    if whole.alpha is not None:
        interval = f" ({whole.interval[0]:.2f} to {whole.interval[1]:.2f})" if whole.interval else ""
        told.append(f"alpha {whole.alpha:.2f}{interval}")
    if whole.standard_error is not None:
        told.append(f"standard error {counted(whole.standard_error, 'point', '.2f')}")
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


def _tell_mistakes(report: Report) -> None:
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
    return counted(count, "student")
