"""A grader without a sandbox for tests of pages: what a program gets stands in its first line."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

import engine.sandbox
from engine.model import Check, CodeSubmission, Diagnosis, GradeReport, Outcome, Verdict
from engine.runner import Job, Runner, RunResult, SandboxOptions
from engine.runs import CodeExercises
from engine.web.site import Site

__all__ = ["Grading"]

FULL = 10.0


class _NoRunner:
    tier = "T1"

    def run(self, job: Job) -> RunResult:
        raise AssertionError("nothing is run")

    def close(self) -> None:
        return


class Grading:
    """The site's worker with a grader that reads ``# right``, ``# wrong``, ``# ungraded`` … and obeys.

    While `gate` is closed, it waits: hand-ins stay as they are.
    """

    def __init__(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site = site
        self.gate = threading.Event()
        self.gate.set()
        self.graded: list[str] = []

        def open_runner(options: SandboxOptions, *, slots: int, sources: Iterable[str]) -> _NoRunner:
            return _NoRunner()

        def grade(
            _: CodeExercises, item: str, submission: CodeSubmission, runner: Runner, student: str
        ) -> GradeReport:
            assert self.gate.wait(60)
            self.graded.append(submission.source)
            outcome = Outcome(submission.source.split()[1])
            score = {Outcome.RIGHT: FULL, Outcome.PARTIAL: 7.5, Outcome.WRONG: 0.0}.get(outcome)
            verdict = Verdict.PASSED if outcome is Outcome.RIGHT else Verdict.FAILED
            return GradeReport(
                item, "v1", outcome, score, FULL, (Check("values", verdict, score or 0, FULL, "seen"),),
                (Diagnosis("overflow", "It overflows."),) if outcome is Outcome.PARTIAL else (),
                student=student, tier="T1", notes=("no memory",) if outcome is Outcome.UNGRADED else (),
            )  # fmt: skip

        monkeypatch.setattr(engine.sandbox, "open_runner", open_runner)
        monkeypatch.setattr(CodeExercises, "grade", grade)
        monkeypatch.setattr(CodeExercises, "prepare", lambda *_: None)
        site.hand_in_desk.slots = 2
        site.hand_in_desk.start()

    def stop(self) -> None:
        self.gate.set()
        self.site.hand_in_desk.stop()
