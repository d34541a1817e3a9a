"""In which order a copy's questions are printed, and what each field is called on paper.

Questions are shuffled within their section only: sections are what the blueprint's author put in an order.
Options stand as the variant has them, which was drawn in an order of its own where the item allows it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from itertools import groupby

from engine.answers import kind_of
from engine.model import Part, Quiz, QuizQuestion
from engine.paper.print_record import PrintedPart, PrintedQuestion
from engine.paper.sheet_questions import SheetQuestion, sheet_question


def printed_order(quiz: Quiz, secret: bytes, *, shuffled: bool = True) -> tuple[QuizQuestion, ...]:
    """Return a quiz's questions in the order in which they are printed.

    Parameters
    ----------
    quiz : Quiz
    secret : bytes
        The course's: nobody else can tell a neighbour's order.
    shuffled : bool
        False leaves the order of the blueprint.
    """
    if not shuffled:
        return quiz.questions
    # By what is asked and not by whose quiz it is: all copies of one version have one order.
    variants = "\x1f".join(question.variant.id for question in quiz.questions)

    def rank(question: QuizQuestion) -> bytes:
        message = f"print\x1f{quiz.name}\x1f{variants}\x1f{question.number}".encode()
        return hmac.new(secret, message, hashlib.sha256).digest()

    # Neighbours that have the same section, as stored: a blueprint may name two sections alike.
    ordered: list[QuizQuestion] = []
    for _, section in groupby(quiz.questions, key=lambda question: question.section):
        ordered += sorted(section, key=rank)
    return tuple(ordered)


def printed_questions(ordered: Sequence[QuizQuestion]) -> tuple[PrintedQuestion, ...]:
    """Return what the record says of questions that are printed in this order."""
    return tuple(
        PrintedQuestion(
            question.number,
            str(place),
            question.variant.item,
            question.variant.id,
            float(question.points),  # 2 before it is stored and 2.0 after: the print's id is made of it
            tuple(
                PrintedPart(
                    part.id,
                    part_label(place, index, len(question.variant.parts)),
                    part.type,
                    tuple(option.id for option in part.options),
                    tuple(prompt.id for prompt in part.prompts),
                    is_on_sheet(part),
                )
                for index, part in enumerate(question.variant.parts)
            ),
        )
        for place, question in enumerate(ordered, start=1)
    )


def part_label(place: int, index: int, count: int) -> str:
    """Return what an answer field is called on paper: ``3``, or ``3.2`` for the second of several.

    Letters are the options', so steps have numbers.
    """
    return str(place) if count == 1 else f"{place}.{index + 1}"


def is_on_sheet(part: Part) -> bool:
    """Return whether a part is answered on the sheet; a program is handed in as a file."""
    return kind_of(part.type).takes_text


def sheet_fields(ordered: Sequence[QuizQuestion]) -> tuple[SheetQuestion, ...]:
    """Return the fields of the answer sheet for questions that are printed in this order."""
    return tuple(
        sheet_question(question.number, part_label(place, index, len(question.variant.parts)), part)
        for place, question in enumerate(ordered, start=1)
        for index, part in enumerate(question.variant.parts)
        if is_on_sheet(part)
    )
