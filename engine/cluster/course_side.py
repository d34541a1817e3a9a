"""The course's side: what is handed over to workers, and what becomes of their reports.

Keys, roster and marks stay here. Workers get programs under pseudonyms; when a report comes back, the
student's name takes the pseudonym's place, and it is stored as if it had been made on this machine.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import (
    QueueName,
    course_fingerprint,
    engine_fingerprint,
    packages_fingerprint,
    pseudonym,
)
from engine.cluster.published_items import publish_item
from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.cluster.work_queue import QueueReport
from engine.errors import EngineError
from engine.items.bank import Bank
from engine.model import CodeSubmission, GradeReport, Mode
from engine.runs.code_exercises import plan_seed
from engine.store.sql_tables import decode, encode

POLL_S: Final = 0.25
# A chunk should take about a second: short enough to lose little, long enough that the queue's own cost (some
# milliseconds) doesn't count.
_CHUNK_S: Final = 1.0
_LEAST, _USUAL, _MOST = 20, 50, 100


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
        make_queue(database)
        self.queue = CourseLine(database)
        self.course = course_fingerprint(secret)
        self.name = str(QueueName(self.course, tier, packages_fingerprint(packages), engine_fingerprint()))
        self.run = secrets.token_hex(16)
        self._bank = bank
        self._secret = secret
        self._mode = mode
        self._lock = threading.Lock()
        self._versions: dict[str, str] = {}
        self._seconds: dict[str, tuple[int, float]] = {}  # by item: reports, and seconds of all of them
        self.queue.register_course(self.course, title)

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
                self._versions[item] = publish_item(self.queue.database, self.course, self._bank, item, seed)
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
        """Hand programs over and return their numbers in the queue."""
        size = min((self._chunk(item) for item in {entry.item for entry in handed}), default=_USUAL)
        return self.queue.hand_over(
            self.course, self.name, str(self._mode), self.run, handed, interactive=interactive, chunk=size
        )

    def _chunk(self, item: str) -> int:
        count, seconds = self._seconds.get(item, (0, 0.0))
        return _USUAL if not count else max(_LEAST, min(_MOST, int(_CHUNK_S * count / max(seconds, 1e-3))))

    def as_graded(self, student: str, report: QueueReport) -> GradeReport | None:
        """Return a report with its student's name; None where the program was set aside."""
        if report.report is None:
            return None
        graded = decode(GradeReport, report.report, f"report of program {report.program} in the queue")
        count, seconds = self._seconds.get(graded.item, (0, 0.0))
        self._seconds[graded.item] = count + 1, seconds + report.seconds
        return replace(graded, student=student)

    def grade_now(
        self, student: str, item: str, submission: CodeSubmission, halt: threading.Event
    ) -> GradeReport:
        """Hand over one program for which somebody waits, wait for its report and return it.

        Raises
        ------
        EngineError
            No machine could grade it, or `halt` was set before one did: the program stays in the queue.
        """
        (number,) = self.hand_over([self.program(student, item, submission)], interactive=True)
        while (report := self.queue.report_of(number)) is None:
            if halt.wait(POLL_S / 5):
                raise EngineError("stopped while the program waited for a worker")
        graded = self.as_graded(student, report)
        self.queue.forget([number])
        if graded is None:
            raise EngineError(report.reason or "no worker could grade it")
        return graded
