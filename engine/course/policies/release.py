"""When feedback is shown, and how long a quiz is open."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from engine.course.policies.terms import Terms
from engine.rules import QuizRules, Shown

__all__ = ["extended_rules", "shown_now"]


def extended_rules(rules: QuizRules, terms: Terms) -> QuizRules:
    """Return a quiz's rules with the time that an extension of the course gives a student."""
    if rules.deadline is None or terms.extended is None or terms.due is None:
        return rules
    return replace(rules, deadline=max(rules.deadline, terms.due))


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
