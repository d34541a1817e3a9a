"""Saves and loads quizzes and attempts: SQLite in a course folder, or PostgreSQL by URL."""

from engine.store.attempt import (
    SETTLED,
    Arrival,
    Attempt,
    BestScore,
    quiz_responses,
    reason_of,
    response_sha256,
)
from engine.store.hand_marks import HandMark, HandMarks
from engine.store.regrades import Regrade, Regrades
from engine.store.store import Store, open_store

__all__ = [
    "SETTLED",
    "Arrival",
    "Attempt",
    "BestScore",
    "HandMark",
    "HandMarks",
    "Regrade",
    "Regrades",
    "Store",
    "open_store",
    "quiz_responses",
    "reason_of",
    "response_sha256",
]
