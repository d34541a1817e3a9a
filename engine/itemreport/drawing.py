"""Figures as SVG that stands in a page: no style attributes, no clashing ids, the page's own colours.

The page's policy forbids style attributes, and several figures share one document, so what matplotlib writes
is taken apart: styles become presentation attributes, ids get the figure's own prefix or go, and colours that
only stand for a role become the style sheet's variables, which follow dark mode and paper.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET  # reads only what matplotlib wrote
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ACCENT", "INK", "LINE", "OTHER", "SOFT", "draw"]

INK, SOFT, LINE, ACCENT, OTHER = "#010101", "#020202", "#030303", "#040404", "#050505"
_ROLES = {INK: "--ink", SOFT: "--soft", LINE: "--line", ACCENT: "--link", OTHER: "--partial"}

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "softmark",
    "text.parse_math": False,  # an item called $x$ is no formula
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
_KEPT = frozenset(
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


def _fitted(drawn: str, name: str, alternative: str) -> Markup:
    root = ET.fromstring(drawn)
    box = root.get("viewBox", "0 0 0 0")
    for element in list(root.iter()):
        for child in [*element]:
            if child.tag in (f"{_SVG}style", f"{_SVG}metadata"):
                element.remove(child)
    used = {reference for element in root.iter() for reference in _references(element)}
    for element in root.iter():
        _plain(element, name, used)
    _, _, width, height = box.split()
    root.attrib.clear()
    root.attrib.update(
        {"viewBox": box, "width": width, "height": height, "role": "img", "aria-label": alternative}
        | {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    )
    return Markup(ET.tostring(root, encoding="unicode"))


def _plain(element: ET.Element, name: str, used: set[str]) -> None:
    """Change one element's attributes in place."""
    own = element.attrib.pop("id", None)
    if own in used:
        element.set("id", f"{name}-{own}")
    target = element.attrib.pop(_HREF, None)
    if target is not None:
        element.set("href", f"#{name}-{target[1:]}")
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = (piece.strip() for piece in declaration.partition(":"))
        if key in _KEPT:
            element.set(key, value)
    for key, value in element.attrib.items():
        if value in _ROLES:
            element.set(key, f"var({_ROLES[value]})")
        elif value.startswith("url(#"):
            element.set(key, f"url(#{name}-{value[5:]}")
        elif key == "d":
            element.set(key, " ".join(value.split()))
    element.tag = element.tag.removeprefix(_SVG)  # HTML knows what belongs to an <svg>
    if element.tag == "text":
        element.attrib.setdefault("fill", f"var({_ROLES[INK]})")
    # what only lays the source out
    if element.text is not None and not element.text.strip():
        element.text = None
    element.tail = None


def _references(element: ET.Element) -> Iterator[str]:
    for value in element.attrib.values():
        yield from re.findall(r"url\(#([^()]++)\)", value)
    if (target := element.get(_HREF)) is not None:
        yield target[1:]
