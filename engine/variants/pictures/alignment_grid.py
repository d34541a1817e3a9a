"""An alignment grid: target words by source words, with a mark where the attention is strong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.variants.pictures.grid import TINY, Captions, GridPicture, grid_of
from engine.variants.pictures.layout import latex_number
from engine.variants.pictures.registry import Picture, PictureFault, picture

__all__ = ["AlignmentGrid", "alignment_grid"]

_LARGEST, _STRONG, _WEAK = "●", "○", "·"
_LATEX = {_LARGEST: r"$\bullet$", _STRONG: r"$\circ$", _WEAK: r"$\cdot$"}
_RING = 'fill="none" stroke="currentColor" stroke-width="2"'
_NOTES = {_LARGEST: ", the largest of its row", _STRONG: ", at least half the largest of its row", _WEAK: ""}


@dataclass(frozen=True, slots=True)
class AlignmentGrid(GridPicture):
    """Weights of target words (rows) over source words (columns)."""

    CELL_HEIGHT = 46
    BASELINE = 7

    def __post_init__(self) -> None:
        # slots=True makes a new class, so super() without arguments would look for the old one
        super(AlignmentGrid, self).__post_init__()
        if not all(-TINY <= value <= 1 + TINY for row in self.values for value in row):
            raise PictureFault(f"{self.name()} holds weights from 0 to 1 only; one of these isn't")

    @staticmethod
    def name() -> str:
        """Return what the picture is."""
        return "an alignment grid"

    def captions(self) -> Captions:
        """Return how the picture is read."""
        marks = f"{_LARGEST} the largest weight of its row, {_STRONG} at least half as large"
        return Captions(
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

    def shade(self, i: int, j: int) -> float:
        """Return 0: marks tell it all."""
        return 0.0

    def svg_mark(self, i: int, j: int, x: float, y: float, width: float) -> str:
        """Return the mark."""
        at = f'<circle cx="{x + width / 2:g}" cy="{y + 14:g}"'
        sign = self.sign(i, j)
        if sign == _LARGEST:
            return f'{at} r="9"/>'
        return f'{at} r="1.5"/>' if sign == _WEAK else f'{at} r="7" {_RING}/>'

    def latex_cell(self, i: int, j: int) -> str:
        """Return the mark before the number."""
        return f"{_LATEX[self.sign(i, j)]} {latex_number(self.texts[i][j])}"


@picture(AlignmentGrid)
def alignment_grid(A: Any, rows: str = "", columns: str = "", places: int = 2) -> Picture:
    """Return the grid of alignment weights; `rows` are the target words, `columns` the source words."""
    return grid_of(AlignmentGrid, A, rows, columns, places)
