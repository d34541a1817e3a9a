"""Bubbles of a straightened page: empty, filled, or for a person to decide.

How dark paper and print are in this scan, and here on the page, is measured at bubbles that were printed
empty and full. No bubble is empty or filled by comparison with others: a row in which all are empty is empty,
and one in which all are filled is filled. Only doubt comes from a comparison: a bubble far lighter than what
the same hand filled elsewhere on the page may be what a poor eraser left, and is for a person.

A change is made by erasing. A bubble that is crossed out, filled or not, is never decided here: strokes that
leave it on two opposite sides, or that fill it in part, make it *unsure*, and so does a cross inside it.

Two shades of grey are printed on each page, too. Where the darker one, as light as a hard pencil, would be
read as empty, a scan loses marks and nobody can see which: the page is *faint*, and its empty fields are for
a person. Where the lighter one, as dark as what a good eraser leaves, would be read as filled, nothing is
read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from engine.paper.sheet_layout import (
    LIGHT_TINT,
    ReferenceBubble,
    SheetBox,
    SheetBubble,
    SheetLayout,
    SheetPage,
)
from engine.scanning.page_straightening import PIXELS_PER_MM, GreyImage, UnreadablePageError

# Shares of the distance from paper (0) to print (1).
# The lightest stroke that counts as ink: noise and what a rubber leaves stay below, a hard pencil is above.
_INK = 0.16
# Mean darkness of a bubble. Below the first, with hardly any ink, it is empty; above the second, with ink on
# most of it, it is filled; everything else is for a person. The gap is wide on purpose.
_EMPTY_MEAN, _EMPTY_INK = 0.07, 0.07
_FILLED_MEAN, _FILLED_INK = 0.22, 0.75
# A hand presses about alike on one page: of the means of its fills none is below 0.6 of their median. What a
# poor eraser leaves has at most a quarter. With fewer fills than this, a page has no usual darkness.
_REMAINS_SHARE, _LEAST_FILLS = 0.4, 4
# In two levels a light mark is left as specks: an empty bubble has none but dust.
_EMPTY_SPECKS = 0.02
# An empty bubble shows its ring, as those of the references do: what lies over a bubble must not pass for
# paper. In eighths, of which one may be worn; under the last, no ring of this scan can be seen.
_RING_PARTS, _RING_SHARE, _LEAST_RING = 8, 0.35, 0.1
# Half of its own darkness is where the edge of a stroke lies, however much a scanner blurs it.
_OWN_SHARE = 0.5
# A stroke of this length through a bubble is no dust: share of the ink in one connected piece.
_EMPTY_PIECE = 0.05
# Grey levels between the references; a fainter print or a blacker scan can't tell pencil from paper.
_LEAST_CONTRAST = 45.0
# The inner disc, free of the printed ring; the band around it in which a crossing stroke shows, and the one
# beyond for bubbles filled with a felt pen, whose ink fills the first band all around.
_INNER = 0.76
_BANDS = ((1.24, 1.5), (1.54, 1.72))
_SECTORS = 12
# A cross inks four sectors of a band or some more; with this many the pen went over the edge all around.
_ALL_AROUND = 8
# Share of a sector that ink covers where a stroke crosses it.
_STROKE = 0.4
# A cross that stays inside a thick pen's bubble covers most of it, and leaves four white corners at its rim.
# Pencils that go to and fro leave more and narrower ones. The likeness to a cross (a correlation) of the disc
# within this radius; below the spread there is too little white in it to have a shape.
_CROSS_DISC, _CROSS_LIKENESS, _LEAST_SPREAD = 0.88, 0.71, 0.12
# Of that disc, what may be white in a filled bubble: a small cross, or a tick, leaves more.
_MOST_WHITE = 0.28
# A ring is looked for this far from its place, in pixels, with its neighbours.
_SHIFT = 4


class BubbleState(StrEnum):
    """What a bubble shows."""

    EMPTY = "empty"
    FILLED = "filled"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class BubbleReading:
    """One bubble with its state, its mean darkness and the share of it that ink covers."""

    bubble: SheetBubble
    state: BubbleState
    mean: float
    ink: float


@dataclass(frozen=True, slots=True)
class PageReading:
    """What stands on one page: all its bubbles, and the boxes in which something is written.

    ``is_faint`` says that marks as light as a hard pencil's would be missing in this scan.
    """

    bubbles: tuple[BubbleReading, ...]
    written: tuple[SheetBox, ...]
    is_faint: bool = False


def read_page(straight: GreyImage, layout: SheetLayout, page: SheetPage) -> PageReading:
    """Read all bubbles and boxes of a page.

    Raises
    ------
    UnreadablePageError
        Its printed references can't be told apart, or it is so dark that what was erased looks filled.
    """
    has_two_levels = _has_two_levels(straight, page, layout.radius)
    darkness = _darkness(straight, page.references, layout.radius)
    is_faint = _is_faint(straight, darkness, page, layout.radius, has_two_levels)
    least_ring = _least_ring(darkness, page, layout.radius)
    # On a faint page what is empty is for a person anyway.
    if not least_ring and not is_faint:
        raise UnreadablePageError(
            "the rings of its bubbles can't be seen: scan it at 150 dpi or more, in grey"
        )
    shifts = _shifts(straight, page.bubbles, layout.radius)
    bubbles = tuple(
        _read_bubble(
            darkness,
            bubble,
            layout.radius,
            shifts[bubble.question, bubble.entry],
            most_specks=_EMPTY_SPECKS if has_two_levels else 1.0,
            least_ring=least_ring,
        )
        for bubble in page.bubbles
    )
    written = tuple(box for box in page.boxes if _is_written(darkness, box))
    return PageReading(_doubting_remains(bubbles), written, is_faint)


def _doubting_remains(bubbles: tuple[BubbleReading, ...]) -> tuple[BubbleReading, ...]:
    """Return the bubbles, with those unsure that may be filled only by what an eraser left."""
    fills = [item.mean for item in bubbles if item.state is BubbleState.FILLED]
    if len(fills) < _LEAST_FILLS:
        return bubbles
    lightest = _REMAINS_SHARE * float(np.median(fills))
    return tuple(
        replace(item, state=BubbleState.UNSURE)
        if item.state is BubbleState.FILLED and item.mean < lightest
        else item
        for item in bubbles
    )


def _has_two_levels(straight: GreyImage, page: SheetPage, radius: float) -> bool:
    """Return whether print and paper are at the very ends: a scan in black and white, or nearly one."""
    inner = _masks(radius)[0]
    levels = {False: 255, True: 0}
    pure = [
        float((_patch(straight, ref.x, ref.y, radius)[inner] == levels[ref.is_full]).mean())
        for ref in page.references
    ]
    # Grey scans have noise in print, in paper, or in both.
    return bool(min(np.median(pure), np.median(pure[::2]), np.median(pure[1::2])) > 0.97)


def _is_faint(
    straight: GreyImage,
    darkness: npt.NDArray[np.float32],
    page: SheetPage,
    radius: float,
    has_two_levels: bool,
) -> bool:
    """Return whether light marks are lost in this scan, by what is left of the printed shades of grey."""
    if not page.tints:
        if has_two_levels:
            raise UnreadablePageError(
                "it is a scan in black and white, or of such contrast that light marks are lost: scan in grey"
            )
        return False
    inner = _masks(radius)[0]
    patches = [_patch(straight, tint.x, tint.y, radius)[inner].astype(float) for tint in page.tints]
    # A grey that is the same in every pixel was never on paper: the file for the printer, not a scan of it.
    if has_two_levels and all(0 < patch.mean() < 255 and patch.std() < 1.0 for patch in patches):
        raise UnreadablePageError(
            "it is a page of the file for the printer: scan the sheet that was filled in"
        )
    means = {
        is_light: [
            float(_patch(darkness, tint.x, tint.y, radius)[inner].mean())
            for tint in page.tints
            if (tint.shade >= LIGHT_TINT) is is_light
        ]
        for is_light in (True, False)
    }
    if float(np.median(means[False])) >= _FILLED_MEAN:
        raise UnreadablePageError(
            "it is scanned so dark that what was erased may look like a mark: scan it lighter, or in grey"
        )
    # All but one or two of them, which may be torn or stained: light falls unevenly.
    return float(np.percentile(means[True], 25)) < _EMPTY_MEAN


def _darkness(
    straight: GreyImage, references: Sequence[ReferenceBubble], radius: float
) -> npt.NDArray[np.float32]:
    """Return for each pixel how dark it is between paper (0) and print (1) at its place."""
    height, width = straight.shape
    grids = []
    for is_full in (False, True):
        chosen = [ref for ref in references if ref.is_full is is_full]
        levels = np.array([_level(straight, ref, radius) for ref in chosen])
        # One that is torn, stained or under a staple differs from all others; they outvote it.
        middle = float(np.median(levels))
        spread = max(12.0, 3.0 * float(np.median(np.abs(levels - middle))))
        trusted = [
            (ref, level) for ref, level in zip(chosen, levels, strict=True) if abs(level - middle) <= spread
        ]
        grids.append(_interpolated(trusted, width, height))
    paper, ink = grids
    contrast = paper - ink
    if float(contrast.min()) < _LEAST_CONTRAST:
        raise UnreadablePageError(
            "the bubbles that were printed full are hardly darker than the empty ones: the scan is too "
            "light, too dark, or covered at its edges"
        )
    small = cv2.GaussianBlur(straight, (0, 0), 0.8).astype(np.float32)
    return np.asarray((paper - small) / contrast, dtype=np.float32)


def _level(straight: GreyImage, ref: ReferenceBubble, radius: float) -> float:
    disc = _patch(straight, ref.x, ref.y, radius)[_masks(radius)[0]]
    return float(np.median(disc))


def _interpolated(
    trusted: Sequence[tuple[ReferenceBubble, float]], width: int, height: int
) -> npt.NDArray[np.float32]:
    """Return levels between references: along both edges by height, and straight between left and right."""
    rows = np.arange(height) / PIXELS_PER_MM
    middle = width / PIXELS_PER_MM / 2
    sides = []
    for is_left in (True, False):
        side = sorted((ref.y, level) for ref, level in trusted if (ref.x < middle) is is_left)
        side = side or sorted((ref.y, level) for ref, level in trusted)
        sides.append(np.interp(rows, [y for y, _ in side], [level for _, level in side]))
    share = np.linspace(0.0, 1.0, width)[None, :]
    return np.asarray(sides[0][:, None] * (1 - share) + sides[1][:, None] * share, dtype=np.float32)


@lru_cache(maxsize=8)
def _masks(
    radius: float,
) -> tuple[npt.NDArray[np.bool_], tuple[npt.NDArray[np.int64], ...], npt.NDArray[np.bool_]]:
    """Return the inner disc, for each band the sector of each pixel (-1 elsewhere), and the printed ring."""
    size = _half(radius)
    y, x = np.mgrid[-size : size + 1, -size : size + 1].astype(float)
    distance = np.hypot(x, y) / (radius * PIXELS_PER_MM)
    sector = np.floor((np.arctan2(y, x) + np.pi) / (2 * np.pi) * _SECTORS).astype(int) % _SECTORS
    bands = tuple(np.where((distance >= low) & (distance <= high), sector, -1) for low, high in _BANDS)
    ring = np.abs(distance - 1.0) * radius <= 0.2
    return distance <= _INNER, bands, ring


@lru_cache(maxsize=8)
def _ring_parts(radius: float) -> npt.NDArray[np.int64]:
    size = _half(radius)
    y, x = np.mgrid[-size : size + 1, -size : size + 1].astype(float)
    part = np.floor((np.arctan2(y, x) + np.pi) / (2 * np.pi) * _RING_PARTS).astype(int) % _RING_PARTS
    return np.where(_masks(radius)[2], part, -1)


def _ring(patch: npt.NDArray[np.float32], radius: float) -> float:
    """Return how dark a bubble's ring is, at the faintest but one of its parts."""
    parts = _ring_parts(radius)
    return float(np.sort([patch[parts == part].mean() for part in range(_RING_PARTS)])[1])


