"""One scanned page: whose page of which exam it is, what stands on it, and pictures of what is unclear."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from engine.model import Part
from engine.paper.page_codes import PageCode
from engine.paper.print_record import ExamCopy, PrintedExams
from engine.paper.sheet_layout import SheetLayout, SheetPage
from engine.paper.sheet_questions import SheetFieldKind, SheetQuestion
from engine.scanning.bubble_reading import BubbleState, PageReading, read_page
from engine.scanning.field_texts import field_text, marks_in_field
from engine.scanning.page_files import PageSource, ScanImage, ScanProblem
from engine.scanning.page_straightening import (
    PIXELS_PER_MM,
    GreyImage,
    UnreadablePageError,
    find_codes,
    straighten,
)
from engine.store.scans import ScannedPage
from engine.text.words import join_words

# A page on which grey levels differ less than this has nothing on it: the back of a sheet.
_BLANK_SPREAD = 14.0
# Grey levels that no paper has, however dark the scan; a page that came out black isn't passed over as blank.
_BLACK = 50.0
_PICTURE_SCALE = 0.75
_MARGIN = 4.0
# In mm: more than lies between two bubbles of large print, less than between a field and the one below it.
_STRIP_GAP = 6.0
# In mm: a label may be wider than its bubbles.
_LEAST_WIDTH = 36.0
_WHITE = (255, 255, 255)

# Left, top, right and bottom, in mm.
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class IgnoredPage:
    """A page that needs nothing: blank, or one of the questions."""

    source: PageSource
    reason: str


# The parts that a copy's fields ask, by question and part.
CopyParts = Callable[[str, ExamCopy], Mapping[tuple[int, str], Part]]


def read_scan(
    scan: ScanImage, exams: PrintedExams, parts: CopyParts, now: datetime
) -> ScannedPage | IgnoredPage | ScanProblem:
    """Return what stands on a page, or why nothing is taken from it.

    Parameters
    ----------
    scan : ScanImage
    exams : PrintedExams
    parts : callable
        ``parts(exam, copy)``: what the copy's fields ask; their readers say what a person must look at.
    now : datetime
    """
    source = scan.source
    seen = find_codes(scan.image)
    codes = {item.code for item in seen}
    if not codes:
        if _is_black(scan.image):
            return ScanProblem(source, "it is black all over: the scanner saw no paper")
        if _is_blank(scan.image):
            return IgnoredPage(source, "blank")
        return ScanProblem(
            source, "no code of an exam can be read on it: a page of something else, or a photo"
        )
    if len(codes) > 1:
        texts = join_words(sorted(code.words() for code in codes), "and", 4)
        return ScanProblem(source, f"it shows several pages: {texts}; scan each by itself")
    (code,) = codes
    if code.exam not in exams:
        return ScanProblem(
            source,
            f"{code.words()} of print {code.exam}, which isn't one of this course: another exam or course",
        )
    copy = exams.record(code.exam).copy(code.copy)
    if copy is None or (copy.pages and copy.pages != code.pages):
        return ScanProblem(source, f"print {code.exam} has no {code.words()}")
    layout = exams.layout(code.exam, copy)
    index = code.page - copy.sheet
    if index < 0 or not copy.sheet:
        return IgnoredPage(source, "questions")
    if index >= len(layout.pages):
        return ScanProblem(source, f"print {code.exam} has no {code.words()}")
    page = layout.pages[index]
    try:
        straight = straighten(scan.image, seen, layout, page)
        reading = read_page(straight, layout, page)
    except UnreadablePageError as error:
        return ScanProblem(source, f"{code.words()}: {error}")
    return _scanned(code, copy, source, straight, layout, page, reading, parts(code.exam, copy), now)


def _is_black(image: GreyImage) -> bool:
    return float(np.percentile(image[::8, ::8], 95)) < _BLACK


def _is_blank(image: GreyImage) -> bool:
    small = cv2.resize(image, (160, 220), interpolation=cv2.INTER_AREA)
    inner = small[10:-10, 8:-8]
    return float(np.percentile(inner, 99.5) - np.percentile(inner, 0.5)) < _BLANK_SPREAD


def _scanned(
    code: PageCode,
    copy: ExamCopy,
    source: PageSource,
    straight: GreyImage,
    layout: SheetLayout,
    page: SheetPage,
    reading: PageReading,
    parts: Mapping[tuple[int, str], Part],
    now: datetime,
) -> ScannedPage:
    of_state = {
        state: tuple(
            (b.bubble.question, b.bubble.entry, b.bubble.column, b.bubble.value)
            for b in reading.bubbles
            if b.state is state
        )
        for state in (BubbleState.FILLED, BubbleState.UNSURE)
    }
    written = tuple((box.question, box.entry, box.column) for box in reading.written)
    filled, unsure = of_state[BubbleState.FILLED], of_state[BubbleState.UNSURE]
    content_parts = (filled, unsure, written, *(("faint",) if reading.is_faint else ()))
    content = hashlib.sha256(repr(content_parts).encode()).hexdigest()
    pictures = {}
    for index in sorted({bubble.question for bubble in page.bubbles} | {box.question for box in page.boxes}):
        question = layout.questions[index]
        marks = replace(marks_in_field(index, filled, unsure, written), is_faint=reading.is_faint)
        read = field_text(question, marks, parts.get((question.number, question.part)))
        # A student's number may be clear and still be nobody's.
        if read.reason is not None or read.on_paper or question.kind is SheetFieldKind.STUDENT:
            pictures[str(index)] = _picture(straight, layout, page, index, reading)
    return ScannedPage(
        code.exam,
        code.copy,
        code.page,
        copy.student,
        content,
        source.words(),
        filled,
        unsure,
        written,
        pictures,
        now,
        reading.is_faint,
    )


def _picture(
    straight: GreyImage, layout: SheetLayout, page: SheetPage, index: int, reading: PageReading
) -> str:
    """Return a field as a PNG file in base64, with rings around what is unsure or too much."""
    radius = layout.radius
    edges = [
        (b.x - radius, b.y - radius, b.x + radius, b.y + radius) for b in page.bubbles if b.question == index
    ]
    edges += [(b.x, b.y, b.x + b.width, b.y + b.height) for b in page.boxes if b.question == index]
    coloured = cv2.cvtColor(straight, cv2.COLOR_GRAY2BGR)
    for x, y in _ringed(layout.questions[index], index, reading):
        centre = (round(x * PIXELS_PER_MM), round(y * PIXELS_PER_MM))
        cv2.circle(coloured, centre, round(radius * 1.35 * PIXELS_PER_MM), (160, 0, 200), 2, cv2.LINE_AA)
    strips = [_cut(coloured, strip, layout.size) for strip in _strips(edges)]
    wide = max(strip.shape[1] for strip in strips)
    padded = [
        cv2.copyMakeBorder(strip, 0, 0, 0, wide - strip.shape[1], cv2.BORDER_CONSTANT, value=_WHITE)
        for strip in strips
    ]
    joined = np.vstack(padded)
    small = cv2.resize(joined, None, fx=_PICTURE_SCALE, fy=_PICTURE_SCALE, interpolation=cv2.INTER_AREA)
    # Few colours are enough to see a pencil by, and make a picture a third as large.
    small = (np.asarray(small, dtype=np.uint8) >> 3) << 3
    _, data = cv2.imencode(".png", small, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    return base64.b64encode(data.tobytes()).decode("ascii")


def _ringed(question: SheetQuestion, index: int, reading: PageReading) -> Iterator[tuple[float, float]]:
    """Yield the centres of unsure bubbles, and of filled ones where only one may be."""
    takes_one = question.kind is not SheetFieldKind.MULTIPLE
    of_field = [item for item in reading.bubbles if item.bubble.question == index]
    filled = Counter(
        (item.bubble.entry, item.bubble.column) for item in of_field if item.state is BubbleState.FILLED
    )
    for item in of_field:
        bubble = item.bubble
        is_doubled = takes_one and filled[bubble.entry, bubble.column] > 1
        if item.state is BubbleState.UNSURE or (item.state is BubbleState.FILLED and is_doubled):
            yield bubble.x, bubble.y


def _strips(edges: Sequence[Rectangle]) -> list[Rectangle]:
    """Join rectangles (left, top, right, bottom) that lie side by side or close below one another.

    A field that goes on below other fields becomes several strips, so that a picture shows few of its
    neighbours.
    """
    strips: list[Rectangle] = []
    for left, top, right, bottom in sorted(edges, key=lambda edge: edge[1]):
        if strips and top - strips[-1][3] < _STRIP_GAP:
            last = strips[-1]
            strips[-1] = (min(last[0], left), last[1], max(last[2], right), max(last[3], bottom))
        else:
            strips.append((left, top, right, bottom))
    return strips


def _cut(image: npt.NDArray[Any], strip: Rectangle, size: tuple[float, float]) -> npt.NDArray[Any]:
    """Return a strip of a page with its labels, which stand to the left of it and above."""
    left, top = (max(0.0, strip[0] - _MARGIN - 2), max(0.0, strip[1] - _MARGIN - 6))
    right, bottom = (
        min(size[0], max(strip[2] + _MARGIN, left + _LEAST_WIDTH)),
        min(size[1], strip[3] + _MARGIN),
    )
    rows = slice(int(top * PIXELS_PER_MM), int(bottom * PIXELS_PER_MM))
    return image[rows, int(left * PIXELS_PER_MM) : int(right * PIXELS_PER_MM)]
