"""What one student did in one column, as the rules look at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from engine.course.policies.points import exact
from engine.course.policies.terms import Lateness, Terms
from engine.course.policies.tries import Choice, Try, choose
from engine.course.results import Column
from engine.model import Outcome

if TYPE_CHECKING:
    from engine.store import Attempt

__all__ = ["Work", "in_order"]


def in_order(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return attempts in the order in which they were handed in, as far as that is known."""
    return sorted(attempts, key=lambda attempt: (attempt.handed or attempt.started, attempt.sequence))


@dataclass(frozen=True)
class Work:
    """A column of one student.

    Parameters
    ----------
    column : Column
    attempts : tuple of Attempt
        In their order; none where nothing was handed in.
    terms : Terms
    """

    column: Column
    attempts: tuple[Attempt, ...]
    terms: Terms

    @cached_property
    def full(self) -> Fraction:
        """Full points."""
        return exact(max((a.report.max_score for a in self.attempts), default=self.column.max_score))

    @cached_property
    def tries(self) -> tuple[Attempt, ...]:
        """The attempts that are such: an answer that can't be read costs none, nor does a blank one.

        Where there are only blank ones, these are.
        """
        graded = [a for a in self.attempts if a.settled or a.report.outcome is Outcome.UNGRADED]
        return tuple(a for a in graded if not a.is_blank) or tuple(graded)

    @cached_property
    def lateness(self) -> tuple[Lateness, ...]:
        """How late each of :attr:`tries` is."""
        return tuple(self.terms.lateness(a.handed, marked_late=a.marked_late) for a in self.tries)

    @property
    def most_days_late(self) -> int:
        """Late days that the latest attempt could use."""
        return max((late.days for late in self.lateness), default=0)

    def scored(self, ungraded: Fraction) -> list[Try]:
        """Return the attempts with their points, `ungraded` for those that wait for theirs."""
        return [
            Try(
                ungraded if attempt.report.score is None else exact(attempt.report.score),
                late,
                self.terms.is_counted(attempt.handed),
            )
            for attempt, late in zip(self.tries, self.lateness, strict=True)
        ]

    def most(self, late_days: int) -> Fraction:
        """Return the points with late days used, whatever still waits being right."""
        choice = choose(self.terms.rules, self.full, self.scored(self.full), late_days)
        return choice.value if choice else Fraction(0)

    def settled(self, late_days: int) -> Choice | None:
        """Return what counts; None where nothing does, or where an ungraded attempt can still change it."""
        rules = self.terms.rules
        low = choose(rules, self.full, self.scored(Fraction(0)), late_days)
        if low is None or not self.waits:
            return low
        high = choose(rules, self.full, self.scored(self.full), late_days)
        is_graded = self.tries[low.shown].report.score is not None
        return low if high is not None and high.value == low.value and is_graded else None

    @property
    def waits(self) -> bool:
        """Whether an attempt that counts is ungraded."""
        return bool(self._waiting)

    @property
    def _waiting(self) -> list[Attempt]:
        return [a for a in self.tries if a.report.score is None and self.terms.is_counted(a.handed)]

    def shown(self, choice: Choice | None) -> Attempt | None:
        """Return the attempt that stands for what was settled; None where nothing was handed in."""
        if choice is not None:
            return self.tries[choice.shown]
        if self.waits:
            return self._waiting[-1]
        best = max(self.tries, key=lambda attempt: attempt.report.score or 0.0, default=None)
        return best or (self.attempts[-1] if self.attempts else None)
