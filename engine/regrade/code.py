"""Code submissions, graded again by their exercises as these are now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from engine.batch import CodeGrader
from engine.errors import EngineError
from engine.model import CodeSubmission, Outcome
from engine.runner import Runner
from engine.store import Attempt, reason_of

__all__ = ["grade_again"]


def grade_again(old: Attempt, code: CodeGrader, runner: Runner) -> Attempt:
    """Return a code attempt as it is graded now.

    Raises
    ------
    EngineError
        The machine or Softmark is at fault: the mark that there is must stay.
    """
    submission = CodeSubmission(old.source or "", old.filename, old.submission, modules=old.modules)
    report = code.grade(old.item, submission, runner, old.student)
    if report.outcome is Outcome.UNGRADED:
        raise EngineError("; ".join(report.notes) or "it couldn't be graded, and no reason was given")
    report = replace(report, student=old.student, mode=old.report.mode)
    return replace(old, report=report, reason=reason_of(report), finished=datetime.now(UTC))
