"""Where the site takes code in: the queue, and the worker that grades it in this process, if it has one."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engine.errors import StoreError
from engine.model import CodeSubmission, Mode
from engine.runner import SandboxOptions
from engine.runs import CodeExercises
from engine.runs.hand_in_queue import HandInQueue, QueuePlace
from engine.runs.hand_in_worker import HandInWorker
from engine.store import Store
from engine.store.waiting import Permit, QueuedHandIn

if TYPE_CHECKING:
    from engine.cluster.course_side import CourseQueue
    from engine.cluster.program_standing import CourseStanding, ProgramStanding
    from engine.items.bank import Bank
    from engine.web.site import CourseState

_LOOK_S: Final = 0.03
_LEAVE_S: Final = 1.0
_ANSWER_S: Final = 10.0
_FRESH_S: Final = 1.0  # a page asks every second, and there are hundreds of pages
# Requests that wait for a result at the same time; each takes one of the threads that make pages.
_MOST_WAITING: Final = 8


class HandInDesk:
    """The queue and the worker of one process.

    Parameters
    ----------
    store : Store
    state : callable
        Returns what the course folder says now.
    """

    def __init__(self, store: Store, state: Callable[[], CourseState]) -> None:
        self.slots = 0
        """Hand-ins that this process grades at the same time; with none, other processes do."""
        self.queue_address: str | None = None
        """The server whose workers grade hand-ins; None: this machine does."""
        self._store = store
        self._state = state
        self._course_queue: CourseQueue | None = None
        self._queue = HandInQueue(store, os.cpu_count() or 1)
        self._worker: HandInWorker | None = None
        self._exercises: tuple[Bank, CodeExercises] | None = None
        self._known_standing: tuple[float, CourseStanding | None] = (-math.inf, None)
        self._looking = threading.Lock()
        self._lock = threading.Lock()
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)

    def start(self) -> None:
        """Start the worker, if this process has one."""
        if not self.slots:
            return
        from engine.sandbox.bwrap import offer_packages

        state = self._state()
        offer_packages(state.course.settings.offered_packages)
        code_ids = set(state.bank.code_ids())
        self._worker = HandInWorker(
            self._store,
            self._code,
            slots=self.slots,
            items=[name for name in state.course.policies.named if name in code_ids],
            runs_here=self.queue_address is None,
        )
        self._queue = self._worker.queue
        self._worker.start()

    def stop(self) -> None:
        """Begin nothing more, and wait for what is in hand; what takes long is graded later."""
        if self._worker is not None:
            # What other machines have in hand is graded there, and its report kept: nobody need wait for it.
            self._worker.stop(*(() if self.queue_address is None else (_LEAVE_S,)))
        if self._course_queue is not None:
            self._course_queue.close()

    @property
    def fault(self) -> str | None:
        """Why nothing can be graded now, None where it can be or another process does it."""
        return None if self._worker is None else self._worker.fault

    def hand_in(self, student: str, item: str, submission: CodeSubmission, mode: Mode, permit: Permit) -> int:
        """Store a hand-in if `permit` raises nothing, have it graded, and return its number."""
        number = self._queue.hand_in(student, item, submission, mode, permit)
        if self._worker is not None:
            self._worker.wake()
        return number

    def expect(self, item: str) -> None:
        """Prepare an exercise that somebody looks at."""
        if self._worker is not None:
            self._worker.expect(item)

    def place(self, number: int) -> QueuePlace | None:
        """Return where a hand-in stands, None if it doesn't wait."""
        return self._queue.place(number)

    def course_standing(self) -> CourseStanding | None:
        """Return what the queue of several machines says of the course.

        None where this machine grades, or where the queue can't be asked.
        """
        if self.queue_address is None:
            return None
        with self._looking:
            looked, known = self._known_standing
            if time.monotonic() - looked > _FRESH_S:
                known = self._look()
                self._known_standing = time.monotonic(), known
            return known

    def _look(self) -> CourseStanding | None:
        from engine.cluster.program_standing import read_standing

        try:
            course_queue = self.course_queue()
            return read_standing(course_queue.queue.database, course_queue.name)
        except StoreError:  # where it lasts, `fault` says it
            return None

    def program(self, hand_in: QueuedHandIn, course: CourseStanding) -> ProgramStanding | None:
        """Return where a hand-in stands in the queue of several machines; None before it is handed over."""
        from engine.cluster.fingerprint import pseudonym

        student = pseudonym(self._state().course.secret(), hand_in.student)
        return course.programs.get((student, hand_in.item, hand_in.submission))

    def why_held(self) -> str:
        """Return why nothing is graded now, for staff; empty where it is."""
        if self.fault is not None:
            return self.fault
        course = self.course_standing()
        return "" if course is None else "; ".join(course.reasons)

    def course_queue(self) -> CourseQueue:
        """Return the course's connection to the queue of several machines, which is opened at the first call.

        Raises
        ------
        StoreError
            The queue can't be used.
        """
        self._code()
        assert self._course_queue is not None
        return self._course_queue

    def wait_for(self, number: int, seconds: float) -> None:
        """Return when a hand-in has been graded, or after some time; at once if many wait already."""
        if not self._waiting.acquire(blocking=False):
            return
        try:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                hand_in = self._store.waiting.find(number)
                if hand_in is None or not hand_in.is_open:
                    return
                time.sleep(_LOOK_S)
        finally:
            self._waiting.release()

    def _code(self) -> CodeExercises:
        """Return the exercises of the course as it is now: a changed folder has a new bank."""
        state = self._state()
        with self._lock:
            if self._exercises is None or self._exercises[0] is not state.bank:
                mode = Mode(state.course.mode)
                secret = state.course.secret()
                exercises = (
                    CodeExercises(state.bank, secret=secret, mode=mode)
                    if self.queue_address is None
                    else self._on_cluster(self.queue_address, state, secret, mode)
                )
                self._exercises = state.bank, exercises
            return self._exercises[1]

    def _on_cluster(self, address: str, state: CourseState, secret: bytes, mode: Mode) -> CodeExercises:
        from engine.cluster.course_side import ClusterExercises, queue_of

        if self._course_queue is None:
            self._course_queue = queue_of(state.course, state.bank, address, SandboxOptions())
            # Pages ask it too: a server that hangs may keep them no longer than the store does.
            self._course_queue.queue.database.limit_answers(_ANSWER_S)
        self._course_queue.use_bank(state.bank)
        return ClusterExercises(
            state.bank, secret=secret, mode=mode, course_queue=self._course_queue, interactive=True
        )
