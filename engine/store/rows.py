"""Attempts as rows of their table, and back."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from engine.model import GradeReport, Response, Variant
from engine.store.attempt import Attempt
from engine.store.codec import decode, encode, storable
from engine.store.tables import attempts

__all__ = ["attempt_of", "attempt_row", "same_attempt"]


def same_attempt(attempt: Attempt) -> sa.ColumnElement[bool]:
    """Return the condition that a row is about this very submission."""
    return sa.and_(
        attempts.c.student == attempt.student,
        attempts.c.item == attempt.item,
        attempts.c.submission == attempt.submission,
        attempts.c.mode == str(attempt.report.mode),
    )


def attempt_of(row: sa.RowMapping, where: str) -> Attempt:
    """Return the attempt that a row of the store at `where` holds."""
    return Attempt(
        student=row["student"],
        submission=row["submission"],
        report=decode(GradeReport, row["report"], where),
        started=row["started"],
        finished=row["finished"],
        variant=None if row["variant"] is None else decode(Variant, row["variant"], where),
        response=None if row["response"] is None else decode(Response, row["response"], where),
        source=row["source"],
        filename=row["filename"],
        quiz=row["quiz_id"],
        reason=row["reason"],
        handed=row["handed"],
        marked_late=row["marked_late"],
        sequence=row["sequence"],
        modules={} if row["modules"] is None else decode(dict[str, str], row["modules"], where),
    )


def attempt_row(attempt: Attempt) -> dict[str, Any]:
    """Return the row of an attempt."""
    report = attempt.report
    return {
        "student": attempt.student,
        "item": report.item,
        "submission": attempt.submission,
        "mode": str(report.mode),
        "item_version": report.item_version,
        "quiz_id": attempt.quiz,
        "variant_id": attempt.variant.id if attempt.variant else report.variant,
        "variant": None if attempt.variant is None else encode(attempt.variant),
        "response": None if attempt.response is None else encode(attempt.response),
        "source": storable(attempt.source),
        "modules": json.dumps(dict(attempt.modules)) if attempt.modules else None,
        "filename": storable(attempt.filename),
        "outcome": str(report.outcome),
        "score": report.score,
        "max_score": report.max_score,
        "reason": storable(attempt.reason),
        "report": encode(report),
        "tier": report.tier,
        "engine_version": report.engine_version,
        "started": attempt.started,
        "finished": attempt.finished,
        "handed": attempt.handed,
        "marked_late": attempt.marked_late,
        "sequence": attempt.sequence,
    }
