"""Grades what waits in the queue, in threads of the process that serves the site.

The threads mostly wait for the sandbox, whose processes yield the processors to pages. A worker is known by
its machine and process, so that what one had in hand when it was killed goes back into the queue as soon as
the next one starts; on another machine it goes back when the heartbeat fails to come.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from engine.errors import EngineError, InputError, ProgramSetAsideError, StoreError, internal_fault
from engine.model import Outcome
from engine.quiz.rules import now
from engine.runner import Job, Runner, RunResult, SandboxOptions, WrappingRunner
from engine.runs.code_exercises import CodeExercises, GradingStoppedError
from engine.runs.grade_file import FileGrader
from engine.runs.hand_in_queue import MOST_LOSSES, HandInQueue
from engine.store import ArrivalInfo, Store
from engine.store.waiting import QueuedHandIn

_log = logging.getLogger("softmark.worker")

_LOOK_S: Final = 1.0  # another process may have taken in a hand-in
_BEAT_S: Final = 10.0
_DEAD_AFTER_S: Final = 60.0
_OPEN_AGAIN_S: Final = 30.0
_STORE_AWAY_S: Final = 2.0
_END_S: Final = 2.0  # for a thread whose sandbox was closed
# Student code and what prepares for it: pages come first, but not at the cost of everything else.
_YIELDING = 5
_PREPARING = 10
# What code starts with: the sandbox has processes ready for both.
_LIBRARIES = ("import numpy as np\n", "import torch\n")
_numbers = itertools.count(1)  # of the workers of this process


@dataclass(frozen=True, slots=True)
class _Beat:
    """The newest heartbeat of a hand-in that another machine has; `seen` by our own clock when it was new."""

    turn: int | None
    heartbeat: datetime | None
    seen: float


class _StoppableRunner(WrappingRunner):
    """A runner whose end is no fault of the machine once the worker has been stopped."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner)
        self.is_stopped = False

    def run(self, job: Job) -> RunResult:
        if self.is_stopped:
            raise GradingStoppedError
        try:
            return self._runner.run(job)
        except EngineError:
            if self.is_stopped:
                raise GradingStoppedError from None
            raise

    def close(self) -> None:
        self.is_stopped = True
        self._runner.close()


