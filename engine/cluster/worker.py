"""A worker: threads that claim chunks of programs, grade them in this machine's sandbox, and hand reports in.

What goes wrong with a machine stays with the machine. A sandbox that fails makes no report: the programs go
back to other workers, and this one rests. A database that is away for a while costs nothing either: what was
graded stays in memory until it can be handed in, or is graded again elsewhere if this worker was taken for
dead meanwhile; a second report of a program is dropped.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar

from engine import __version__
from engine.cluster.drawing import DrawnVariants, draw_requested
from engine.cluster.fingerprint import (
    QueueName,
    engine_fingerprint,
    packages_fingerprint,
    text_fingerprint,
)
from engine.cluster.published_items import PublishedItems
from engine.cluster.queue_tables import require_queue
from engine.cluster.work_queue import (
    DEAD_AFTER_S,
    DRAWING_MODE,
    JOBS_CHANNEL,
    ClaimedChunk,
    QueuedProgram,
    QueueReport,
    WorkerFacts,
    WorkQueue,
)
from engine.cluster.worker_counts import ChunkResult, WorkerCounts
from engine.crash_points import reached
from engine.errors import (
    EngineError,
    InputError,
    StoreAwayError,
    StoreError,
    UnstorableError,
    internal_fault,
)
from engine.grading import grade_code
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import Runner
from engine.store.postgres import is_refused
from engine.store.sql_tables import decode, encode
from engine.text.words import clean_line, count_noun

T = TypeVar("T")

_log = logging.getLogger("softmark.worker")

LOOK_S: Final = 2.0
"""Seconds between looks into an idle queue; a notice of the server usually comes first."""

QUEUE_LOOK_S: Final = 5.0
"""Seconds between looks for a queue that isn't there yet; somebody has to type a command first."""

_AWAY_S = (0.5, 1.0, 2.0, 5.0)  # between tries while the database is away
# Notices that are looked into at once, and how many a second in the long run: any account in the database may
# send them, and each look of each slot costs the server a millisecond or two.
_NOTICES_AT_ONCE, _NOTICES_A_SECOND = 30, 10.0
_LONGEST_REST_S = 300.0
_FIRST_REST_S = 5.0
_END_S = 5.0  # for threads that are about to end: the database may be slow to answer their last question
_MOST_FAULT = 2_000  # characters of a fault, as others read it; an account for workers may write no more
_SAY_AGAIN_S = 60.0
_DEAF_S = 30.0  # without notices, after the database was away or took no more connections
_LONGEST_CHUNK_S = 5.0  # a chunk that takes longer is handed in, and what is left of it waits again


@dataclass(frozen=True, slots=True)
class WorkerTimes:
    """How often a worker shows that it lives, when others take it for dead, and how often it looks at them.

    Parameters
    ----------
    beat_s : float
    dead_after_s : float
        Several times as long: a short stall of a machine or its network is no death. The queue knows it.
    look_s : float
        Between two looks at who is dead.
    """

    beat_s: float = 10.0
    dead_after_s: float = DEAD_AFTER_S
    look_s: float = 30.0


