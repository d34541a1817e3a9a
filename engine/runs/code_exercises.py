"""The items of a class: code exercises with the hidden plan of each, and the questions of its notebooks."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from engine.model import CodeSubmission, GradeReport, Mode, Variant
from engine.runner import Runner, SandboxOptions

if TYPE_CHECKING:
    from engine.intake.assignment_cells import AssignedItem
    from engine.items.bank import Bank


def plan_seed(secret: bytes, item: str, version: str) -> bytes:
    """Return the seed of an item's hidden plan in batch runs.

    It depends on nothing else, so a class that is graded in several runs (one was killed, a hand-in came
    late) meets the same inputs in all of them, and the instructor can replay it.
    """
    # As a list: "a", "bc" and "ab", "c" are different messages. "plan" keeps other uses of the secret apart.
    message = json.dumps(["plan", item, version]).encode("ascii")
    return hmac.new(secret, message, hashlib.sha256).digest()


class GradingStoppedError(BaseException):
    """Grading is being stopped while student code runs; no net for faults may catch it."""


class CodeExercises:
    """The code exercises of a run: each loaded once, its plan frozen once; safe to use from several threads.

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
        self._locks: dict[str, threading.Lock] = {}
        self._prepared: dict[str, Any] = {}

    def prepare(self, item: str) -> None:
        """Load an exercise and freeze its plan now, so that nobody waits for it later.

        Raises
        ------
        InputError
            The exercise has a fault.
        EngineError
            Its plan can't be drawn.
        """
        self._prepare(item)

    def _prepare(self, item: str) -> Any:
        from engine.code import exercise_of, freeze_plan

        with self._lock:
            lock = self._locks.setdefault(item, threading.Lock())
        # Whoever comes first loads the exercise and freezes its plan, and those who want the same wait:
        # frozen twice, it would cost the seconds twice.
        with lock:
            if item not in self._prepared:
                exercise = exercise_of(self._bank, item)
                seed = plan_seed(self._secret, item, exercise.version)
                self._prepared[item] = exercise, freeze_plan(exercise, seed)
            return self._prepared[item]

    def open_runner(self, sandbox: SandboxOptions, slots: int, sources: Iterable[str]) -> Runner:
        """Open what :meth:`grade` runs student code in; the caller closes it.

        Raises
        ------
        SandboxError
            This machine can't give the sandbox.
        """
        from engine.sandbox import open_runner

        return open_runner(sandbox, slots=slots, sources=sources)

    def expect(self, programs: Iterable[tuple[str, str, CodeSubmission]]) -> None:
        """Say which programs of which students (student, exercise, program) will be graded soon."""

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        """Grade one submission with the class's plan.

        Raises
        ------
        EngineError
            The machine is at fault.
        """
        from engine.grading import grade_code

        exercise, plan = self._prepare(item)
        return grade_code(exercise, plan, submission, runner, mode=self._mode, student=student)

    def question(self, assigned: AssignedItem) -> Variant:
        """Return the variant that an assignment's notebook asks for an answer to.

        Raises
        ------
        InputError
            There is no such item, it asks something else now, or the question isn't the course's own.
        """
        from engine.intake.notebook_answers import answered_variant
        from engine.variants import draw_seeded

        spec, version = self._bank.load(assigned.item), self._bank.version(assigned.item)
        variant = draw_seeded(spec, version=version, registry=self._bank.registry(), seed=assigned.seed)
        return answered_variant(assigned, variant, self._secret if self._mode is Mode.MARKS else None)

    def blank(self, item: str) -> tuple[str, float]:
        """Return (item version, full marks) for a report about a file that can't be graded."""
        return self._bank.version(item), self._bank.load(item).points
