"""A heatmap: the larger the number, the stronger the shade of its cell and the longer its bar."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.variants.pictures.grid import TINY, Captions, GridPicture, grid_of
from engine.variants.pictures.layout import latex_number, minus
from engine.variants.pictures.registry import Picture, picture

__all__ = ["Heatmap", "heatmap"]

_SHADES = " ░▒▓█"
_STRONGEST = 0.32
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

    @staticmethod
    def name() -> str:
        """Return what the picture is."""
        return "a heatmap"

    def captions(self) -> Captions:
        """Return how the picture is read; the ends of the scale are printed as in the cells."""
        flat = [value for row in self.values for value in row]
        texts = [text for row in self.texts for text in row]
        printed = {0.0: "0", 1.0: "1"} if self.high == 1 else {0.0: "0"}
        printed = dict(zip(flat, texts, strict=True)) | printed
        low, high = printed[self.low], printed[self.high]
        return Captions(
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

    def note(self, i: int, j: int) -> str:
        """Return nothing: a number says it all."""
        return ""

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
def heatmap(A: Any, rows: str = "", columns: str = "", places: int = 2) -> Picture:
    """Return the heatmap of a matrix; without words rows and columns are numbered."""
    return grid_of(Heatmap, A, rows, columns, places)
