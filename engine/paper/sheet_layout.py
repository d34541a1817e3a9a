"""Where everything of an answer sheet is, in millimetres from the upper left corner of its page.

The positions are stored with what was printed, and :mod:`engine.scanning` reads bubbles only where this says
that they are. Letters and digits stand beside the bubbles and never in them: an empty bubble is white paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.paper.sheet_blocks import (
    ReferenceBubble,
    ReferenceTint,
    SheetBlock,
    SheetBox,
    SheetBubble,
    SheetLabel,
    SheetSizes,
    field_blocks,
)
from engine.paper.sheet_questions import NumberDigits, SheetFieldKind, SheetQuestion

__all__ = [
    "CODE_SIZE",
    "MARK_SIZE",
    "PAPER_SIZES",
    "NumberDigits",
    "PaperName",
    "ReferenceBubble",
    "ReferenceTint",
    "SheetBox",
    "SheetBubble",
    "SheetFieldKind",
    "SheetLabel",
    "SheetLayout",
    "SheetPage",
    "SheetQuestion",
    "lay_out_sheet",
]

PaperName = Literal["a4", "letter"]
PAPER_SIZES: Mapping[str, tuple[float, float]] = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
# Kept with each layout; a scan of a sheet of another version is refused instead of misread.
LAYOUT_VERSION = 1


@dataclass(frozen=True, slots=True)
class SheetPage:
    """One page of an answer sheet.

    ``marks`` are the centres of the black squares by which a scan is laid straight, ``codes`` the upper left
    corners of the page's codes; the first code has quiet paper around it as well as the second. Sheets that
    earlier versions printed have no ``tints``.
    """

    marks: tuple[tuple[float, float], ...]
    codes: tuple[tuple[float, float], ...]
    references: tuple[ReferenceBubble, ...]
    bubbles: tuple[SheetBubble, ...] = ()
    boxes: tuple[SheetBox, ...] = ()
    labels: tuple[SheetLabel, ...] = ()
    tints: tuple[ReferenceTint, ...] = ()


LARGE_FACTOR = 1.4
MARK_SIZE = 5.0
"""Side of a black square."""
CODE_SIZE = 17.0
"""Side of a code without its quiet zone: 25 modules of 0.68 mm are four pixels each at 150 dpi."""


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """The pages of one answer sheet.

    Parameters
    ----------
    paper : str
        ``a4`` or ``letter``.
    radius : float
        Of every bubble.
    text : float
        Size of labels in points.
    questions : tuple of SheetQuestion
    pages : tuple of SheetPage
    """

    paper: PaperName
    radius: float
    text: float
    questions: tuple[SheetQuestion, ...]
    pages: tuple[SheetPage, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the paper."""
        return PAPER_SIZES[self.paper]

    def as_json(self) -> dict[str, Any]:
        """Return the layout as JSON values; positions are rounded to a hundredth of a millimetre."""
        return {
            "version": LAYOUT_VERSION,
            "paper": self.paper,
            "radius": self.radius,
            "text": self.text,
            "questions": [_question_json(question) for question in self.questions],
            "pages": [
                {
                    "marks": [list(mark) for mark in page.marks],
                    "codes": [list(code) for code in page.codes],
                    "references": [[ref.x, ref.y, int(ref.is_full)] for ref in page.references],
                    "bubbles": [_row(bubble) for bubble in page.bubbles],
                    "boxes": [_row(box) for box in page.boxes],
                    "labels": [_row(label) for label in page.labels],
                    "tints": [_row(tint) for tint in page.tints],
                }
                for page in self.pages
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SheetLayout:
        """Return a layout as it was stored.

        Raises
        ------
        ValueError
            It was written by another version, or something in it has another form.
        """
        try:
            if data["version"] != LAYOUT_VERSION:
                raise ValueError(f"the layout has version {data['version']!r}, not {LAYOUT_VERSION}")
            if data["paper"] not in PAPER_SIZES:
                raise ValueError(f"there is no paper {data['paper']!r}")
            return cls(
                data["paper"],
                float(data["radius"]),
                float(data["text"]),
                tuple(map(_question_of, data["questions"])),
                tuple(map(_page_of, data["pages"])),
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the layout has another form: {type(error).__name__} {error}") from error


def _row(value: SheetBubble | SheetBox | SheetLabel | ReferenceTint) -> list[Any]:
    return [getattr(value, name) for name in value.__slots__]


def _question_json(question: SheetQuestion) -> dict[str, Any]:
    digits = question.digits
    return {
        "number": question.number,
        "part": question.part,
        "label": question.label,
        "kind": question.kind.value,
        "options": list(question.options),
        "rows": list(question.rows),
        "digits": None if digits is None else [getattr(digits, name) for name in digits.__slots__],
        "shape": list(question.shape),
        "lines": question.lines,
        "note": question.note,
    }


def _question_of(data: Mapping[str, Any]) -> SheetQuestion:
    return SheetQuestion(
        data["number"],
        data["part"],
        data["label"],
        SheetFieldKind(data["kind"]),
        tuple(data["options"]),
        tuple(data["rows"]),
        None if data["digits"] is None else NumberDigits(*data["digits"]),
        tuple(data["shape"]),
        data["lines"],
        data["note"],
    )


def _page_of(data: Mapping[str, Any]) -> SheetPage:
    return SheetPage(
        tuple((float(x), float(y)) for x, y in data["marks"]),
        tuple((float(x), float(y)) for x, y in data["codes"]),
        tuple(ReferenceBubble(float(x), float(y), bool(full)) for x, y, full in data["references"]),
        tuple(SheetBubble(*row) for row in data["bubbles"]),
        tuple(SheetBox(*row) for row in data["boxes"]),
        tuple(SheetLabel(*row) for row in data["labels"]),
        tuple(ReferenceTint(*row) for row in data.get("tints", ())),
    )


# Marks and references stand in the margin, the fields between; printers leave 5 mm or so white.
_MARK_INSET = 10.0
_SIDE = 20.0
_TOP = 37.0
_BOTTOM = 35.0
_REFERENCE_PAIRS = 5
LIGHT_TINT, FAINT_TINT = 0.2, 0.1
"""Shades of the tints: of a hard pencil that is hardly pressed, and of what a good eraser leaves."""


def lay_out_sheet(
    questions: Sequence[SheetQuestion], *, paper: PaperName = "a4", large: bool = False
) -> SheetLayout:
    """Lay out the answer sheet of one copy: the same questions give the same positions.

    Parameters
    ----------
    questions : sequence of SheetQuestion
        In the order in which they are printed.
    paper : str
        ``a4`` or ``letter``.
    large : bool
        For people who see or write with difficulty.

    Returns
    -------
    SheetLayout
        At least one page, even for no question.

    Raises
    ------
    ValueError
        A field is larger than a page.
    """
    sizes = SheetSizes().scaled(LARGE_FACTOR) if large else SheetSizes()
    flow = _PageFlow(PAPER_SIZES[paper], sizes)
    for index, question in enumerate(questions):
        for block in field_blocks(index, question, sizes, flow.width):
            flow.add(block)
    return SheetLayout(paper, sizes.radius, sizes.text, tuple(questions), tuple(flow.finished_pages()))


class _PageFlow:
    """Puts blocks under and beside each other while they fit, then on a new shelf, then on the next page."""

    def __init__(self, size: tuple[float, float], sizes: SheetSizes) -> None:
        self._size, self._gap = size, sizes.gap
        self.width = size[0] - 2 * _SIDE
        self._height = size[1] - _TOP - _BOTTOM
        self._pages: list[SheetBlock] = [SheetBlock()]
        self._y = self._shelf = 0.0
        # Of the blocks under each other at the end of the shelf: left edge, width, height.
        self._column = (0.0, 0.0, 0.0)

    def add(self, block: SheetBlock) -> None:
        if block.width > self.width + 1e-6 or block.height > self._height + 1e-6:
            raise ValueError(
                f"a field of {block.width:.0f} × {block.height:.0f} mm doesn't fit on a page, which has "
                f"{self.width:.0f} × {self._height:.0f} mm"
            )
        left = self._below(block)
        if left is None:
            left = self._beside(block)
        page, dx, dy = self._pages[-1], _SIDE + left, _TOP + self._y + self._column[2] - block.height
        page.bubbles += [_shifted(bubble, dx, dy) for bubble in block.bubbles]
        page.boxes += [_shifted(box, dx, dy) for box in block.boxes]
        page.labels += [_shifted(label, dx, dy) for label in block.labels]

    def _below(self, block: SheetBlock) -> float | None:
        """Return where a block begins under the one before it, None if it is no lower than its neighbours."""
        left, width, used = self._column
        height = used + self._gap + block.height
        # Only the last column can still grow wider.
        if not used or block.new_line or height > self._shelf or left + block.width > self.width:
            return None
        self._column = (left, max(width, block.width), height)
        return left

    def _beside(self, block: SheetBlock) -> float:
        left, width, _ = self._column
        left += width + self._gap if width else 0.0
        if left and (block.new_line or left + block.width > self.width):
            left, self._y, self._shelf = 0.0, self._y + self._shelf + self._gap, 0.0
        if self._y + max(self._shelf, block.height) > self._height:
            self._pages.append(SheetBlock())
            left = self._y = self._shelf = 0.0
        self._column = (left, block.width, block.height)
        self._shelf = max(self._shelf, block.height)
        return left

    def finished_pages(self) -> list[SheetPage]:
        width, height = self._size
        left, right, top, bottom = _MARK_INSET, width - _MARK_INSET, _MARK_INSET, height - _MARK_INSET
        middle = height / 2
        marks = ((left, top), (right, top), (left, middle), (right, middle), (left, bottom), (right, bottom))
        # Beside a code its quiet zone of four modules stays white.
        codes = (
            (right - MARK_SIZE - 4 - CODE_SIZE, top - 2.5),
            (left + MARK_SIZE + 4, bottom - CODE_SIZE + 2.5),
        )
        references, tints = [], []
        # Between the marks, on both sides: light falls unevenly on many scanners.
        step = (height - 2 * _MARK_INSET) / (_REFERENCE_PAIRS + 1)
        for pair in range(_REFERENCE_PAIRS):
            y = top + step * (pair + 1)
            y += 12.0 if abs(y - middle) < 12.0 else 0.0
            for side, x in enumerate((left, right)):
                # Both shades on both sides, by turns.
                shade = LIGHT_TINT if (pair + side) % 2 == 0 else FAINT_TINT
                tints.append(ReferenceTint(round(x, 2), round(y + 10.5, 2), shade))
                references += [
                    ReferenceBubble(round(x, 2), round(y - 3.5, 2), True),
                    ReferenceBubble(round(x, 2), round(y + 3.5, 2), False),
                ]
        return [
            SheetPage(
                tuple((round(x, 2), round(y, 2)) for x, y in marks),
                tuple((round(x, 2), round(y, 2)) for x, y in codes),
                tuple(references),
                tuple(page.bubbles),
                tuple(page.boxes),
                tuple(page.labels),
                tuple(tints),
            )
            for page in self._pages
        ]


def _shifted(value: Any, dx: float, dy: float) -> Any:
    return replace(value, x=round(value.x + dx, 2), y=round(value.y + dy, 2))
