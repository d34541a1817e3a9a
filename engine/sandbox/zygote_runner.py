"""The sandboxed runner: slots with a zygote of each kind, jobs in, results out (Linux, T1 and T2).

A job is served by one forked child, or by several where a call ends its process. The second half of the file
is one child from birth to end: bytes both ways, deadlines, caps, and what its end says about the call that it
was in.
"""

from __future__ import annotations

import math
import os
import queue
import select
import signal
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum

from engine.errors import EngineError, RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Job, Limits, Runner, RunResult
from engine.sandbox.child.layers import ALL_LAYERS, Layers
from engine.sandbox.child.modules import HEAVIER, LIBRARIES, NEEDS_MORE, OUR_FAULT
from engine.sandbox.replies import VIOLATION, ChildDialogue, JobResults, killed_from_outside
from engine.sandbox.requests import (
    EncodedPlan,
    LibraryNeededError,
    SharedArrays,
    encode_load,
    encode_plan,
    library_of,
    shown_library,
)
from engine.sandbox.zygote_handle import SAMPLE_S, ChildEnd, CpuWait, GraderDelay, Zygote

_MIN_LOAD_S = 0.1  # a later child loads the file again, however little time is left
_CHUNK = 2**20
_SLACK_S = 0.3  # the child's own processor clock rings first, and says more exactly what took too long
_END_S = 5.0
_OUTPUT_CAP = 2**16
# A machine so busy that a submission takes ten times its limit, and a minute more, can't grade: that must be
# said, and isn't the student's fault.
_STARVED_FACTOR = 10.0
_STARVED_MORE_S = 60


