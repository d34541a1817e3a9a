"""The blocks of an answer sheet: a field with its labels, bubbles and boxes, placed from its own corner."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.paper.sheet_questions import NumberDigits, SheetFieldKind, SheetQuestion


@dataclass(frozen=True, slots=True)
class SheetBubble:
    """One bubble: `entry` is the row or the number of its field, `column` that of a number's digit.

    ``question`` is the position in :attr:`~engine.paper.sheet_layout.SheetLayout.questions`; ``x`` and ``y``
    are its centre.
    """

    question: int
    entry: int
    column: int
    value: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class SheetBox:
    """A rectangle to write in: the answer itself (``column`` -1), or the digit above a column of bubbles."""

    question: int
    entry: int
    column: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class ReferenceBubble:
    """A bubble printed full or empty: how dark both are here, in this scan."""

    x: float
    y: float
    is_full: bool


@dataclass(frozen=True, slots=True)
class ReferenceTint:
    """A disc printed in light grey: ``shade`` lies between 0 (paper) and 1 (print)."""

    x: float
    y: float
    shade: float


@dataclass(frozen=True, slots=True)
class SheetLabel:
    """Printed text; ``y`` is the middle of its line, ``align`` what lies at ``x``: left, center or right."""

    x: float
    y: float
    text: str
    size: float
    align: str = "center"
    bold: bool = False


@dataclass(frozen=True, slots=True)
class SheetSizes:
    """Sizes in mm; all of them grow for a large sheet, but not the marks and codes."""

    radius: float = 1.9
    option_pitch: float = 8.0
    row_pitch: float = 6.2
    digit_pitch: float = 5.6
    digit_row: float = 5.2
    write_box: float = 6.0
    line: float = 9.0
    text: float = 9.0
    gap: float = 5.0

    def scaled(self, factor: float) -> SheetSizes:
        """Return all sizes multiplied."""
        return SheetSizes(*(round(getattr(self, name) * factor, 3) for name in self.__slots__))


@dataclass(slots=True)
class SheetBlock:
    """What stays together; positions count from its own upper left corner."""

    width: float = 0.0
    height: float = 0.0
    new_line: bool = False
    bubbles: list[SheetBubble] = field(default_factory=list)
    boxes: list[SheetBox] = field(default_factory=list)
    labels: list[SheetLabel] = field(default_factory=list)


def field_blocks(index: int, question: SheetQuestion, sizes: SheetSizes, width: float) -> list[SheetBlock]:
    """Return the blocks of one field, at most `width` wide; each number has one."""
    if question.kind in (SheetFieldKind.SINGLE, SheetFieldKind.MULTIPLE):
        return [_choice_block(index, question, sizes, width)]
    if question.kind in (SheetFieldKind.MATCHING, SheetFieldKind.ORDERING):
        return [_grid_block(index, question, sizes)]
    if question.kind is SheetFieldKind.BOX:
        return [_box_block(index, question, sizes, width)]
    return _number_blocks(index, question, sizes)


def _label_width(sizes: SheetSizes, text: str) -> float:
    """Return about how wide a label is: a sign is some 0.55 of its size wide, a point 0.353 mm."""
    return len(text) * sizes.text * 0.353 * 0.55 + 1.0


def _head(block: SheetBlock, question: SheetQuestion, sizes: SheetSizes, entry: str = "") -> float:
    """Put the label of a field on top; return its height."""
    label = f"{question.label} {entry}".strip()
    y = sizes.row_pitch * 0.4
    block.labels.append(SheetLabel(0.0, y, label, sizes.text * 1.1, "left", bold=True))
    x = _label_width(sizes, label) * 1.15 + 1.5
    if question.note:
        block.labels.append(SheetLabel(round(x, 2), y, question.note, sizes.text * 0.8, "left"))
        x += _label_width(sizes, question.note) * 0.85
    block.width = max(block.width, x)
    return sizes.row_pitch * 0.9


def _choice_block(index: int, question: SheetQuestion, sizes: SheetSizes, width: float) -> SheetBlock:
    block = SheetBlock()
    y = _head(block, question, sizes)
    # Many options take several lines.
    in_line = max(1, int(width // sizes.option_pitch))
    for position, option in enumerate(question.options):
        line, place = divmod(position, in_line)
        x = (place + 0.5) * sizes.option_pitch
        top = y + line * (sizes.row_pitch + sizes.radius * 2)
        block.labels.append(SheetLabel(x, top + sizes.radius, option, sizes.text))
        block.bubbles.append(SheetBubble(index, 0, 0, option, x, top + sizes.radius * 3.2))
        block.width = max(block.width, x + sizes.option_pitch / 2)
        block.height = top + sizes.radius * 4.4
    return block


def _grid_block(index: int, question: SheetQuestion, sizes: SheetSizes) -> SheetBlock:
    block = SheetBlock()
    y = _head(block, question, sizes)
    indent = max(_label_width(sizes, row) for row in question.rows) + 2.0
    for column, option in enumerate(question.options):
        x = indent + (column + 0.5) * sizes.option_pitch
        block.labels.append(SheetLabel(x, y + sizes.radius, option, sizes.text))
        for entry in range(len(question.rows)):
            top = y + sizes.radius * 3.2 + entry * sizes.row_pitch
            block.bubbles.append(SheetBubble(index, entry, 0, option, x, top))
    for entry, row in enumerate(question.rows):
        top = y + sizes.radius * 3.2 + entry * sizes.row_pitch
        block.labels.append(SheetLabel(indent - 1.0, top, row, sizes.text, "right"))
        block.height = top + sizes.radius * 1.2
    block.width = max(block.width, indent + len(question.options) * sizes.option_pitch)
    return block


def _box_block(index: int, question: SheetQuestion, sizes: SheetSizes, width: float) -> SheetBlock:
    block = SheetBlock(new_line=True)
    y = _head(block, question, sizes) + 1.0
    height = question.lines * sizes.line
    block.boxes.append(SheetBox(index, 0, -1, 0.0, y, width, height))
    block.width, block.height = width, y + height
    return block


def _number_blocks(index: int, question: SheetQuestion, sizes: SheetSizes) -> list[SheetBlock]:
    """Return a block for each number: a vector of eight doesn't fit side by side on any paper."""
    digits = question.digits
    if digits is None:
        raise ValueError(f"field {question.label} has numbers, and no digits for them")
    entries = question.rows or ("",)
    in_row = question.shape[-1] if len(question.shape) == 2 else 0
    blocks = []
    for entry, name in enumerate(entries):
        block = SheetBlock(new_line=bool(in_row) and entry % in_row == 0)
        y = _head(block, question, sizes, name)
        _number_grid(block, index, entry, digits, sizes, y)
        blocks.append(block)
    return blocks


