"""A tree as SVG, growing to the right: boxes for hypotheses, lines for words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from engine.variants.pictures.layout import figure, units

__all__ = ["Leaf", "tree_figure"]

_BOX_HEIGHT = 38
_ROW = 46
_START = "start"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One box of a tree; `words` tell where it hangs, and the last of them stands in it."""

    words: tuple[str, ...]
    on_line: str
    in_box: str
    kept: bool
    result: bool
    title: str


def tree_figure(leaves: Sequence[Leaf], spoken: str, caption: str) -> str:
    """Return the figure of a tree.

    Parameters
    ----------
    leaves : sequence of Leaf
        Each before those that continue it.
    spoken, caption : str
        As in :func:`engine.variants.pictures.layout.figure`.
    """
    box = max(units([f"✓ {leaf.words[-1]}" for leaf in leaves]), units([leaf.in_box for leaf in leaves])) + 12
    line = units([leaf.on_line for leaf in leaves]) + 22
    start = units([_START]) + 8
    heights = _heights(leaves)
    root = heights[()]
    parts = [f'<text x="{start / 2:g}" y="{root + 5:g}">{_START}</text>']
    for leaf in leaves:
        left = start + (len(leaf.words) - 1) * (box + line) + line
        parts.append(_group(leaf, left, box, line, heights))
    depth = max(len(leaf.words) for leaf in leaves)
    width = start + depth * (box + line) + 2
    return figure(width, max(heights.values()) + _ROW / 2, spoken, caption, "".join(parts))


def _heights(leaves: Sequence[Leaf]) -> dict[tuple[str, ...], float]:
    """Return the middle of each box: ends stand one below the other, the rest beside what continues it."""
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {(): []}
    for leaf in leaves:
        children[leaf.words] = []
        children[leaf.words[:-1]].append(leaf.words)
    heights: dict[tuple[str, ...], float] = {}
    ends = 0
    # a hypothesis stands before its children, and before its next sibling stand all of them: so ends are met
    # in the order in which they are drawn
    for leaf in leaves:
        if not children[leaf.words]:
            heights[leaf.words] = ends * _ROW + _ROW / 2
            ends += 1
    for words in reversed(children):
        if children[words]:
            beside = [heights[child] for child in children[words]]
            heights[words] = (beside[0] + beside[-1]) / 2
    return heights


def _group(leaf: Leaf, left: float, box: float, line: float, heights: dict[tuple[str, ...], float]) -> str:
    """Return the line to a box, the box, and what stands on them."""
    at, start = heights[leaf.words], heights[leaf.words[:-1]]
    stroke = (
        'stroke-width="4"' if leaf.result else 'stroke-width="2"' if leaf.kept else 'stroke-dasharray="4 3"'
    )
    middle = left + box / 2
    mark = "✓" if leaf.kept else "✗"
    return (
        f"<g><title>{escape(leaf.title)}</title>"
        f'<g fill="none" stroke="currentColor" {stroke}>'
        f'<path d="M{left - line:g} {start:g}h8V{at:g}H{left:g}"/>'
        f'<rect x="{left:g}" y="{at - _BOX_HEIGHT / 2:g}" width="{box:g}" height="{_BOX_HEIGHT}" rx="4"/></g>'
        f'<text x="{left - 4:g}" y="{at - 5:g}" text-anchor="end">{escape(leaf.on_line)}</text>'
        f'<text x="{middle:g}" y="{at - 3:g}">{mark} {escape(leaf.words[-1])}</text>'
        f'<text x="{middle:g}" y="{at + 13:g}">{escape(leaf.in_box)}</text></g>'
    )