def _least_ring(darkness: npt.NDArray[np.float32], page: SheetPage, radius: float) -> float:
    """Return how dark the ring of an empty bubble is at least on this page, 0 if none can be seen."""
    rings = [_ring(_patch(darkness, r.x, r.y, radius), radius) for r in page.references if not r.is_full]
    usual = float(np.median(rings))
    return _RING_SHARE * usual if usual > _LEAST_RING else 0.0


def _half(radius: float) -> int:
    return int(radius * PIXELS_PER_MM * _BANDS[-1][1]) + 1


def _patch(image: npt.NDArray, x: float, y: float, radius: float) -> npt.NDArray:  # type: ignore[type-arg]
    size = _half(radius)
    column, row = round(x * PIXELS_PER_MM), round(y * PIXELS_PER_MM)
    return image[row - size : row + size + 1, column - size : column + size + 1]


def _shifts(
    straight: GreyImage, bubbles: Sequence[SheetBubble], radius: float
) -> dict[tuple[int, int], tuple[float, float]]:
    """Return how far, in mm, the rings of each entry lie from their places: paper is fed unevenly."""
    groups: dict[tuple[int, int], list[SheetBubble]] = {}
    for bubble in bubbles:
        groups.setdefault((bubble.question, bubble.entry), []).append(bubble)
    ring = _masks(radius)[2].astype(np.float32)
    ring /= ring.sum()
    margin = _half(radius) + _SHIFT
    shifts = {}
    for group, members in groups.items():
        total = np.zeros((2 * _SHIFT + 1, 2 * _SHIFT + 1), dtype=np.float32)
        for bubble in members:
            column, row = round(bubble.x * PIXELS_PER_MM), round(bubble.y * PIXELS_PER_MM)
            window = straight[row - margin : row + margin + 1, column - margin : column + margin + 1]
            # Each bubble has one vote, however black: a thick mark must not pull the whole row.
            dark = np.float32(window.max()) - window.astype(np.float32)
            total += cv2.matchTemplate(dark / max(1.0, float(dark.max())), ring, cv2.TM_CCORR)
        down, across = divmod(int(np.argmax(total)), total.shape[1])
        shifts[group] = ((across - _SHIFT) / PIXELS_PER_MM, (down - _SHIFT) / PIXELS_PER_MM)
    return shifts


