"""The texts of one question, converted, with a note of all that they lose on the way."""

from __future__ import annotations

from engine.exchange.markup.convert import Converted, TextTooLong, convert
from engine.exchange.question import Markup, Note, Place

__all__ = ["Texts", "UnfitError", "named"]

_USUAL = {"your answer is correct", "your answer is incorrect", "your answer is partially correct"}


class UnfitError(Exception):
    """A question has no counterpart here.

    Parameters
    ----------
    reason : str
    next_step : str
        What its author can do.
    """

    def __init__(self, reason: str, next_step: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.next_step = next_step


class Texts:
    """Converts the texts of one question; ``notes`` collects what was lost."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def note(self, message: str, place: Place | None = None) -> None:
        """Note what isn't kept, or what somebody should look at."""
        self.notes.append(Note(message, place))

    def needed(
        self, markup: Markup, what: str, *, inline: bool = True, place: Place | None = None
    ) -> Converted:
        """Return a text that must not be empty.

        Raises
        ------
        UnfitError
            Nothing of it can be shown, or it is too long.
        """
        converted = self._converted(markup, what, inline, place)
        if not converted.prose:
            why = f": {'; '.join(converted.lost[:3])}" if converted.lost else ""
            raise UnfitError(
                f"{what} holds nothing that can be shown here{why}", "say it in words or formulas"
            )
        return converted

    def optional(self, markup: Markup, what: str, *, inline: bool = True, place: Place | None = None) -> str:
        """Return a text that may be missing; empty where nothing of it can be shown.

        Raises
        ------
        UnfitError
            It is too long.
        """
        return self._converted(markup, what, inline, place).prose if markup else ""

    def feedback(self, markup: Markup, what: str, *, place: Place | None = None) -> str:
        """Return feedback; nothing for the sentences that Moodle puts in where an author writes none."""
        text = self.optional(markup, what, place=place)
        return "" if text.casefold().strip(" .*!") in _USUAL else text

    def _converted(self, markup: Markup, what: str, inline: bool, place: Place | None) -> Converted:
        try:
            converted = convert(markup, inline=inline)
        except TextTooLong as problem:
            raise UnfitError(f"{what}: {problem}", "shorten it, or make several questions of it") from None
        for lost in converted.lost:
            self.note(f"{what}: {lost}", place)
        return converted


def named(text: str) -> str:
    """Return a text of the question as a note quotes it."""
    line = " ".join(text.split())
    return f"'{line if len(line) <= 40 else line[:39] + '…'}'"
