"""The figures of the page as SVG, each with a text alternative that says what it shows.

The page's policy forbids style attributes, and several figures share one document. So the output of
matplotlib is rewritten: styles become presentation attributes, ids get the figure's prefix or go, and
colours that only stand for a role become variables of the style sheet, which follow dark mode and paper.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from engine.analysis.class_report import FittedModel
from engine.analysis.item_figures import MOST_VARIANTS, DrawnItem, ItemFigures
from engine.analysis.statistics import ScoreHistogram
from engine.text.words import clean_line, count_noun, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# no colour that anybody would choose: each is replaced by the variable of its role
INK, SOFT, LINE, ACCENT, OTHER = "#010101", "#020202", "#030303", "#040404", "#050505"
_ROLES = {INK: "--ink", SOFT: "--soft", LINE: "--line", ACCENT: "--link", OTHER: "--partial"}

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "softmark",  # ids are the same in every run
    "text.parse_math": False,  # an item called $x$ isn't a formula
    "font.size": 12,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 1,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "text.color": INK,
    "lines.linewidth": 2,
}
_ATTRIBUTES = frozenset(
    {"fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"}
    | {"stroke-dashoffset", "stroke-opacity", "fill-opacity", "opacity", "font-size", "text-anchor"}
)


def draw(
    name: str, alternative: str, paint: Callable[[Axes], None], *, width: float = 340, height: float = 225
) -> Markup:
    """Return what `paint` draws as an ``<svg>`` with a text alternative.

    Parameters
    ----------
    name : str
        Prefix of its ids: letters, digits and hyphens, another one for each figure of a page.
    alternative : str
        What the figure shows, in words.
    paint : callable
        Gets matplotlib's axes.
    width, height : float
        In CSS pixels.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    out = io.StringIO()
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure.add_subplot())
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", transparent=True, metadata=nothing)
    return _fitted(out.getvalue(), name, alternative)


