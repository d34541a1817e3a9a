"""The figures as CSV: one line for each item, option, mistake and student, check."""

from __future__ import annotations

from collections.abc import Iterator

from engine.course import People
from engine.foreign import csv_cell, csv_text
from engine.itemreport.build import Report, TestFigures
from engine.itemreport.items import ItemFigures
from engine.model import Verdict

__all__ = ["TABLES", "abilities_csv", "checks_csv", "distractors_csv", "items_csv", "misconceptions_csv"]

_Cell = str | int | float

TABLES = ("items.csv", "distractors.csv", "misconceptions.csv", "checks.csv")
"""The files that are always written."""

_ITEM_COLUMNS = (
    *("test", "item", "title", "students", "blank", "ungraded", "unreadable", "full_marks", "right"),
    *("difficulty", "difficulty_low", "difficulty_high", "mean_share", "mean_low", "mean_high"),
    *("item_rest", "item_rest_low", "item_rest_high", "item_rest_students", "item_total"),
    *("upper", "lower", "index", "alpha_without", "flags"),
)
_OPTION_COLUMNS = (
    *("test", "item", "part", "option", "misconception", "sentence", "is_key", "shown", "chosen", "share"),
    *("lowest_third", "middle_third", "highest_third", "point_biserial"),
)
_MISTAKE_COLUMNS = ("misconception", "sentence", "student", "name", "times", "chances", "items")
_STOPS = (Verdict.FAILED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.CRASHED, Verdict.SKIPPED)
_CHECK_COLUMNS = (
    *("item", "check", "reached", "not_passed", "share", "low", "high"),
    *map(str, _STOPS),
)


def items_csv(report: Report) -> str:
    """Return one line for each item; shares from 0 to 1, blank where there is no figure."""
    return csv_text(_ITEM_COLUMNS, (_item(test, item) for test in report.tests for item in test.items))


def _item(test: TestFigures, item: ItemFigures) -> list[_Cell]:
    own = item.statistics
    rest = own.item_rest_interval or (None, None)
    return [
        *(csv_cell(test.test.id), csv_cell(item.item), csv_cell(item.title), own.students, item.blank),
        *(item.missing.ungraded, item.missing.unreadable, _figure(item.full), own.right),
        *map(_figure, (own.difficulty, *own.difficulty_interval, own.mean_share, *item.mean_interval)),
        *map(_figure, (own.item_rest, *rest)),
        *(own.item_rest_students, _figure(own.item_total)),
        *map(_figure, (own.upper, own.lower, own.index, item.alpha_without)),
        csv_cell("; ".join(item.flags)),
    ]


def distractors_csv(report: Report) -> str:
    """Return one line for each option of each choice item."""
    return csv_text(_OPTION_COLUMNS, _options(report))


def _options(report: Report) -> Iterator[list[_Cell]]:
    for test in report.tests:
        for item in test.items:
            for options in item.options:
                for row in options.rows:
                    choice = row.choice
                    mistake = options.misconceptions.get(choice.option, "")
                    yield [
                        *map(csv_cell, (test.test.id, item.item, options.part)),
                        csv_cell(options.texts.get(choice.option, "(blank)")),
                        *map(csv_cell, (mistake, report.sentences.get(mistake, ""))),
                        "yes" if choice.is_key else "no",
                        row.shown,
                        choice.students,
                        _figure(choice.share),
                        *choice.by_group,
                        _figure(choice.point_biserial),
                    ]


def misconceptions_csv(report: Report, people: People) -> str:
    """Return one line for each student and mistake."""
    return csv_text(
        _MISTAKE_COLUMNS,
        (
            [
                *map(csv_cell, (mistake.id, mistake.sentence)),
                *map(csv_cell, (people.id(holder.student), people.name(holder.student))),
                len(holder.items),
                holder.chances,
                csv_cell(" ".join(holder.items)),
            ]
            for mistake in report.mistakes
            for holder in mistake.holders
        ),
    )


def checks_csv(report: Report) -> str:
    """Return one line for each check of each code exercise."""
    return csv_text(
        _CHECK_COLUMNS,
        (
            [
                csv_cell(item.item),
                csv_cell(check.check),
                check.reached,
                check.not_passed,
                *map(_figure, (check.share, *check.interval)),
                *(check.counts.get(verdict, 0) for verdict in _STOPS),
            ]
            for test in report.tests
            for item in test.items
            if item.exercise is not None
            for check in item.exercise.checks
        ),
    )


def abilities_csv(report: Report, people: People) -> str:
    """Return one line for each student and test with a model: ability and its standard error."""
    rows = []
    for test in report.tests:
        model = test.irt.preferred
        if model is not None:
            found = zip(test.students, model.abilities.theta, model.abilities.error, strict=True)
            for student, theta, error in found:
                who = map(csv_cell, (people.id(student), people.name(student)))
                rows.append(
                    [
                        csv_cell(test.test.id),
                        *who,
                        str(model.fit.model),
                        *map(_figure, map(float, (theta, error))),
                    ]
                )
    return csv_text(("test", "student", "name", "model", "ability", "standard_error"), rows)


def _figure(value: float | None) -> _Cell:
    return "" if value is None or value != value else round(value, 4)
