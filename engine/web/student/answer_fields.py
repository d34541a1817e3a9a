"""The inputs in which a question is answered, and the text that stands for what was entered in them.

An answer is text, on the site as on the command line: it is what is saved, read and graded. Radio buttons,
checkboxes and lists only help to write it. Each input's name says how its value becomes text, so that saving
needs nothing but the form:

- ``text.PART`` is the text itself;
- ``pick.PART`` is the letter of an option that was picked; several are put together with commas;
- ``place.PART.N`` is the letter that stands in place N of an order;
- ``pair.PART.N`` is the letter that belongs to number N.

A key is nowhere among these values: no template can show what it isn't given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from engine.answers import answer_type, blank_hint
from engine.answers.free_text import length_text, word_limits
from engine.errors import ResponseFormatError
from engine.model import ChoiceOption, Part, RenderedText
from engine.text.words import as_sentence
from engine.web.forms import Form

# How a page says which fields it has: a group of checkboxes without a tick sends nothing of its own.
REVISION = "revision"
_PAIR = re.compile(r"([0-9]{1,3})-([a-z])")
_ORDER_OF_PLACES = re.compile(rf"{_PAIR.pattern}(?:, {_PAIR.pattern})*+")
MINUS = "\N{MINUS SIGN}"
_MOST_ROWS = 16  # of a box, which scrolls from there on
_MOST_CELLS = 64  # of a grid: larger arrays are pasted as text


class FieldKind(StrEnum):
    """How a field is entered."""

    LINE = "line"
    NUMBER = "number"
    NUMBERS = "numbers"
    MATRIX = "matrix"
    LINES = "lines"
    SINGLE = "one"
    SEVERAL = "several"
    ORDER = "order"
    PAIRS = "pairs"

    @property
    def is_group(self) -> bool:
        """Whether it is several inputs under one heading."""
        return self in (FieldKind.SINGLE, FieldKind.SEVERAL, FieldKind.ORDER, FieldKind.PAIRS)


# An answer type from outside the engine is typed into a line.
_KINDS = {
    "number": FieldKind.NUMBER,
    "vector": FieldKind.NUMBERS,
    "matrix": FieldKind.MATRIX,
    "single_choice": FieldKind.SINGLE,
    "multiple_choice": FieldKind.SEVERAL,
    "ordering": FieldKind.ORDER,
    "matching": FieldKind.PAIRS,
    "free_text": FieldKind.LINES,
}


@dataclass(frozen=True, slots=True)
class FieldOption:
    """An option as it is shown."""

    id: str
    text: RenderedText
    is_picked: bool = False


@dataclass(frozen=True, slots=True)
class FieldSlot:
    """A place of an order, or the number of a pair, with the letter that was chosen for it.

    ``text`` is what the number stands for; None in an order.
    """

    id: str
    picked: str
    text: RenderedText | None = None


@dataclass(frozen=True, slots=True)
class EntryField:
    """One part of a question as its page shows it.

    Parameters
    ----------
    part : str
        Id of the part.
    kind : FieldKind
    prompt : RenderedText or None
        What a step asks.
    points : float
    hint : str
        How it is answered.
    text : str
        What was saved.
    revision : int
        Of the saved text.
    options : tuple of FieldOption
    slots : tuple of FieldSlot
        The places of an order or the numbers of pairs.
    rows : int
        Height of a box.
    fault : str
        Why the saved text can't be handed in; empty where it can, or where there is none.
    trouble : str
        The same in a few words.
    numbers : tuple of tuple of str
        How numbers are read, in rows.
    length : str
        How many words the saved text has, and how many are left; empty where words aren't counted.
    most_words : int or None
        How many words are taken; None where they aren't limited.
    shape : tuple of int
        Rows and columns of numbers, which the hint states; empty where they aren't entered in a grid.
    """

    part: str
    kind: FieldKind
    prompt: RenderedText | None
    points: float
    hint: str
    text: str
    revision: int
    options: tuple[FieldOption, ...] = ()
    slots: tuple[FieldSlot, ...] = ()
    rows: int = 1
    fault: str = ""
    trouble: str = ""
    numbers: tuple[tuple[str, ...], ...] = ()
    length: str = ""
    most_words: int | None = None
    shape: tuple[int, ...] = ()


def answer_field(part: Part, text: str, revision: int) -> EntryField:
    """Return the field of a part with what was saved in it."""
    kind = _KINDS.get(part.type, FieldKind.LINE)
    reading = read_entry(part, text)
    picked = _picked(part, kind, text, reading.answer)
    return EntryField(
        part=part.id,
        kind=kind,
        prompt=part.prompt,
        points=part.points,
        hint=_hint(part, kind),
        text=text,
        revision=revision,
        options=tuple(FieldOption(o.id, o.text, o.id in picked.values()) for o in part.options),
        slots=_slots(part, kind, picked),
        rows=_rows(part, kind),
        fault=reading.fault,
        trouble=reading.trouble,
        numbers=reading.numbers,
        length=reading.length,
        most_words=word_limits(part)[1] if kind is FieldKind.LINES else None,
        shape=_shape(part, kind),
    )


# Letters are for those who type them.
_GROUP_HINTS = {
    FieldKind.SINGLE: "choose one",
    FieldKind.SEVERAL: "choose all that are right",
    FieldKind.ORDER: "put them in order, first to last",
    FieldKind.PAIRS: "choose one for each number",
}


def _hint(part: Part, kind: FieldKind) -> str:
    if kind not in _GROUP_HINTS:
        return blank_hint(part)
    type_of_answer = answer_type(part.type)
    policy = f"; {type_of_answer.policy(part)}" if type_of_answer.shows_policy else ""
    return _GROUP_HINTS[kind] + policy


def _rows(part: Part, kind: FieldKind) -> int:
    if kind is FieldKind.MATRIX and part.key is not None:
        return min(_MOST_ROWS, max(2, part.key.shape[0]))
    return 8 if kind is FieldKind.LINES else 1


def _shape(part: Part, kind: FieldKind) -> tuple[int, ...]:
    if part.key is None or kind not in (FieldKind.NUMBERS, FieldKind.MATRIX):
        return ()
    rows, columns = (1, *part.key.shape) if len(part.key.shape) == 1 else part.key.shape
    # One number needs no grid, and in many small fields nobody finds the way.
    return (rows, columns) if 1 < rows * columns <= _MOST_CELLS else ()


def _slots(part: Part, kind: FieldKind, picked: Mapping[str, str]) -> tuple[FieldSlot, ...]:
    if kind is FieldKind.PAIRS:
        return tuple(FieldSlot(p.id, picked.get(p.id, ""), p.text) for p in part.prompts)
    if kind is FieldKind.ORDER:
        places = [str(place) for place in range(1, len(part.options) + 1)]
        return tuple(FieldSlot(place, picked.get(place, "")) for place in places)
    return ()


def _picked(part: Part, kind: FieldKind, text: str, answer: Any) -> Mapping[str, str]:
    """Return the letters that a text names, by place or number; by themselves where neither matters."""
    if not kind.is_group or not text.strip():
        return {}
    if answer is None:
        # An order or pairs that aren't complete; the letters of any other text can't be known.
        return dict(_PAIR.findall(text)) if _ORDER_OF_PLACES.fullmatch(text) else {}
    if kind is FieldKind.PAIRS:
        return dict(answer)
    if kind is FieldKind.ORDER:
        return {str(place): letter for place, letter in enumerate(answer, start=1)}
    letters = [answer] if isinstance(answer, str) else sorted(answer)
    return {letter: letter for letter in letters}


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """What the answer type says of a text: why it can't be handed in, or how its numbers are read.

    ``trouble`` says the same as ``fault`` in a few words, and ``length`` how many words there are.
    """

    answer: Any = None
    fault: str = ""
    numbers: tuple[tuple[str, ...], ...] = ()
    trouble: str = ""
    length: str = ""


def read_entry(part: Part, text: str) -> ReadEntry:
    """Read a text as it is read when it is handed in; this costs no attempt, and tells nothing of a key."""
    kind = answer_type(part.type)
    length = length_text(part, text) if _KINDS.get(part.type) is FieldKind.LINES else ""
    # An empty field is blank, which is no fault.
    if not text.strip():
        return ReadEntry(length=length)
    trouble = "can't be read"
    try:
        answer = kind.parse(text, part)
        trouble = "is too long"
        kind.check_limits(part, answer)
    except ResponseFormatError as error:
        sentence = as_sentence(error.what)
        fault = f"{sentence} Expected: {error.expected}." if error.expected else sentence
        return ReadEntry(fault=fault, trouble=trouble, length=length)
    return ReadEntry(answer, numbers=_numbers(part, text, answer), length=length)


def _numbers(part: Part, text: str, answer: Any) -> tuple[tuple[str, ...], ...]:
    if part.key is None or not isinstance(answer, tuple) or not all(isinstance(n, Fraction) for n in answer):
        return ()
    columns = part.key.shape[-1] if part.key.shape else 1
    # Of what was typed: the shape alone comes from the key, and the field's hint says it anyway.
    texts = [_plain(number) for number in answer]
    if len(texts) == 1 and texts[0] == text.strip().replace("-", MINUS):  # to say it again would say nothing
        return ()
    return tuple(tuple(texts[start : start + columns]) for start in range(0, len(texts), columns))


def _plain(number: Fraction) -> str:
    """Return ``0.125`` or ``-1/3``: a decimal number where it is one of few places."""
    for places in range(13):
        scaled = number * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            whole, decimals = (digits[:-places], digits[-places:]) if places else (digits, "")
            return (MINUS if number < 0 else "") + whole + (f".{decimals}" if decimals else "")
    return str(number).replace("-", MINUS)


def blank_parts(parts: Sequence[Part], texts: Mapping[str, str]) -> list[str]:
    """Return the parts without an answer."""
    return [part.id for part in parts if not texts.get(part.id, "").strip()]


def open_prompts(part: Part, text: str) -> list[ChoiceOption]:
    """Return the prompts of a matching that have no letter yet, of one that is answered in part.

    Such an answer can be read, and earns nothing for these prompts.
    """
    answer = read_entry(part, text).answer if part.prompts else None
    return [] if answer is None else [prompt for prompt in part.prompts if prompt.id not in dict(answer)]


@dataclass(frozen=True, slots=True)
class EnteredText:
    """What a form says of one part: its text now, and what the window had seen of it.

    ``before`` is None where the form doesn't say so.
    """

    part: str
    text: str
    revision: int
    before: str | None


def entered_texts(form: Form) -> list[EnteredText]:
    """Return the text of each part that a form has, in the form's order."""
    entered = []
    for name, values in form.fields.items():
        kind, _, part = name.partition(".")
        if kind == REVISION and part:
            # A forged revision is one that nobody has seen: then the store keeps what it has.
            revision = int(values[0]) if re.fullmatch("[0-9]{1,9}", values[0]) else 0
            before = form.texts(f"before.{part}")
            seen = _plain_ends(before[0]) if before else None
            entered.append(EnteredText(part, _text(form, part), revision, seen))
    return entered


def _text(form: Form, part: str) -> str:
    typed = form.texts(f"text.{part}")
    if typed:
        return _plain_ends(typed[0])
    # "No answer" of a single choice is a button without a letter.
    picked = [letter for letter in form.texts(f"pick.{part}") if letter]
    if picked:
        return ", ".join(picked)
    pairs = _lettered(form, f"pair.{part}.")
    if pairs:
        return ", ".join(f"{number}-{letter}" for number, letter in pairs if letter)
    places = _lettered(form, f"place.{part}.")
    # Complete, an order reads as people type it; while places are open, each letter has to keep its own.
    if places and all(letter for _, letter in places):
        return ", ".join(letter for _, letter in places)
    return ", ".join(f"{place}-{letter}" for place, letter in places if letter)


def _plain_ends(text: str) -> str:
    # Forms send line ends as two characters, and what was saved has one.
    return text.replace("\r\n", "\n")


def _lettered(form: Form, prefix: str) -> list[tuple[str, str]]:
    return [
        (name.removeprefix(prefix), values[0])
        for name, values in form.fields.items()
        if name.startswith(prefix)
    ]
