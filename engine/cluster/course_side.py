"""The course's side: what is handed over to workers, and what becomes of their reports.

Keys, roster and marks stay here. Workers get programs under pseudonyms; when a report comes back, the
student's name takes the pseudonym's place, and it is stored as if it had been made on this machine.
"""

from __future__ import annotations

import itertools
import math
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import (
    QueueName,
    course_fingerprint,
    demanded_tier,
    pseudonym,
)
from engine.cluster.published_items import publish_item
from engine.cluster.queue_state import why_unserved
from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.cluster.work_queue import CHUNK_S, MOST_IN_CHUNK, SET_ASIDE, QueueReport
from engine.course import Course
from engine.errors import EngineError, ProgramSetAsideError, StoreError, UnstorableError
from engine.items.bank import Bank
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Job, Runner, RunResult, SandboxOptions
from engine.runs.code_exercises import CodeExercises, GradingStoppedError, plan_seed
from engine.store import SubmissionKey
from engine.store.postgres import is_missing
from engine.store.sql_tables import decode, encode
from engine.text.words import clean_line

POLL_S: Final = 0.25
"""Seconds between two looks for the reports of a class."""

Warn = Callable[[str], None]
T = TypeVar("T")

_QUIET_S: Final = 10.0  # without a report, before it is asked why
_SOON_S: Final = 0.05  # where somebody waits
_GONE_S: Final = 10.0  # between two looks whether what is waited for is in the queue at all
# A server that is started anew is back within a minute or two, and what waits there isn't lost meanwhile.
_AWAY_S: Final = 120.0
_AWAY_LOOK_S: Final = 1.0
_SLICE: Final = 500  # programs handed over in one transaction
_USUAL: Final = 50  # programs of a chunk before it is known how long they take
# A class is spread over all slots there are, but a chunk of fewer programs would wait for the queue longer.
_FEWEST_SPREAD: Final = 5


