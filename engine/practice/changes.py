"""What changed from one report to the next: all that a person looks for after a save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.model import GradeReport, Verdict

__all__ = ["Changes", "compare"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The checks whose verdict changed.

    Parameters
    ----------
    now_pass, no_longer_pass : tuple of str
        Ids, in the order of the rubric; prerequisites (``loads``, ``function``, ``runs``) too.
    score_before : float or None
        None for the first report, or where the one before had no score.
    is_first : bool
        There was nothing to compare with.
    """

    now_pass: tuple[str, ...] = ()
    no_longer_pass: tuple[str, ...] = ()
    score_before: float | None = None
    is_first: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what ``grade watch --json`` prints."""
        return {
            "now_pass": list(self.now_pass),
            "no_longer_pass": list(self.no_longer_pass),
            "score_before": self.score_before,
        }


def compare(before: GradeReport | None, after: GradeReport) -> Changes:
    """Return what changed since an earlier report of the same exercise, None if there is none."""
    if before is None:
        return Changes(is_first=True)
    passed = {check.id for check in before.checks if check.verdict is Verdict.PASSED}
    passes = {check.id for check in after.checks if check.verdict is Verdict.PASSED}
    return Changes(
        now_pass=tuple(check.id for check in after.checks if check.id in passes - passed),
        no_longer_pass=tuple(check.id for check in after.checks if check.id in passed - passes),
        score_before=before.score,
    )
