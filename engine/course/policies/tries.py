"""Which of several attempts count, and what they count together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.course.policies.late import after_penalty
from engine.course.policies.points import exact
from engine.course.policies.schema import Assignment
from engine.course.policies.terms import Lateness

__all__ = ["Choice", "Try", "choose"]


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt: its points, how late it was, and whether it came while work is counted."""

    score: Fraction
    lateness: Lateness
    in_time: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """What counts.

    Parameters
    ----------
    value : Fraction
        Points.
    shown : int
        The attempt that stands for the result, by its place in the order.
    used : tuple of int
        The attempts among which it was chosen.
    share : Fraction
        What the shown one can earn by its number.
    """

    value: Fraction
    shown: int
    used: tuple[int, ...]
    share: Fraction = Fraction(1)


def choose(rules: Assignment, full: Fraction, tries: Sequence[Try], late_days: int = 0) -> Choice | None:
    """Return what counts, None where no attempt does.

    Parameters
    ----------
    rules : Assignment
    full : Fraction
        Full points.
    tries : sequence of Try
        In the order in which they were handed in.
    late_days : int
        Days of lateness that are forgiven.
    """
    which, most = rules.attempts.which, rules.attempts.count
    used = tuple(place for place, one in enumerate(tries) if one.in_time)[:most]
    if not used:
        return None
    shares = {place: _share(rules, number) for number, place in enumerate(used)}
    values = {
        place: after_penalty(
            rules.late, tries[place].score * shares[place], full, tries[place].lateness.less(late_days).units
        )
        for place in used
    }
    if which == "average":
        # Points fall with lateness only, so the best score is never less than the average.
        shown = max(used, key=lambda place: tries[place].score)
        return Choice(sum(values.values(), Fraction(0)) / len(used), shown, used)
    fixed = {"first": used[0], "last": used[-1]}
    shown = fixed[which] if which in fixed else max(used, key=values.__getitem__)
    return Choice(values[shown], shown, used, shares[shown])


def _share(rules: Assignment, number: int) -> Fraction:
    shares = rules.attempts.shares
    return exact(shares[min(number, len(shares) - 1)]) if shares else Fraction(1)