def _read_bubble(
    darkness: npt.NDArray[np.float32],
    bubble: SheetBubble,
    radius: float,
    shift: tuple[float, float],
    *,
    most_specks: float = 1.0,
    least_ring: float = 0.0,
) -> BubbleReading:
    patch = _patch(darkness, bubble.x + shift[0], bubble.y + shift[1], radius)
    inner, bands, _ = _masks(radius)
    inside = patch[inner]
    mean = float(inside.mean())
    # Of a dark mark only what is about as dark itself counts: a cross leaves white between its arms, however
    # thick the pen, and blur must not close it.
    ink = float((inside > max(_INK, _OWN_SHARE * float(np.percentile(inside, 90)))).mean())
    state = _state(patch, inner, bands, mean, ink)
    if state is BubbleState.EMPTY:
        is_unsure = mean > most_specks or _ring(patch, radius) < least_ring
    else:
        is_unsure = state is BubbleState.FILLED and _is_cross(patch, radius)
    state = BubbleState.UNSURE if is_unsure else state
    return BubbleReading(bubble, state, round(mean, 4), round(ink, 4))


def _state(
    patch: npt.NDArray[np.float32],
    inner: npt.NDArray[np.bool_],
    bands: Sequence[npt.NDArray[np.int64]],
    mean: float,
    ink: float,
) -> BubbleState:
    if mean < _EMPTY_MEAN and ink < _EMPTY_INK and _largest_piece(patch, inner) < _EMPTY_PIECE:
        return BubbleState.EMPTY
    if mean < _FILLED_MEAN or ink < _FILLED_INK:
        return BubbleState.UNSURE
    for sectors in bands:
        stroked = [float((patch[sectors == s] > _INK).mean()) > _STROKE for s in range(_SECTORS)]
        if sum(stroked) < _ALL_AROUND:
            return BubbleState.UNSURE if _is_crossed(stroked) else BubbleState.FILLED
    return BubbleState.UNSURE