def _fitted(svg: str, name: str, alternative: str) -> Markup:
    root = ET.fromstring(svg)
    box = root.get("viewBox", "0 0 0 0")
    for element in list(root.iter()):
        for child in [*element]:
            if child.tag in (f"{_SVG}style", f"{_SVG}metadata"):
                element.remove(child)
    used = {reference for element in root.iter() for reference in _references(element)}
    for element in root.iter():
        _plain(element, name, used)
    _, _, width, height = box.split()
    root.attrib.clear()  # width and height in points, and names of XML that HTML doesn't need
    root.attrib.update(
        {"viewBox": box, "width": width, "height": height, "role": "img", "aria-label": alternative}
        | {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    )
    return Markup(ET.tostring(root, encoding="unicode"))


def _plain(element: ET.Element, name: str, used: set[str]) -> None:
    element_id = element.attrib.pop("id", None)
    if element_id in used:
        element.set("id", f"{name}-{element_id}")
    target = element.attrib.pop(_HREF, None)
    if target is not None:
        element.set("href", f"#{name}-{target[1:]}")
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = (piece.strip() for piece in declaration.partition(":"))
        if key in _ATTRIBUTES:
            element.set(key, value)
    for key, value in element.attrib.items():
        if value in _ROLES:
            element.set(key, f"var({_ROLES[value]})")
        elif value.startswith("url(#"):
            element.set(key, f"url(#{name}-{value[5:]}")
        elif key == "d":
            element.set(key, " ".join(value.split()))
    element.tag = element.tag.removeprefix(_SVG)  # in HTML an <svg> needs no namespace
    if element.tag == "text":
        element.attrib.setdefault("fill", f"var({_ROLES[INK]})")
    # blanks and line ends between elements
    if element.text is not None and not element.text.strip():
        element.text = None
    element.tail = None


def _references(element: ET.Element) -> Iterator[str]:
    for value in element.attrib.values():
        yield from re.findall(r"url\(#([^()]++)\)", value)
    if (target := element.get(_HREF)) is not None:
        yield target[1:]


_REACH = 4.0  # abilities on the axis: 6 in 100,000 students lie beyond


def histogram_plot(name: str, histogram: ScoreHistogram) -> Markup:
    """Return the histogram of scores."""
    edges = [100 * edge for edge in histogram.edges]

    def paint(axes: Axes) -> None:
        widths = np.diff(edges)
        axes.bar(edges[:-1], histogram.counts, width=widths * 0.92, align="edge", color=ACCENT)
        if histogram.mean is not None:
            axes.axvline(100 * histogram.mean, color=OTHER, linestyle="--")
        axes.set(xlabel="score in % of the points", ylabel="students", xlim=(0, 100))
        axes.locator_params(axis="y", integer=True)

    mean = "" if histogram.mean is None else f", mean {percent(histogram.mean, 0)} (dashed)"
    most = max(range(len(histogram.counts)), key=lambda index: histogram.counts[index])
    summary = f"Scores of {count_noun(histogram.students, 'student')}{mean}; most, {histogram.counts[most]}, "
    return draw(name, f"{summary}from {edges[most]:.0f} to {edges[most + 1]:.0f} %.", paint)


def map_plot(name: str, items: Sequence[ItemFigures]) -> Markup:
    """Return the items by difficulty and discrimination, numbered as in the table."""
    placed = [
        (number, item.statistics.mean_share, item.statistics.item_rest)
        for number, item in enumerate(items, start=1)
        if item.statistics.mean_share is not None and item.statistics.item_rest is not None
    ]

    def paint(axes: Axes) -> None:
        axes.axhline(0, color=LINE, linewidth=1)
        for number, share, rest in placed:
            axes.plot(100 * (share or 0.0), rest, "o", color=ACCENT, markersize=5)
            axes.annotate(
                f"{number}", (100 * (share or 0.0), rest or 0.0), (4, 4), textcoords="offset points"
            )
        lowest = min([0.0, *(rest or 0.0 for _, _, rest in placed)])
        axes.set(xlabel="mean share in %", ylabel="item–rest", xlim=(-2, 105))
        axes.set_ylim(bottom=lowest - 0.08)  # room for a point and its number

    below = [f"{number}" for number, _, rest in placed if rest is not None and rest < 0]
    summary = (
        f"Difficulty and discrimination of {count_noun(len(placed), 'item')} by their number in the table"
    )
    return draw(name, f"{summary}; below 0: {', '.join(below) or 'none'}.", paint)


def curve_plot(name: str, model: FittedModel, index: int) -> Markup:
    """Return one item's characteristic curve, with observed shares of students of about equal ability."""
    theta = np.linspace(-_REACH, _REACH, 81)
    share = model.fit.share(theta)[index]
    points = model.points[index]
    item = model.fit.items[index]

    def paint(axes: Axes) -> None:
        axes.plot(theta, 100 * share, color=ACCENT)
        axes.plot([p.theta for p in points], [100 * p.share for p in points], "o", color=INK, markersize=5)
        axes.set(xlabel="ability", ylabel="right in %", xlim=(-_REACH, _REACH), ylim=(-3, 103))

    observed = "; ".join(f"{p.theta:.1f}: {percent(p.share, 0)}" for p in points)
    where = "" if item.difficulty is None else f", half at ability {item.difficulty:.1f}"
    summary = f"Curve of {clean_line(item.item)}: slope {item.slope:.2f}{where}."
    return draw(name, f"{summary} Observed share by ability: {observed}.", paint, height=210)


def information_plot(name: str, model: FittedModel) -> Markup:
    """Return the test's information, and the standard error that follows from it."""
    theta = np.linspace(-_REACH, _REACH, 81)
    information = model.fit.information(theta).sum(axis=0)
    error = 1 / np.sqrt(np.maximum(information, 1e-12))

    def paint(axes: Axes) -> None:
        axes.plot(theta, information, color=ACCENT, label="information")
        is_drawn = error <= 3  # farther out it grows without bound and would flatten the rest
        axes.plot(theta[is_drawn], error[is_drawn], color=OTHER, linestyle="--", label="standard error")
        axes.set(xlabel="ability", xlim=(-_REACH, _REACH))
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, labelcolor=SOFT)

    top = int(information.argmax())
    summary = f"The test is most informative at ability {theta[top]:.1f}: information {information[top]:.2f}"
    return draw(name, f"{summary}, standard error {error[top]:.2f}.", paint)


def variants_plot(name: str, family: DrawnItem) -> Markup:
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

    summary = "; ".join(f"{number}: {percent(row.share, 0)}" for number, row in enumerate(rows, start=1))
    # taller with more variants, so that their lines stay apart
    return draw(name, f"Right answers by variant. {summary}.", paint, height=max(110, 60 + 18 * len(rows)))
