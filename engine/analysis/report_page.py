"""Writes a report: the page with its figures, the tables, and the JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from engine import __version__
from engine.analysis.class_report import FittedModel, ItemReport, TestFigures
from engine.analysis.item_figures import MOST_VARIANTS, THRESHOLDS
from engine.analysis.report_tables import (
    TABLES,
    abilities_csv,
    as_json,
    checks_csv,
    distractors_csv,
    items_csv,
    limits_of,
    misconceptions_csv,
    test_limits,
)
from engine.analysis.statistics.irt import IrtModel, ItemFit, NoFit
from engine.course import StudentLabels
from engine.model import Verdict
from engine.pages.render import render, write_pages

_MODELS = {IrtModel.RASCH: "Rasch model", IrtModel.TWO_PARAMETERS: "Two-parameter model"}
_STOPS = (
    (Verdict.FAILED, "Failed"),
    (Verdict.TIMED_OUT, "Too long"),
    (Verdict.OUT_OF_MEMORY, "Memory"),
    (Verdict.CRASHED, "Crashed"),
    (Verdict.SKIPPED, "Skipped"),
)
_LEAST_SHOWN = 5  # an option that fewer students saw isn't on the page, but is in the tables
_LEFT_OUT = {
    "scipy": "tests, models, trends along numbers and the interval of alpha",
    "matplotlib": "figures",
}


@dataclass(frozen=True, slots=True)
class _Plots:
    """Figures by test, and those of items by (test, number); missing ones have no entry."""

    histogram: dict[int, Markup] = field(default_factory=dict)
    map: dict[int, Markup] = field(default_factory=dict)
    information: dict[int, Markup] = field(default_factory=dict)
    curves: dict[tuple[int, int], Markup] = field(default_factory=dict)
    variants: dict[tuple[int, int], Markup] = field(default_factory=dict)


def write_report(
    out: Path, report: ItemReport, people: StudentLabels, *, with_abilities: bool = False
) -> list[Path]:
    """Write ``index.html``, the tables and ``report.json``; return their paths, the page first.

    Raises
    ------
    StoreError
        The folder can't be written.
    """
    texts = {
        "index.html": report_page(report, people),
        "items.csv": items_csv(report),
        "distractors.csv": distractors_csv(report),
        "misconceptions.csv": misconceptions_csv(report, people),
        "checks.csv": checks_csv(report),
        "report.json": json.dumps(as_json(report, people), ensure_ascii=True, indent=1) + "\n",
    }
    if with_abilities:
        texts["abilities.csv"] = abilities_csv(report, people)
    return write_pages(out, texts)


def report_page(report: ItemReport, people: StudentLabels) -> str:
    """Return the page, which needs no other file."""
    return render(
        "report.html.j2",
        package="engine.analysis",
        report=report,
        people=people,
        plots=_plots(report),
        score_cells=_cells(report),
        students=len({student for test in report.tests for student in test.students}),
        items=sum(len(test.items) for test in report.tests),
        flagged=sum(bool(item.flags) for test in report.tests for item in test.items),
        downloads=[*TABLES, "report.json"],
        left_out=" and ".join(_LEFT_OUT[name] for name in report.lacking),
        limits=limits_of(report),
        test_limits=test_limits,
        thresholds=THRESHOLDS,
        names=_MODELS,
        stops=_STOPS,
        most_variants=MOST_VARIANTS,
        least_shown=_LEAST_SHOWN,
        engine_version=__version__,
    )


def _plots(report: ItemReport) -> _Plots:
    plots_by_place = _Plots()
    if "matplotlib" in report.lacking:  # the page is complete without: every figure has its table
        return plots_by_place
    from engine.analysis import plots  # imported late: it is only of use with matplotlib

    for index, test in enumerate(report.tests, start=1):
        model, places = _preferred_model(test)
        plots_by_place.histogram[index] = plots.histogram_plot(f"h{index}", test.histogram)
        plots_by_place.map[index] = plots.map_plot(f"m{index}", test.items)
        if model is not None:
            plots_by_place.information[index] = plots.information_plot(f"t{index}", model)
        for number, item in enumerate(test.items, start=1):
            if model is not None and item.item in places:
                curve = plots.curve_plot(f"c{index}-{number}", model, places[item.item])
                plots_by_place.curves[index, number] = curve
            if item.family is not None and item.family.test is not None and len(item.family.variants) > 1:
                plots_by_place.variants[index, number] = plots.variants_plot(
                    f"v{index}-{number}", item.family
                )
    return plots_by_place


def _cells(report: ItemReport) -> dict[tuple[int, int], ItemFit]:
    fits = {}
    for index, test in enumerate(report.tests, start=1):
        model, places = _preferred_model(test)
        if model is not None and not isinstance(model.items, NoFit):
            for number, item in enumerate(test.items, start=1):
                if item.item in places:
                    fits[index, number] = model.items[places[item.item]]
    return fits


def _preferred_model(test: TestFigures) -> tuple[FittedModel | None, dict[str, int]]:
    model = test.irt.preferred
    return model, {} if model is None else {item.item: index for index, item in enumerate(model.fit.items)}
