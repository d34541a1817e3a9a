"""The responses of a Microsoft form: ``ID``, ``Start time``, ``Completion time``, ``Email``, ``Name``, …"""

from __future__ import annotations

from collections.abc import Sequence

from engine.course.person_columns import person_columns
from engine.intake.answers.layout import Layout, head_place, questions_of
from engine.intake.answers.plain_table import QUIZ

__all__ = ["microsoft_forms"]

_OTHERS = frozenset(
    {"id", "start time", "last modified time", "total points", "quiz feedback", "grade posted time"}
)


def microsoft_forms(header: Sequence[str]) -> Layout | None:
    """Return the columns of such responses, of a quiz form too (with ``Points - …`` beside each question)."""
    handed, begun = head_place(header, ["completion time"]), head_place(header, ["start time"])
    if handed is None or begun is None:
        return None
    quiz = head_place(header, QUIZ)
    # Its ID numbers the responses: it is nobody's.
    own = ["" if place == head_place(header, ["id"]) else head for place, head in enumerate(header)]
    questions, doubled = questions_of(own, {handed, quiz}, _is_other)
    return Layout(
        person_columns(own), questions, handed=handed, quiz=quiz, no_answer=("anonymous",), doubled=doubled
    )


def _is_other(head: str) -> bool:
    return head in _OTHERS or head.startswith(("points - ", "feedback - "))