class SandboxRunner(Runner):
    """Runs jobs in T1 or T2; safe to call from several threads.

    Parameters
    ----------
    tier : {"T1", "T2"}
    slots : int
        How many submissions run at the same time, each beside zygotes of its own: one without torch, one with
        it, one with its compiler too; each is started when the first job for it comes.
    layers : Layers
        Switched off by tests only.
    sources : iterable of str
        Texts of submissions that will be run first: the zygotes for them start now.
    """

    def __init__(
        self, tier: str, slots: int, layers: Layers = ALL_LAYERS, sources: Iterable[str] = ()
    ) -> None:
        self._tier = tier
        self._layers = layers
        # one thread starts all zygotes and lives as long as they: see Zygote's notes
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="zygote-starter")
        self._closed = False
        self._slots: list[_Slot] = [
            {library: _Nest(self._starter, tier, number, library, layers) for library in LIBRARIES}
            for number in range(slots)
        ]
        self._free: queue.SimpleQueue[_Slot] = queue.SimpleQueue()
        expected = {shown_library([text]) for text in sources}
        for slot in self._slots:
            for library in sorted(expected):  # first the one that is ready first
                slot[library].begin()
            self._free.put(slot)

    @property
    def tier(self) -> str:
        """``"T1"`` or ``"T2"``."""
        return self._tier

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first."""
        if self._closed:
            raise SandboxError("the sandbox is closed")
        # a process that lives on, for want of a fork, has memory for its first job's arrays only
        plan = encode_plan(job, shared=self._layers.fork)
        slot = self._free.get()
        try:
            library = library_of(job, plan)
            while True:
                try:
                    return self._run_in(slot[library], job, plan)
                except LibraryNeededError:
                    library = HEAVIER[library]
        finally:
            self._free.put(slot)

    def _run_in(self, nest: _Nest, job: Job, plan: EncodedPlan) -> RunResult:
        try:
            return self._run_children(nest, job, plan)
        except LibraryNeededError:  # said by the end of a child: nothing is half done
            raise
        except BaseException:  # an interrupt by the keyboard too leaves a conversation half done
            nest.restart()
            raise

    def _run_children(self, nest: _Nest, job: Job, plan: EncodedPlan) -> RunResult:
        nest.zygote()  # its start doesn't count as the submission's time
        budget = SubmissionBudget(job.limits, self._layers)
        results = JobResults(job, self._tier, nest.library.partition(".")[0])
        while (first := results.next_call(budget.left_s())) is not None:
            left = results.bytes_left, results.nodes_left
            dialogue = ChildDialogue(
                first, plan.count, *left, check_order=self._layers.order, known=plan.replies
            )
            cpu_limit_s = budget.processor_s()
            load_s = max(_MIN_LOAD_S, budget.left_s())
            load = encode_load(job, first, load_s, results.bytes_left, results.nodes_left)
            stop, end, changed = self._converse(nest, dialogue, load, plan, budget)
            if dialogue.broken is not None:
                raise SandboxError("a layer of the sandbox failed; no student code ran", got=dialogue.broken)
            if not dialogue.locked and not dialogue.violated:
                raise RunnerLostError(
                    "a process ended before it could take student code", got=None if end is None else str(end)
                )
            if dialogue.violated:
                results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION, detail=VIOLATION))
                continue
            if nest.library in HEAVIER and end is not None and end.exit_code == NEEDS_MORE:
                raise LibraryNeededError
            lost_call = None if end is None else outcome_of_end(stop, end, cpu_limit_s)
            results.merge(dialogue, lost_call, plan, changed)
        return results.finish(bytes(budget.printed))

    def _converse(
        self, nest: _Nest, dialogue: ChildDialogue, load: bytes, plan: EncodedPlan, budget: SubmissionBudget
    ) -> tuple[StopReason, ChildEnd | None, dict[int, bytes]]:
        """Talk to one child; return too which calls changed their arrays, as the grader saw them."""
        link = nest.link(budget, plan)
        dialogue.locked = link.is_locked
        try:
            stop, end = converse(nest.zygote(), link, dialogue, load, plan, budget)
            return stop, end, {} if link.arrays is None else link.arrays.changed
        finally:
            if self._layers.fork:
                link.close()

    def close(self) -> None:
        """Give back all processes; a run that is under way fails with RunnerLostError."""
        if self._closed:
            return
        self._closed = True
        for slot in self._slots:
            for nest in slot.values():
                nest.close()
        self._starter.shutdown()


class _Nest:
    """Where the children of one slot and one kind are born; its zygote starts in the background."""

    def __init__(
        self, starter: ThreadPoolExecutor, tier: str, number: int, library: str, layers: Layers
    ) -> None:
        self.library = library
        self._starter = starter
        self._tier = tier
        self._number = number
        self._layers = layers
        self._closed = False
        self._lock = threading.Lock()  # a runner may be closed while a job of it begins
        self._lasting_link: ChildLink | None = None  # only where a test takes the fork layer away
        self._pending: Future[Zygote] | None = None

    def begin(self) -> Future[Zygote]:
        """Have the zygote started unless it is."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            if self._pending is None:
                self._pending = self._starter.submit(
                    Zygote, self._tier, self._number, self.library, self._layers
                )
            return self._pending

    def zygote(self) -> Zygote:
        """Return a living zygote; one that died while idle is replaced."""
        zygote = self.begin().result()
        if not zygote.alive:
            self.restart()
            zygote = self.begin().result()
        zygote.wait_ready()
        return zygote

    def link(self, budget: SubmissionBudget, plan: EncodedPlan) -> ChildLink:
        """Make a child; a zygote that turns out to be lost is replaced once, for no student code ran yet."""
        if self._lasting_link is not None:
            return self._lasting_link
        try:
            link = ChildLink(self.zygote(), budget, plan)
        except RunnerLostError:
            self.restart()
            link = ChildLink(self.zygote(), budget, plan)
        if not self._layers.fork:
            self._lasting_link = link
        return link

    def restart(self) -> None:
        """Replace the zygote, unless the runner is closed."""
        self._end()
        if not self._closed:
            self.begin()

    def close(self) -> None:
        """End the zygote for good."""
        with self._lock:
            self._closed = True
        self._end()

    def _end(self) -> None:
        if self._lasting_link is not None:
            self._lasting_link.close()
            self._lasting_link = None
        with self._lock:
            pending, self._pending = self._pending, None
        try:
            zygote = None if pending is None else pending.result()
        except EngineError:
            return
        if zygote is not None:
            zygote.close()


_Slot = Mapping[str, _Nest]
"""A place for one submission at a time: where its children are born, by what is loaded there."""


class StopReason(Enum):
    """Why the conversation with a child stopped."""

    DONE = "done"
    EXITED = "exited"
    CLOSED = "closed the channel"
    CALL_DEADLINE = "call deadline"
    DEADLINE = "deadline"


@dataclass
class SubmissionBudget:
    """What one submission has left, over all of its children."""

    limits: Limits
    layers: Layers = ALL_LAYERS
    began: float = field(default_factory=time.monotonic)
    cpu_s: float = 0.0
    spent_s: float = 0.0
    printed: bytearray = field(default_factory=bytearray)

    def left_s(self) -> float:
        """Return the wall time that is left after the children so far; making a child costs nothing."""
        return self.limits.wall_s - self.spent_s

    def processor_s(self) -> int:
        """Return the whole seconds of processor time for the next child."""
        return max(1, math.ceil(self.limits.wall_s - self.cpu_s))

    def keep(self, data: bytes) -> None:
        """Keep the beginning of what is printed; the rest is read and dropped."""
        if self.layers.output:
            data = data[: max(0, _OUTPUT_CAP - len(self.printed))]
        self.printed += data


