"""What a student may see of a result now, by the quiz's rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.model import GradeReport, Outcome, Variant
from engine.quiz.credit import percent
from engine.rules import Shown

__all__ = ["Showing", "shown_report"]


@dataclass(frozen=True, slots=True)
class Showing:
    """What is shown of one question.

    Parameters
    ----------
    level : Shown
    report : GradeReport or None
        With nothing in it that the level hides; None where not even the verdict is shown.
    with_solution : bool
        Whether the key and the worked solution are shown.
    """

    level: Shown
    report: GradeReport | None
    with_solution: bool


def shown_report(report: GradeReport, variant: Variant | None, level: Shown, *, is_final: bool) -> Showing:
    """Return what of a report is shown.

    Parameters
    ----------
    report : GradeReport
        Complete.
    variant : Variant or None
        What was asked; None for code, to which a quiz's rules don't apply.
    level : Shown
    is_final : bool
        Whether no attempt is left, or none is needed: before that, nothing tells the key.

    Returns
    -------
    Showing
        A report that can't be read is shown at every level: it costs nothing and must be mended.
    """
    if report.outcome is Outcome.FORMAT_ERROR:
        return Showing(level, report, with_solution=False)
    if not level.includes(Shown.VERDICT):
        return Showing(level, None, with_solution=False)
    if not level.includes(Shown.FEEDBACK):
        checks = tuple(replace(check, message="") for check in report.checks)
        notes = () if report.credit == 1 else (f"This counts {percent(report.credit)}.",)
        bare = replace(report, checks=checks, diagnosis=(), counterexample=None, notes=notes, weights=())
        return Showing(level, bare, with_solution=False)
    if not is_final and variant is not None:
        told = {note.plain for note in variant.told_after}
        report = replace(report, notes=tuple(note for note in report.notes if note not in told))
    return Showing(level, report, with_solution=is_final and level is Shown.SOLUTION)