class _OneAlone:
    """Lets chunks be graded side by side, and a suspect one only with nothing else in hand."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._busy = 0
        self._waiting = 0
        self._alone = False

    @contextmanager
    def holding(self, *, alone: bool) -> Iterator[None]:
        with self._change:
            if alone:
                self._waiting += 1
                self._change.wait_for(lambda: not (self._busy or self._alone))
                self._waiting -= 1
                self._alone = True
            else:
                # Those that wait to be alone come first, or they would wait for ever.
                self._change.wait_for(lambda: not (self._alone or self._waiting))
                self._busy += 1
        try:
            yield
        finally:
            with self._change:
                if alone:
                    self._alone = False
                else:
                    self._busy -= 1
                self._change.notify_all()


class ClusterWorker:
    """Grades programs from a queue until it is stopped, drained, or the queue is empty.

    Parameters
    ----------
    queue : WorkQueue
    runner : Runner
        Opened with `slots`; the caller closes it.
    packages : sequence of str
        What the sandbox offers to student code.
    slots : int
    times : WorkerTimes
    until_empty : bool
        End when nothing waits that this worker may take.
    observe : callable, optional
        Called with what became of each chunk, when it is handed in.
    """

    def __init__(
        self,
        queue: WorkQueue,
        runner: Runner,
        *,
        packages: tuple[str, ...],
        slots: int,
        times: WorkerTimes = WorkerTimes(),
        until_empty: bool = False,
        observe: Callable[[ChunkResult], None] | None = None,
    ) -> None:
        self.counts = WorkerCounts()
        self.facts = WorkerFacts(
            name=worker_place(),
            slots=slots,
            tier=runner.tier,
            engine=engine_fingerprint(),
            packages=packages_fingerprint(packages),
        )
        self._queue = queue
        self._runner = runner
        self._times = times
        self._until_empty = until_empty
        self.observe = observe
        self._items = PublishedItems(queue.database)
        self._alone = _OneAlone()
        self._halt = threading.Event()
        self._news = threading.Event()
        self._knock = threading.Event()  # the server said something that no busy slot has looked into yet
        self._deaf = threading.Event()  # set while others may need the connection that listens
        self._number: int | None = None
        self._lock = threading.Lock()
        self._fault: str | None = None
        self._rest_s = 0.0
        self._away_since: float | None = None
        self._not_served: set[str] = set()
        self._last_notes: dict[str, tuple[str, float]] = {}  # by event: the reason, and when
        # One claim at a time, so that it is known which jobs this worker has.
        self._claiming = threading.Lock()
        self._in_hand: set[int] = set()
        self._is_unsure = False
        self._back_at = -math.inf  # when the database answered again, after it had been away

    def run(self) -> WorkerCounts:
        """Work until :meth:`stop` is called, and return what was done.

        Raises
        ------
        StoreError
            The queue can't be used at the start, and waiting wouldn't help, or `until_empty` is set; later
            faults of the database are waited out.
        """
        facts = self.facts
        self._number = when_there(
            lambda: self._queue.register_worker(facts, self._times.dead_after_s),
            self._halt,
            patient=not self._until_empty,
        )
        if self._number is None:
            return self.counts_now()
        self.note(
            "begins",
            number=self._number,
            slots=facts.slots,
            tier=facts.tier,
            version=__version__,
            engine=facts.engine,
            packages=facts.packages,
        )
        self._take_from_the_dead()
        threads = [threading.Thread(target=self._work, name=f"chunks-{n}") for n in range(self.facts.slots)]
        helpers = [threading.Thread(target=work, daemon=True) for work in (self._upkeep, self._listen)]
        try:
            for thread in (*helpers, *threads):
                thread.start()
            for thread in threads:
                while thread.is_alive():  # with a time-out, so that a signal is noticed
                    thread.join(0.2)
        finally:
            self.stop()
            for thread in threads:
                thread.join()
            # They use the database, which the caller closes next; a look for notices takes a second at most.
            for thread in helpers:
                thread.join(_END_S)
            with suppress(StoreError):
                self._queue.unregister_worker(self._number)
            self._items.close()
        counts = self.counts_now()
        self.note(
            "ends",
            programs=counts.programs,
            chunks=counts.chunks,
            seconds=round(counts.seconds, 4),
            dropped=counts.dropped,
            outcomes=counts.outcomes,
            away_s=round(counts.away_s, 3),
        )
        return counts

    def stop(self) -> None:
        """Begin nothing more; what is in hand is graded and handed in."""
        for event in (self._halt, self._news, self._deaf):
            event.set()

    def counts_now(self) -> WorkerCounts:
        """Return a copy of the counts, with the seconds for which the database has been away till now."""
        with self._lock:
            away = 0.0 if self._away_since is None else time.monotonic() - self._away_since
            return self.counts.copy(away)

    def _ask(self, ask: Callable[[], T]) -> T:
        """Ask the database, and count the time from its first silence to its next answer."""
        try:
            answer = ask()
        except StoreError as error:
            if not isinstance(error, UnstorableError):  # that is an answer
                with self._lock:
                    self._away_since = self._away_since or time.monotonic()
                self._deaf.set()
            raise
        with self._lock:
            if self._away_since is not None:
                self.counts.away_s += time.monotonic() - self._away_since
                self._away_since = None
        return answer

    # ---- threads

    def _work(self) -> None:
        while not self._halt.is_set():
            if self._rest_s:
                self._halt.wait(self._rest_s)
            try:
                chunk = self._claim()
            except StoreError as error:
                self._note_away("queue-away", self._why_away(error))
                self._halt.wait(LOOK_S)
                continue
            except Exception as error:  # the last net: without this thread a slot would stand still
                self.note("claim-failed", reason=internal_fault(error))
                self._halt.wait(LOOK_S)
                continue
            if chunk is None:
                if self._until_empty:
                    return
                self._news.wait(LOOK_S)
                self._news.clear()
                continue
            with self._alone.holding(alone=chunk.is_suspect):
                self._grade_chunk(chunk)

    def _claim(self) -> ClaimedChunk | None:
        number = self._number
        if number is None:
            return None
        with self._claiming:
            if self._is_unsure:
                given_back = self._queue.give_back(number, self._in_hand)
                self._is_unsure = False
                if given_back:
                    self.note("given-back", jobs=given_back)
            queues = self._ask(lambda: self._queue.queues_for(self._serves))
            try:
                chunk = self._ask(lambda: self._queue.claim(number, queues))
            except BaseException:
                # It may have been committed: then a job is ours of which nobody knows.
                self._is_unsure = True
                raise
            if chunk is not None:
                self._in_hand.add(chunk.job)
            return chunk

    def _serves(self, name: str) -> bool:
        queue = QueueName.parse(name)
        if queue is None:
            return False
        reason = queue.why_not(self.facts.tier, self.facts.packages, self.facts.engine)
        if reason is None and queue.is_drawing and queue.packages != text_fingerprint():
            reason = "it was handed over with other versions of the libraries that write texts"
        if reason is not None and name not in self._not_served:
            self._not_served.add(name)
            self.note("not-served", queue=name, reason=reason)
        return reason is None

    def _upkeep(self) -> None:
        looked = time.monotonic()
        is_away = False
        while not self._halt.wait(self._times.beat_s):
            try:
                self._beat()
                if is_away:
                    is_away, self._back_at = False, time.monotonic()
                if time.monotonic() - looked >= self._times.look_s:
                    looked = time.monotonic()
                    # A restored backup has jobs in this worker's hand that it ended long ago.
                    self._is_unsure = True
                    self._take_from_the_dead()
            except StoreError:
                is_away = True  # said where a chunk is claimed
            except Exception as error:  # without a heartbeat others would take what is in hand here
                self.note("upkeep-failed", reason=internal_fault(error))

    def _beat(self) -> None:
        assert self._number is not None
        number = self._number
        orders = self._ask(lambda: self._queue.beat(number, self._fault, self.facts.name))
        if not orders.is_known:
            # What this worker has in hand may be another's now; handing it in twice does no harm.
            self._number = self._queue.register_worker(self.facts, self._times.dead_after_s)
            self.note("taken-for-dead", number=self._number)
        if orders.is_draining and not self._halt.is_set():
            self.note("draining")
            self.stop()

    def _take_from_the_dead(self) -> None:
        # While the server was away, nobody could show that they live: everybody gets the time to.
        awake_s = min(time.monotonic() - self._back_at, self._queue.seconds_up())
        dead = self._queue.take_from_the_dead(awake_s)
        if dead.waiting or dead.set_aside:
            self.note("taken-from-the-dead", waiting=len(dead.waiting), set_aside=[*dead.set_aside])
            self._news.set()

    def _listen(self) -> None:
        """Wake a thread when something is handed over; without notices the regular looks are enough.

        Where the server gives this account few connections, those that claim and hand in need them more.
        """
        credit, counted = float(_NOTICES_AT_ONCE), time.monotonic()
        while not self._halt.is_set():
            try:
                for _ in self._queue.notices(JOBS_CHANNEL, self._deaf):
                    self._knock.set()
                    self._news.set()
                    # Ten hand-ins a second don't use it up; a flood waits here, and comes as one notice.
                    now = time.monotonic()
                    credit += (now - counted) * _NOTICES_A_SECOND - 1.0
                    credit, counted = min(credit, _NOTICES_AT_ONCE), now
                    if credit < 0:
                        self._halt.wait(-credit / _NOTICES_A_SECOND)
            except Exception:  # the database is away, or takes no more connections
                self._deaf.set()
            self._halt.wait(_DEAF_S)
            if not self._halt.is_set():
                self._deaf.clear()

    # ---- grading

    def _grade_chunk(self, chunk: ClaimedChunk) -> None:
        begun = time.monotonic()
        graded: list[QueueReport] = []
        done: list[GradeReport] = []
        drawn = 0
        fault: str | None = None
        kind = ""
        for program in chunk.programs:
            reached("before-cluster-program")
            at = time.monotonic()
            try:
                report = self._grade_with_database(program)
                if report is None:
                    break
                text = report.text if isinstance(report, DrawnVariants) else encode(report)
            except Exception as error:  # ours or the machine's, and never the student's 0
                fault = (
                    error.in_one_line()
                    if isinstance(error, EngineError | InputError)
                    else internal_fault(error)
                )
                kind = type(error).__name__
                break
            if isinstance(report, DrawnVariants):
                drawn += report.count
            elif report.outcome is Outcome.UNGRADED and not report.needs_person:
                fault = "; ".join(report.notes) or "no reason was given"
                kind = "Ungraded"
                break
            else:
                done.append(report)
            seconds = time.monotonic() - at
            is_slow = isinstance(report, GradeReport) and any(
                check.verdict is Verdict.TIMED_OUT for check in report.checks
            )
            graded.append(QueueReport(program.id, text, None, self.facts.name, seconds, is_slow))
            if time.monotonic() - begun > _LONGEST_CHUNK_S or self._halt.is_set() or self._makes_way(chunk):
                break
        seconds = time.monotonic() - begun
        fault = None if fault is None else clean_line(fault, _MOST_FAULT)
        stored, handed, fault = self._until_stored(chunk, graded, fault)
        if handed < len(graded):
            graded, done, drawn = graded[:handed], done[:handed], 0
            kind = "" if fault is None else "Refused"
        with self._claiming:
            self._in_hand.discard(chunk.job)
        result = ChunkResult(
            chunk=chunk,
            graded=tuple(done),
            drawn=drawn,
            program_s=tuple(report.seconds for report in graded),
            seconds=seconds,
            dropped=len(graded) - stored,
            fault=fault,
            fault_kind=kind,
        )
        self._after(result)

    def _makes_way(self, chunk: ClaimedChunk) -> bool:
        """Return whether the rest of a class's chunk should wait for a program that somebody waits for.

        An idle slot takes that at once, so it is gone by the time a busy one looks. If not, whichever slot
        comes first to the end of a program gives back what is left.
        """
        if chunk.interactive or not self._knock.is_set():
            return False
        self._knock.clear()
        try:
            awaited = self._ask(lambda: self._queue.awaited(self._serves))
        except StoreError:  # said where a chunk is claimed
            return False
        if awaited > 1:
            self._knock.set()  # the next slot looks too
        return awaited > 0

    def _end(self, chunk: ClaimedChunk, graded: Sequence[QueueReport], fault: str | None) -> int:
        assert self._number is not None
        if fault is None:
            return self._queue.hand_in(self._number, chunk, graded)
        failed = chunk.programs[len(graded)].id
        return self._queue.hand_in(self._number, chunk, graded, failed=failed, reason=fault)

    def _grade_with_database(self, program: QueuedProgram) -> GradeReport | DrawnVariants | None:
        """Return a program's report, None if this worker is stopped while the database is away.

        The exercise's files may have to be read there, and that it is away is no fault of the program.

        Raises
        ------
        StoreError
            The database is there, and refuses what is asked for.
        """
        for tries in itertools.count():
            try:
                return self._grade(program)
            except StoreError as error:
                # The first time it may just have come back.
                if tries and self._database_answers():
                    raise
                self._note_away("item-waits", error)
            if self._halt.wait(_AWAY_S[min(tries, len(_AWAY_S) - 1)]):
                break
        return None

    def _why_away(self, error: StoreError) -> StoreError:
        """Return what keeps this worker from the queue: for a role without rights its tables don't exist."""
        try:
            require_queue(self._queue.database)
        except StoreError as closed:
            return closed
        return error

    def _note_away(self, event: str, error: StoreError) -> None:
        """Say why the database can't be used: every slot hears so every few seconds, for hours perhaps."""
        reason, now = error.in_one_line(), time.monotonic()
        with self._lock:
            last, at = self._last_notes.get(event, ("", 0.0))
            if last == reason and now - at < _SAY_AGAIN_S:
                return
            self._last_notes[event] = reason, now
        self.note(event, reason=reason)

    def _database_answers(self) -> bool:
        try:
            self._queue.seconds_up()
        except StoreError:
            return False
        return True

    def _grade(self, program: QueuedProgram) -> GradeReport | DrawnVariants:
        if program.mode == DRAWING_MODE:
            return draw_requested(self._items, program)
        submission = decode(CodeSubmission, program.code, f"program {program.id} of the queue")
        exercise, plan = self._items.prepared(program)
        return grade_code(
            exercise, plan, submission, self._runner, mode=Mode(program.mode), student=program.student
        )

    def _after(self, result: ChunkResult) -> None:
        with self._lock:
            self.counts.add(result)
            self._fault = result.fault
            # A machine that fails at everything would otherwise go through the whole queue in a minute.
            self._rest_s = (
                0.0
                if result.program_s or result.fault is None
                else min(max(_FIRST_REST_S, self._rest_s * 2), _LONGEST_REST_S)
            )
        if self.observe is not None:
            self.observe(result)
        self.note("chunk", **result.facts())

    def _until_stored(
        self, chunk: ClaimedChunk, graded: Sequence[QueueReport], fault: str | None
    ) -> tuple[int, int, str | None]:
        """Hand in; where the database is away, keep what was graded and try again until it is back.

        One report that the database refuses must keep neither the others of its chunk nor this slot: the
        first one is handed in alone, and if that is refused too, its program has failed here. The others wait
        again.

        Returns how many reports were the first of their program, how many were handed in (or dropped, where
        nothing could be), and why the next program has no report.
        """
        way, tries, refusal = 0, 0, ""
        while True:
            alone = [(graded[:1], None)] if graded else []
            reports, why = [(graded, fault), *alone, ([], refusal)][way % (2 + len(alone))]
            try:
                return self._ask(partial(self._end, chunk, reports, why)), len(reports), why
            except StoreError as error:
                closed = self._why_away(error)
                self._note_away("hand-in-waits", closed)
                # An account that may grade nothing at present keeps what it has.
                if closed is error and is_refused(error):
                    way, refusal = way + 1, _refusal(reports, error)
            except Exception as error:  # a report of which the driver makes nothing
                self.note("hand-in-failed", reason=internal_fault(error))
                way, refusal = way + 1, internal_fault(error)
            wait = _AWAY_S[min(tries, len(_AWAY_S) - 1)]
            tries += 1
            # Stopped while the database is away: dropped, and graded again by another worker.
            if self._halt.wait(wait) and tries > len(_AWAY_S):
                return 0, len(graded), fault

    def note(self, event: str, **facts: Any) -> None:
        """Write one line of JSON to the log: an object with the moment in UTC, what happened, and to whom."""
        write_note(event, **facts)


