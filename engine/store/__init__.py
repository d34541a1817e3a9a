"""The store of a course: quizzes, attempts and marks, in an SQLite file or a PostgreSQL database."""

from __future__ import annotations

from engine.store.attempt import (
    SETTLED,
    ArrivalInfo,
    Attempt,
    BestScore,
    SubmissionKey,
    quiz_responses,
    reason_of,
    response_sha256,
)
from engine.store.marker_comments import CodeComment, SavedComment
from engine.store.marks import HandMark, HandMarks, RegradeHistory, StoredRegrade
from engine.store.store import Store, open_store

__all__ = [
    "SETTLED",
    "ArrivalInfo",
    "Attempt",
    "BestScore",
    "CodeComment",
    "HandMark",
    "HandMarks",
    "RegradeHistory",
    "SavedComment",
    "Store",
    "StoredRegrade",
    "SubmissionKey",
    "open_store",
    "quiz_responses",
    "reason_of",
    "response_sha256",
]
