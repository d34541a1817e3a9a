"""The figures of the page; what each shows stands in words in its text alternative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from engine.analysis import Histogram
from engine.foreign import clean_line
from engine.itemreport.drawing import ACCENT, INK, LINE, OTHER, SOFT, draw
from engine.itemreport.families import MOST_VARIANTS, Family
from engine.itemreport.irt import Fitted
from engine.itemreport.items import ItemFigures
from engine.plurals import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curve_plot", "histogram_plot", "information_plot", "map_plot", "variants_plot"]


_REACH = 4.0  # abilities that are drawn


def histogram_plot(name: str, histogram: Histogram) -> Markup:
    """Return the histogram of scores."""
    edges = [100 * edge for edge in histogram.edges]

    def paint(axes: Axes) -> None:
        widths = np.diff(edges)
        axes.bar(edges[:-1], histogram.counts, width=widths * 0.92, align="edge", color=ACCENT)
        if histogram.mean is not None:
            axes.axvline(100 * histogram.mean, color=OTHER, linestyle="--")
        axes.set(xlabel="score in % of the points", ylabel="students", xlim=(0, 100))
        axes.locator_params(axis="y", integer=True)

    mean = "" if histogram.mean is None else f", mean {100 * histogram.mean:.0f} % (dashed)"
    most = max(range(len(histogram.counts)), key=lambda at: histogram.counts[at])
    told = f"Scores of {counted(histogram.students, 'student')}{mean}; most, {histogram.counts[most]}, "
    return draw(name, f"{told}from {edges[most]:.0f} to {edges[most + 1]:.0f} %.", paint)


def map_plot(name: str, items: Sequence[ItemFigures]) -> Markup:
    """Return the items by difficulty and discrimination, with the numbers that the table has."""
    placed = [
        (at, item.statistics.mean_share, item.statistics.item_rest)
        for at, item in enumerate(items, start=1)
        if item.statistics.mean_share is not None and item.statistics.item_rest is not None
    ]

    def paint(axes: Axes) -> None:
        axes.axhline(0, color=LINE, linewidth=1)
        for at, share, rest in placed:
            axes.plot(100 * (share or 0.0), rest, "o", color=ACCENT, markersize=5)
            axes.annotate(f"{at}", (100 * (share or 0.0), rest or 0.0), (4, 4), textcoords="offset points")
        lowest = min([0.0, *(rest or 0.0 for _, _, rest in placed)])
        axes.set(xlabel="mean share in %", ylabel="item–rest", xlim=(-2, 105))
        axes.set_ylim(bottom=lowest - 0.08)

    below = [f"{at}" for at, _, rest in placed if rest is not None and rest < 0]
    told = f"Difficulty and discrimination of {counted(len(placed), 'item')} by their number in the table"
    return draw(name, f"{told}; below 0: {', '.join(below) or 'none'}.", paint)


def curve_plot(name: str, model: Fitted, at: int) -> Markup:
    """Return one item's characteristic curve, with observed shares of students of about equal ability."""
    theta = np.linspace(-_REACH, _REACH, 81)
    share = model.fit.share(theta)[at]
    points = model.points[at]
    item = model.fit.items[at]

    def paint(axes: Axes) -> None:
        axes.plot(theta, 100 * share, color=ACCENT)
        axes.plot([p.theta for p in points], [100 * p.share for p in points], "o", color=INK, markersize=5)
        axes.set(xlabel="ability", ylabel="right in %", xlim=(-_REACH, _REACH), ylim=(-3, 103))

    observed = "; ".join(f"{p.theta:.1f}: {100 * p.share:.0f} %" for p in points)
    where = "" if item.difficulty is None else f", half at ability {item.difficulty:.1f}"
    told = f"Curve of {clean_line(item.item)}: slope {item.slope:.2f}{where}."
    return draw(name, f"{told} Observed share by ability: {observed}.", paint, height=210)


def information_plot(name: str, model: Fitted) -> Markup:
    """Return the test's information, and the standard error that follows from it."""
    theta = np.linspace(-_REACH, _REACH, 81)
    information = model.fit.information(theta).sum(axis=0)
    error = 1 / np.sqrt(np.maximum(information, 1e-12))

    def paint(axes: Axes) -> None:
        axes.plot(theta, information, color=ACCENT, label="information")
        shown = error <= 3
        axes.plot(theta[shown], error[shown], color=OTHER, linestyle="--", label="standard error")
        axes.set(xlabel="ability", xlim=(-_REACH, _REACH))
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, labelcolor=SOFT)

    top = int(information.argmax())
    told = f"The test tells most at ability {theta[top]:.1f}: information {information[top]:.2f}"
    return draw(name, f"{told}, standard error {error[top]:.2f}.", paint)


def variants_plot(name: str, family: Family) -> Markup:
    """Return the shares of the most frequent variants with their intervals, in the order of the table."""
    rows = family.variants[:MOST_VARIANTS]
    shares = np.array([row.share for row in rows])
    ends = np.array([row.interval for row in rows])

    def paint(axes: Axes) -> None:
        places = np.arange(len(rows), 0, -1)
        axes.hlines(places, 100 * ends[:, 0], 100 * ends[:, 1], color=SOFT)
        axes.plot(100 * shares, places, "o", color=ACCENT, markersize=5)
        axes.set(xlabel="right in %", xlim=(-3, 103), ylim=(0.3, len(rows) + 0.7))
        axes.set_yticks(places, [f"{number}" for number in range(1, len(rows) + 1)])

    told = "; ".join(f"{number}: {100 * row.share:.0f} %" for number, row in enumerate(rows, start=1))
    return draw(name, f"Right answers by variant. {told}.", paint, height=max(110, 60 + 18 * len(rows)))