class ChildLink:
    """A child and the grader's ends of its socket and its output pipe.

    Parameters
    ----------
    zygote : Zygote
    budget : SubmissionBudget
    plan : EncodedPlan, optional
        Whose arrays the child will share with us.

    Raises
    ------
    RunnerLostError
        If no child can be made.
    """

    def __init__(self, zygote: Zygote, budget: SubmissionBudget, plan: EncodedPlan | None = None) -> None:
        self.arrays: SharedArrays | None = None
        self.is_locked = False  # only a child that lives on, in a test, is locked when a conversation begins
        self.socket, theirs = socket.socketpair()
        try:
            self.output, write_end = os.pipe()
        except OSError:  # no number left for it
            self.socket.close()
            theirs.close()
            raise
        try:
            with theirs:
                if plan is not None and plan.memory:
                    self.arrays = SharedArrays(plan)
                self.child = zygote.fork(
                    theirs,
                    write_end,
                    memory_mib=budget.limits.memory_mib,
                    cpu_s=budget.processor_s(),
                    arrays=None if self.arrays is None else (self.arrays.fd, self.arrays.size),
                )
        except BaseException:
            self.close()
            raise
        finally:
            os.close(write_end)
        self.socket.setblocking(False)
        os.set_blocking(self.output, False)

    def close(self) -> None:
        """Close our ends."""
        self.socket.close()
        os.close(self.output)
        if self.arrays is not None:
            self.arrays.close()

    def drain(self, budget: SubmissionBudget) -> None:
        """Read what a dead child left in the pipe."""
        while True:
            try:
                data = os.read(self.output, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            budget.keep(data)


def converse(
    zygote: Zygote,
    link: ChildLink,
    dialogue: ChildDialogue,
    load: bytes,
    plan: EncodedPlan,
    budget: SubmissionBudget,
) -> tuple[StopReason, ChildEnd | None]:
    """Let one child serve until it is done, exits or passes a deadline; it is dead afterwards.

    (Where a test takes the fork layer away, it lives on.)

    Returns
    -------
    stop : StopReason
    end : ChildEnd or None
        None where the child completed its conversation: how it ends then doesn't matter.

    Raises
    ------
    RunnerLostError
        If the zygote is lost, or the machine gives the child no processor.
    """
    exchange = _Exchange(link, dialogue, load, plan, budget)
    if not budget.layers.fork:
        stop = exchange.run()
        link.is_locked = True
        link.drain(budget)
        return stop, None
    try:
        stop = exchange.run()
        if stop is StopReason.EXITED and not link.child.is_ending(_END_S):
            stop = StopReason.CLOSED
    finally:
        link.child.kill()
    end = zygote.wait_end(link.child)
    if link.arrays is not None:
        link.arrays.look_again(dialogue.replies)
    budget.cpu_s += end.cpu_s
    link.drain(budget)
    return stop, None if dialogue.ended else end


class _Exchange:
    """Bytes both ways between grader and child."""

    def __init__(
        self,
        link: ChildLink,
        dialogue: ChildDialogue,
        load: bytes,
        plan: EncodedPlan,
        budget: SubmissionBudget,
    ) -> None:
        self._ours = link.socket
        self._output = link.output
        self._wait: CpuWait | None = None  # made when a call takes long
        self._child = link.child
        self._arrays = link.arrays
        self._dialogue = dialogue
        self._plan = plan
        self._budget = budget
        self._unsent = memoryview(load)
        self._began = self._progress = time.monotonic()
        self._poll = select.poll()
        self._poll.register(self._ours, select.POLLIN | select.POLLOUT)
        self._poll.register(self._output, select.POLLIN)
        self._delay = GraderDelay()
        self._waited_s = 0.0  # in vain: for a processor, or for us
        self._waited_before_s = 0.0  # when the present call began
        self._sampled = 0.0

    def run(self) -> StopReason:
        """Move bytes until something stops the child."""
        try:
            return self._move_until_stopped()
        finally:
            self._look_at_waits()
            self._budget.spent_s += time.monotonic() - self._began - self._waited_s

    def _move_until_stopped(self) -> StopReason:
        while True:
            timeout_s = self._timeout_s()
            self._delay.expect(timeout_s)
            ready = self._poll.poll(None if timeout_s is None else timeout_s * 1000)
            self._sample_wait()
            for fd, events in ready:
                if fd == self._output:
                    self._read_output(events)
                elif not self._move(events):
                    return StopReason.DONE if self._dialogue.over else StopReason.EXITED
            if self._dialogue.over:
                return StopReason.DONE
            if (stop := self._deadline()) is not None:
                return stop

    def _move(self, events: int) -> bool:
        """Send and receive; False at the end of the stream."""
        if events & select.POLLOUT and self._unsent:
            self._write()
        if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
            try:
                data = self._ours.recv(_CHUNK)
            except BlockingIOError:
                return True
            except ConnectionError:
                return False
            if not data:
                return False
            before = (self._dialogue.next, self._dialogue.load is None)
            self._dialogue.feed(data)
            if self._arrays is not None:
                for index in range(before[0], self._dialogue.next):
                    self._arrays.look(index)
            if before != (self._dialogue.next, self._dialogue.load is None):
                self._progress = time.monotonic()
                self._look_at_waits()
                self._waited_before_s = self._waited_s
            if self._dialogue.wants_plan:
                self._dialogue.plan_sent = True
                if self._arrays is not None:
                    self._arrays.fill()
                self._unsent = memoryview(self._plan.frame)
                self._write()
        return True

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[self._ours.send(self._unsent) :]
        except BlockingIOError:
            pass
        except ConnectionError:
            self._unsent = memoryview(b"")
        self._poll.modify(self._ours, select.POLLIN | (select.POLLOUT if self._unsent else 0))

    def _read_output(self, events: int) -> None:
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._budget.keep(data)
        elif events:
            self._poll.unregister(self._output)

    def _sample_wait(self) -> None:
        """Find out, while a call takes long, whether it computes and sleeps or waits for a processor."""
        if time.monotonic() - self._progress < SAMPLE_S:
            return
        if self._wait is None:
            self._wait = self._child.measure_wait()
        elif self._sampled < self._progress:
            self._wait.start_stretch()
        elif time.monotonic() - self._sampled >= SAMPLE_S:
            self._wait.sample()
        else:
            return
        self._sampled = time.monotonic()

    def _timeout_s(self) -> float | None:
        if not self._budget.layers.deadline:
            return None
        left_s = self._left_s()
        if self._dialogue.plan_sent:
            left_s = min(left_s, self._call_left_s())
        return max(0.001, min(left_s, SAMPLE_S))

    def _left_s(self) -> float:
        return self._budget.left_s() + _SLACK_S + self._waited_s - (time.monotonic() - self._began)

    def _call_left_s(self) -> float:
        waited_s = max(0.0, self._waited_s - self._waited_before_s)
        return self._budget.limits.call_s + _SLACK_S + waited_s - (time.monotonic() - self._progress)

    def _look_at_waits(self) -> None:
        self._waited_s = self._delay.late_s + (self._wait.waited_s() if self._wait else 0.0)

    def _deadline(self) -> StopReason | None:
        """Return which deadline has passed; waiting for a processor, or for the grader, doesn't count."""
        if not self._budget.layers.deadline or not self._passed():
            return None
        # Only now is the wait asked for: the usual call never comes here, and pays nothing for it.
        self._wait = self._wait or self._child.measure_wait()
        self._look_at_waits()
        starved_s = self._budget.limits.wall_s * _STARVED_FACTOR + _STARVED_MORE_S
        if time.monotonic() - self._budget.began > starved_s:
            raise RunnerLostError(
                "the machine gave the student's code too little processor time",
                next_step="run it again when less else runs, or with fewer slots",
            )
        return self._passed()

    def _passed(self) -> StopReason | None:
        if self._left_s() <= 0:
            return StopReason.DEADLINE
        if self._dialogue.plan_sent and self._call_left_s() <= 0:
            return StopReason.CALL_DEADLINE
        return None


def outcome_of_end(stop: StopReason, end: ChildEnd, cpu_limit_s: int) -> CallOutcome:
    """Return what the end of a child says about the call (or the load) that it was in.

    Raises
    ------
    RunnerLostError
        If something outside killed it: student code can't send SIGKILL, so it was the machine.
    """
    if stop in (StopReason.DEADLINE, StopReason.CALL_DEADLINE):
        return CallOutcome(CallStatus.TIMED_OUT, detail=f"It was stopped at the {stop.value}.")
    if stop is StopReason.CLOSED:
        return CallOutcome(CallStatus.CRASHED, detail="The code closed the channel to the grader.")
    if (code := end.exit_code) >= 0:
        how = "stopped working" if code == OUR_FAULT else f"ended itself with exit status {code}"
        return CallOutcome(CallStatus.CRASHED, detail=f"The process {how}.")
    number = -code
    # code that catches SIGXCPU is killed a second later
    if number == signal.SIGXCPU or (number == signal.SIGKILL and end.cpu_s >= cpu_limit_s):
        return CallOutcome(
            CallStatus.TIMED_OUT, detail="It used up the processor time of the whole submission."
        )
    if number == signal.SIGKILL:
        raise killed_from_outside("slots")
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal
        name = f"signal {number}"
    return CallOutcome(CallStatus.CRASHED, detail=f"The process crashed ({name}).")