def _refusal(reports: Sequence[QueueReport], error: StoreError) -> str:
    size = sum(len(report.report or "") for report in reports)
    # As ASCII: a database of another encoding may refuse the very sentence that says so.
    why = clean_line(error.got or error.what, _MOST_FAULT // 2).encode("ascii", "replace").decode()
    return f"the queue refuses its report, of {count_noun(size, 'character')}: {why}"


def worker_place() -> str:
    """Return a worker's name for people: machine and process."""
    return f"{socket.gethostname()[:150]}/{os.getpid()}"


def write_note(event: str, **facts: Any) -> None:
    """Write one line of JSON to the log of this process's worker, which needn't have begun."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {"at": now, "event": event, "worker": worker_place(), **facts}
    _log.info("%s", json.dumps(line, ensure_ascii=True, allow_nan=False))


def when_there(ask: Callable[[], T], halt: threading.Event, *, patient: bool) -> T | None:
    """Return the queue's answer to a worker that begins; wait for a queue that others have still to make.

    The log says once for each reason what is waited for.

    Parameters
    ----------
    ask : callable
    halt : threading.Event
        Ends the waiting.
    patient : bool
        False raises the first error.

    Returns
    -------
    object or None
        None where `halt` was set before the queue answered.

    Raises
    ------
    StoreError
        Waiting wouldn't help: a wrong password, say, or a newer version of the queue.
    """
    last_reason = ""
    while not halt.is_set():
        try:
            return ask()
        except StoreAwayError as error:
            if not patient:
                raise
            if (reason := error.in_one_line()) != last_reason:
                last_reason = reason
                write_note("waits-for-queue", reason=reason)
        halt.wait(QUEUE_LOOK_S)
    return None
