"""What a quiz's plan rules: attempts, what each may earn, hints, the deadline, what is shown when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

__all__ = ["QuizRules", "Shown"]


class Shown(StrEnum):
    """How much of a result is shown; each level shows what those before it show, and more."""

    NOTHING = "nothing"
    SCORE = "score"
    VERDICT = "verdict"
    FEEDBACK = "feedback"
    SOLUTION = "solution"

    def includes(self, other: Shown) -> bool:
        """Tell whether everything that `other` shows is shown at this level."""
        levels = list(Shown)
        return levels.index(self) >= levels.index(other)


@dataclass(frozen=True, slots=True)
class QuizRules:
    """The rules of one quiz, kept with it as it was drawn.

    Parameters
    ----------
    attempts : int or None
        How many attempts at a question count; None sets no limit, and the best one counts.
    credit : tuple of float
        Share of the points that the first, second … attempt can earn; the last entry holds for all others.
    hint_cost : float or None
        Share of what an attempt can earn that each hint takes away; None: the quiz gives no hints.
    new_variants : bool
        Whether every question gets a new variant for each attempt; choices do in any case.
    deadline : datetime or None
        With its zone.
    show_before, show_after : Shown
        What is shown before the deadline (or ever, if there is none) and after it.
    """

    attempts: int | None = None
    credit: tuple[float, ...] = (1.0,)
    hint_cost: float | None = None
    new_variants: bool = False
    deadline: datetime | None = None
    show_before: Shown = Shown.FEEDBACK
    show_after: Shown = Shown.SOLUTION

    @property
    def counts_attempts(self) -> bool:
        """Whether a mark depends on earlier attempts or on hints."""
        return self.attempts is not None or self.hint_cost is not None

    def share(self, before: int, hints: int) -> float:
        """Return the share of the points that the next attempt can earn, 0 to 1.

        Parameters
        ----------
        before : int
            Attempts that were made already.
        hints : int
            Hints that were taken.
        """
        if self.attempts is not None and before >= self.attempts:
            return 0.0
        credit = self.credit[min(before, len(self.credit) - 1)]
        return round(credit * max(0.0, 1.0 - (self.hint_cost or 0.0) * hints), 6)

    def is_over(self, now: datetime) -> bool:
        """Tell whether the deadline has passed."""
        return self.deadline is not None and now > self.deadline

    def shown(self, now: datetime) -> Shown:
        """Return what is shown at a moment."""
        return self.show_after if self.is_over(now) else self.show_before
