"""A table that somebody made: who, perhaps quiz and time, and a column for each question."""

from __future__ import annotations

from collections.abc import Sequence

from engine.course.person_columns import person_columns
from engine.intake.answers.layout import Layout, head_place, questions_of

__all__ = ["plain_table"]

HANDED = ("handed", "handed in", "submitted", "submitted at", "submission time", "timestamp", "time")
QUIZ = ("quiz", "quiz id", "quiz name")


def plain_table(header: Sequence[str]) -> Layout | None:
    """Return the columns of any table that says who answered."""
    who = person_columns(header)
    handed, quiz = head_place(header, HANDED), head_place(header, QUIZ)
    questions, doubled = questions_of(header, {handed, quiz})
    if not set(who) - {"section"}:
        return None
    return Layout(who, questions, handed=handed, quiz=quiz, doubled=doubled)
