"""What stands between the braces of a GIFT question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from engine.exchange.gift.blocks import Block
from engine.exchange.gift.escapes import find_marks, first_mark, unescaped
from engine.exchange.numerals import read_decimal, read_share
from engine.exchange.question import NOTHING, Answer, Form, Kind, Markup, Number, Pair, Place
from engine.exchange.reading import Faults
from engine.spec.text_file import shown

__all__ = ["Field", "marked_form", "read_field"]

_FORMS = {"html": Form.HTML, "moodle": Form.AUTO, "plain": Form.PLAIN, "markdown": Form.MARKDOWN}
_FORM = re.compile(r"\s*\[(html|moodle|plain|markdown)\]", re.IGNORECASE)
_WEIGHT = re.compile(r"\s*%([^%\n]{0,40})%")
_TRUTH = {"T": True, "TRUE": True, "F": False, "FALSE": False}


@dataclass(frozen=True)
class Field:
    """What is asked for; the kind is None for an essay."""

    kind: Kind | None
    type: str
    answers: tuple[Answer, ...] = ()
    pairs: tuple[Pair, ...] = ()
    single: bool = True
    shuffle: bool = True
    general: Markup = NOTHING


@dataclass(frozen=True)
class _Piece:
    """One answer as it is written: its mark (``=``, ``~`` or nothing) and the text behind it."""

    mark: str
    text: str
    share: Fraction | None
    place: Place


def marked_form(text: str, otherwise: Form) -> Markup:
    """Return a text (its escapes resolved) in the form that it begins with, such as ``[html]``."""
    found = _FORM.match(text)
    form = _FORMS[found[1].lower()] if found is not None else otherwise
    return Markup(unescaped(text[found.end() if found is not None else 0 :]).strip(), form)


def read_field(block: Block, start: int, end: int, form: Form, faults: Faults) -> Field:
    """Return what ``block.text[start:end]``, the inside of the braces, asks for."""
    return _Reading(block, form, faults).field(start, end)


class _Reading:
    def __init__(self, block: Block, form: Form, faults: Faults) -> None:
        self.block = block
        self.text = block.text
        self.form = form
        self.faults = faults

    def field(self, start: int, end: int) -> Field:
        general = NOTHING
        cut = self._general(start, end)
        if cut >= 0:
            general, end = marked_form(self.text[cut + 4 : end], self.form), cut
        inside = self.text[start:end].strip()
        start += len(self.text[start:end]) - len(self.text[start:end].lstrip())
        if not inside:
            return Field(None, "essay", general=general)
        if inside.startswith("#"):
            return Field(Kind.NUMBER, "numerical", self._numbers(start + 1, end), general=general)
        if first_mark(self.text, "~", start, end) >= 0:
            return self._choice(start, end, general)
        if first_mark(self.text, "=", start, end) >= 0 and "->" in inside:
            return Field(Kind.MATCHING, "matching", pairs=self._pairs(start, end), general=general)
        if (truth := self._truth(start, end)) is not None:
            return Field(Kind.CHOICE, "truefalse", truth, shuffle=False, general=general)
        answers = tuple(self._answer(piece, Fraction(1), Form.PLAIN) for piece in self._pieces(start, end))
        return Field(Kind.TOKEN, "shortanswer", answers, general=general)

    def _general(self, start: int, end: int) -> int:
        """Return where ``####`` stands, which begins the feedback for everybody."""
        for at in find_marks(self.text, "#", start, end):
            if self.text.startswith("####", at):
                return at
        return -1

    # --- answers

    def _pieces(self, start: int, end: int) -> Iterator[_Piece]:
        """Yield the answers; text before the first mark counts as one of its own."""
        marks = list(find_marks(self.text, "=~", start, end))
        if self.text[start : marks[0] if marks else end].strip():
            marks.insert(0, start)
        for at, following in zip(marks, [*marks[1:], end], strict=False):
            mark = self.text[at] if self.text[at] in "=~" else ""
            yield self._piece(mark, at, at + len(mark), following)

    def _piece(self, mark: str, at: int, start: int, end: int) -> _Piece:
        weight = _WEIGHT.match(self.text, start, end)
        share = None
        if weight is not None:
            share = read_share(weight[1])
            if share is None:
                said = f"not '{shown(weight[1], 30)}'"
                message = f"a weight is a percentage from -100 to 100, such as %50%, {said}"
                self.faults.add(self.block.place(weight.start(1)), message)
            start = weight.end()
        return _Piece(mark, self.text[start:end], share, self.block.place(at))

    def _answer(self, piece: _Piece, usual: Fraction, form: Form) -> Answer:
        cut = first_mark(piece.text, "#")
        text, feedback = (piece.text, "") if cut < 0 else (piece.text[:cut], piece.text[cut + 1 :])
        share = usual if piece.share is None else piece.share
        return Answer(marked_form(text, form), share, marked_form(feedback, self.form), piece.place)

    def _choice(self, start: int, end: int, general: Markup) -> Field:
        pieces = list(self._pieces(start, end))
        answers = []
        for piece in pieces:
            if not piece.mark:
                self.faults.add(piece.place, "text stands here before the first = or ~")
                continue
            answers.append(self._answer(piece, Fraction(int(piece.mark == "=")), self.form))
        # as in Moodle: several options can be picked where none is marked as the right one
        single = any(piece.mark == "=" for piece in pieces)
        return Field(Kind.CHOICE, "multichoice", tuple(answers), single=single, general=general)

    def _pairs(self, start: int, end: int) -> tuple[Pair, ...]:
        pairs = []
        for piece in self._pieces(start, end):
            left, arrow, right = piece.text.partition("->")
            if not arrow:
                self.faults.add(piece.place, "this pair has no -> between its two sides")
                continue
            target = Markup(unescaped(right).strip(), Form.PLAIN)
            pairs.append(Pair(marked_form(left, self.form), target, piece.place))
        return tuple(pairs)

    def _truth(self, start: int, end: int) -> tuple[Answer, ...] | None:
        edges = [start, *(at + 1 for at in find_marks(self.text, "#", start, end)), end + 1]
        texts = [self.text[a : b - 1].strip() for a, b in pairwise(edges)]
        truth = _TRUTH.get(texts[0].upper())
        if truth is None:
            return None
        wrong, right = (marked_form(text, self.form) for text in [*texts[1:3], "", ""][:2])
        place = self.block.place(start)
        return tuple(
            Answer(
                Markup(str(value), Form.PLAIN),
                Fraction(int(value is truth)),
                right if value is truth else wrong,
                place,
            )
            for value in (True, False)
        )

    # --- numbers

    def _numbers(self, start: int, end: int) -> tuple[Answer, ...]:
        answers = [self._numeric(piece) for piece in self._pieces(start, end)]
        if not answers:
            self.faults.add(self.block.place(start), "no number stands after the #")
        return tuple(answers)

    def _numeric(self, piece: _Piece) -> Answer:
        answer = self._answer(piece, Fraction(int(piece.mark != "~")), Form.PLAIN)
        word = answer.text.text.strip()
        if word == "*" or (piece.mark == "~" and not word):  # any other number
            return replace(answer, text=Markup("*", Form.PLAIN))
        number = _number(word)
        if number is None:
            forms = "such as 3.14, 3.14:0.01 (tolerance) or 3.1..3.2"
            self.faults.add(piece.place, f"'{shown(word, 30)}' is no number of GIFT's, {forms}")
        return replace(answer, number=number)


def _number(word: str) -> Number | None:
    """Return ``value``, ``value:tolerance`` or ``low..high``, None if it is none of them."""
    if ".." in word:
        low, high = (read_decimal(part) for part in word.split("..", 1))
        if low is None or high is None or high < low:
            return None
        return Number((low + high) / 2, (high - low) / 2)
    text, _, around = word.partition(":")
    value, tolerance = read_decimal(text), read_decimal(around) if around.strip() else Decimal(0)
    if value is None or tolerance is None or tolerance < 0:
        return None
    return Number(value, tolerance)