def _is_crossed(stroked: Sequence[bool]) -> bool:
    """Return whether strokes leave a bubble on opposite sides; one overlong stroke leaves it on one."""
    distances = (_SECTORS // 2 - 1, _SECTORS // 2, _SECTORS // 2 + 1)
    return any(
        stroked[s] and stroked[(s + distance) % _SECTORS] for s in range(_SECTORS) for distance in distances
    )


def _is_cross(patch: npt.NDArray[np.float32], radius: float) -> bool:
    """Return whether what covers most of a bubble is two strokes of a thick pen and no filling."""
    disc, crosses = _crosses(radius)
    relative = patch[disc] / max(float(np.percentile(patch[_masks(radius)[0]], 90)), 1e-6)
    shares = np.minimum(relative, 1.0)
    if float((shares < _OWN_SHARE).mean()) > _MOST_WHITE:
        return True
    if float(shares.std()) < _LEAST_SPREAD:
        return False
    varied = shares - shares.mean()
    return float((crosses @ (varied / np.linalg.norm(varied))).max()) > _CROSS_LIKENESS


@lru_cache(maxsize=8)
def _crosses(radius: float) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
    """Return a disc, and what crosses of several pens, angles and places look like in it, one a row."""
    size = _half(radius)
    y, x = np.mgrid[-size : size + 1, -size : size + 1].astype(np.float32) / (radius * PIXELS_PER_MM)
    disc = np.hypot(x, y) <= _CROSS_DISC
    x, y = x[disc], y[disc]

    def stroke(width: float, angle: float, left: float, top: float) -> npt.NDArray[np.float32]:
        across = np.abs((y - top) * math.cos(angle) - (x - left) * math.sin(angle))
        # Its edge is as soft as a scan's.
        return np.asarray(np.clip((width / 2 - across) / 0.06 + 0.5, 0.0, 1.0), dtype=np.float32)

    # Pens of 1.0 to 1.6 mm in bubbles of the usual size; thinner ones don't cover half of it.
    widths, steps = (0.53, 0.68, 0.84), (-0.1, 0.0, 0.1)
    angles, openings = np.radians(np.arange(0, 180, 15)), np.radians((60, 75, 90))
    rows = np.array(
        [
            np.maximum(stroke(width, angle, left, top), stroke(width, angle + opening, left, top))
            for width, angle, opening, left, top in itertools.product(widths, angles, openings, steps, steps)
        ]
    )
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return disc, rows.astype(np.float32)


def _largest_piece(patch: npt.NDArray[np.float32], inner: npt.NDArray[np.bool_]) -> float:
    dark = ((patch > _INK) & inner).astype(np.uint8)
    if not dark.any():
        return 0.0
    _, _, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    return float(stats[1:, 4].max()) / float(inner.sum())


# What is written in a box is a stroke of some millimetres; its printed frame is left out.
_FRAME = 0.9
_LEAST_WRITTEN = 1.2
# An answer box counts as left empty only if no stroke can be hidden in it: averaged over the width of a
# stroke, noise disappears, and a line that the hardest pencil drew with hardly any pressure is still there.
_FAINT_WIDTH = 0.25
_FAINT = 0.06


def _is_written(darkness: npt.NDArray[np.float32], box: SheetBox) -> bool:
    left, top = (round((start + _FRAME) * PIXELS_PER_MM) for start in (box.x, box.y))
    right = round((box.x + box.width - _FRAME) * PIXELS_PER_MM)
    bottom = round((box.y + box.height - _FRAME) * PIXELS_PER_MM)
    inside = darkness[top:bottom, left:right]
    if box.column < 0:
        soft = cv2.GaussianBlur(inside, (0, 0), _FAINT_WIDTH * PIXELS_PER_MM)
        dark = (soft > _FAINT).astype(np.uint8)
    else:
        dark = (inside > _INK).astype(np.uint8)
    if not dark.any():
        return False
    _, _, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    extents = np.maximum(stats[1:, 2], stats[1:, 3]) / PIXELS_PER_MM
    return bool(extents.max() >= _LEAST_WRITTEN)
