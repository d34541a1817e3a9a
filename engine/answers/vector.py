"""A vector: a row or column of numbers."""

from __future__ import annotations

from fractions import Fraction

from engine.answers.asked_precision import NumericSettings
from engine.answers.numeric import NumericType
from engine.answers.reading_numbers import NumberRows
from engine.model import Part
from engine.text.words import count_noun


class Vector(NumericType):
    """Numbers in a row or in a column; how they are laid out doesn't matter."""

    name = "vector"
    axes = 1

    @staticmethod
    def _size(part: Part) -> int:
        return part.key.shape[0] if part.key is not None else 0

    def fit(self, rows: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries of one row, or of rows with one number each."""
        is_line = len(rows.rows) == 1 or all(len(row) == 1 for row in rows.rows)
        entries = rows.entries
        return entries if is_line and len(entries) == self._size(part) else None

    def shape_words(self, part: Part) -> str:
        """Return e.g. ``3 numbers``."""
        return count_noun(self._size(part), "number")

    def notations(self, usual: str) -> list[str]:
        """Return the entries without brackets, with other brackets, by blanks, as a column."""
        inside = usual.strip("[]")
        return [
            inside,
            f"({inside})",
            inside.replace(",", ""),
            f"[{inside.replace(',', ' ')}]",
            inside.replace(", ", "\n"),
            inside.replace(", ", "; "),
            f"array({usual})",
        ]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``3 numbers to 2 decimal places, separated by commas or spaces``."""
        words = self.rounding_words(part)
        noun = "whole numbers" if words == "whole" else f"numbers {words}".strip()
        return f"{self._size(part)} {noun}, separated by commas or spaces" + self.leeway_words(part)

    def policy(self, part: Part) -> str:
        """Return whether entries count one by one."""
        is_partial = NumericSettings.of(part).partial == "per-entry"
        return "each right entry earns its share" if is_partial else "all entries must be right"
