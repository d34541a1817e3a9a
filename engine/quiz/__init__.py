"""Blueprint + roster + secret → one quiz per student, and the fill-in file that travels.

The student's file holds the quiz id, stems and blanks; never a key, a misconception id or
a seed.  When it comes back only the answers are read from it: points, parameters and
options come from the store.
"""

from __future__ import annotations

from engine.hand_ins import FilledQuiz
from engine.quiz.blueprint import Blueprint, BlueprintSection, PlacedBlueprint, read_blueprint
from engine.quiz.choose import choose_items
from engine.quiz.compose import compose, quiz_id
from engine.quiz.hand_in import HandInResult, as_answered, grade_quiz, hand_in, total
from engine.quiz.quiz_file import fill_in_text, read_filled

__all__ = [
    "Blueprint",
    "BlueprintSection",
    "FilledQuiz",
    "HandInResult",
    "PlacedBlueprint",
    "as_answered",
    "choose_items",
    "compose",
    "fill_in_text",
    "grade_quiz",
    "hand_in",
    "quiz_id",
    "read_blueprint",
    "read_filled",
    "total",
]