class HandInWorker:
    """A number of threads that grade one hand-in after the other, as the queue gives them out.

    Parameters
    ----------
    store : Store
        Open as long as the worker runs.
    code : callable
        Returns the course's code exercises as they are now.
    sandbox : SandboxOptions
        Marks demand T1 or T2 of it, as everywhere.
    slots : int, optional
        Hand-ins at the same time; one for each processor by default.
    items : collection of str
        Exercises that are prepared at once; others when :meth:`expect` names them, or a hand-in needs them.
    runs_here : bool
        Whether student code runs on this machine, so that a process that died may have died of it.
    """

    def __init__(
        self,
        store: Store,
        code: Callable[[], CodeExercises],
        *,
        sandbox: SandboxOptions | None = None,
        slots: int | None = None,
        items: Collection[str] = (),
        runs_here: bool = True,
    ) -> None:
        self.slots = slots or os.cpu_count() or 1
        self.queue = HandInQueue(store, self.slots)
        self.name = _worker_name()
        self.fault: str | None = None
        """Why nothing can be graded now; hand-ins wait meanwhile."""
        self._store = store
        self._code = code
        self._sandbox = sandbox or SandboxOptions()
        self._runs_here = runs_here
        self._runner: _StoppableRunner | None = None
        self._is_open = threading.Event()
        self._halt = threading.Event()
        self._news = threading.Condition()
        self._in_hand: dict[int, QueuedHandIn] = {}
        self._beats: dict[int, _Beat] = {}
        self._expected: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._seen: set[str] = set()
        self._threads: list[threading.Thread] = []
        for item in items:
            self.expect(item)

    def start(self) -> None:
        """Take back what dead workers had in hand, and begin; returns at once."""
        with contextlib.suppress(StoreError):
            self._take_from_the_dead()
        for target in (self._open, self._prepare, *((self._import,) if self._seen else ())):
            _daemon(target).start()
        # Those that use the store, which is closed once they have ended.
        self._threads = [*(_daemon(self._grade_all) for _ in range(self.slots)), _daemon(self._upkeep)]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Say that something was handed in, so that nobody waits for the next look."""
        with self._news:
            self._news.notify_all()

    def expect(self, item: str) -> None:
        """Prepare an exercise in the background: somebody looks at it, and may soon hand in."""
        if item not in self._seen:
            self._seen.add(item)
            self._expected.put(item)

    def stop(self, patience_s: float = 20.0) -> None:
        """Begin nothing more, wait for what is in hand, and give back what takes longer."""
        self._halt.set()
        self._expected.put(None)
        self.wake()
        end = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        for hand_in in list(self._in_hand.values()):
            with contextlib.suppress(StoreError):
                self._store.waiting.give_back(hand_in, now())
        if self._runner is not None:
            self._runner.close()
        for thread in self._threads:
            thread.join(_END_S)

    def _open(self) -> None:
        """Open the sandbox; the processes of student code get the priority of this thread."""
        _yield_to_pages(_YIELDING)
        while not self._halt.is_set():
            try:
                runner = self._code().open_runner(self._sandbox, self.slots, _LIBRARIES)
            except Exception as error:
                self.fault = (
                    error.in_one_line()
                    if isinstance(error, EngineError | InputError)
                    else internal_fault(error)
                )
                _log.error("no sandbox: %s", self.fault)
                self._halt.wait(_OPEN_AGAIN_S)
                continue
            self.fault = None
            self._runner = _StoppableRunner(runner)
            self._is_open.set()
            return

    def _import(self) -> None:
        # Mistakes in gradients are written with torch, and are run here to name a student's. Its import takes
        # seconds in which pages wait: now, and not in the middle of a class.
        with contextlib.suppress(ImportError):
            importlib.import_module("torch")

    def _prepare(self) -> None:
        _yield_to_pages(_PREPARING)
        while (item := self._expected.get()) is not None and not self._halt.is_set():
            try:
                self._code().prepare(item)
            except Exception as error:  # whoever hands it in gets the reason
                self._seen.discard(item)
                _log.warning("%s can't be prepared: %s", item, error)

    def _upkeep(self) -> None:
        while not self._halt.wait(_BEAT_S):
            try:
                self._store.waiting.beat(self.name, now())
                self._take_from_the_dead()
            except StoreError:
                # Said where a hand-in is begun. Nobody could show a sign of life meanwhile: the wait for one
                # begins anew.
                self._beats = {}
            except Exception as error:  # without a heartbeat others would take what is in hand here
                _log.error("the queue can't be looked after: %s", internal_fault(error))

    def _take_from_the_dead(self) -> None:
        before, self._beats = self._beats, {}
        lost = self._store.waiting.take_from_the_dead(
            lambda hand_in: self._is_dead(hand_in, before), is_suspect=self._runs_here
        )
        for hand_in in lost:
            _log.warning("hand-in %s waits again: its worker is gone", hand_in.id)
        if lost:
            self.wake()

    def _is_dead(self, hand_in: QueuedHandIn, before: Mapping[int, _Beat]) -> bool:
        if hand_in.worker == self.name:
            return False
        if hand_in.worker is not None and _is_gone(hand_in.worker):
            return True
        # Clocks of two machines may differ by minutes: it counts how long this one has seen no new heartbeat.
        beat = _Beat(hand_in.turn, hand_in.heartbeat, time.monotonic())
        last = before.get(hand_in.id)
        is_new = last is None or (last.turn, last.heartbeat) != (beat.turn, beat.heartbeat)
        self._beats[hand_in.id] = beat if last is None or is_new else last
        return beat.seen - self._beats[hand_in.id].seen > _DEAD_AFTER_S

    def _grade_all(self) -> None:
        while not self._is_open.wait(_LOOK_S):
            if self._halt.is_set():
                return
        while not self._halt.is_set():
            try:
                hand_in = self.queue.begin(self.name)
            except StoreError as error:
                _log.warning("the queue can't be read: %s", error)
                self._halt.wait(_STORE_AWAY_S)
                continue
            except Exception as error:  # the last net: without this thread nothing more would be graded
                _log.error("no hand-in could be begun: %s", internal_fault(error))
                self._halt.wait(_STORE_AWAY_S)
                continue
            if hand_in is None:
                with self._news:
                    if not self._halt.is_set():
                        self._news.wait(_LOOK_S)
                continue
            self._in_hand[hand_in.id] = hand_in
            try:
                self._grade(hand_in)
            except GradingStoppedError:
                return  # stop() has given it back
            finally:
                self._in_hand.pop(hand_in.id, None)
            self.wake()  # its student's next one may have waited for this

    def _grade(self, hand_in: QueuedHandIn) -> None:
        assert self._runner is not None
        try:
            reason = self._graded(hand_in, self._runner)
        except StoreError as error:
            reason = error.in_one_line()
        except Exception as error:  # the last net: a fault of ours costs nobody a hand-in
            reason = internal_fault(error)
        # Where the store is away, the result is, too: it is graded again when the store is back.
        for _ in self._until_stopped():
            with contextlib.suppress(StoreError):
                if reason is None:
                    self._store.waiting.finish(hand_in, now())
                else:
                    self._store.waiting.give_back(hand_in, now(), reason)
                return

    def _until_stopped(self) -> Iterator[None]:
        yield
        while not self._halt.wait(_STORE_AWAY_S):
            yield

    def _graded(self, hand_in: QueuedHandIn, runner: Runner) -> str | None:
        """Grade a hand-in, store the attempt, and return why it must be tried again; None if it needn't."""
        student, item = hand_in.student, hand_in.item
        if self._store.graded(student, item, hand_in.submission, hand_in.mode) is not None:
            return None
        submission = self._store.waiting.code(hand_in.id)
        if submission is None:
            return None
        grader = FileGrader(self._store, self._code(), hand_in.mode)
        arrival = ArrivalInfo(handed=hand_in.handed, sequence=hand_in.id)
        if hand_in.losses < MOST_LOSSES:
            # Other machines may have died over it as well, which the queue knows that they share.
            with contextlib.suppress(ProgramSetAsideError):
                attempt = grader.grade_submission(student, item, submission, runner, arrival)
                is_graded = attempt.report.outcome is not Outcome.UNGRADED
                return None if is_graded else attempt.reason or "no reason was given"
        reason = grader.set_aside_submission(student, item, submission, arrival)
        self._store.waiting.set_aside(hand_in, now(), reason)
        _log.error("hand-in %s is set aside: its workers died", hand_in.id)
        return None