class CourseQueue:
    """A course's connection to the queue.

    Parameters
    ----------
    address : str
        Of the PostgreSQL server: postgresql://…
    bank : Bank
    secret : bytes
        The course's.
    title : str
        By which administrators know the course.
    mode : Mode
    tier : str
        The weakest sandbox that will do.
    packages : sequence of str
        What the course offers to student code.

    Raises
    ------
    StoreError
        The server can't be used, or isn't one of PostgreSQL.
    """

    def __init__(
        self,
        address: str,
        *,
        bank: Bank,
        secret: bytes,
        title: str,
        mode: Mode,
        tier: str,
        packages: Sequence[str],
    ) -> None:
        database = open_queue_database(address)
        self.queue = CourseLine(database)
        self.course = course_fingerprint(secret)
        self.name = str(QueueName.of_programs(secret, tier, packages))
        self.run = secrets.token_hex(16)
        self.halt = threading.Event()
        """Set when nobody waits for reports any more."""
        self._bank = bank
        self._secret = secret
        self._title = title
        self._mode = mode
        self._lock = threading.Lock()
        self._versions: dict[str, str] = {}
        self._points: dict[tuple[str, str], float] = {}  # by item and version; old ones may still be reported
        self._seconds: dict[str, tuple[int, float]] = {}  # by item: reports, and seconds of all of them
        self.other_title: str | None
        """By which the queue knew a course with this secret until now; None for the same or none."""
        try:
            self.other_title = self._enter()
        except BaseException:
            database.close()
            raise

    def _enter(self) -> str | None:
        make_queue(self.queue.database)
        return self.queue.register_course(self.course, self._title)

    def _there(self, work: Callable[[], T], items: Collection[str]) -> T:
        """Return what `work` returns; where the queue has lost this course or its items, bring them back.

        Somebody dropped the queue or took the course out of it, or a backup was restored: a site runs on.
        """
        try:
            return work()
        except StoreError as error:
            if not is_missing(error):
                raise
        self._enter()
        with self._lock:
            for item in items:
                self._versions.pop(item, None)
        for item in items:
            self.version(item)
        return work()

    def close(self) -> None:
        """Give back the connections; what was handed over stays in the queue."""
        self.queue.database.close()

    def version(self, item: str) -> str:
        """Return an exercise's version, and publish its files when it is asked for first.

        Raises
        ------
        InputError, EngineError
            As :func:`engine.cluster.published_items.publish_item`.
        """
        with self._lock:
            if item not in self._versions:
                seed = plan_seed(self._secret, item, self._bank.version(item))
                publish = partial(publish_item, self.queue.database, self.course, self._bank, item, seed)
                try:
                    version = publish()
                except StoreError as error:
                    if not is_missing(error):
                        raise
                    self._enter()
                    version = publish()
                self._points[item, version] = self._bank.load(item).points
                self._versions[item] = version
            return self._versions[item]

    def program(self, student: str, item: str, submission: CodeSubmission) -> ProgramForQueue:
        """Return a program as it is handed over, under the student's pseudonym."""
        return ProgramForQueue(
            student=pseudonym(self._secret, student),
            item=item,
            version=self.version(item),
            submission=submission.sha256,
            code=encode(replace(submission, modules=dict(submission.modules))),
        )

    def hand_over(self, handed: Sequence[ProgramForQueue], *, interactive: bool = False) -> list[int]:
        """Hand programs over and return their numbers in the queue.

        A chunk takes about a second, as far as it is known how long programs of these exercises take, and is
        smaller where the live workers' slots would otherwise not all have one.
        """
        size = min((self._chunk(item) for item in {entry.item for entry in handed}), default=_USUAL)
        if not interactive and (slots := self.queue.live_slots()):
            size = min(size, max(_FEWEST_SPREAD, -(-len(handed) // slots)))
        return self._there(
            lambda: self.queue.hand_over(
                self.course, self.name, str(self._mode), self.run, handed, interactive=interactive, chunk=size
            ),
            {entry.item for entry in handed},
        )

    def _chunk(self, item: str) -> int:
        count, seconds = self._seconds.get(item, (0, 0.0))
        return max(1, min(MOST_IN_CHUNK, int(CHUNK_S * count / max(seconds, 1e-3)))) if count else _USUAL

    def tidy(
        self,
        students: Iterable[str],
        graded_among: Callable[[Collection[SubmissionKey]], Collection[SubmissionKey]],
    ) -> int:
        """Forget what a killed run stored and couldn't forget any more; return how many programs that were.

        Parameters
        ----------
        students : iterable of str
            Whose programs are looked at: the queue has pseudonyms only.
        graded_among : callable
            Which of some submissions the store has a grade of.
        """
        left = self.queue.left_behind(self.course, str(self._mode))
        if not left:
            return 0
        names = {pseudonym(self._secret, student): student for student in students}
        keys = {
            program.id: (names[program.student], program.item, program.submission)
            for program in left
            if program.student in names
        }
        graded = graded_among(keys.values())
        stored = [number for number, key in keys.items() if key in graded]
        self.queue.forget(stored)
        return len(stored)

    def as_graded(self, student: str, item: str, report: QueueReport) -> GradeReport | None:
        """Return a report with its student's name; None where the program was set aside.

        One that can't be of a program of `item` counts for nothing: it comes back as ungraded, with why.
        A worker is trusted with the marks of what it is given, and with no others.
        """
        if report.report is None:
            return None
        try:
            graded = decode(GradeReport, report.report, f"report of program {report.program} in the queue")
        except StoreError:
            return self._no_report(student, item, report, "can't be read")
        if not self._is_possible(graded, item):
            return self._no_report(student, item, report, f"is no report of a program for {item}")
        count, seconds = self._seconds.get(item, (0, 0.0))
        self._seconds[item] = count + 1, seconds + report.seconds
        return replace(graded, student=student)

    def _is_possible(self, graded: GradeReport, item: str) -> bool:
        if (graded.item, graded.mode) != (item, self._mode) or graded.marking or graded.variant:
            return False  # marks by people, variants and other items come from no worker
        # Of a version that was handed over, so that no worker says how many points an item has.
        if graded.max_score != self._points.get((item, graded.item_version)):
            return False
        return _is_sound(graded)

    def _no_report(self, student: str, item: str, report: QueueReport, why: str) -> GradeReport:
        reason = f"what the worker {clean_line(report.worker)} handed in {why}; look at that machine"
        version, points = self._bank.version(item), self._bank.load(item).points
        return GradeReport.blank(
            item, version, Outcome.UNGRADED, points, student=student, mode=self._mode, notes=(reason,)
        )

    def use_bank(self, bank: Bank) -> None:
        """Take items from another bank from now on: the course's folder has changed."""
        with self._lock:
            if bank is not self._bank:
                self._bank = bank
                self._versions.clear()


def _is_sound(graded: GradeReport) -> bool:
    """Return whether a report of a program agrees with itself; it may have been written by anybody."""
    score, most = graded.score, graded.max_score
    fits = {
        Outcome.RIGHT: score == most,
        Outcome.PARTIAL: score is not None and score > 0.0,
        Outcome.WRONG: score == 0.0,
    }
    if not fits.get(graded.outcome, score is None) or graded.needs_person or graded.credit != 1.0:
        return False
    points = [
        (0.0 if score is None else score, most),
        *((check.points, check.max_points) for check in graded.checks),
    ]
    # NaN fails each comparison; -0.0 would be shown as it is.
    return all(0.0 <= part <= top < math.inf and math.copysign(1.0, part) > 0.0 for part, top in points)


def queue_of(course: Course, bank: Bank, address: str, sandbox: SandboxOptions) -> CourseQueue:
    """Return the connection of a course folder to the queue at an address; the caller closes it.

    Parameters
    ----------
    course : Course
    bank : Bank
        The course's, as it is being used.
    address : str
    sandbox : SandboxOptions
        What workers must give at least.
    """
    mode = Mode(course.mode)
    return CourseQueue(
        address,
        bank=bank,
        secret=course.secret(),
        title=course.title,
        mode=mode,
        tier=demanded_tier(sandbox, mode),
        packages=course.settings.offered_packages,
    )


class SilenceWatch:
    """Says why no report comes, once for each reason, where none has come for a while.

    Parameters
    ----------
    course_queue : CourseQueue
    warn : callable or None
        Called with a sentence.
    """

    def __init__(self, course_queue: CourseQueue, warn: Warn | None) -> None:
        self._course_queue = course_queue
        self._warn = warn
        self._warned: set[str] = set()
        self._heard = time.monotonic()

    def hear(self) -> None:
        """Note that a report came, or that nobody waited until now."""
        self._heard = time.monotonic()

    def is_long(self) -> bool:
        """Return whether it was silent for long; then a new silence begins."""
        if time.monotonic() - self._heard <= _QUIET_S:
            return False
        self.hear()
        return True

    def explain(self) -> None:
        """Warn of what may be the reason."""
        if self._warn is None:
            return
        for sentence in why_unserved(self._course_queue.queue.database, self._course_queue.name):
            if sentence not in self._warned:
                self._warned.add(sentence)
                self._warn(sentence)


class _AwaitedReports:
    """Reports for which threads wait; whichever of them comes first asks the database for all."""

    def __init__(self, line: CourseLine, silence: SilenceWatch) -> None:
        self._line = line
        self._silence = silence
        self._change = threading.Condition()
        self._awaited: dict[int, tuple[str, ...]] = {}
        self._came: dict[int, QueueReport | None] = {}  # None: the program isn't in the queue any more
        self._is_asked = False
        self._looked = time.monotonic()

    def wait(self, number: int, key: tuple[str, ...], halt: threading.Event) -> QueueReport | None:
        """Return the report of a program when it is there, None where somebody took the program out.

        Parameters
        ----------
        number : int
        key : tuple of str
            Of the program: see :meth:`engine.cluster.course_line.CourseLine.still_there`.
        halt : threading.Event

        Raises
        ------
        GradingStoppedError
            `halt` was set first.
        StoreError
            The database can't be asked, and hasn't been for minutes.
        """
        away_since: float | None = None
        with self._change:
            if not self._awaited:
                self._silence.hear()
            self._awaited[number] = key
        try:
            while not halt.is_set():
                with self._change:
                    if number in self._came:
                        return self._came.pop(number)
                    if self._is_asked:
                        self._change.wait(POLL_S)
                        continue
                    self._is_asked = True
                    awaited = dict(sorted(self._awaited.items()))
                try:
                    self._ask(awaited)
                except UnstorableError:
                    raise
                except StoreError as error:
                    if is_missing(error):  # whoever dropped the tables dropped the program with them
                        return None
                    away_since = away_since or time.monotonic()
                    if time.monotonic() - away_since > _AWAY_S:
                        raise
                    halt.wait(_AWAY_LOOK_S)
                    continue
                away_since = None
                with self._change:
                    is_there = number in self._came
                if not is_there:
                    halt.wait(_SOON_S)
        finally:
            with self._change:
                self._awaited.pop(number, None)
                self._came.pop(number, None)
        raise GradingStoppedError

    def _ask(self, awaited: Mapping[int, tuple[str, ...]]) -> None:
        came: dict[int, QueueReport | None] = {}
        try:
            reports = self._line.reports_among([*awaited])
            came |= {report.program: report for report in reports if report.key == awaited[report.program]}
            if time.monotonic() - self._looked > _GONE_S:
                self._looked = time.monotonic()
                known = self._line.still_there(awaited)
                self._line.restore(sorted(known))
                came |= {number: None for number in awaited if number not in known and number not in came}
            if came:
                self._silence.hear()
            elif self._silence.is_long():  # one thread asks at a time, so that one at a time looks here
                self._silence.explain()
        finally:
            with self._change:
                self._came |= {number: report for number, report in came.items() if number in self._awaited}
                self._is_asked = False
                self._change.notify_all()


class _OtherMachines(Runner):
    """Stands where a sandbox would be: programs run on the queue's workers."""

    def __init__(self, halt: threading.Event) -> None:
        self._halt = halt

    @property
    def tier(self) -> str:
        """No tier of this machine."""
        return ""

    def run(self, job: Job) -> RunResult:
        """Refuse: nothing runs here."""
        raise EngineError("student code runs on the queue's workers only")

    def close(self) -> None:
        """Wait for no report any more."""
        self._halt.set()


class ClusterExercises(CodeExercises):
    """The code exercises of a run whose programs are graded by the queue's workers.

    Parameters
    ----------
    bank : Bank
    secret : bytes
    mode : Mode
    course_queue : CourseQueue
    interactive : bool
        Whether somebody waits for each report.
    warn : callable, optional
        Called with a sentence where nobody takes the work, once for each reason.
    """

    def __init__(
        self,
        bank: Bank,
        *,
        secret: bytes,
        mode: Mode,
        course_queue: CourseQueue,
        interactive: bool,
        warn: Warn | None = None,
    ) -> None:
        super().__init__(bank, secret=secret, mode=mode)
        self._course_queue = course_queue
        self._interactive = interactive
        self._halt = course_queue.halt
        self._reports = _AwaitedReports(course_queue.queue, SilenceWatch(course_queue, warn))

    def prepare(self, item: str) -> None:
        """Publish an exercise now: the workers load it."""
        self._course_queue.version(item)

    def open_runner(self, sandbox: SandboxOptions, slots: int, sources: Iterable[str]) -> Runner:
        """Return what ends the waiting when it is closed; nothing is opened on this machine."""
        return _OtherMachines(self._halt)

    def expect(self, programs: Iterable[tuple[str, str, CodeSubmission]]) -> None:
        """Hand programs over in chunks, so that :meth:`grade` finds them in the queue."""
        entries = (self._course_queue.program(*program) for program in programs)
        while together := list(itertools.islice(entries, _SLICE)):
            self._course_queue.hand_over(together, interactive=self._interactive)

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        """Hand a program over, wait for its report and return it.

        Raises
        ------
        ProgramSetAsideError
            Worker after worker died over it.
        EngineError
            No worker could grade it, or somebody took it out of the queue.
        GradingStoppedError
            The runner was closed first. The program stays in the queue for whoever hands it over again.
        """
        program = self._course_queue.program(student, item, submission)
        report = None
        while report is None:
            (number,) = self._course_queue.hand_over([program], interactive=self._interactive)
            report = self._reports.wait(number, program.key, self._halt)
            # A student goes on waiting, whatever somebody did to the queue.
            if report is None and not self._interactive:
                raise EngineError("it was taken out of the queue", next_step="mark it again")
        graded = self._course_queue.as_graded(student, item, report)
        self._course_queue.queue.forget([number])
        if graded is None:
            reason = report.reason or "no worker could grade it"
            raise ProgramSetAsideError(reason) if reason == SET_ASIDE else EngineError(reason)
        return graded
