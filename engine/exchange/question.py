"""A question as a file of another system holds it, before anything is made of it here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Self

from engine.errors import Diagnostic

__all__ = [
    "NOTHING",
    "Answer",
    "Contents",
    "Form",
    "Kind",
    "Markup",
    "Note",
    "Number",
    "Pair",
    "Place",
    "Question",
    "Skip",
]


class Form(StrEnum):
    """How a text is to be read."""

    HTML = "html"
    MARKDOWN = "markdown"
    PLAIN = "plain"
    AUTO = "auto"
    """HTML whose line ends count: the form of a text that states none."""


class Kind(StrEnum):
    """What a question asks for."""

    CHOICE = "choice"
    TOKEN = "token"
    NUMBER = "number"
    MATCHING = "matching"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something begins in the file; both from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Markup:
    """A text in the form of its file."""

    text: str
    form: Form = Form.AUTO

    def __bool__(self) -> bool:
        return bool(self.text.strip())


NOTHING = Markup("")


@dataclass(frozen=True, slots=True)
class Number:
    """A right (or foreseen wrong) number: accepted from ``value - tolerance`` to ``value + tolerance``."""

    value: Decimal
    tolerance: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Answer:
    """An option of a choice, or a text or number that is foreseen.

    Parameters
    ----------
    text : Markup
        For a number the digits as they stand in the file; ``*`` is any other answer.
    fraction : Fraction
        Share of the points: 1 is right, below 0 costs points.
    feedback : Markup
    place : Place
    number : Number, optional
        Its value, in a numeric question.
    """

    text: Markup
    fraction: Fraction
    feedback: Markup = NOTHING
    place: Place = Place()
    number: Number | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A left side and the text that belongs to it; without a left side the text is one too many."""

    prompt: Markup
    target: Markup
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Note:
    """What a question loses, or what somebody should look at."""

    message: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Parameters
    ----------
    kind : Kind
    name : str
        As its author called it; foreign text, may be empty.
    type : str
        What its own system calls the kind of question.
    place : Place
    text : Markup
    answers : tuple of Answer
    pairs : tuple of Pair
    single : bool
        A choice of which one option is picked.
    case_sensitive, shuffle : bool
    points : Decimal
    unit : str
    category : str
        The path of folders that it lies in, with ``/`` between them.
    tags : tuple of str
    general, right, wrong : Markup
        Feedback for everybody, for a right answer, and for a wrong one.
    hints : tuple of Markup
    notes : tuple of Note
        What reading it has lost already.
    """

    kind: Kind
    name: str
    type: str
    place: Place
    text: Markup
    answers: tuple[Answer, ...] = ()
    pairs: tuple[Pair, ...] = ()
    single: bool = True
    case_sensitive: bool = False
    shuffle: bool = True
    points: Decimal = Decimal(1)
    unit: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    general: Markup = NOTHING
    right: Markup = NOTHING
    wrong: Markup = NOTHING
    hints: tuple[Markup, ...] = ()
    notes: tuple[Note, ...] = ()

    def noting(self, *notes: Note) -> Self:
        """Return the question with further notes."""
        return replace(self, notes=(*self.notes, *notes))


@dataclass(frozen=True, slots=True)
class Skip:
    """A question that is understood and has no counterpart here: why, and what to do."""

    name: str
    type: str
    place: Place
    reason: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds.

    Parameters
    ----------
    questions : tuple of Question
    skipped : tuple of Skip
    faults : tuple of Diagnostic
        What is wrong with the file, in the order of its lines; what the faults touch isn't in ``questions``.
    """

    questions: tuple[Question, ...] = ()
    skipped: tuple[Skip, ...] = ()
    faults: tuple[Diagnostic, ...] = field(default=())
