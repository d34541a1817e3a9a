"""Quizzes whose own rules say something else than the course's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from engine.course.contradictions.facts import Facts, Finding, Rules
from engine.course.policies.schema import Policies
from engine.course.policies.terms import Terms, terms_of
from engine.plurals import counted
from engine.rules import QuizRules

__all__ = ["quiz_findings"]

_SAME = timedelta(minutes=1)  # 23:59 and midnight are meant to be the same


def quiz_findings(policies: Policies, facts: Facts) -> Iterator[Finding]:
    """Yield the deadlines and attempts of quizzes that contradict the course's rules."""
    for one in Rules.all(policies):
        drawn = facts.quiz_rules.get(one.name, {})
        if one.rules.due is not None:
            yield from _deadlines(one, drawn, policies)
        falling = any(rules.credit[-1] < 1 for rules in drawn.values())
        if falling and one.rules.attempts.which in ("average", "decaying"):
            what = (
                f"the quiz gives later attempts less, and `which: {one.rules.attempts.which}` does so again"
            )
            yield one.place("attempts"), what


def _deadlines(one: Rules, drawn: Mapping[str, QuizRules], policies: Policies) -> Iterator[Finding]:
    apart: dict[datetime, list[str]] = {}
    for student, rules in drawn.items():
        terms = terms_of(policies, student, one.name)
        # More time in the course is more time for the quiz too, so nothing contradicts it.
        if rules.deadline is not None and terms.extended is None and _differs(rules.deadline, terms):
            apart.setdefault(rules.deadline, []).append(student)
    for deadline, students in apart.items():
        whose = (
            f" for {len(students)} of {counted(len(drawn), 'student')}" if len(students) < len(drawn) else ""
        )
        terms = terms_of(policies, "", one.name)
        what = f"due {one.rules.due} here, but the quiz itself is open until {_text(deadline, terms)}{whose}"
        yield one.place("due"), what


def _differs(deadline: datetime, terms: Terms) -> bool:
    """Tell whether a deadline is neither when work is due nor when it is last taken."""
    moments = [moment for moment in (terms.due, terms.closes) if moment is not None]
    return all(abs(deadline - moment) > _SAME for moment in moments)


def _text(deadline: datetime, terms: Terms) -> str:
    return f"{deadline.astimezone(terms.zone):%Y-%m-%d %H:%M}"
