"""A short text: words, or sequences of tokens."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from engine.answers.reading.numeral import format_error
from engine.answers.result import AnswerType, Graded
from engine.model import Diagnosis, Part
from engine.variants.tokens import Spelling, UnclearTextError

__all__ = ["Token"]

MAX_TEXT = 200


class Token(AnswerType):
    """Words with blanks between them, or tokens; case matters only where the item says so."""

    name = "token"

    def parse(self, text: str, part: Part) -> tuple[str, ...]:
        """Return the words, tokens or sequences, without what doesn't matter.

        Raises
        ------
        ResponseFormatError
            It is too long, nothing but brackets and separators, or can be read in several ways.
        """
        spelling = self._spelling(part)
        if len(text) > MAX_TEXT:
            raise format_error(
                f"at most {MAX_TEXT} characters are read", text[:60], expected=spelling.advice()
            )
        try:
            read = spelling.read(text)
        except UnclearTextError as reason:
            raise format_error(str(reason), text, expected=spelling.advice()) from None
        if not read:
            raise format_error("there are no words in it", text, expected=spelling.advice())
        return read

    @staticmethod
    def _spelling(part: Part) -> Spelling:
        wrong = tuple(known.text for known in part.known_wrong if known.text is not None)
        return Spelling.of(part.key_ids, wrong, case_sensitive=bool(part.settings.get("case_sensitive")))

    def judge(self, part: Part, answer: tuple[str, ...]) -> Graded:
        """Judge a text against the accepted ones; every known mistake that gives it is named."""
        spelling = self._spelling(part)
        accepted = {spelling.read(text) for text in part.key_ids}
        if answer in accepted:
            return Graded(1, "Right.")
        diagnosis = tuple(
            Diagnosis(
                known.misconception, f"Your answer is what this known mistake gives. {known.feedback}".strip()
            )
            for known in part.known_wrong
            if known.text is not None and spelling.is_same(known.text, answer)
        )
        share = Fraction(Decimal(str(part.settings.get("order_credit") or 0)))
        if share and sorted(answer) in [sorted(text) for text in accepted]:
            return Graded(share, "These are the right ones, but not in the right order.", diagnosis)
        return Graded(0, "Not right.", diagnosis)

    def right_responses(self, part: Part) -> list[str]:
        """Return the accepted texts; the first also in the other ways in which people write it."""
        spelling = self._spelling(part)
        first = part.key_ids[0]
        found = [*part.key_ids, f"  {first} ", f"{first}.", f'"{first}"', *spelling.other_ways(first)]
        if not spelling.case_sensitive:
            found += [first.lower(), first.upper()]
        return list(dict.fromkeys(found))

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would type."""
        return [(known.text, known.misconception) for known in part.known_wrong if known.text is not None]

    def blank_hint(self, part: Part) -> str:
        """Return what is to be typed."""
        spelling = self._spelling(part)
        if spelling.kind != "words":
            return spelling.advice()
        return "words with blanks between them" if " " in part.key_ids[0] else "a word"

    def policy(self, part: Part) -> str:
        """Return whether the right ones in another order earn something."""
        share = part.settings.get("order_credit") or 0
        return f"all or nothing; in another order {share:.0%} of the points" if share else "all or nothing"
