"""A scanned page laid straight: its code says which page it is, its black squares where everything on it is.

The codes give the pose roughly, whatever way round the page lies; the black squares and the printed full
bubbles at its edges give it exactly, also where a skew cuts the corners off. Nothing is read from a page
whose marks don't lie where the layout puts them: better a page for a person than a wrong mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt
import zxingcpp

from engine.paper.page_codes import PageCode
from engine.paper.sheet_layout import CODE_SIZE, MARK_SIZE, SheetLayout, SheetPage

GreyImage: TypeAlias = npt.NDArray[np.uint8]
Points: TypeAlias = npt.NDArray[np.float64]

PIXELS_PER_MM = 8.0
"""Of a straightened page: more than the 5.9 of a scan at 150 dpi, so that straightening loses nothing."""
# Paper that is fed unevenly moves the marks against each other; farther than this, in mm, something else was
# taken for one.
_MOST_OFF = 0.9
# A mark is looked for this far, in mm, from where the codes say that it is.
_REACH = 6.0
_LEAST_MARKS = 5
_QR = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
# With fewer, a map with perspective would follow their errors.
_FOR_PERSPECTIVE = 8
_GRID = (40, 56)
# Grey levels between paper and print where a mark is looked for.
_LEAST_STEP = 30


@dataclass(frozen=True, slots=True)
class FoundCode:
    """A page's code in a scan: what it says, and its corners in pixels, upper left first, clockwise."""

    code: PageCode
    corners: Points


class UnreadablePageError(Exception):
    """A page that can't be laid straight; says why."""


def find_codes(image: GreyImage) -> list[FoundCode]:
    """Return the codes of ours on a page, in whatever position they lie.

    Parameters
    ----------
    image : array of uint8, shape (rows, columns)
    """
    for candidate, factor in _renderings(image):
        codes = []
        for barcode in zxingcpp.read_barcodes(candidate, formats=_QR):
            code = PageCode.parse(barcode.text) if barcode.valid else None
            if code is not None:
                place = barcode.position
                ends = (place.top_left, place.top_right, place.bottom_right, place.bottom_left)
                corners = np.array([(end.x, end.y) for end in ends], dtype=np.float64) / factor
                codes.append(FoundCode(code, corners))
        if codes:
            return codes
    return []


def _renderings(image: GreyImage) -> Any:
    """Yield a page as it is, then in ways that help where dirt, darkness or few pixels hide its code."""
    yield image, 1.0
    soft = cv2.GaussianBlur(image, (0, 0), 1.0)
    yield cv2.convertScaleAbs(soft, alpha=255.0 / max(1, int(soft.max()))), 1.0
    if max(image.shape) < 3000:
        yield cv2.resize(image, None, fx=2.0, fy=2.0, interpolation=cv2.INTER_CUBIC), 2.0
    yield cv2.adaptiveThreshold(image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 51, 15), 1.0


def straighten(
    image: GreyImage, codes: Sequence[FoundCode], layout: SheetLayout, page: SheetPage
) -> GreyImage:
    """Return the page upright, :data:`PIXELS_PER_MM` to a millimetre.

    Parameters
    ----------
    image : array of uint8, shape (rows, columns)
    codes : sequence of FoundCode
        Of this page, at least one.
    layout, page
        Where its squares and discs are.

    Raises
    ------
    UnreadablePageError
        Too few of them lie where they must.
    """
    # Some scanners and files have black for white; codes are found in both.
    for positive in (image, np.asarray(cv2.bitwise_not(image), dtype=np.uint8)):
        registration = _best_registration(positive, codes, layout, page)
        if registration is not None:
            return _remapped(positive, registration, layout)
    # A code is read from its mirror image as well, and says nothing of that.
    mirrored = np.asarray(cv2.flip(image, 1), dtype=np.uint8)
    if _best_registration(mirrored, find_codes(mirrored), layout, page) is not None:
        raise UnreadablePageError("it is mirrored: scan the page itself")
    raise UnreadablePageError(
        "too few of the black squares and discs at its edges can be seen where they belong: the page is "
        "cut off, folded or covered"
    )