def _number_grid(
    block: SheetBlock, index: int, entry: int, digits: NumberDigits, sizes: SheetSizes, y: float
) -> None:
    columns = digits.columns()
    pitch, row = sizes.digit_pitch, sizes.digit_row
    first = y + sizes.write_box + row * 0.75
    values = max((column.values for column in columns), key=len)
    glyph = sizes.text * 0.353
    x = 0.0
    before = "sign"
    for position, column in enumerate(columns):
        is_sign = column.role.endswith("sign")
        if column.role == "decimal" and before != "decimal":
            block.labels.append(
                SheetLabel(x + 0.8, y + sizes.write_box * 0.75, ".", sizes.text * 1.6, bold=True)
            )
            x += 1.6
        if column.role == "exponent sign":
            block.labels.append(SheetLabel(x + glyph * 1.3, y + sizes.write_box / 2, "×10^", sizes.text))
            x += glyph * 2.6
        if is_sign:
            block.labels.append(SheetLabel(x + glyph * 0.7, first, "−", sizes.text * 1.2))
            x += glyph
        elif before.endswith("sign"):
            # Between the minus sign and the digits, so that nobody fills the sign for a nought.
            x += glyph + 1.0
            for line, value in enumerate(values):
                place = first + line * row
                block.labels.append(SheetLabel(x - 0.6, place, value, sizes.text * 0.9, "right"))
        centre = x + pitch / 2
        block.boxes.append(SheetBox(index, entry, position, x + 0.3, y, pitch - 0.6, sizes.write_box))
        for line, value in enumerate(column.values):
            block.bubbles.append(SheetBubble(index, entry, position, value, centre, first + line * row))
        before = column.role
        x += pitch
    block.width = max(block.width, x)
    block.height = first + (len(values) - 1) * row + sizes.radius * 1.2
