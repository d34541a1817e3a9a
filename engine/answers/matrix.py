"""A matrix: rows of numbers, one row after the other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from engine.answers.asked_precision import NumericSettings
from engine.answers.numeric import NumericType
from engine.answers.reading_numbers import NumberRows
from engine.model import Part
from engine.text.words import count_noun


class Matrix(NumericType):
    """Rows of numbers; each layout that says where a row ends is read."""

    name = "matrix"
    axes = 2
    lines_on_paper = 3  # it is written row by row

    @staticmethod
    def _shape(part: Part) -> tuple[int, int]:
        return (part.key.shape[0], part.key.shape[1]) if part.key is not None else (0, 0)

    def fit(self, rows: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries if there are as many rows and columns as asked."""
        return rows.entries if rows.has_shape(self._shape(part)) else None

    def shape_words(self, part: Part) -> str:
        """Return e.g. ``2 rows of 3 numbers``."""
        rows, columns = self._shape(part)
        return f"{count_noun(rows, 'row')} of {count_noun(columns, 'number')}"

    def label(self, part: Part, index: int) -> str:
        """Return e.g. ``row 2 column 1``."""
        row, column = divmod(index, self._shape(part)[1])
        return f"row {row + 1} column {column + 1}"

    def _credit_groups(
        self, part: Part, partial: str, right: Sequence[bool], near: Sequence[bool]
    ) -> Sequence[tuple[Sequence[bool], Sequence[bool]]]:
        if partial != "per-row":
            return super()._credit_groups(part, partial, right, near)
        columns = self._shape(part)[1]
        return [(right[i : i + columns], near[i : i + columns]) for i in range(0, len(right), columns)]

    def notations(self, usual: str) -> list[str]:
        """Return the rows by ``;``, by new lines, and as numpy prints them."""
        rows = [row.strip("[] ") for row in usual.split("], [")]
        blanks = [row.replace(",", "") for row in rows]
        return [
            "; ".join(rows),
            "\n".join(blanks),
            "[" + "; ".join(blanks) + "]",
            "[" + "\n ".join(f"[{row}]" for row in blanks) + "]",
            ", ".join(f"({row})" for row in rows),
        ]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``2 rows of 3 numbers to 2 decimal places, with ; or a new line between rows``."""
        words = self.rounding_words(part)
        rounding = ", whole" if words == "whole" else f" {words}" if words else ""
        rows = f"{self.shape_words(part)}{rounding}, with ; or a new line between rows"
        return rows + self.leeway_words(part)

    def policy(self, part: Part) -> str:
        """Return whether rows or entries count one by one."""
        rules = {"per-row": "each right row earns its share", "per-entry": "each right entry earns its share"}
        return rules.get(NumericSettings.of(part).partial, "all entries must be right")
