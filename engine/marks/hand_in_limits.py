"""Limits on handing in code, as course rules: how often, how soon again, and which checks are shown when.

They hold where students hand in themselves. A batch takes what a learning system took: there it is its
settings that limit students.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engine.course.policies import HandInLimits
from engine.marks.late_work import StudentDeadlines
from engine.model import Check, GradeReport, Outcome, Verdict
from engine.text.times import local_text
from engine.text.words import agree, count_noun


@dataclass(frozen=True, slots=True)
class HandInPermission:
    """Whether a student may hand in an exercise now.

    Parameters
    ----------
    is_open : bool
    again : datetime or None
        From when, if not now; None: never.
    sentence : str
        Why not, or what is left; empty where no rule limits it.
    """

    is_open: bool
    again: datetime | None = None
    sentence: str = ""


def may_hand_in(terms: StudentDeadlines, handed: Sequence[datetime], now: datetime) -> HandInPermission:
    """Return whether a student may hand in a code exercise now, else from when and why.

    Parameters
    ----------
    terms : StudentDeadlines
        The exercise's rules for this student.
    handed : sequence of datetime
        When the student handed in other programs for it that count as hand-ins: not those that couldn't be
        read, and not one that is being handed in again unchanged.
    now : datetime
    """
    if terms.opens is not None and now < terms.opens:
        sentence = f"This exercise isn't open yet; it opens {_local(terms.opens, terms)}."
        return HandInPermission(False, terms.opens, sentence)
    if terms.closes is not None and now >= terms.closes:
        return HandInPermission(False, None, "This exercise is closed: what is handed in now wouldn't count.")
    limits = terms.rules.limits
    today = _midnight(terms, now, 0)
    used = sum(moment >= today for moment in handed)
    if limits.per_day is not None and used >= limits.per_day:
        most = count_noun(limits.per_day, "hand-in")
        return _later(terms, _midnight(terms, now, 1), f"{most} a day {agree(limits.per_day, 'count')}")
    rest = timedelta(minutes=limits.cool_down)
    # One that came at the same moment may be a little younger than this request.
    if rest and handed and now < max(handed) + rest:
        pause = f"after a hand-in you wait {count_noun(limits.cool_down, 'minute')}"
        return _later(terms, max(handed) + rest, pause)
    return HandInPermission(True, None, _left(limits, used))


def counting_text(terms: StudentDeadlines, used: int) -> str:
    """Return how many of the hand-ins that count are left, in a sentence; empty where all count.

    Parameters
    ----------
    terms : StudentDeadlines
        The exercise's rules for this student.
    used : int
        How many programs were handed in, as :func:`may_hand_in` counts them.
    """
    most = most_counted(terms)
    if most is None:
        return ""
    if used < most:
        remaining = most - used
        which = f"{count_noun(most, 'hand-in')} that {agree(most, 'count')}"
        return f"{remaining} of {which} {agree(remaining, 'are')} left."
    return (
        "The first hand-in counts, and it is made."
        if most == 1
        else f"All {most} hand-ins that count are made."
    )


def most_counted(terms: StudentDeadlines) -> int | None:
    """Return how many hand-ins can count; None where all can."""
    attempts = terms.rules.attempts
    return 1 if attempts.which == "first" else attempts.count


def _left(limits: HandInLimits, used: int) -> str:
    sentences = []
    if limits.per_day is not None:
        remaining = limits.per_day - used
        day = f"{remaining} of {count_noun(limits.per_day, 'hand-in')} {agree(remaining, 'are')} left today."
        sentences.append(day)
    if limits.cool_down:
        sentences.append(f"After each you wait {count_noun(limits.cool_down, 'minute')}.")
    return " ".join(sentences)


def _later(terms: StudentDeadlines, again: datetime, why: str) -> HandInPermission:
    why = why[0].upper() + why[1:]
    if terms.closes is not None and again >= terms.closes:
        sentence = (
            f"{why}, and the exercise closes {_local(terms.closes, terms)}: nothing more can be handed in."
        )
        return HandInPermission(False, None, sentence)
    return HandInPermission(False, again, f"{why}: the next one is possible from {_local(again, terms)} on.")


def _local(moment: datetime, terms: StudentDeadlines) -> str:
    # Rounded up to the minute that is shown: whoever comes then isn't refused again.
    if moment.second or moment.microsecond:
        moment += timedelta(minutes=1)
    return local_text(moment, terms.zone)


def _midnight(terms: StudentDeadlines, now: datetime, days: int) -> datetime:
    """Return when a day of the course's calendar began or will begin, counted from today."""
    day = now.astimezone(terms.zone).date() + timedelta(days=days)
    return datetime(day.year, day.month, day.day, tzinfo=terms.zone).astimezone(now.tzinfo)


def hides_checks(terms: StudentDeadlines, now: datetime) -> bool:
    """Return whether the results of hidden checks aren't shown yet."""
    rule = terms.rules.limits.hidden_checks
    if rule == "after due":
        return terms.due is None or not terms.is_due(now)
    if rule == "after closes":
        return terms.closes is None or now < terms.closes
    return False


def when_shown(terms: StudentDeadlines) -> str:
    """Return when the results of hidden checks are shown, for a sentence."""
    last = terms.due if terms.rules.limits.hidden_checks == "after due" else terms.closes
    word = "due" if terms.rules.limits.hidden_checks == "after due" else "closed"
    return f"once the exercise is {word}" + ("" if last is None else f" ({_local(last, terms)})")


def without_hidden_checks(report: GradeReport, hidden: Collection[str], when: str) -> GradeReport:
    """Return a report as it is shown before the deadline: only with the checks that may be known.

    It has no score, since that would tell of the others, and the outcome is that of the checks shown. A known
    mistake and a counterexample are there only if one of these failed: otherwise they would tell that another
    one did.

    Parameters
    ----------
    report : GradeReport
        Complete.
    hidden : collection of str
        Ids of checks.
    when : str
        When the others are shown, such as ``"once the exercise is due"``.
    """
    checks = tuple(check for check in report.checks if check.id not in hidden)
    missing = len(report.checks) - len(checks)
    if not missing or report.outcome in (Outcome.UNGRADED, Outcome.FORMAT_ERROR):
        return report
    note = f"{count_noun(missing, 'more check')} {agree(missing, 'are')} shown {when}."
    failing = any(_failed(check) for check in checks)
    shown_report = replace(
        report,
        score=None,
        checks=checks,
        outcome=_outcome(checks),
        notes=(*report.notes, note),
    )
    return shown_report if failing else replace(shown_report, diagnosis=(), counterexample=None)


def _failed(check: Check) -> bool:
    return check.verdict is not Verdict.PASSED


def _outcome(checks: Sequence[Check]) -> Outcome:
    if not any(_failed(check) for check in checks):
        return Outcome.RIGHT
    return Outcome.PARTIAL if any(check.points for check in checks) else Outcome.WRONG