def _best_registration(
    image: GreyImage, codes: Sequence[FoundCode], layout: SheetLayout, page: SheetPage
) -> _Registration | None:
    best: _Registration | None = None
    for pose in _poses(codes, page) if codes else ():
        registration = _registered(_find_marks(image, pose, layout, page), layout)
        if registration is not None and (best is None or len(registration.seen) > len(best.seen)):
            best = registration
    return best


def _poses(codes: Sequence[FoundCode], page: SheetPage) -> list[Points]:
    """Return maps from mm to pixels, shape (2, 3), one for each way in which the codes fit."""
    squares = [
        np.array([(x, y), (x + CODE_SIZE, y), (x + CODE_SIZE, y + CODE_SIZE), (x, y + CODE_SIZE)])
        for x, y in page.codes
    ]
    # Both codes of a page say the same: which is which shows in the pose alone.
    both: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((0, 1), (0, 1)), ((0, 1), (1, 0))]
    pairs = both if len(codes) >= 2 else [((0,), (0,)), ((0,), (1,))]
    poses = []
    for ours, theirs in pairs:
        printed = np.concatenate([squares[i] for i in theirs])
        seen = np.concatenate([codes[i].corners for i in ours])
        estimate: Any = cv2.estimateAffinePartial2D(printed, seen, method=cv2.LMEDS)[0]
        if estimate is None:
            continue
        pose = np.asarray(estimate, dtype=np.float64)
        off = np.abs(printed @ pose[:, :2].T + pose[:, 2] - seen).max() / np.linalg.norm(pose[:, 0])
        # Two codes the wrong way round don't fit both; a single one fits anywhere and the squares decide.
        if off < 4.0:
            poses.append(pose)
    return poses


def _find_marks(
    image: GreyImage, pose: Points, layout: SheetLayout, page: SheetPage
) -> list[tuple[float, float, float, float]]:
    """Return the squares and discs that can be seen: their place in mm, and their centre in pixels."""
    scale = float(np.linalg.norm(pose[:, 0]))
    discs = [(ref.x, ref.y) for ref in page.references if ref.is_full]
    # A full reference is printed to the outer edge of a ring: a tenth of a millimetre more.
    shapes = [(MARK_SIZE**2, MARK_SIZE * 1.45)] * len(page.marks)
    shapes += [(np.pi * (layout.radius + 0.1) ** 2, layout.radius * 2.3)] * len(discs)
    marks = []
    for (x, y), (area, extent) in zip((*page.marks, *discs), shapes, strict=True):
        expected = pose[:, :2] @ np.array([x, y]) + pose[:, 2]
        centre = _blob_near(image, float(expected[0]), float(expected[1]), scale, area, extent)
        if centre is not None:
            marks.append((x, y, *centre))
    return marks


def _blob_near(
    image: GreyImage, x: float, y: float, scale: float, area: float, extent: float
) -> tuple[float, float] | None:
    """Return the centre of the nearest black shape of this area (mm²), None without one."""
    reach = _REACH * scale
    left, top = max(0, int(x - reach)), max(0, int(y - reach))
    window = image[top : max(0, int(y + reach) + 1), left : max(0, int(x + reach) + 1)]
    if min(window.shape) < extent * scale / 2:
        return None
    paper, ink = np.percentile(window, 90), np.percentile(window, 2)
    if paper - ink < _LEAST_STEP:
        return None
    dark = (window < (paper + ink) / 2).astype(np.uint8)
    count, _, stats, centres = cv2.connectedComponentsWithStats(dark, connectivity=4)
    best: tuple[float, tuple[float, float]] | None = None
    for i in range(1, count):
        x0, y0, width, height, pixels = (float(v) for v in stats[i])
        # Of our size at any angle: not a letter, nor the shadow at the edge of a page.
        if not 0.7 < pixels / (area * scale**2) < 1.35 or max(width, height) > extent * scale * 1.1:
            continue
        is_cut = x0 == 0 or y0 == 0 or x0 + width == window.shape[1] or y0 + height == window.shape[0]
        if is_cut or pixels / (width * height) < 0.6:
            continue
        centre = (left + float(centres[i, 0]), top + float(centres[i, 1]))
        off = float(np.hypot(centre[0] - x, centre[1] - y))
        if best is None or off < best[0]:
            best = (off, centre)
    return None if best is None else best[1]


