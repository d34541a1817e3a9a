"""A vector."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from engine.answers.numeric import NumericType
from engine.answers.reading.arrays import Numbers
from engine.model import Part
from engine.plurals import counted

__all__ = ["Vector"]


class Vector(NumericType):
    """A row or column of numbers; how it is laid out doesn't matter."""

    name = "vector"

    @staticmethod
    def _size(part: Part) -> int:
        return part.key.shape[0] if part.key is not None else 0

    def fit(self, numbers: Numbers, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries of one row, or of rows with one number each."""
        is_line = len(numbers.rows) == 1 or all(len(row) == 1 for row in numbers.rows)
        return numbers.entries if is_line and len(numbers.entries) == self._size(part) else None

    def wanted(self, part: Part) -> str:
        """Return e.g. ``3 numbers``."""
        size = self._size(part)
        return f"{counted(size, 'number')}" if size > 1 else "1 number"

    def credit(self, part: Part, right: Sequence[bool], near: Sequence[bool]) -> Fraction:
        """Return the share of the marks: all or nothing, or entry by entry."""
        share = Fraction(Decimal(str(part.settings.get("near_credit", 0))))
        if part.settings.get("partial") != "per-entry":
            return self._group_credit(right, near, share)
        earned = [self._group_credit([r], [n], share) for r, n in zip(right, near, strict=True)]
        return sum(earned, Fraction(0)) / len(earned)

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
        """Return e.g. ``3 numbers to 2 decimal places, such as 0.1, 0.2, 0.7``."""
        words = self.rounding_words(part)
        asked = "whole numbers" if words == "whole" else f"numbers {words}".strip()
        return f"{self._size(part)} {asked}, with commas or blanks between them" + self.leeway_words(part)

    def policy(self, part: Part) -> str:
        """Return whether entries count one by one."""
        if part.settings.get("partial") == "per-entry":
            return "each right entry earns its share"
        return "all entries must be right"
