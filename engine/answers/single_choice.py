"""One of several options."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from engine.answers.reading.arrays import Numbers, read_numbers
from engine.answers.reading.asides import without_asides
from engine.answers.reading.labels import read_labels, read_texts, same_words
from engine.answers.reading.numeral import format_error, normal_signs
from engine.answers.result import AnswerType, Graded
from engine.errors import ResponseFormatError
from engine.model import Array, Diagnosis, Option, Part
from engine.plurals import counted
from engine.variants.rounding import shown

__all__ = ["SingleChoice"]

_LONGEST = 2_000  # a letter or numbers, with what stands around them


class SingleChoice(AnswerType):
    """One letter, or the option's text or numbers.

    ``parse`` returns the option's id, or the mapping of a printed option that an erratum accepts.
    """

    name = "single_choice"

    def parse(self, text: str, part: Part) -> Any:
        """Return the chosen option's id.

        Raises
        ------
        ResponseFormatError
            It is none of the options, or several.
        """
        # An option's own text may be longer; twice, as text copied from a page has other blanks.
        most = max(_LONGEST, *(2 * len(option.text.plain) for option in part.options))
        if len(text) > most:
            raise format_error(
                f"the answer has {counted(len(text), 'character')}; at most {most} are read here",
                text[:60],
                expected=f"one letter from a to {part.options[-1].id}",
            )
        words = same_words(text)
        by_text = [option.id for option in part.options if same_words(option.text.plain) == words]
        if len(by_text) == 1:
            return by_text[0]
        if (found := self._by_value(text, part)) is not None:
            return found
        texts = read_texts(text, {option.id: option.text.plain for option in part.options})
        labels = [option.id for option in part.options]
        letters = list(dict.fromkeys(texts or read_labels(text, labels, "options")))
        if len(letters) > 1:
            raise format_error("choose one option only", text, expected=f"one letter from a to {labels[-1]}")
        return letters[0]

    def _by_value(self, text: str, part: Part) -> Any:
        """Return the option whose numbers were typed, if there is exactly one."""
        decimals = part.settings.get("decimals")
        for decimal_comma in (False, True):
            try:
                numbers = read_numbers(without_asides(normal_signs(text)), decimal_comma=decimal_comma)
            except ResponseFormatError:
                continue
            found: list[Any] = [
                option.id
                for option in part.options
                if option.value is not None and _same_numbers(numbers, option.value, decimals)
            ]
            if not found:
                found = [entry for entry in part.settings.get("accepted", ()) if _is_printed(numbers, entry)]
            if len(found) == 1:
                return found[0]
        return None

    def judge(self, part: Part, answer: Any) -> Graded:
        """Judge one option."""
        if not isinstance(answer, str):
            message = f"Right: you gave the printed option ({answer['letter']}), which is accepted."
            return Graded(1, message, notes=(answer["note"],) if answer["note"] else ())
        option = next(option for option in part.options if option.id == answer)
        if option.correct:
            return Graded(1, f"Right. {option.feedback}".strip())
        diagnosis = (_known(option),) if option.misconception else ()
        feedback = "" if diagnosis else f" {option.feedback}"
        return Graded(0, f"({option.id}) isn't right.{feedback}".strip(), diagnosis)

    def right_responses(self, part: Part) -> list[str]:
        """Return the letter in its usual forms, and the option's text."""
        key = part.key_ids[0]
        text = next(option.text.plain for option in part.options if option.id == key)
        return [key, key.upper(), f"({key})", f"{key})", f" {key}. ", text]

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return every wrong option."""
        return [(option.id, option.misconception) for option in part.options if not option.correct]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``one letter, a to d``."""
        return f"one letter, a to {part.options[-1].id}"

    def policy(self, part: Part) -> str:
        """Return that one option is right."""
        return "one option is right"

    def chance_score(self, part: Part) -> float:
        """Return one over the number of options."""
        return 1 / len(part.options)


def _known(option: Option) -> Diagnosis:
    return Diagnosis(option.misconception or "", option.feedback or "This option is a known mistake.")


def _same_numbers(numbers: Numbers, value: Array, decimals: int | None) -> bool:
    if not _fits(numbers, value.shape):
        return False
    texts = [shown(entry, decimals) for entry in value.data]
    return [Fraction(text) for text in texts] == list(numbers.entries)


def _is_printed(numbers: Numbers, entry: Any) -> bool:
    if "numbers" not in entry or not _fits(numbers, tuple(entry["shape"])):
        return False
    return [Fraction(text) for text in entry["numbers"]] == list(numbers.entries)


def _fits(numbers: Numbers, shape: tuple[int, ...]) -> bool:
    sizes = [len(row) for row in numbers.rows]
    if len(shape) == 2:
        return len(sizes) == shape[0] and set(sizes) == {shape[1]}
    count = shape[0] if shape else 1
    return len(numbers.entries) == count and (len(sizes) == 1 or max(sizes) == 1)
