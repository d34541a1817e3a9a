"""When a student may answer a quiz: until its deadline, and within the time limit of a sitting.

Everything is computed from the rules as they are now (extensions and extra time are in them already) and from
when the sitting began, so that more time given during a sitting counts at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from engine.model import QuizRules
from engine.store.timed import TimedSitting

# What was sent before the end may arrive a little later: on the site answers are taken for so long, and only
# then is handed in what was saved. The time shown to students ends without it.
NETWORK_GRACE = timedelta(seconds=10)
_INSTANT = timedelta(microseconds=1)


class SittingState(StrEnum):
    """Where a student is with a quiz."""

    NOT_YET = "not yet"  # it hasn't opened
    READY = "ready"  # it has a time limit, and the student must begin first
    OPEN = "open"
    OVER = "over"  # deadline or time limit have passed, or the student has ended it


@dataclass(frozen=True, slots=True)
class SittingTimes:
    """When one student may answer a quiz.

    Parameters
    ----------
    opens, closes : datetime or None
        The first and the last moment at which an answer is taken.
    limit : timedelta or None
        How long a sitting lasts at most.
    """

    opens: datetime | None = None
    closes: datetime | None = None
    limit: timedelta | None = None

    @classmethod
    def of(
        cls, rules: QuizRules, *, opens: datetime | None = None, closes: datetime | None = None
    ) -> SittingTimes:
        """Return the times of a quiz's rules, with those of the course's rules.

        Parameters
        ----------
        rules : QuizRules
            With the student's extension and extra time.
        opens, closes : datetime, optional
            The moments of the course's rules before and from which no work counts.
        """
        last = [moment for moment in (rules.deadline, closes and closes - _INSTANT) if moment is not None]
        limit = None if rules.time_limit is None else timedelta(minutes=rules.time_limit)
        return cls(opens, min(last, default=None), limit)

    def ends_at(self, started: datetime | None) -> datetime | None:
        """Return the last moment of a sitting that began at `started`; None where it has no end."""
        if self.limit is None or started is None:
            return self.closes
        end = started + self.limit
        return end if self.closes is None else min(end, self.closes)

    def state(
        self, sitting: TimedSitting | None, now: datetime, grace: timedelta = timedelta()
    ) -> SittingState:
        """Return where a student is.

        Parameters
        ----------
        sitting : TimedSitting or None
            As stored; None before it has begun.
        now : datetime
        grace : timedelta
            For so long after the end, answers are still taken.
        """
        end = self.ends_at(sitting.started if sitting else None)
        if (sitting is not None and sitting.ended_early) or (end is not None and now > end + grace):
            return SittingState.OVER
        if self.opens is not None and now < self.opens:
            return SittingState.NOT_YET
        if self.limit is not None and sitting is None:
            return SittingState.READY
        return SittingState.OPEN

    def is_open(self, sitting: TimedSitting | None, now: datetime, grace: timedelta = timedelta()) -> bool:
        """Return whether an answer is taken."""
        return self.state(sitting, now, grace) is SittingState.OPEN

    def seconds_left(self, sitting: TimedSitting | None, now: datetime) -> int | None:
        """Return the seconds to the end, rounded down and at least 0; None where there is no end."""
        end = self.ends_at(sitting.started if sitting else None)
        return None if end is None else max(0, int((end - now).total_seconds()))
