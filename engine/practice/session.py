"""One exercise kept warm: its plan frozen, its sandbox open, its known mistakes run once."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from engine.code import CodeExercise, freeze_plan, grade_code
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Runner

__all__ = ["PracticeSession"]

_JOIN_S = 5.0


class PracticeSession:
    """Grades one exercise again and again; every report is of practice, and none is recorded.

    Parameters
    ----------
    exercise : CodeExercise
    runner : Runner
        Closed with the session.
    seed : bytes
        Of the plan, which stays the same for the whole session: what changes between two reports then
        comes from the code alone.
    """

    def __init__(self, exercise: CodeExercise, runner: Runner, seed: bytes) -> None:
        self.exercise = exercise
        self.plan = freeze_plan(exercise, seed)
        self._runner = runner
        self._one_at_a_time = threading.Lock()
        self._rehearsal: threading.Thread | None = None
        self._explained = False

    @property
    def tier(self) -> str:
        """The tier of the sandbox."""
        return self._runner.tier

    def grade(self, submission: CodeSubmission) -> GradeReport:
        """Return the report of one submission; faults of the machine make it ungraded."""
        with self._one_at_a_time:
            report = self._grade(submission)
        self._explained |= report.outcome in (Outcome.PARTIAL, Outcome.WRONG)
        return report

    def _grade(self, submission: CodeSubmission) -> GradeReport:
        return grade_code(
            self.exercise, self.plan, submission, self._runner, mode=Mode.PRACTICE, student=None
        )

    def rehearse(self) -> None:
        """Grade a known mistake in the background, unless one was graded already.

        It runs all mutants on the plan and fills what the search for counterexamples keeps, so that the
        first wrong save is as fast as the ones after it.
        """
        if self._explained or self._rehearsal is not None or not self.exercise.mutants:
            return
        self._rehearsal = threading.Thread(target=self._rehearse, name="rehearsal", daemon=True)
        self._rehearsal.start()

    def _rehearse(self) -> None:
        mutant = self.exercise.mutants[0]
        with self._one_at_a_time:  # a session that is closed meanwhile ends it: its report is of no use
            self._grade(CodeSubmission(mutant.source, mutant.filename, f"mutant {mutant.id}"))

    def close(self) -> None:
        """Close the sandbox."""
        self._runner.close()
        if self._rehearsal is not None:
            self._rehearsal.join(_JOIN_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
