"""Pictures of a matrix: a heatmap, and an alignment grid.

Both have words before the rows and above the columns, and a cell for each number. In a heatmap a larger
number has a stronger shade and a longer bar; in an alignment grid marks show where the attention is strong.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar, NamedTuple, Self

from engine.expressions.values import as_tensor
from engine.prose.figures import TemplateFigure, figure_of, plain_value
from engine.prose.pictures.registry import (
    INDENT,
    WIDEST_LINE,
    PictureFault,
    StemPicture,
    checked_places,
    checked_words,
    columns_of,
    figure,
    latex_number,
    latex_table,
    minus,
    padded,
    picture,
    units,
    words_of,
)
from engine.text.words import escape_latex

MOST = 12
"""Most rows and most columns: more can't be read on a phone."""
TINY = 1e-9
"""What a weight may differ from 0, 1 or another weight by rounding in double precision."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
# units of an SVG: room for a number such as -0.12, and between a word and its row
_CELL_WIDTH = 52
_GAP = 6
# the share of a heading's length that it takes in each direction when it is turned by 45°
_TURNED = 0.75


class PictureCaptions(NamedTuple):
    """How a picture is read, one sentence or two for each form."""

    plain: str
    html: str
    latex: str


@dataclass(frozen=True, slots=True)
class GridPicture(StemPicture):
    """A matrix with words, as a picture; a kind says what is in a cell.

    Parameters
    ----------
    rows, columns : tuple of str
        One word each.
    values : tuple of tuple of float
        What bars, shades and marks are drawn from.
    texts : tuple of tuple of str
        The numbers as they are printed.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    texts: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        checked_words(self.rows + self.columns)
        # checked here and not where it is made, because the data may come from a text that somebody wrote
        for side, words in (("rows", self.rows), ("columns", self.columns)):
            if not 1 <= len(words) <= MOST:
                raise PictureFault(f"{self.NAME} has 1 to {MOST} {side}, got {len(words)}")
        for cells in (self.values, self.texts):
            if [len(row) for row in cells] != [len(self.columns)] * len(self.rows):
                raise TypeError("the cells don't fit the words")
        if not all(math.isfinite(value) for row in self.values for value in row):
            raise PictureFault(f"{self.NAME} holds finite numbers only; one of these isn't")
        if not all(_NUMBER.fullmatch(text) for row in self.texts for text in row):
            raise TypeError("a printed number isn't one")

    NAME: ClassVar[str]
    """What the picture is, with its article: ``a heatmap``."""
    CELL_HEIGHT: ClassVar[int] = 40
    BASELINE: ClassVar[int] = 18
    """How far above the lower edge of its cell a number stands."""

    @abstractmethod
    def captions(self) -> PictureCaptions:
        """Return how the picture is read, in each form."""

    @abstractmethod
    def sign(self, i: int, j: int) -> str:
        """Return the characters that come before a number in the terminal, equally many for all cells."""

    def note(self, i: int, j: int) -> str:
        """Return what is said of a cell besides its number: ``", the largest of its row"``, or nothing."""
        return ""

    def shade(self, i: int, j: int) -> float:
        """Return how strong the shade of a cell is, from 0 to 1: weak enough to read its number on it."""
        return 0.0

    def cell_width(self) -> float:
        """Return how wide the cells of the SVG are: enough for every number."""
        widest = max(len(text) for row in self.texts for text in row)
        return max(_CELL_WIDTH, units(["0" * widest]) + 12)

    @abstractmethod
    def svg_mark(self, i: int, j: int, x: float, y: float, width: float) -> str:
        """Return what is drawn in a cell besides its number; its upper left corner is (x, y)."""

    @abstractmethod
    def latex_cell(self, i: int, j: int) -> str:
        """Return a cell of a ``tabular``."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the picture of some JSON data."""
        return cls(
            tuple(data["rows"]),
            tuple(data["columns"]),
            tuple(tuple(map(float, row)) for row in data["values"]),
            tuple(tuple(row) for row in data["texts"]),
        )

    def data(self) -> dict[str, Any]:
        """Return the picture as JSON data."""
        return {"rows": self.rows, "columns": self.columns, "values": self.values, "texts": self.texts}

    def alt_text(self) -> str:
        """Return the alternative text: every number with its words."""
        name = self.NAME.split(" ", 1)[1]
        size = f"{len(self.rows)} by {len(self.columns)}"
        sentences = [f"{name[0].upper()}{name[1:]}, {size}."]
        for i, row in enumerate(self.rows):
            cells = (
                f"{column} {minus(self.texts[i][j])}{self.note(i, j)}"
                for j, column in enumerate(self.columns)
            )
            sentences.append(f"Row {row}: {'; '.join(cells)}.")
        return " ".join(sentences)

    def plain(self) -> str:
        """Return it in characters, with the columns in several blocks where they need more room."""
        digits = max(len(text) for row in self.texts for text in row)
        label = max(map(columns_of, self.rows))
        cell = len(self.sign(0, 0)) + 1 + digits
        widths = [max(cell, columns_of(word)) for word in self.columns]
        blocks = [
            "\n".join(self._plain_lines(start, stop, label, digits, widths))
            for start, stop in _blocks(widths, WIDEST_LINE - len(INDENT) - label)
        ]
        return f"{self.captions().plain}\n\n" + "\n\n".join(blocks)

    def _plain_lines(
        self, start: int, stop: int, label: int, digits: int, widths: list[int]
    ) -> Iterator[str]:
        block = range(start, stop)
        heads = [padded(self.columns[j], widths[j], right=True) for j in block]
        yield (INDENT + "  ".join([" " * label, *heads])).rstrip()
        for i, row in enumerate(self.rows):
            cells = [f"{self.sign(i, j)} {self.texts[i][j]:>{digits}}".rjust(widths[j]) for j in block]
            yield INDENT + "  ".join([padded(row, label), *cells])

    def html(self) -> str:
        """Return it as a figure."""
        left, width = units(self.rows) + _GAP, self.cell_width()
        heads, top, overhang = self._heads(left, width)
        body = [heads]
        for i, row in enumerate(self.rows):
            y = top + i * self.CELL_HEIGHT
            middle = y + self.CELL_HEIGHT / 2 + 5
            body.append(f'<text x="{left - _GAP}" y="{middle:g}" text-anchor="end">{escape(row)}</text>')
            for j in range(len(self.columns)):
                body.append(self._svg_group(i, j, left + j * width, y, width))
        right = left + len(self.columns) * width
        bottom = top + len(self.rows) * self.CELL_HEIGHT
        return figure(
            max(right, overhang) + 1, bottom + 1, self.alt_text(), self.captions().html, "".join(body)
        )

    def _heads(self, left: float, width: float) -> tuple[str, float, float]:
        """Return the words above the columns, the room that they take, and how far right they reach."""
        longest = units(self.columns)
        if longest <= width - 4:
            texts = (
                f'<text x="{left + (j + 0.5) * width:g}" y="15">{escape(word)}</text>'
                for j, word in enumerate(self.columns)
            )
            return "".join(texts), 22, 0
        top = round(longest * _TURNED) + 16
        texts = (
            f'<text transform="translate({left + (j + 0.5) * width:g} {top - 8}) rotate(-45)" '
            f'text-anchor="start">{escape(word)}</text>'
            for j, word in enumerate(self.columns)
        )
        reach = max(left + (j + 0.5) * width + units([word]) * _TURNED for j, word in enumerate(self.columns))
        return "".join(texts), top, reach

    def _svg_group(self, i: int, j: int, x: float, y: float, width: float) -> str:
        number = minus(self.texts[i][j])
        return (
            f"<g><title>{escape(self.rows[i])}, {escape(self.columns[j])}: {number}{self.note(i, j)}</title>"
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{self.CELL_HEIGHT}" '
            f'fill-opacity="{self.shade(i, j):.3g}" stroke="currentColor" stroke-opacity="0.4"/>'
            f'<text x="{x + width / 2:g}" y="{y + self.CELL_HEIGHT - self.BASELINE:g}">{number}</text>'
            f"{self.svg_mark(i, j, x, y, width)}</g>"
        )

    def latex(self) -> str:
        """Return it as a ``tabular``."""
        heads = " & ".join(escape_latex(word) for word in ("", *self.columns))
        lines = [f"{heads} \\\\", "\\hline"]
        for i, row in enumerate(self.rows):
            cells = [self.latex_cell(i, j) for j in range(len(self.columns))]
            # LaTeX would take a bracket at the start of a row for an argument of the break before it
            lines.append(" & ".join(["{}" + escape_latex(row), *cells]) + r" \\")
        return latex_table(f"r|{'c' * len(self.columns)}", lines, self.captions().latex)


