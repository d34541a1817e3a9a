"""What lint types into the fields of a variant: right, wrong, blank and malformed answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.lint.printed import rounded
from engine.model import Array, Part, Variant

__all__ = [
    "WrongAnswer",
    "blank_of",
    "malformed",
    "notations",
    "places_of",
    "right_answers",
    "typed",
    "wrong_answers",
]

_NUMERIC = ("number", "vector", "matrix")
_UNREADABLE = ("nan", "inf", "1e309", "0x10", "1_000", "2+3", "[[0.1", "one half")
_PLACES = 6  # where an item states no place: more than any tolerance needs


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A wrong answer that ought to be recognised.

    Parameters
    ----------
    text : str
    misconception : str or None
    is_unique : bool
        Whether no other known mistake gives the same answer: only then it has to be named.
    """

    text: str
    misconception: str | None
    is_unique: bool


def right_answers(variant: Variant) -> dict[str, str]:
    """Return the key of every part as a student would type it."""
    from engine.answers import right_response

    return {
        part.id: typed(part.key, places_of(part)) if part.key is not None else right_response(part)
        for part in variant.parts
    }


def places_of(part: Part) -> list[int]:
    """Return the decimal place of every entry of a numeric part."""
    size = len(part.key.data) if part.key is not None else 0
    stated = part.settings.get("places") or [None] * size
    return [_PLACES if place is None else int(place) for place in stated]


def typed(array: Array, places: Sequence[int]) -> str:
    """Return an array as ``0.5``, ``[0.1, 0.2]`` or ``[[1, 2], [3, 4]]``, rounded entry by entry."""
    texts = [
        format(rounded((value,), max(place, 0))[0], "f")
        for value, place in zip(array.data, places, strict=True)
    ]
    for size in reversed(array.shape):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return texts[0]


# --- notations ----------------------------------------------------------------------------


def notations(part: Part, right: str) -> Iterator[str]:
    """Yield other ways to type the key: without the leading 0, with other brackets, blanks, minus signs."""
    from engine.answers import right_responses

    yield from right_responses(part)
    if part.type not in _NUMERIC:
        yield f"  {right} "
        if part.type != "token":
            yield right.upper()
        return
    yield right.replace("-", "\u2212")
    yield f" {right}\n"
    if part.type == "number":
        yield from _of_number(right)
    elif part.type == "vector":
        inside = right.strip("[]")
        yield from (f"({inside})", inside, inside.replace(",", ""), f"[{inside.replace(',', ' ')}]")
        yield "[" + ", ".join(_without_zero(entry) for entry in inside.split(", ")) + "]"
    else:
        rows = [row.strip("[] ") for row in right.split("], [")]
        yield "; ".join(rows)
        yield "\n".join(row.replace(",", "") for row in rows)


def _of_number(right: str) -> Iterator[str]:
    yield _without_zero(right)
    yield f"{right}e0"
    digits = right.lstrip("-")
    if "." in digits:
        whole, fraction = digits.split(".")
        sign = "-" if right.startswith("-") else ""
        yield f"{sign}{int(whole + fraction)}/{10 ** len(fraction)}"


def _without_zero(number: str) -> str:
    return number.replace("0.", ".", 1) if number.lstrip("-").startswith("0.") else number


# --- wrong, blank and malformed -----------------------------------------------------------


def wrong_answers(part: Part) -> Iterator[WrongAnswer]:
    """Yield what every known mistake answers, every wrong option, and wrong orders and pairs."""
    if part.type == "single_choice":
        for option in part.options:
            if not option.correct:
                yield WrongAnswer(option.id, option.misconception, is_unique=True)
        return
    if part.type not in (*_NUMERIC, "token"):
        from engine.answers import wrong_responses

        for text, misconception in wrong_responses(part):
            yield WrongAnswer(text, misconception, is_unique=True)
        return
    answers = []
    for known in part.known_wrong:
        if known.value is not None:
            answers.append((_typed_wrong(known.value, part), known.misconception))
        elif known.text is not None:
            answers.append((known.text, known.misconception))
    texts = [text for text, _ in answers]
    for text, misconception in answers:
        yield WrongAnswer(text, misconception, is_unique=texts.count(text) == 1)


def _typed_wrong(value: Array, part: Part) -> str:
    places = places_of(part)
    if len(places) != len(value.data):
        places = [max(places, default=_PLACES)] * len(value.data)
    return typed(value, places)


def blank_of(part: Part) -> tuple[str, ...]:
    """Return blank answers."""
    return ("", "  \n")


def malformed(part: Part) -> tuple[str, ...]:
    """Return answers that can't be read in this field."""
    if part.type in _NUMERIC:
        return _UNREADABLE
    if part.type == "token":
        return ()
    # an option may be called "?", and twelve options have all of these letters
    letters = {option.id for option in part.options}
    texts = {" ".join(option.text.plain.split()).casefold() for option in part.options}
    tried = ("?", "zz", "a b c d e f g h i j k l")
    return tuple(text for text in tried if text not in texts and not set(text) - {" "} <= letters)
