"""What a regrade would do, before it does it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.model import GradeReport, Quiz, Variant
from engine.store import Attempt

__all__ = ["Change", "RegradePlan", "Rekeyed", "Undecided"]


@dataclass(frozen=True, slots=True)
class Change:
    """One attempt as it is stored, and as the corrected item marks it.

    Parameters
    ----------
    old, new : Attempt
    column : str
        Its column in the gradebook.
    by_hand : bool
        A mark by hand stands above it, so the gradebook doesn't change.
    """

    old: Attempt
    new: Attempt
    column: str
    by_hand: bool = False

    @property
    def is_visible(self) -> bool:
        """Whether mark or outcome differ; else only the item's version and what is told do."""
        return _mark(self.old.report) != _mark(self.new.report)

    @property
    def lowers(self) -> bool:
        """Whether the student would have fewer points, or none where there were some."""
        return (self.new.report.score or 0.0) < (self.old.report.score or 0.0)


def _mark(report: GradeReport) -> tuple[str, float | None, float]:
    return str(report.outcome), report.score, report.max_score


@dataclass(frozen=True, slots=True)
class Undecided:
    """An attempt that a person must look at; its mark stays as it is."""

    attempt: Attempt
    column: str
    why: str


@dataclass(frozen=True, slots=True)
class Rekeyed:
    """A quiz that was handed out, as stored and with the keys that hold now.

    ``retries`` are the variants for later attempts: (question number, retry) → variant.
    """

    old: Quiz
    new: Quiz
    retries: tuple[tuple[int, int, Variant], ...] = ()


@dataclass(frozen=True, slots=True)
class RegradePlan:
    """Everything that one regrade is about.

    Parameters
    ----------
    changes : tuple of Change
        By student and column.
    undecided : tuple of Undecided
    rekeyed : tuple of Rekeyed
        Quizzes whose keys change, so that what is handed in later is marked alike.
    current : int
        Attempts that were marked with the item as it is already.
    waiting : int
        Ungraded attempts: `grade batch` takes them up again.
    spared : int
        Marks that would have gone down and stay, because nobody shall lose by the correction.
    """

    changes: tuple[Change, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    rekeyed: tuple[Rekeyed, ...] = ()
    current: int = 0
    waiting: int = 0
    spared: int = 0

    def never_lower(self) -> RegradePlan:
        """Return the plan without the changes by which somebody would lose points."""
        kept = tuple(change for change in self.changes if not change.lowers)
        return replace(self, changes=kept, spared=self.spared + len(self.changes) - len(kept))

    @property
    def visible(self) -> tuple[Change, ...]:
        """The changes of marks and outcomes."""
        return tuple(change for change in self.changes if change.is_visible)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.changes and not self.rekeyed
