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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from engine.cluster.fingerprint import QueueName, engine_fingerprint, packages_fingerprint
from engine.cluster.published_items import PublishedItems
from engine.cluster.work_queue import (
    DEAD_AFTER_S,
    JOBS_CHANNEL,
    ClaimedChunk,
    QueuedProgram,
    QueueReport,
    WorkerFacts,
    WorkQueue,
)
from engine.crash_points import reached
from engine.errors import EngineError, InputError, StoreError, internal_fault
from engine.grading import grade_code
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Runner
from engine.store.sql_tables import decode, encode

_log = logging.getLogger("softmark.worker")

LOOK_S: Final = 2.0
"""Seconds between looks into an idle queue; a notice of the server usually comes first."""

_AWAY_S = (0.5, 1.0, 2.0, 5.0)  # between tries while the database is away
_LONGEST_REST_S = 300.0
_FIRST_REST_S = 5.0
_END_S = 5.0
_CHUNK_S = 5.0  # a chunk that takes longer is handed in, and what is left of it waits again


@dataclass(frozen=True, slots=True)
class WorkerTimes:
    """How often a worker shows that it lives, and when it takes another one for dead.

    Parameters
    ----------
    beat_s : float
    dead_after_s : float
        Several times as long: a short stall of a machine or its network is no death.
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


@dataclass
class WorkerCounts:
    """What a worker did since it began; for its log and its metrics.

    Parameters
    ----------
    programs : int
        Reports handed in.
    chunks : int
    seconds : float
        Of grading, all slots together.
    outcomes : dict of str to int
    faults : dict of str to int
        How often the machine failed, by class of the error.
    dropped : int
        Reports that came too late.
    """

    programs: int = 0
    chunks: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    dropped: int = 0


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
        Called with each chunk that is handed in, its reports and the seconds it took.
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
        observe: Callable[[ClaimedChunk, list[GradeReport], float], None] | None = None,
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
        self._observe = observe
        self._items = PublishedItems(queue.database)
        self._alone = _OneAlone()
        self._halt = threading.Event()
        self._news = threading.Event()
        self._number: int | None = None
        self._lock = threading.Lock()
        self._fault: str | None = None
        self._rest_s = 0.0
        self._not_served: set[str] = set()
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
            The queue can't be used at the start; later faults of the database are waited out.
        """
        self._number = self._queue.register_worker(self.facts)
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
            self._halt.set()
            self._news.set()
            for thread in threads:
                thread.join()
            # They use the database, which the caller closes next; a look for notices takes a second at most.
            for thread in helpers:
                thread.join(_END_S)
            with suppress(StoreError):
                self._queue.unregister_worker(self._number)
            self._items.close()
        return self.counts

    def stop(self) -> None:
        """Begin nothing more; what is in hand is graded and handed in."""
        self._halt.set()
        self._news.set()

    # ---- threads

    def _work(self) -> None:
        while not self._halt.is_set():
            if self._rest_s:
                self._halt.wait(self._rest_s)
            try:
                chunk = self._claim()
            except StoreError as error:
                _note("queue-away", reason=_line(error))
                self._halt.wait(LOOK_S)
                continue
            except Exception as error:  # the last net: without this thread a slot would stand still
                _note("claim-failed", reason=internal_fault(error))
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
                    _note("given-back", jobs=given_back)
            queues = self._queue.queues_for(self._serves)
            try:
                chunk = self._queue.claim(number, queues)
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
        if reason is not None and name not in self._not_served:
            self._not_served.add(name)
            _note("not-served", queue=name, reason=reason)
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
                    self._take_from_the_dead()
            except StoreError:
                is_away = True  # said where a chunk is claimed
            except Exception as error:  # without a heartbeat others would take what is in hand here
                _note("upkeep-failed", reason=internal_fault(error))

    def _beat(self) -> None:
        assert self._number is not None
        orders = self._queue.beat(self._number, self._fault)
        if not orders.is_known:
            # What this worker has in hand may be another's now; handing it in twice does no harm.
            self._number = self._queue.register_worker(self.facts)
            _note("taken-for-dead", worker=self._number)
        if orders.is_draining and not self._halt.is_set():
            _note("draining")
            self.stop()

    def _take_from_the_dead(self) -> None:
        # While the server was away, nobody could show that they live: everybody gets the time to.
        patience_s = self._times.dead_after_s
        if time.monotonic() - self._back_at < patience_s or self._queue.seconds_up() < patience_s:
            return
        dead = self._queue.take_from_the_dead(self._times.dead_after_s)
        if dead.waiting or dead.set_aside:
            _note("taken-from-the-dead", waiting=len(dead.waiting), set_aside=[*dead.set_aside])
            self._news.set()

    def _listen(self) -> None:
        """Wake a thread when something is handed over; without notices the regular looks are enough."""
        while not self._halt.is_set():
            try:
                for _ in self._queue.notices(JOBS_CHANNEL, self._halt):
                    self._news.set()
            except Exception:  # the database is away, or takes no more connections
                self._halt.wait(LOOK_S)

    # ---- grading

    def _grade_chunk(self, chunk: ClaimedChunk) -> None:
        begun = time.monotonic()
        graded: list[QueueReport] = []
        done: list[GradeReport] = []
        fault: str | None = None
        for program in chunk.programs:
            reached("before-cluster-program")
            at = time.monotonic()
            try:
                report = self._grade_with_database(program)
                if report is None:
                    break
                text = encode(report)
            except Exception as error:  # ours or the machine's, and never the student's 0
                fault = _line(error) if isinstance(error, EngineError | InputError) else internal_fault(error)
                self._count_fault(type(error).__name__)
                break
            if report.outcome is Outcome.UNGRADED and not report.needs_person:
                fault = "; ".join(report.notes) or "no reason was given"
                self._count_fault("Ungraded")
                break
            seconds = time.monotonic() - at
            graded.append(QueueReport(program.id, text, None, self.facts.name, seconds))
            done.append(report)
            if time.monotonic() - begun > _CHUNK_S or self._halt.is_set():
                break
        seconds = time.monotonic() - begun
        failed = chunk.programs[len(graded)] if fault is not None else None
        self._until_stored(lambda: self._end(chunk, graded, failed, fault))
        with self._claiming:
            self._in_hand.discard(chunk.job)
        self._after(chunk, done, seconds, fault)

    def _end(
        self, chunk: ClaimedChunk, graded: list[QueueReport], failed: QueuedProgram | None, fault: str | None
    ) -> None:
        assert self._number is not None
        if failed is not None and fault is not None:
            stored = self._queue.hand_in(self._number, chunk, graded, failed=failed.id, reason=fault)
        else:
            stored = self._queue.hand_in(self._number, chunk, graded)
        self.counts.dropped += len(graded) - stored

    def _grade_with_database(self, program: QueuedProgram) -> GradeReport | None:
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
                _note("item-waits", reason=_line(error))
            if self._halt.wait(_AWAY_S[min(tries, len(_AWAY_S) - 1)]):
                break
        return None

    def _database_answers(self) -> bool:
        try:
            self._queue.seconds_up()
        except StoreError:
            return False
        return True

    def _grade(self, program: QueuedProgram) -> GradeReport:
        submission = decode(CodeSubmission, program.code, f"program {program.id} of the queue")
        exercise, plan = self._items.prepared(program)
        return grade_code(
            exercise, plan, submission, self._runner, mode=Mode(program.mode), student=program.student
        )

    def _after(self, chunk: ClaimedChunk, done: list[GradeReport], seconds: float, fault: str | None) -> None:
        with self._lock:
            self.counts.chunks += 1
            self.counts.programs += len(done)
            self.counts.seconds += seconds
            for report in done:
                outcome = str(report.outcome)
                self.counts.outcomes[outcome] = self.counts.outcomes.get(outcome, 0) + 1
            self._fault = fault
            # A machine that fails at everything would otherwise go through the whole queue in a minute.
            self._rest_s = (
                0.0 if done or fault is None else min(max(_FIRST_REST_S, self._rest_s * 2), _LONGEST_REST_S)
            )
        _note(
            "chunk",
            job=chunk.job,
            queue=chunk.queue,
            item=chunk.programs[0].item,
            programs=len(chunk.programs),
            graded=len(done),
            seconds=round(seconds, 4),
            waited_s=round(chunk.waited_s, 3),
            interactive=chunk.interactive,
            **({} if fault is None else {"fault": fault}),
        )
        if self._observe is not None:
            self._observe(chunk, done, seconds)

    def _count_fault(self, name: str) -> None:
        with self._lock:
            self.counts.faults[name] = self.counts.faults.get(name, 0) + 1

    def _until_stored(self, store: Callable[[], None]) -> None:
        """Hand in; where the database is away, keep what was graded and try again until it is back."""
        tries = 0
        while True:
            try:
                store()
                return
            except StoreError as error:
                _note("hand-in-waits", reason=_line(error))
            except Exception as error:  # a report that can't be stored: others of the chunk are graded again
                _note("hand-in-failed", reason=internal_fault(error))
            wait = _AWAY_S[min(tries, len(_AWAY_S) - 1)]
            tries += 1
            # Stopped while the database is away: dropped, and graded again by another worker.
            if self._halt.wait(wait) and tries > len(_AWAY_S):
                return


def worker_place() -> str:
    """Return a worker's name for people: machine and process."""
    return f"{socket.gethostname()[:150]}/{os.getpid()}"


def _line(error: BaseException) -> str:
    lines = getattr(error, "lines", None)
    return "; ".join(line.strip() for line in lines()) if callable(lines) else str(error)


def _note(event: str, **facts: Any) -> None:
    """Write one line of JSON to the log."""
    _log.info("%s", json.dumps({"event": event, **facts}, ensure_ascii=True))