@dataclass(frozen=True, slots=True)
class _Registration:
    """The map from mm to pixels, shape (3, 3), and the marks that agree with it, in mm and in pixels."""

    matrix: Points
    printed: Points
    seen: Points


def _registered(
    marks: Sequence[tuple[float, float, float, float]], layout: SheetLayout
) -> _Registration | None:
    if len(marks) < _LEAST_MARKS:
        return None
    table = np.array(marks, dtype=np.float64)
    printed, seen = np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:])
    # Without the few that something else was taken for.
    fit: Any = cv2.estimateAffine2D(seen, printed, method=cv2.RANSAC, ransacReprojThreshold=_MOST_OFF)
    rough, inliers = fit
    if rough is None:
        return None
    agreeing = inliers.ravel().astype(bool)
    printed, seen = printed[agreeing], seen[agreeing]
    if not _pin_down(printed, layout):
        return None
    if len(printed) >= _FOR_PERSPECTIVE:
        matrix: Any = cv2.findHomography(printed, seen)[0]
        if matrix is not None:
            return _Registration(np.asarray(matrix, dtype=np.float64), printed, seen)
    design = np.column_stack([printed, np.ones(len(printed))])
    solution, *_ = np.linalg.lstsq(design, seen, rcond=None)
    return _Registration(np.vstack([solution.T, [0.0, 0.0, 1.0]]), printed, seen)


def _pin_down(printed: Points, layout: SheetLayout) -> bool:
    """Return whether marks hold a page in place: two on each side apart, and along most of its height."""
    width, height = layout.size
    sides = [printed[printed[:, 0] < width / 2, 1], printed[printed[:, 0] >= width / 2, 1]]
    spans = [float(np.ptp(side)) if len(side) > 1 else 0.0 for side in sides]
    return (
        len(printed) >= _LEAST_MARKS
        and min(spans) > 0.15 * height
        and float(np.ptp(printed[:, 1])) > 0.5 * height
    )


def _remapped(image: GreyImage, registration: _Registration, layout: SheetLayout) -> GreyImage:
    width, height = (round(side * PIXELS_PER_MM) for side in layout.size)
    # The map is smooth: computed every few millimetres and interpolated between. OpenCV takes each value for
    # the middle of its cell; beyond the outermost middles, in the white margin, the map is flat.
    columns = (np.arange(_GRID[0]) + 0.5) * width / _GRID[0] - 0.5
    rows = (np.arange(_GRID[1]) + 0.5) * height / _GRID[1] - 0.5
    grid = np.stack(np.meshgrid(columns, rows), axis=-1) / PIXELS_PER_MM
    sampled = _mapped(registration.matrix, grid.reshape(-1, 2)).reshape(grid.shape)
    sampled += _unevenness(registration, layout, grid)
    maps = [
        cv2.resize(sampled[..., i].astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
        for i in (0, 1)
    ]
    straight = cv2.remap(image, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(straight, dtype=np.uint8)


def _mapped(matrix: Points, points: Points) -> Points:
    ends = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return np.asarray(ends[:, :2] / ends[:, 2:], dtype=np.float64)


def _unevenness(registration: _Registration, layout: SheetLayout, grid: Points) -> Points:
    """Return in pixels what rollers that slip add to the map: it changes along the height of a page."""
    rest = registration.seen - _mapped(registration.matrix, registration.printed)
    middle = layout.size[0] / 2
    sides = []
    for is_left in (True, False):
        chosen = (registration.printed[:, 0] < middle) == is_left
        order = np.argsort(registration.printed[chosen, 1])
        heights = registration.printed[chosen, 1][order]
        sides.append([np.interp(grid[..., 1], heights, rest[chosen][order, i]) for i in (0, 1)])
    share = (grid[..., 0] / layout.size[0])[..., None]
    left, right = (np.stack(side, axis=-1) for side in sides)
    return np.asarray(left * (1 - share) + right * share, dtype=np.float64)
