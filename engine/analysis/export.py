"""The figures as one JSON document; docs/item-analysis.md describes it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from engine import __version__
from engine.analysis import NoTrend
from engine.course import People
from engine.itemreport.build import Report, TestFigures
from engine.itemreport.exercises import Exercise
from engine.itemreport.families import Family, NumberTrend
from engine.itemreport.gather import Missing
from engine.itemreport.items import THRESHOLDS, ItemFigures
from engine.itemreport.limits import limits_of, test_limits
from engine.itemreport.models import models_json
from engine.itemreport.options import OptionTable

__all__ = ["as_json"]

_MOST_PAIRS = 60  # items, beyond which pairs are left out


def as_json(report: Report, people: People) -> dict[str, Any]:
    """Return the documented object: figures as they are, None where there is none."""
    found = {
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
    plain: dict[str, Any] = _plain(found)
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
        "items": [_item(item) for item in figures.items],
        "pairs": _pairs(figures),
        "models": models_json(figures.irt),
        "not_scored": figures.unscored,
        "limits": test_limits(figures),
    }


def _item(item: ItemFigures) -> dict[str, Any]:
    own = item.statistics
    return {
        "item": item.item,
        "title": item.title,
        "question": item.number or None,
        "full_marks": item.full,
        "students": own.students,
        "blank": item.blank,
        "missing": _missing(item.missing),
        "right": own.right,
        "difficulty": own.difficulty,
        "difficulty_interval": own.difficulty_interval,
        "mean_share": own.mean_share,
        "mean_share_interval": item.mean_interval,
        "item_total": own.item_total,
        "item_rest": own.item_rest,
        "item_rest_interval": own.item_rest_interval,
        "item_rest_students": own.item_rest_students,
        "upper": own.upper,
        "lower": own.lower,
        "index": own.index,
        "alpha_without": item.alpha_without,
        "flags": item.flags,
        "diagnoses": dict(item.diagnoses),
        "parts": [asdict(part) for part in item.parts],
        "options": [_options(table) for table in item.options],
        "family": None if item.family is None else _family(item.family),
        "code": None if item.exercise is None else _exercise(item.exercise),
    }


def _missing(tally: Missing) -> dict[str, int]:
    return {"ungraded": tally.ungraded, "unreadable": tally.unreadable, "blank_quiz": tally.blank}


def _options(table: OptionTable) -> dict[str, Any]:
    return {
        "part": table.part,
        "students": table.students,
        "choices": [
            {
                "option": table.texts.get(row.choice.option),  # None: nothing was chosen
                "misconception": table.misconceptions.get(row.choice.option),
                "is_key": row.choice.is_key,
                "shown": row.shown,
                "students": row.choice.students,
                "share": row.choice.share,
                "by_third": row.choice.by_group,
                "thirds": row.thirds,
                "point_biserial": row.choice.point_biserial,
            }
            for row in table.rows
        ],
    }


def _family(family: Family) -> dict[str, Any]:
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
        "numbers": [_trend(one) for one in family.trends],
    }


def _trend(one: NumberTrend) -> dict[str, Any]:
    if isinstance(one.trend, NoTrend):
        return {"number": one.number, "reason": one.trend.reason}
    return {"number": one.number, **asdict(one.trend), "q": one.q}


def _exercise(exercise: Exercise) -> dict[str, Any]:
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
        if i < j
    ]


def _plain(value: Any) -> Any:
    """Return a value that JSON has: no NaN, no infinity, lists for tuples."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(entry) for entry in value]
    return value
