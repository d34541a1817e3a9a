"""When feedback is shown."""

from __future__ import annotations

from datetime import datetime

from engine.course.policies.terms import Terms
from engine.rules import Shown

__all__ = ["shown_now"]


def shown_now(terms: Terms, otherwise: Shown, now: datetime) -> Shown:
    """Return what a student's page shows of an assignment: nothing before its release.

    Parameters
    ----------
    terms : Terms
    otherwise : Shown
        What is shown afterwards; a quiz's own rules say it.
    now : datetime
    """
    return otherwise if _is_released(terms, now) else Shown.NOTHING


def _is_released(terms: Terms, now: datetime) -> bool:
    release = terms.rules.release
    if release == "immediately":
        return True
    if release == "at due":
        return terms.is_due(now)
    if release == "after closes":
        return terms.closes is not None and now >= terms.closes
    return release != "never" and now >= release.begins(terms.zone)
