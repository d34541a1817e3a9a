"""The code exercises of one batch run: each loaded once, its plan frozen once for the class."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from typing import TYPE_CHECKING, Any, Protocol

from engine.model import CodeSubmission, GradeReport, Mode
from engine.runner import Runner

if TYPE_CHECKING:
    from engine.spec.bank import Bank

__all__ = ["CodeExercises", "CodeGrader", "plan_seed"]


class CodeGrader(Protocol):
    """Grades one code submission; called from several threads at once."""

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        """Return the report; raises :class:`engine.errors.EngineError` for machine causes only."""
        ...

    def blank(self, item: str) -> tuple[str, float]:
        """Return (item version, full marks) for a report about a file that can't be graded."""
        ...


def plan_seed(secret: bytes, item: str, version: str) -> bytes:
    """Return the seed of an item's hidden plan in batch runs.

    A class that is graded in several runs (one was killed, a hand-in came late) meets the same
    inputs in all of them, and the instructor can replay it.
    """
    message = json.dumps(["plan", item, version]).encode("ascii")
    return hmac.new(secret, message, hashlib.sha256).digest()


class CodeExercises:
    """Grades with the real exercises of a bank.

    Parameters
    ----------
    bank : Bank
    secret : bytes
        Seeds the hidden plans.
    mode : Mode
    """

    def __init__(self, bank: Bank, *, secret: bytes, mode: Mode) -> None:
        self._bank = bank
        self._secret = secret
        self._mode = mode
        self._lock = threading.Lock()
        self._prepared: dict[str, Any] = {}

    def _prepare(self, item: str) -> Any:
        from engine.code import exercise_of, freeze_plan

        # An exercise is loaded and its plan frozen once, by whoever comes first.
        with self._lock:
            if item not in self._prepared:
                exercise = exercise_of(self._bank, item)
                seed = plan_seed(self._secret, item, exercise.version)
                self._prepared[item] = exercise, freeze_plan(exercise, seed)
            return self._prepared[item]

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        """Grade one submission with the class's plan."""
        from engine.code import grade_code

        exercise, plan = self._prepare(item)
        return grade_code(exercise, plan, submission, runner, mode=self._mode, student=student)

    def blank(self, item: str) -> tuple[str, float]:
        """Return (item version, full marks)."""
        return self._bank.version(item), self._bank.load(item).points
