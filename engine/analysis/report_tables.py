"""The figures as CSV tables and as one JSON document, with what they can't say.

Column names and JSON keys are documented (docs/item-analysis.md) and read by other programs, so they stay as
they are whatever the attributes here are called.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from engine import __version__
from engine.analysis.class_report import RIGHT_FROM, FittedModel, IrtReport, ItemReport, TestFigures
from engine.analysis.first_attempts import MissingFigures
from engine.analysis.item_figures import (
    THRESHOLDS,
    DrawnItem,
    ExerciseFigures,
    ItemFigures,
    NumberTrend,
    OptionTable,
)
from engine.analysis.statistics import NoTrend
from engine.analysis.statistics.irt import NoFit, SlopeTest
from engine.course import StudentLabels
from engine.model import Verdict
from engine.text.tables import csv_text, text_cell
from engine.text.words import agree, count_noun

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


def items_csv(report: ItemReport) -> str:
    """Return one line for each item; shares from 0 to 1, blank where there is no figure."""
    return _csv(_ITEM_COLUMNS, (_item(test, item) for test in report.tests for item in test.items))


def _item(test: TestFigures, item: ItemFigures) -> list[_Cell]:
    figures = item.statistics
    rest = figures.item_rest_interval or (None, None)
    return [
        *(text_cell(test.test.id), text_cell(item.item), text_cell(item.title), figures.students, item.blank),
        *(item.missing.ungraded, item.missing.unreadable, _figure(item.full), figures.right),
        *map(
            _figure,
            (figures.difficulty, *figures.difficulty_interval, figures.mean_share, *item.mean_interval),
        ),
        *map(_figure, (figures.item_rest, *rest)),
        *(figures.item_rest_students, _figure(figures.item_total)),
        *map(_figure, (figures.upper, figures.lower, figures.index, item.alpha_without)),
        text_cell("; ".join(item.flags)),
    ]


def distractors_csv(report: ItemReport) -> str:
    """Return one line for each option of each choice item."""
    return _csv(_OPTION_COLUMNS, _options(report))


def _options(report: ItemReport) -> Iterator[list[_Cell]]:
    for test in report.tests:
        for item in test.items:
            for options in item.options:
                for row in options.rows:
                    choice = row.choice
                    mistake = options.misconceptions.get(choice.option, "")
                    yield [
                        *map(text_cell, (test.test.id, item.item, options.part)),
                        text_cell(options.texts.get(choice.option, "(blank)")),
                        *map(text_cell, (mistake, report.sentences.get(mistake, ""))),
                        "yes" if choice.is_key else "no",
                        row.offered,
                        choice.students,
                        _figure(choice.share),
                        *choice.by_group,
                        _figure(choice.point_biserial),
                    ]


def misconceptions_csv(report: ItemReport, people: StudentLabels) -> str:
    """Return one line for each student and mistake."""
    return _csv(
        _MISTAKE_COLUMNS,
        (
            [
                *map(text_cell, (mistake.id, mistake.sentence)),
                *map(text_cell, (people.id(holder.student), people.name(holder.student))),
                len(holder.items),
                holder.chances,
                text_cell(" ".join(holder.items)),
            ]
            for mistake in report.mistakes
            for holder in mistake.holders
        ),
    )


def checks_csv(report: ItemReport) -> str:
    """Return one line for each check of each code exercise."""
    return _csv(
        _CHECK_COLUMNS,
        (
            [
                text_cell(item.item),
                text_cell(check.check),
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


def abilities_csv(report: ItemReport, people: StudentLabels) -> str:
    """Return one line for each student and test with a model: ability and its standard error."""
    rows = []
    for test in report.tests:
        model = test.irt.preferred
        if model is not None:
            estimates = zip(test.students, model.abilities.theta, model.abilities.error, strict=True)
            for student, theta, error in estimates:
                labels = map(text_cell, (people.id(student), people.name(student)))
                rows.append(
                    [
                        text_cell(test.test.id),
                        *labels,
                        str(model.fit.model),
                        *map(_figure, map(float, (theta, error))),
                    ]
                )
    return _csv(("test", "student", "name", "model", "ability", "standard_error"), rows)


def _csv(columns: Sequence[str], rows: Iterable[list[_Cell]]) -> str:
    return csv_text([columns, *rows], quote_texts=True)


def _figure(value: float | None) -> _Cell:
    # four decimals of a share are more than any class can tell; NaN isn't a number for spreadsheets
    return "" if value is None or math.isnan(value) else round(value, 4)


_THETA = [round(-4 + step / 4, 2) for step in range(33)]  # where the page draws the curves, too


def models_json(irt: IrtReport) -> dict[str, Any]:
    """Return both models, how they compare, and which one is shown."""
    preferred = irt.preferred
    comparison = irt.comparison
    return {
        "right_from_share": RIGHT_FROM,
        "rasch": _model(irt.rasch),
        "2pl": _model(irt.own_slopes),
        "comparison": asdict(comparison) if isinstance(comparison, SlopeTest) else None,
        "shown": None if preferred is None else str(preferred.fit.model),
    }


def _model(model: FittedModel | NoFit) -> dict[str, Any]:
    if isinstance(model, NoFit):
        return {"reason": model.reason, "students": model.students, "left_out": dict(model.left_out)}
    fit, patterns = model.fit, model.patterns
    information = fit.information(np.array(_THETA)).sum(axis=0)
    fits = {} if isinstance(model.items, NoFit) else {item_fit.item: item_fit for item_fit in model.items}
    return {
        "students": fit.students,
        "log_likelihood": fit.log_likelihood,
        "parameters": fit.parameters,
        "aic": fit.aic,
        "bic": fit.bic,
        "converged": fit.converged,
        "steps": fit.steps,
        "problems": fit.problems,
        "left_out": dict(fit.left_out),
        "ability_reliability": model.abilities.reliability,
        "items": [
            {
                **asdict(item),
                "s_x2": asdict(fits[item.item]) if item.item in fits else None,
                "observed": [asdict(point) for point in points],
            }
            for item, points in zip(fit.items, model.points, strict=True)
        ],
        "item_fit_reason": model.items.reason if isinstance(model.items, NoFit) else "",
        "patterns": {"reason": patterns.reason} if isinstance(patterns, NoFit) else asdict(patterns),
        "test_information": {"ability": _THETA, "information": [float(value) for value in information]},
    }


_FEW = 30  # students: with fewer, an interval of a share is wider than a third


def limits_of(report: ItemReport) -> list[str]:
    """Return the limits of the whole report, a sentence or two each."""
    sentences = [
        "Only first attempts are counted: they show what students could do before feedback, and nothing of "
        f"what they learned from it. {count_noun(report.later, 'later attempt')} "
        f"{agree(report.later, 'are')} left out. Marks by hand and rules about marks don't touch "
        "these figures.",
        "Everybody is here who handed something in. Who stayed away, or left out an exercise that could be "
        "chosen, isn't; a hard item that only able students tried looks easier than it is.",
        "A figure about an item is a figure about this class. With other students it is another one.",
        "A low or negative discrimination is a reason to read the item again, not a proof of a fault; a high "
        "one doesn't show that the item asks for the right thing.",
    ]
    if report.mode == "practice":
        sentences.append(
            "This is practice: students may have looked things up, and who practises isn't the class."
        )
    if report.mistakes:
        sentences.append(
            "A misconception is named where an answer equals what that mistake gives. Chance and slips can "
            "give the same, other mistakes aren't seen at all, and one answer in one item says little of a "
            "person."
        )
    if any(item.family is not None for test in report.tests for item in test.items):
        sentences.append(
            "Variants that aren't flagged needn't be equally hard: with few students only large differences "
            "show. A flag says that chance explains the difference badly, not that it is large."
        )
    return sentences


def test_limits(figures: TestFigures) -> list[str]:
    """Return the limits of one test."""
    sentences = []
    students = len(figures.students)
    if students < _FEW:
        sentences.append(
            f"{count_noun(students, 'student')}: intervals are wide, and single answers decide over "
            "correlations."
        )
    if not figures.is_common:
        fewest = figures.reliability.fewest
        few = f" The pair with the fewest has {count_noun(fewest, 'student')}."
        sentences.append(
            "Not everybody has all items, so items are compared over those who have both, and students by "
            f"their mean distance from the items' means.{few if fewest < _FEW else ''}"
        )
        if figures.reliability.unseen_pairs:
            pairs = figures.reliability.unseen_pairs
            sentences.append(
                f"For {count_noun(pairs, 'pair')} of items there are no two students who have both."
            )
    with_parts = [item.item for item in figures.items if item.parts]
    if with_parts:
        sentences.append(
            "The answer fields and criteria of one item hang together, so they are summed to one score "
            f"({', '.join(with_parts[:8])}{' …' if len(with_parts) > 8 else ''}); one by one they are "
            "only described."
        )
    missing = sum(item.missing.ungraded for item in figures.items)
    unreadable = sum(item.missing.unreadable for item in figures.items)
    if missing or unreadable:
        left_out = [f"{count_noun(missing, 'first attempt')} without a mark"] if missing else []
        left_out += [f"{count_noun(unreadable, 'answer')} that can't be read"] if unreadable else []
        verb = agree(missing + unreadable, "are")
        sentences.append(f"{' and '.join(left_out)} {verb} left out here, neither right nor wrong.")
    fits = [model for model in (figures.irt.rasch, figures.irt.own_slopes) if isinstance(model, FittedModel)]
    if fits:
        sentences.append(
            "The models take every answer to be right or wrong, and one ability to be behind them all. Only "
            "full marks count as right."
        )
    return sentences


_MOST_PAIRS = 60  # items: pairs of more would be most of the file


def as_json(report: ItemReport, people: StudentLabels) -> dict[str, Any]:
    """Return the documented object: figures unrounded, None where there is none."""
    document = {
        "title": report.title,
        "mode": report.mode,
        "engine_version": __version__,
        "attempts": "first",
        "later_attempts_left_out": report.later,
        "packages_missing": list(report.lacking),
        "limits": limits_of(report),
        "flags": dict(THRESHOLDS),
        "tests": [_test(test) for test in report.tests],
        "misconceptions": [
            {
                "id": mistake.id,
                "sentence": mistake.sentence,
                "students": len(mistake.holders),
                "students_with_a_chance": mistake.exposed,
                "items": dict(mistake.items),
                "holders": [
                    {
                        "student": people.id(holder.student),
                        "name": people.name(holder.student),
                        "times": len(holder.items),
                        "chances": holder.chances,
                        "items": list(holder.items),
                    }
                    for holder in mistake.holders
                ],
            }
            for mistake in report.mistakes
        ],
        "without_figures": {item: _missing(tally) for item, tally in report.missing.items()},
    }
    plain: dict[str, Any] = _plain(document)
    return plain


def _test(figures: TestFigures) -> dict[str, Any]:
    whole, histogram = figures.reliability, figures.histogram
    return {
        "id": figures.test.id,
        "kind": str(figures.test.kind),
        "title": figures.title,
        "students": len(figures.students),
        "all_have_all_items": figures.is_common,
        "full_marks": figures.full,
        "mean": figures.total[0] if figures.total else None,
        "standard_deviation": figures.total[1] if figures.total else None,
        "mean_share": histogram.mean,
        "standard_deviation_share": histogram.deviation,
        "median_share": histogram.median,
        "histogram": {"edges": histogram.edges, "students": histogram.counts},
        "alpha": whole.alpha,
        "alpha_interval": whole.interval,
        "standard_error_of_measurement": whole.standard_error,
        "items_per_student": whole.length,
        "fewest_students_of_a_pair": whole.fewest,
        "pairs_without_students": whole.unseen_pairs,
        "items": [_item_json(item) for item in figures.items],
        "pairs": _pairs(figures),
        "models": models_json(figures.irt),
        "not_scored": figures.unscored,
        "limits": test_limits(figures),
    }


def _item_json(item: ItemFigures) -> dict[str, Any]:
    return {
        "title": item.title,
        "question": item.number or None,  # 0 outside a quiz
        "full_marks": item.full,
        **asdict(item.statistics),  # students, right, difficulty, …
        "index": item.statistics.index,
        "blank": item.blank,
        "missing": _missing(item.missing),
        "mean_share_interval": item.mean_interval,
        "alpha_without": item.alpha_without,
        "flags": item.flags,
        "diagnoses": dict(item.diagnoses),
        "parts": [asdict(part) for part in item.parts],
        "options": [_options_json(table) for table in item.options],
        "family": None if item.family is None else _family(item.family),
        "code": None if item.exercise is None else _exercise(item.exercise),
    }


def _missing(tally: MissingFigures) -> dict[str, int]:
    return {"ungraded": tally.ungraded, "unreadable": tally.unreadable, "blank_quiz": tally.blank}


def _options_json(table: OptionTable) -> dict[str, Any]:
    return {
        "part": table.part,
        "students": table.students,
        "choices": [
            {
                "option": table.texts.get(row.choice.option),  # None: a blank answer
                "misconception": table.misconceptions.get(row.choice.option),
                "is_key": row.choice.is_key,
                "shown": row.offered,
                "students": row.choice.students,
                "share": row.choice.share,
                "by_third": row.choice.by_group,
                "thirds": row.thirds,
                "point_biserial": row.choice.point_biserial,
            }
            for row in table.rows
        ],
    }


def _family(family: DrawnItem) -> dict[str, Any]:
    test = family.test
    return {
        "students": family.students,
        "all_variants": family.all_variants,
        "test": None
        if test is None
        else {
            "statistic": test.statistic,
            "df": test.df,
            "probability": test.probability,
            "drawn_tables": test.exact_draws,
            "q": test.q,
        },
        "reason": family.reason,
        "unequal": family.is_unequal,
        "variants": [{**asdict(row), "share": row.share} for row in family.variants],
        "numbers": [_trend(trend) for trend in family.trends],
    }


def _trend(entry: NumberTrend) -> dict[str, Any]:
    if isinstance(entry.trend, NoTrend):
        return {"number": entry.number, "reason": entry.trend.reason}
    return {"number": entry.number, **asdict(entry.trend), "q": entry.q}


def _exercise(exercise: ExerciseFigures) -> dict[str, Any]:
    return {
        "students": exercise.students,
        "passed_all": exercise.passed_all,
        "passed_all_interval": exercise.interval,
        "checks": [
            {
                "check": check.check,
                "reached": check.reached,
                "not_passed": check.not_passed,
                "share": check.share,
                "interval": check.interval,
                "verdicts": {str(verdict): count for verdict, count in check.counts.items()},
            }
            for check in exercise.checks
        ],
        "unexplained": exercise.unexplained,
    }


def _pairs(figures: TestFigures) -> list[dict[str, Any]] | None:
    pairs = figures.pairs
    if len(pairs.items) > _MOST_PAIRS:
        return None
    return [
        {
            "items": [first, second],
            "students": int(pairs.count[i, j]),
            "correlation": float(pairs.correlation[i, j]),
        }
        for i, first in enumerate(pairs.items)
        for j, second in enumerate(pairs.items)
        if i < j  # each pair once
    ]


def _plain(value: Any) -> Any:
    """Return a value that JSON has: no NaN, no infinity, lists for tuples."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):  # tuples and arrays
        return [_plain(entry) for entry in value]
    return value
