"""One number."""

from __future__ import annotations

from fractions import Fraction

from engine.answers.numeric import NumericType, is_whole
from engine.answers.reading.arrays import Numbers
from engine.answers.reading.asides import without_count_word
from engine.model import Part

__all__ = ["Number"]


class Number(NumericType):
    """One number, with its unit behind it or without."""

    name = "number"

    def bare(self, text: str, part: Part) -> str:
        """Return the number; the field's own unit may stand behind it, and what is counted."""
        bare = super().bare(text, part)
        unit = part.settings.get("unit")
        if unit and bare.casefold().endswith(unit.casefold()):
            return bare[: -len(unit)].rstrip() or bare
        return without_count_word(bare) if is_whole(part) and not unit else bare

    def fit(self, numbers: Numbers, part: Part) -> tuple[Fraction, ...] | None:
        """Return the number, in brackets or without."""
        return numbers.entries if len(numbers.entries) == 1 else None

    def wanted(self, part: Part) -> str:
        """Return ``one number``."""
        return "one number"

    def notations(self, usual: str) -> list[str]:
        """Return the number without its leading 0, with an exponent, as a fraction."""
        found = [f" {usual} ", f"{usual}e0"]
        if "." in usual:
            found.append(usual.replace("0.", ".", 1) if usual.lstrip("-").startswith("0.") else f"{usual}0")
            digits, places = usual.replace(".", ""), len(usual.split(".")[1])
            found.append(f"{digits}/{10**places}")
        return found

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``a number to 3 decimal places``."""
        words = self.rounding_words(part)
        noun = "a whole number" if words == "whole" else f"a number {words}".strip()
        unit = part.settings.get("unit")
        return (f"{noun}, in {unit}" if unit else noun) + self.leeway_words(part)
