"""A matrix."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from engine.answers.numeric import NumericType
from engine.answers.reading.arrays import Numbers
from engine.model import Part

__all__ = ["Matrix"]


class Matrix(NumericType):
    """Rows of numbers, one row after the other."""

    name = "matrix"

    @staticmethod
    def _shape(part: Part) -> tuple[int, int]:
        return (part.key.shape[0], part.key.shape[1]) if part.key is not None else (0, 0)

    def fit(self, numbers: Numbers, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries if there are as many rows and columns as asked."""
        rows, columns = self._shape(part)
        fits = len(numbers.rows) == rows and all(len(row) == columns for row in numbers.rows)
        return numbers.entries if fits else None

    def wanted(self, part: Part) -> str:
        """Return e.g. ``2 rows of 3 numbers``."""
        rows, columns = self._shape(part)
        return f"{rows} row{'s' * (rows > 1)} of {columns} number{'s' * (columns > 1)}"

    def label(self, part: Part, index: int) -> str:
        """Return e.g. ``row 2 column 1``."""
        row, column = divmod(index, self._shape(part)[1])
        return f"row {row + 1} column {column + 1}"

    def _rows(self, part: Part, flags: Sequence[bool]) -> list[Sequence[bool]]:
        _, columns = self._shape(part)
        return [flags[i : i + columns] for i in range(0, len(flags), columns)]

    def credit(self, part: Part, right: Sequence[bool], near: Sequence[bool]) -> Fraction:
        """Return the share of the marks: all or nothing, row by row, or entry by entry."""
        share = Fraction(Decimal(str(part.settings.get("near_credit", 0))))
        groups = [(right, near)]
        if part.settings.get("partial") == "per-row":
            groups = list(zip(self._rows(part, right), self._rows(part, near), strict=True))
        elif part.settings.get("partial") == "per-entry":
            groups = [([r], [n]) for r, n in zip(right, near, strict=True)]
        earned = [self._group_credit(r, n, share) for r, n in groups]
        return sum(earned, Fraction(0)) / len(earned)

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
        """Return e.g. ``2 rows of 3 numbers to 2 decimal places, with ; between rows``."""
        words = self.rounding_words(part)
        rounding = ", whole" if words == "whole" else f" {words}" if words else ""
        rows = f"{self.wanted(part)}{rounding}, with ; or a new line between rows"
        return rows + self.leeway_words(part)

    def policy(self, part: Part) -> str:
        """Return whether rows or entries count one by one."""
        rules = {"per-row": "each right row earns its share", "per-entry": "each right entry earns its share"}
        return rules.get(part.settings.get("partial", "all"), "all entries must be right")