def _blocks(widths: list[int], room: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of the columns that fit on a line together."""
    start, used = 0, 0
    for j, width in enumerate(widths):
        if used + width + 2 > room and j > start:
            yield start, j
            start, used = j, 0
        used += width + 2  # two blanks before each
    yield start, len(widths)


def grid_of(kind: type[GridPicture], A: Any, rows: Any, columns: Any, places: Any) -> GridPicture:
    """Return the picture of a matrix, or of a vector as its only row.

    Raises
    ------
    PictureFault
        It is neither, or the words don't fit it.
    """
    plain = figure_of(A)
    if isinstance(plain, list | tuple):
        plain = TemplateFigure(as_tensor([plain_value(entry) for entry in plain]))
    if not isinstance(plain, TemplateFigure) or len(plain.shape) not in (1, 2):
        kind_of_value = f"shape {plain.shape}" if isinstance(plain, TemplateFigure) else type(plain).__name__
        raise PictureFault(f"{kind.NAME} needs a matrix, got {kind_of_value}")
    *lines, count = plain.shape
    height = lines[0] if lines else 1
    if not (1 <= height <= MOST and 1 <= count <= MOST):
        raise PictureFault(f"{kind.NAME} has 1 to {MOST} rows and columns, got {height} x {count}")
    digits = checked_places(places)
    values = as_tensor(plain.value).reshape(height, count).tolist()
    if not all(math.isfinite(value) for row in values for value in row):
        raise PictureFault(f"{kind.NAME} holds finite numbers only; one of these is infinite or not a number")
    texts = plain.texts(digits)
    return kind(
        words_of(rows, height, "row"),
        words_of(columns, count, "column"),
        tuple(map(tuple, values)),
        tuple(tuple(texts[i : i + count]) for i in range(0, len(texts), count)),
    )


_SHADES = " ░▒▓█"
# The strongest shade still leaves text on it a contrast of over 4.5 to 1, in light and in dark pages.
_STRONGEST = 0.32
# About as wide as 0.12 is in LaTeX, so that a row of cells stays a row.
_BAR_MM = 7


@dataclass(frozen=True, slots=True)
class Heatmap(GridPicture):
    """A matrix of weights, or of any other numbers.

    Parameters
    ----------
    low, high : float
        The numbers that get no shade and the full one. Weights are measured from 0 to 1, so that pictures
        can be compared; all else by its own extremes and 0.
    """

    NAME = "a heatmap"
    low: float = field(init=False)
    high: float = field(init=False)

    def __post_init__(self) -> None:
        # slots=True makes a new class, so super() without arguments would look for the old one
        super(Heatmap, self).__post_init__()
        flat = [value for row in self.values for value in row]
        low, high = min(flat), max(flat)
        weights = low >= -TINY and high <= 1 + TINY
        object.__setattr__(self, "low", 0.0 if weights else min(low, 0.0))
        object.__setattr__(self, "high", 1.0 if weights else max(high, 0.0))

    def share(self, i: int, j: int) -> float:
        """Return how much of the scale a number takes, from 0 to 1."""
        return min(max((self.values[i][j] - self.low) / (self.high - self.low), 0.0), 1.0)

    def captions(self) -> PictureCaptions:
        """Return how the picture is read; the ends of the scale are printed as in the cells."""
        flat = [value for row in self.values for value in row]
        texts = [text for row in self.texts for text in row]
        printed = {0.0: "0", 1.0: "1"} if self.high == 1 else {0.0: "0"}
        printed = dict(zip(flat, texts, strict=True)) | printed
        low, high = printed[self.low], printed[self.high]
        return PictureCaptions(
            f"Heatmap (the larger the number, the fuller its block, from {low} to {high}):",
            "The larger a number, the longer its bar and the stronger its shade, "
            f"from {minus(low)} to {minus(high)}.",
            f"The larger a number, the longer its bar, from {latex_number(low)} to {latex_number(high)}.",
        )

    def sign(self, i: int, j: int) -> str:
        """Return two blocks of one of five shades; only the lower end of the scale has none."""
        level = min(int(len(_SHADES) * self.share(i, j)), len(_SHADES) - 1)
        above = self.share(i, j) > TINY and float(self.texts[i][j]) != round(self.low, 8)
        return 2 * _SHADES[max(level, 1) if above else level]

    def shade(self, i: int, j: int) -> float:
        """Return how strong the shade of a cell is."""
        return self.share(i, j) * _STRONGEST

    def svg_mark(self, i: int, j: int, x: float, y: float, width: float) -> str:
        """Return the bar."""
        length = self.share(i, j) * (width - 8)
        return f'<rect x="{x + 4:g}" y="{y + 30:g}" width="{length:.3g}" height="5"/>'

    def latex_cell(self, i: int, j: int) -> str:
        """Return a number over its bar, which takes no width of its own."""
        length = self.share(i, j) * _BAR_MM
        return rf"\rlap{{\rule[-2.3mm]{{{length:.2f}mm}}{{1mm}}}}{latex_number(self.texts[i][j])}"


@picture(Heatmap)
def heatmap(A: Any, rows: str = "", columns: str = "", places: int = 2) -> StemPicture:
    """Return a picture of a matrix: the larger a number, the stronger its shade and the longer its bar."""
    return grid_of(Heatmap, A, rows, columns, places)


_LARGEST, _STRONG, _WEAK = "●", "○", "·"
_LATEX = {_LARGEST: r"$\bullet$", _STRONG: r"$\circ$", _WEAK: r"$\cdot$"}
_RING = 'fill="none" stroke="currentColor" stroke-width="2"'
_NOTES = {_LARGEST: ", the largest of its row", _STRONG: ", at least half the largest of its row", _WEAK: ""}


@dataclass(frozen=True, slots=True)
class AlignmentGrid(GridPicture):
    """Weights of target words (rows) over source words (columns)."""

    NAME = "an alignment grid"
    CELL_HEIGHT = 46
    BASELINE = 7

    def __post_init__(self) -> None:
        # slots=True makes a new class, so super() without arguments would look for the old one
        super(AlignmentGrid, self).__post_init__()
        if not all(-TINY <= value <= 1 + TINY for row in self.values for value in row):
            raise PictureFault(f"{self.NAME} holds weights from 0 to 1 only; one of these isn't")

    def captions(self) -> PictureCaptions:
        """Return how the picture is read."""
        marks = f"{_LARGEST} the largest weight of its row, {_STRONG} at least half as large"
        return PictureCaptions(
            f"Alignment grid, target words by source words ({marks}):",
            f"Rows are target words, columns source words. {marks}.",
            "Rows are target words, columns source words. Full circles: the largest weight of the row; "
            "empty circles: at least half as large.",
        )

    def sign(self, i: int, j: int) -> str:
        """Return a mark: the largest weight of its row, at least half of that, or less."""
        row = self.values[i]
        largest = max(row)
        if largest == 0:
            return _WEAK
        if row[j] >= largest - TINY:
            return _LARGEST
        return _STRONG if row[j] >= largest / 2 - TINY else _WEAK

    def note(self, i: int, j: int) -> str:
        """Return what the mark says."""
        return _NOTES[self.sign(i, j)]

    def svg_mark(self, i: int, j: int, x: float, y: float, width: float) -> str:
        """Return the mark."""
        circle = f'<circle cx="{x + width / 2:g}" cy="{y + 14:g}"'
        sign = self.sign(i, j)
        if sign == _LARGEST:
            return f'{circle} r="9"/>'
        return f'{circle} r="1.5"/>' if sign == _WEAK else f'{circle} r="7" {_RING}/>'

    def latex_cell(self, i: int, j: int) -> str:
        """Return the mark before the number."""
        return f"{_LATEX[self.sign(i, j)]} {latex_number(self.texts[i][j])}"


@picture(AlignmentGrid)
def alignment_grid(A: Any, rows: str = "", columns: str = "", places: int = 2) -> StemPicture:
    """Return a picture of weights from 0 to 1 of target words (rows) over source words (columns).

    A mark shows where a weight is the largest of its row or at least half as large.
    """
    return grid_of(AlignmentGrid, A, rows, columns, places)
