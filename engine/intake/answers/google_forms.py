"""The responses of a Google form: ``Timestamp``, an address, and a column headed by each question."""

from __future__ import annotations

from collections.abc import Sequence

from engine.course.person_columns import person_columns, plain_head
from engine.intake.answers.layout import Layout, head_place, questions_of
from engine.intake.answers.plain_table import QUIZ

__all__ = ["google_forms"]

_TIME = ("timestamp", "zeitstempel", "horodateur", "marca temporal")
_OTHERS = frozenset({"score", "total score"})


def google_forms(header: Sequence[str]) -> Layout | None:
    """Return the columns of such responses, of a quiz form too (with ``[Score]`` beside each question)."""
    if plain_head(header[0]) not in _TIME:
        return None
    quiz = head_place(header, QUIZ)
    questions, doubled = questions_of(header, {0, quiz}, _is_other)
    return Layout(person_columns(header), questions, handed=0, quiz=quiz, doubled=doubled)


def _is_other(head: str) -> bool:
    return head in _OTHERS or head.endswith((" [score]", " [feedback]"))