def _daemon(work: Callable[[], None]) -> threading.Thread:
    # A server that must end doesn't wait for an endless loop.
    return threading.Thread(target=work, name=f"hand-ins-{work.__name__.strip('_')}", daemon=True)


def _yield_to_pages(niceness: int) -> None:
    # Of this thread alone, on Linux, and of the processes that it starts.
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def _worker_name() -> str:
    """Return a name that no other process has, and by which others on this machine see whether it lives."""
    return f"{_machine()}/{os.getpid()}/{_started(os.getpid())}/{next(_numbers)}"


def _machine() -> str:
    # Numbers of processes mean something within one boot and one namespace only.
    names: Iterable[Callable[[], str]] = (
        lambda: Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        lambda: str(Path("/proc/self/ns/pid").readlink()),
    )
    parts = [socket.gethostname()[:60]]
    for name in names:
        with contextlib.suppress(OSError):
            parts.append(name())
    return ":".join(parts)


def _started(pid: int) -> str:
    """Return when a process began, in ticks since the machine's start; nothing where that isn't known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    # The name of the program, in parentheses, may hold blanks.
    words = fields.rpartition(")")[2].split()
    return "" if words[:1] == ["Z"] else words[19]


def _is_gone(worker: str) -> bool:
    """Return whether a worker was a process of this machine that has ended."""
    machine, _, rest = worker.partition("/")
    pid, started, *_ = (*rest.split("/"), "", "")
    if machine != _machine() or not started or not pid.isdecimal():
        return False
    return _started(int(pid)) != started
