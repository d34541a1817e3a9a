"""Code exercises: which check fails most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.analysis import wilson
from engine.itemreport.work import Work
from engine.model import Verdict

__all__ = ["CheckFigures", "Exercise", "exercise_of"]

_STOPPED = (Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY, Verdict.CRASHED)


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """One check over the class.

    Parameters
    ----------
    check : str
    counts : mapping of Verdict to int
    reached : int
        Students for whom it was decided: not skipped.
    interval : (float, float)
        Wilson's, of ``share``.
    """

    check: str
    counts: Mapping[Verdict, int]
    reached: int
    interval: tuple[float, float]

    @property
    def not_passed(self) -> int:
        """Students whose code failed it, or stopped in it."""
        return sum(self.counts.get(verdict, 0) for verdict in (Verdict.FAILED, *_STOPPED))

    @property
    def share(self) -> float | None:
        """Share of those who reached it; None where nobody did."""
        return self.not_passed / self.reached if self.reached else None


@dataclass(frozen=True, slots=True)
class Exercise:
    """One code exercise.

    Parameters
    ----------
    students : int
    passed_all : int
        Students whose code passed every check.
    interval : (float, float)
        Wilson's, of the share that passed all.
    checks : tuple of CheckFigures
        Which fails most first.
    unexplained : int
        Students whose code isn't right and for whom no known mistake was named.
    """

    students: int
    passed_all: int
    interval: tuple[float, float]
    checks: tuple[CheckFigures, ...]
    unexplained: int


def exercise_of(works: Sequence[Work]) -> Exercise:
    """Return the figures of a code exercise from its first attempts."""
    counts: dict[str, Counter[Verdict]] = {}
    for work in works:
        for check in work.checks:
            counts.setdefault(check.id, Counter())[check.verdict] += 1
    checks = [_figures(check, found) for check, found in counts.items()]
    passed = sum(_passed_all(work) for work in works)
    return Exercise(
        students=len(works),
        passed_all=passed,
        interval=wilson(passed, len(works)),
        # a stable sort: checks that fail equally often stay in the order in which they are made
        checks=tuple(sorted(checks, key=lambda one: (-(one.share or 0.0), -one.not_passed))),
        unexplained=sum(not _passed_all(work) and not work.diagnoses for work in works),
    )


def _passed_all(work: Work) -> bool:
    return bool(work.checks) and all(check.verdict is Verdict.PASSED for check in work.checks)


def _figures(check: str, counts: Counter[Verdict]) -> CheckFigures:
    reached = sum(counts.values()) - counts[Verdict.SKIPPED] - counts[Verdict.ENGINE_ERROR]
    failed = counts[Verdict.FAILED] + sum(counts[verdict] for verdict in _STOPPED)
    return CheckFigures(check, dict(counts), reached, wilson(failed, reached))
