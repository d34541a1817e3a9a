"""One exercise kept warm: its plan frozen, its sandbox open, its known mistakes run once.

The second report then takes milliseconds: ``grade watch`` shows it before a student looks up from the editor.
The second half follows the saves of the file (:func:`readings`); :mod:`engine.text.watch` notices them.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engine.code import CodeExercise, freeze_plan
from engine.errors import SubmissionError
from engine.grading import grade_code
from engine.intake import read_code_file
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import EchoingRunner, Runner
from engine.text.watch import FileStamp, file_changes, file_stamp, folders_of, read_settled
from engine.text.words import clean_line

_JOIN_S = 5.0  # a rehearsal ends by itself when its runner is closed; nobody waits longer for it


class PracticeSession:
    """Grades one exercise again and again; every report is for practice, and none is recorded.

    Parameters
    ----------
    exercise : CodeExercise
    runner : Runner
        Closed with the session.
    seed : bytes
        Of the plan, which stays the same for the whole session: whatever changes between two reports then
        comes from the code.
    """

    def __init__(self, exercise: CodeExercise, runner: Runner, seed: bytes) -> None:
        self.exercise = exercise
        self.plan = freeze_plan(exercise, seed)
        self._runner = EchoingRunner(runner)
        self._lock = threading.Lock()  # the rehearsal and a save must not share the sandbox
        self._rehearsal: threading.Thread | None = None
        self._explained = False
        self.printed = ""  # by the submission that was graded last

    @property
    def tier(self) -> str:
        """The tier of the sandbox."""
        return self._runner.tier

    def grade(self, submission: CodeSubmission) -> GradeReport:
        """Return the report of one submission; faults of the machine make it ungraded."""
        with self._lock:
            self._runner.listen(submission.source)
            report = self._grade(submission)
            self.printed = self._runner.printed
        # Grading a wrong file has run the mutants already, so a rehearsal would bring nothing.
        self._explained |= report.outcome in (Outcome.PARTIAL, Outcome.WRONG)
        return report

    def _grade(self, submission: CodeSubmission) -> GradeReport:
        return grade_code(
            self.exercise, self.plan, submission, self._runner, mode=Mode.PRACTICE, student=None
        )

    def rehearse(self) -> None:
        """Grade a known mistake in the background, unless one was graded already.

        It runs all mutants on the plan and fills the caches of the search for counterexamples, so that the
        first wrong save is explained as fast as the next ones.
        """
        if self._explained or self._rehearsal is not None or not self.exercise.mutants:
            return
        # A daemon: a program that ends doesn't wait for it.
        self._rehearsal = threading.Thread(target=self._rehearse, name="rehearsal", daemon=True)
        self._rehearsal.start()

    def _rehearse(self) -> None:
        mutant = self.exercise.mutants[0]
        with self._lock:  # closing the session ends it; nobody needs its report
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


@dataclass(frozen=True, slots=True)
class CheckChanges:
    """The checks whose verdict changed since the save before: what a person looks for first.

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


def compare(before: GradeReport | None, after: GradeReport) -> CheckChanges:
    """Return what changed since an earlier report of the same exercise, None if there is none."""
    if before is None:
        return CheckChanges(is_first=True)
    passed = {check.id for check in before.checks if check.verdict is Verdict.PASSED}
    passes = {check.id for check in after.checks if check.verdict is Verdict.PASSED}
    return CheckChanges(
        now_pass=tuple(check.id for check in after.checks if check.id in passes - passed),
        no_longer_pass=tuple(check.id for check in after.checks if check.id in passed - passes),
        score_before=before.score,
    )


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The file as a save left it.

    Parameters
    ----------
    submission : CodeSubmission or None
        None if it can't be read.
    fault : SubmissionError or None
        Why it can't be read.
    is_repeat : bool
        It was saved without a change.
    noticed_s : float
        When the save was noticed, on the clock of :func:`time.monotonic`.
    """

    submission: CodeSubmission | None
    fault: SubmissionError | None
    is_repeat: bool
    noticed_s: float


def readings(path: Path) -> Iterator[SavedFile]:
    """Yield the file as it is now, and again after every save; it never ends by itself.

    A file that can't be read (empty, no text, too large, gone) is yielded too: the next save may correct it.
    Saves of Python files beside it count where the submission imports them.

    Parameters
    ----------
    path : Path

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C, while waiting.
    """
    last, stamp = _read_settled(path, time.monotonic())
    beside = _stamps_beside(path, last)
    yield last
    # Looked at once more before waiting: it may have been saved while the first reading was graded.
    for event in itertools.chain([True], file_changes(folders_of(path), (".py", ".ipynb"))):
        noticed_s = time.monotonic()
        if not event and (file_stamp(path), _stamps_beside(path, last)) == (stamp, beside):
            continue
        before = stamp
        reading, stamp = _read_settled(path, noticed_s)
        beside = _stamps_beside(path, reading)
        if not _same(reading, last):
            last = reading
            yield reading
        # A save without a change is reported too: silence would look like a program that hangs.
        elif stamp != before and stamp is not None:
            yield SavedFile(reading.submission, reading.fault, True, noticed_s)


def _same(first: SavedFile, second: SavedFile) -> bool:
    return first.submission == second.submission and str(first.fault) == str(second.fault)


def _stamps_beside(path: Path, reading: SavedFile) -> tuple[FileStamp, ...]:
    names = () if reading.submission is None else reading.submission.modules
    return tuple(file_stamp(path.with_name(f"{name}.py")) for name in names)


def _read_settled(path: Path, noticed_s: float) -> tuple[SavedFile, FileStamp]:
    return read_settled(path, lambda: _read(path, noticed_s))


def _read(path: Path, noticed_s: float) -> SavedFile:
    try:
        return SavedFile(read_code_file(path), None, False, noticed_s)
    except SubmissionError as error:
        fault = error
        if file_stamp(path) is None:
            step = "save it again: it is graded as soon as it is back"
            fault = SubmissionError("the file is gone", where=clean_line(str(path)), next_step=step)
        return SavedFile(None, fault, False, noticed_s)
