"""Grade a class on several machines: programs are handed over, answers are marked here meanwhile.

It is :func:`engine.runs.batch.grade_batch` with another place for student code. A run can be stopped or
killed at any time: what was handed over is graded all the same, and the next run collects it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from engine.cluster.course_line import ProgramForQueue
from engine.cluster.course_side import POLL_S, CourseQueue, SilenceWatch, Warn
from engine.cluster.work_queue import QueueReport
from engine.errors import EngineError, InputError, StoreError, SubmissionError, internal_fault
from engine.hand_ins import FileKind, HandedFile, IntakeResult
from engine.intake import read_code_file
from engine.model import CodeSubmission, Mode
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
from engine.runs.grade_file import FileGrader, FileResult, JudgedProgram
from engine.store import Store

# Programs handed over in one transaction: few at first, so that workers begin soon, then twice as many each
# time, so that 5,000 need four; and never more than a server takes in at once without noticing.
_FIRST_SLICE: Final = 500
_MOST_SLICE: Final = 4_000
_MOST_CHARACTERS: Final = 2**24
# Of programs that are kept until their reports come: some 20,000 of usual length. The others are read again.
_KEPT_CHARACTERS: Final = 2**25
# Longer than a run takes to store what it has fetched; one that collects late does no harm.
_LEFT_S: Final = 10.0
_GONE: Final = "it was taken out of the queue while this run waited for it; the next run hands it over again"


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
    key: tuple[str, ...]
    sha256: str
    program: CodeSubmission | None  # none: its file is read once more


@dataclass
class _Slice:
    """Programs that are handed over together, and those of exercises that can't be."""

    entries: list[ProgramForQueue] = field(default_factory=list)
    handed: list[_Handed] = field(default_factory=list)
    faulty: list[tuple[HandedFile, JudgedProgram]] = field(default_factory=list)
    characters: int = 0


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
                run.look()
        run.wait()
        course_queue.tidy(
            (student.student for student in intake.students),
            lambda submissions: store.graded_among(submissions, mode),
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
        self._halt = halt
        self._handed: dict[int, _Handed] = {}
        self._silence = SilenceWatch(course_queue, warn)
        self._looked = time.monotonic()
        self._characters = 0  # characters of programs in memory
        # Reports that wait for one before them. They stay in the queue, so that a killed run loses none.
        self._early: set[int] = set()

    def hand_over(self, chains: Iterator[list[FileTask]]) -> None:
        """Read programs and hand them over, hundreds at a time; take reports that come meanwhile."""
        most = _FIRST_SLICE
        together = _Slice()
        for tasks in chains:
            chain = _Chain()
            for task in tasks:
                self._read(task, chain, together)
            if len(together.handed) >= most or together.characters >= _MOST_CHARACTERS:
                self._hand_over(together)
                together, most = _Slice(), min(2 * most, _MOST_SLICE)
                self.take_reports()
            if self._halt.is_set():
                return
        self._hand_over(together)

    def _read(self, task: FileTask, chain: _Chain, together: _Slice) -> None:
        (student, file), started = task, datetime.now(UTC)
        item = file.item or ""
        program = self._grader.read_program(student, file, item, started)
        if isinstance(program, FileResult):
            self._collect(program)
            return
        try:
            entry = self._course.program(student, item, program)
        except (InputError, EngineError) as error:  # of the exercise, not of the student
            reason = error.in_one_line()
            together.faulty.append(
                (file, self._grader.without_report(student, file, program, reason, started))
            )
            return
        together.characters += len(entry.code)
        self._characters += len(entry.code)
        in_memory = program if self._characters <= _KEPT_CHARACTERS else None
        together.entries.append(entry)
        together.handed.append(_Handed(task, started, chain, entry.key, program.sha256, in_memory))

    def _hand_over(self, together: _Slice) -> None:
        self._store(together.faulty)
        if not together.entries:
            return
        numbers = self._course.hand_over(together.entries)
        for number, handed in zip(numbers, together.handed, strict=True):
            if number in self._handed and self._handed[number].key != handed.key:
                raise StoreError(
                    "the queue was put back to an earlier state while programs were handed over",
                    where=self._course.queue.database.where,
                    next_step="run again: what is ungraded is handed over again",
                )
            self._handed[number] = handed
            handed.chain.waiting.append(number)

    def wait(self) -> None:
        """Take reports until all are there, or `halt` is set."""
        while self._handed and not self._halt.is_set():
            if self.take_reports():
                continue
            if self._silence.is_long():
                self._look_after()
                if self._handed:
                    self._silence.explain()
            self._halt.wait(POLL_S)

    def look(self) -> None:
        """Take the reports that are there, unless somebody has just looked."""
        if time.monotonic() - self._looked > POLL_S:
            self.take_reports()

    def take_reports(self) -> int:
        """Store the reports that are there; return how many there were."""
        came = self._course.queue.reports_of(self._course.run, besides=self._early)
        self._looked = time.monotonic()
        if not came:
            return 0
        ours = {report.program: report for report in came if self._is_ours(report)}
        done = self._arrive(ours)
        # Last: killed before this, the next run collects them again, and the store has them already.
        self._course.queue.forget({*done, *(report.program for report in came)} - self._early)
        self._silence.hear()
        return len(came)

    def _is_ours(self, report: QueueReport) -> bool:
        handed = self._handed.get(report.program)
        return handed is not None and handed.key == report.key

    def _arrive(self, came: Mapping[int, QueueReport | None]) -> list[int]:
        """Store what has come, and what came before and waited for it; return the numbers of both."""
        done: list[int] = []
        ready: list[tuple[_Handed, QueueReport | None]] = []
        for number, report in came.items():
            chain = self._handed[number].chain
            chain.came[number] = report
            self._early.add(number)
            while chain.waiting and chain.waiting[0] in chain.came:
                first = chain.waiting.popleft()
                done.append(first)
                ready.append((self._handed.pop(first), chain.came.pop(first)))
        gone = [handed.task for handed, report in ready if report is None]
        elsewhere = self._grader.graded_among(gone) if gone else ()
        judged: list[tuple[HandedFile, JudgedProgram]] = []
        for handed, report in ready:
            student, file = handed.task
            if report is None and (student, file.item, file.sha256) in elsewhere:  # another run collected it
                self._collect(FileResult(student, file, was_graded=True))
                continue
            try:
                judged.append((file, self._judged(handed, report)))
            except StoreError:
                raise
            except Exception as error:  # the file was changed meanwhile, say: one file never stops the others
                self._collect(FileResult(student, file, reason=internal_fault(error)))
        self._store(judged)
        self._early.difference_update(done)
        return done

    def _store(self, judged: Sequence[tuple[HandedFile, JudgedProgram]]) -> None:
        for result in self._grader.store_reports(judged) if judged else ():
            self._collect(result)

    def _judged(self, handed: _Handed, report: QueueReport | None) -> JudgedProgram:
        (student, file), program = handed.task, handed.program
        if program is None:
            program = read_code_file(file.path, file.name, dict(file.beside), exercise=file.item or "")
            if program.sha256 != handed.sha256:
                raise SubmissionError("the file isn't what was handed over", where=file.name)
        graded = None if report is None else self._course.as_graded(student, file.item or "", report)
        if graded is None:
            reason = _GONE if report is None else report.reason or "no reason was given"
            return self._grader.without_report(student, file, program, reason, handed.started)
        return JudgedProgram.of_file(student, file, program, graded, handed.started)

    def _look_after(self) -> None:
        """See which programs are another run's to collect, and which are gone."""
        # What came before an earlier program of its student waits for that one, and not for a report.
        numbers = [number for number, handed in self._handed.items() if number not in handed.chain.came]
        known = self._course.queue.still_there({number: self._handed[number].key for number in numbers})
        there = sorted(known)
        # Whoever hands a program over last collects its report, and may have been killed before it came.
        self._course.queue.collect_for(self._course.run, there, _LEFT_S)
        self._course.queue.restore(there)
        gone = {number: None for number in numbers if number not in known}
        # Not those whose number another program has now.
        self._course.queue.forget({*self._arrive(gone)} - gone.keys())
