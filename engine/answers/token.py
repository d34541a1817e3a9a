"""A short text."""

from __future__ import annotations

from engine.answers.reading.numeral import format_error
from engine.answers.result import AnswerType, Graded
from engine.model import Diagnosis, Part
from engine.variants.tokens import normal_token

__all__ = ["Token"]

MAX_TEXT = 200


class Token(AnswerType):
    """Words with blanks between them; case matters only where the item says so."""

    name = "token"

    def parse(self, text: str, part: Part) -> str:
        """Return the text without what doesn't matter.

        Raises
        ------
        ResponseFormatError
            It is too long, or nothing but brackets and separators.
        """
        if len(text) > MAX_TEXT:
            raise format_error(f"at most {MAX_TEXT} characters are read", text[:60], expected="a few words")
        normal = normal_token(text, self._case(part))
        if not normal:
            raise format_error("there are no words in it", text, expected="a few words")
        return normal

    @staticmethod
    def _case(part: Part) -> bool:
        return bool(part.settings.get("case_sensitive"))

    def judge(self, part: Part, answer: str) -> Graded:
        """Judge a text against the accepted ones."""
        if answer in {normal_token(text, self._case(part)) for text in part.key_ids}:
            return Graded(1, "Right.")
        diagnosis = tuple(
            Diagnosis(
                known.misconception, f"Your answer is what this known mistake gives. {known.feedback}".strip()
            )
            for known in part.known_wrong
            if known.text is not None and normal_token(known.text, self._case(part)) == answer
        )
        return Graded(0, "Not right.", diagnosis)

    def right_responses(self, part: Part) -> list[str]:
        """Return the accepted texts; the first also with other separators and case."""
        first = part.key_ids[0]
        found = [*part.key_ids, f"  {first} ", first.replace(" ", ", "), first.replace(" ", " -> ")]
        if not self._case(part):
            found += [first.lower(), first.upper()]
        return list(dict.fromkeys(found))

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would type."""
        return [(known.text, known.misconception) for known in part.known_wrong if known.text is not None]

    def blank_hint(self, part: Part) -> str:
        """Return that words are to be typed."""
        return "words with blanks between them" if " " in part.key_ids[0] else "a word"
