"""A small matrix, a tree, and readers of the three forms that share no code with what writes them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import html5lib

from engine.model import DrawnValue, RenderedText
from engine.prose.stems import render_text

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = DrawnValue(
    (3, 4), ("0.05", "0.70", "0.15", "0.10", "0.6", "0.2", "0.1", "0.1", "0.4", "0.25", "0.35", "0")
)
SCORES = DrawnValue((2, 3), ("1.5", "-2", "0.25", "3", "0", "-0.5"))
TREE = DrawnValue(
    (4, 3), ("0.50", "0.40", "0.10", "0.35", "0.34", "0.31", "0.90", "0.06", "0.04", "0.2", "0.3", "0.5")
)
NAMES = {"A": WEIGHTS, "S": SCORES, "T": TREE, "b": 2}


def shown(template: str) -> RenderedText:
    return render_text("{{ " + template + " }}", NAMES)


class Figure:
    """A figure as a browser reads it: parsed by html5lib in strict mode, with no fault tolerated."""

    def __init__(self, html: str) -> None:
        page = f"<!DOCTYPE html><html><head><title>t</title></head><body>{html}</body></html>"
        document = html5lib.HTMLParser(strict=True).parse(page)
        self.root = ElementTree.fromstring(ElementTree.tostring(document))
        (self.figure,) = self.root.iter("{http://www.w3.org/1999/xhtml}figure")
        (self.svg,) = self.figure.iter(f"{SVG}svg")
        self.spoken = self.svg.attrib["aria-label"]

    @property
    def titles(self) -> list[str]:
        return [title.text or "" for title in self.svg.iter(f"{SVG}title")]

    @property
    def printed(self) -> list[str]:
        return ["".join(text.itertext()) for text in self.svg.iter(f"{SVG}text")]

    def elements(self, name: str) -> list[ElementTree.Element]:
        return list(self.svg.iter(f"{SVG}{name}"))


def numbers(text: str) -> list[float]:
    return [float(found.replace("−", "-")) for found in re.findall(r"(?<![\w.])[-−]?\d+(?:\.\d+)?", text)]


def figure(template: str) -> Figure:
    return Figure(shown(template).html)
