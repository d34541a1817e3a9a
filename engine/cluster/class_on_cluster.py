"""Grade a class on several machines: programs are handed over, answers are marked here meanwhile.

It is :func:`engine.runs.batch.grade_batch` with another place for student code. A run can be stopped or
killed at any time: what was handed over is graded all the same, and the next run collects it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from engine.cluster.course_side import POLL_S, CourseQueue
from engine.cluster.fingerprint import QueueName
from engine.cluster.work_queue import QueueReport
from engine.errors import EngineError, InputError, StoreError, UnstorableError, internal_fault
from engine.hand_ins import FileKind, HandedFile, IntakeResult
from engine.intake import read_code_file
from engine.model import Mode
from engine.runs.batch import (
    BatchResult,
    BatchTally,
    FileTask,
    Progress,
    file_chains,
    open_tasks,
    stop_on_ctrl_c,
)
from engine.runs.code_exercises import CodeExercises
from engine.runs.grade_file import FileGrader, FileResult, why_no_score
from engine.store import Store
from engine.text.words import clean_line

_SLICE: Final = 500  # programs handed over in one transaction
_QUIET_S: Final = 10.0  # without a report, before it is asked why
# Longer than a run takes to store what it has fetched; one that collects late does no harm.
_LEFT_S: Final = 10.0
_GONE: Final = "it was taken out of the queue while this run waited for it; the next run hands it over again"

Warn = Callable[[str], None]


@dataclass
class _Chain:
    """Files of one student and exercise: their results are stored in this order, whichever comes first."""

    waiting: deque[int] = field(default_factory=deque)
    came: dict[int, QueueReport | None] = field(default_factory=dict)


@dataclass
class _Handed:
    """A program that was handed over."""

    task: FileTask
    started: datetime
    chain: _Chain


def grade_on_cluster(
    intake: IntakeResult,
    *,
    store: Store,
    code: CodeExercises,
    course_queue: CourseQueue,
    mode: Mode,
    progress: Progress,
    warn: Warn = lambda text: None,
    stop: threading.Event | None = None,
) -> BatchResult:
    """Grade every file of `intake` that the store has no grade for, student code on the queue's workers.

    Parameters
    ----------
    intake, store, code, mode, progress, stop
        As in :func:`engine.runs.batch.grade_batch`.
    course_queue : CourseQueue
    warn : callable
        Called with a sentence where nobody takes the work, once for each reason.

    Raises
    ------
    StoreError
        The database failed; what was handed over and stored before stays.
    """
    begun = time.monotonic()
    grader = FileGrader(store, code, mode)
    tally = BatchTally()
    tasks = open_tasks(grader, intake, tally)
    halt = stop or threading.Event()
    with progress(len(tasks)) as advance, store.bulk(), stop_on_ctrl_c(halt) as interrupted:

        def collect(result: FileResult) -> None:
            tally.add(result)
            advance()

        run = _ClusterRun(grader, course_queue, collect, warn, halt)
        chains = file_chains(tasks)
        run.hand_over(chain for chain in chains if chain[0][1].kind is FileKind.CODE)
        for student, file in itertools.chain.from_iterable(chains):
            if file.kind is not FileKind.CODE:
                if halt.is_set():
                    break
                collect(grader.grade(student, file, None))
                run.take_reports()
        run.wait()
        course_queue.tidy(
            (student.student for student in intake.students),
            lambda student, item, submission: store.graded(student, item, submission, mode) is not None,
        )
    return tally.result(intake, len(tasks), interrupted.is_set(), time.monotonic() - begun)


class _ClusterRun:
    def __init__(
        self,
        grader: FileGrader,
        course_queue: CourseQueue,
        collect: Callable[[FileResult], None],
        warn: Warn,
        halt: threading.Event,
    ) -> None:
        self._grader = grader
        self._course = course_queue
        self._collect = collect
        self._warn = warn
        self._halt = halt
        self._handed: dict[int, _Handed] = {}
        self._warned: set[str] = set()
        self._heard = time.monotonic()

    def hand_over(self, chains: Iterator[list[FileTask]]) -> None:
        """Read programs and hand them over, some hundreds at a time; take reports that come meanwhile."""
        together: list[tuple[FileTask, datetime, _Chain]] = []
        for tasks in chains:
            chain = _Chain()
            together += [(task, datetime.now(UTC), chain) for task in tasks]
            if len(together) >= _SLICE:
                self._hand_over(together)
                together = []
                self.take_reports()
            if self._halt.is_set():
                return
        self._hand_over(together)

    def _hand_over(self, together: Sequence[tuple[FileTask, datetime, _Chain]]) -> None:
        handed, entries = [], []
        for (student, file), started, chain in together:
            item = file.item or ""
            program = self._grader.read_program(student, file, item, started)
            if isinstance(program, FileResult):
                self._collect(program)
                continue
            try:
                entries.append(self._course.program(student, item, program))
            except (InputError, EngineError) as error:  # of the exercise, not of the student
                reason = error.in_one_line()
                self._collect(self._grader.without_report(student, file, program, reason, started))
                continue
            handed.append(_Handed((student, file), started, chain))
        if not entries:
            return
        for number, entry in zip(self._course.hand_over(entries), handed, strict=True):
            self._handed[number] = entry
            entry.chain.waiting.append(number)

    def wait(self) -> None:
        """Take reports until all are there, or `halt` is set."""
        while self._handed and not self._halt.is_set():
            if self.take_reports():
                continue
            if time.monotonic() - self._heard > _QUIET_S:
                self._heard = time.monotonic()
                self._look_after()
            self._halt.wait(POLL_S)

    def take_reports(self) -> int:
        """Store the reports that are there; return how many there were."""
        came = self._course.queue.reports_of(self._course.run)
        if not came:
            return 0
        # Together: a server's commit waits for its disk, which takes as long for one attempt as for hundreds.
        with self._grader.store.one_transaction():
            for report in came:
                if report.program in self._handed:
                    self._arrive(report.program, report)
        collected = [report.program for report in came]
        # Last: killed before this, the next run collects them again, and the store has them already.
        self._course.queue.forget(collected)
        self._heard = time.monotonic()
        return len(collected)

    def _arrive(self, number: int, report: QueueReport | None) -> None:
        chain = self._handed[number].chain
        chain.came[number] = report
        while chain.waiting and chain.waiting[0] in chain.came:
            first = chain.waiting.popleft()
            self._collect(self._stored(self._handed.pop(first), chain.came.pop(first)))

    def _stored(self, handed: _Handed, report: QueueReport | None) -> FileResult:
        student, file = handed.task
        if report is None and self._grader.is_graded(student, file):  # another run collected it
            return FileResult(student, file, was_graded=True)
        try:
            return self._store_report(student, file, report, handed.started)
        except UnstorableError as error:  # this one attempt doesn't fit; the store itself works
            return FileResult(student, file, reason=internal_fault(error))
        except StoreError:
            raise
        except Exception as error:  # the file was changed meanwhile, say: one file never stops the others
            return FileResult(student, file, reason=internal_fault(error))

    def _store_report(
        self, student: str, file: HandedFile, report: QueueReport | None, started: datetime
    ) -> FileResult:
        # Read once more: a class's programs needn't all be in memory.
        program = read_code_file(file.path, file.name, dict(file.beside), exercise=file.item or "")
        graded = None if report is None else self._course.as_graded(student, file.item or "", report)
        if graded is None:
            reason = _GONE if report is None else report.reason or "no reason was given"
            return self._grader.without_report(student, file, program, reason, started)
        return self._grader.store_report(student, file, program, graded, why_no_score(graded), started)

    def _look_after(self) -> None:
        """Find out why no report comes: programs are gone or another run's, or nobody takes the work."""
        # What came before an earlier program of its student is in no queue any more, but here.
        numbers = [number for number, handed in self._handed.items() if number not in handed.chain.came]
        # Whoever hands a program over last collects its report, and may have been killed before it came.
        self._course.queue.collect_for(self._course.run, numbers, _LEFT_S)
        runs = self._course.queue.runs_of(numbers)
        for number in numbers:
            if number not in runs:
                self._arrive(number, None)
        if self._handed:
            for sentence in why_nobody(self._course):
                if sentence not in self._warned:
                    self._warned.add(sentence)
                    self._warn(sentence)


def why_nobody(course_queue: CourseQueue, name: QueueName | None = None) -> list[str]:
    """Return why no worker takes a course's work; none where at least one does, or may.

    `name` is that of the queue: the one of its programs, if left out.
    """
    name = name or QueueName.parse(course_queue.name)
    assert name is not None
    workers = course_queue.queue.live_workers()
    if not workers:
        return ["no worker is running; start some: grade worker --store URL (docs/scaling.md)"]
    reasons = [name.why_not(worker.tier, worker.packages, worker.engine) for worker in workers]
    if None in reasons:
        return []
    pairs = zip(workers, reasons, strict=True)
    return [f"worker {clean_line(worker.name)} doesn't take this work: {reason}" for worker, reason in pairs]
