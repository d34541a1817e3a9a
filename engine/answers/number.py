"""One number, with or without its unit after it."""

from __future__ import annotations

from fractions import Fraction

from engine.answers.asked_precision import NumericSettings
from engine.answers.numeric import NumericType
from engine.answers.reading_numbers import NumberRows
from engine.answers.typed_text import without_count_word
from engine.model import Part


class Number(NumericType):
    """One number; brackets around it don't matter."""

    name = "number"
    axes = 0

    def bare(self, text: str, part: Part) -> str:
        """Return the number; the field's own unit may follow it, and what is counted."""
        bare = super().bare(text, part)
        settings = NumericSettings.of(part)
        if (unit := settings.unit) and bare.casefold().endswith(unit.casefold()):
            return bare[: -len(unit)].rstrip() or bare
        # "28 steps" is 28; but where the field has a unit of its own, another word may be another unit.
        return without_count_word(bare) if settings.is_whole and not unit else bare

    def fit(self, rows: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the number if there is exactly one."""
        entries = rows.entries
        return entries if len(entries) == 1 else None

    def shape_words(self, part: Part) -> str:
        """Return ``one number``."""
        return "one number"

    def notations(self, usual: str) -> list[str]:
        """Return the number without its leading 0, with an exponent, as a fraction."""
        others = [f" {usual} ", f"{usual}e0"]
        if "." in usual:
            others.append(usual.replace("0.", ".", 1) if usual.lstrip("-").startswith("0.") else f"{usual}0")
            digits, places = usual.replace(".", ""), len(usual.split(".")[1])
            others.append(f"{digits}/{10**places}")
        return others

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``a number to 3 decimal places``."""
        words = self.rounding_words(part)
        noun = "a whole number" if words == "whole" else f"a number {words}".strip()
        unit = NumericSettings.of(part).unit
        return (f"{noun}, in {unit}" if unit else noun) + self.leeway_words(part)
