"""One child from fork to end: bytes both ways, deadlines, caps (Linux)."""

from __future__ import annotations

import fcntl
import math
import os
import select
import signal
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from engine.errors import RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Limits
from engine.sandbox.child.child import OUR_FAULT
from engine.sandbox.inputs import EncodedPlan
from engine.sandbox.own_time import LOOK_S, OwnTime
from engine.sandbox.protocol import ChildDialogue
from engine.sandbox.zygote import ChildEnd, Zygote

__all__ = [
    "ChildLink",
    "SharedArrays",
    "StopReason",
    "SubmissionBudget",
    "converse",
    "converse_again",
    "outcome_of_end",
]

_CHUNK = 2**20
_SLACK_S = 0.3
_END_S = 5.0
_OUTPUT_KEPT = 2**16
_STARVED_FACTOR = 10.0


class StopReason(Enum):
    """Why the conversation with a child stopped."""

    DONE = "done"
    EXITED = "exited"
    CLOSED = "closed the channel"
    CALL_DEADLINE = "call deadline"
    DEADLINE = "deadline"


@dataclass
class SubmissionBudget:
    """What one submission has left, over all of its children.

    Parameters
    ----------
    limits : Limits
    enforced : bool
        False switches the deadlines off (tests only).
    """

    limits: Limits
    enforced: bool = True
    capped: bool = True
    began: float = field(default_factory=time.monotonic)
    cpu_s: float = 0.0
    waited_s: float = 0.0
    printed: bytearray = field(default_factory=bytearray)

    def left_s(self) -> float:
        """Return the wall time that is left, without the time in which no processor was free."""
        return self.limits.wall_s - (time.monotonic() - self.began - self.waited_s)

    def processor_s(self) -> int:
        """Return the whole seconds of processor time for the next child."""
        return max(1, math.ceil(self.limits.wall_s - self.cpu_s))

    def keep(self, data: bytes) -> None:
        """Keep the beginning of what is printed; the rest is read and dropped."""
        if self.capped:
            data = data[: max(0, _OUTPUT_KEPT - len(self.printed))]
        self.printed += data


class SharedArrays:
    """The memory of one child in which the arrays of a plan lie, as the grader fills it and looks at it.

    What a child says of its arguments is its own word; these bytes aren't.  They are compared when a reply
    has been read, and once more when the process is dead, so whatever a later call does to the arrays of an
    earlier one is seen too; the child needn't wait for us after each call.

    Parameters
    ----------
    plan : EncodedPlan

    Raises
    ------
    SandboxError
        If the machine gives no such memory.
    """

    def __init__(self, plan: EncodedPlan) -> None:
        self._plan = plan
        self.changed: dict[int, bytes] = {}  # what was seen, by the number of the call
        self.size = len(plan.memory)
        self.fd = -1
        try:
            self.fd = _memory_file()
            os.ftruncate(self.fd, self.size)
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, _SEALS)
        except OSError as error:
            self.close()
            raise SandboxError("no memory can be shared with the sandbox", got=str(error)) from None

    def fill(self) -> None:
        """Put the arrays there: now the file is loaded."""
        at = 0
        try:
            while at < self.size:
                at += os.pwrite(self.fd, memoryview(self._plan.memory)[at:], at)
        except OSError as error:
            raise RunnerLostError("the machine has no memory for the arguments", got=str(error)) from None

    def look(self, index: int) -> None:
        """Note whether the arrays of one call, which has been answered, are other than they were."""
        span = self._plan.spans.get(index)
        if span is not None and index not in self.changed:
            data = os.pread(self.fd, span.end - span.start, span.start)
            if data != self._plan.memory[span.start : span.end]:
                self.changed[index] = data

    def look_again(self, indices: Iterable[int]) -> None:
        """Look at all these calls when the process is dead."""
        if os.pread(self.fd, self.size, 0) != self._plan.memory:
            for index in indices:
                self.look(index)

    def close(self) -> None:
        """Give it back, as far as we hold it."""
        if self.fd >= 0:
            os.close(self.fd)


_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_MFD_NOEXEC_SEAL = 0x8


def _memory_file() -> int:
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:  # some machines give no other
        return os.memfd_create("softmark-arrays", flags | _MFD_NOEXEC_SEAL)
    except OSError:  # kernels before 6.3 don't know it
        return os.memfd_create("softmark-arrays", flags)


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
        self.socket, theirs = socket.socketpair()
        self.output, write_end = os.pipe()
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

    Returns
    -------
    stop : StopReason
    ended : ChildEnd or None
        None where the child said all that was expected: how it ends then is of no interest.

    Raises
    ------
    RunnerLostError
        If the zygote is lost, or the machine gives the child no processor.
    """
    exchange = _Exchange(link, dialogue, load, plan, budget)
    try:
        stop = exchange.run()
        if stop is StopReason.EXITED and not link.child.is_ending(_END_S):
            stop = StopReason.CLOSED
    finally:
        link.child.kill()
    ended = zygote.wait_end(link.child)
    if link.arrays is not None:
        link.arrays.look_again(dialogue.outcomes)
    budget.cpu_s += ended.cpu_s
    link.drain(budget)
    return stop, None if dialogue.ended else ended


def converse_again(
    link: ChildLink, dialogue: ChildDialogue, load: bytes, plan: EncodedPlan, budget: SubmissionBudget
) -> tuple[StopReason, ChildEnd | None]:
    """Let a child serve and live on: for the test that switches the fork layer off."""
    stop = _Exchange(link, dialogue, load, plan, budget).run()
    link.drain(budget)
    return stop, None


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
        self._own: OwnTime | None = None  # made when a call takes long
        self._child = link.child
        self._arrays = link.arrays
        self._dialogue = dialogue
        self._plan = plan
        self._budget = budget
        self._unsent = memoryview(load)
        self._progress = time.monotonic()
        self._poll = select.poll()
        self._poll.register(self._ours, select.POLLIN | select.POLLOUT)
        self._poll.register(self._output, select.POLLIN)
        self._before_s = budget.waited_s
        self._looked = 0.0
        self._waited_before = 0.0  # in this child, when the present call began

    def run(self) -> StopReason:
        """Move bytes until something stops the child."""
        while True:
            happened = self._poll.poll(self._timeout_ms())
            self._look()
            for fd, events in happened:
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
                self._waited_before = self._own.waited_s() if self._own else 0.0
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
        wanted = select.POLLIN | (select.POLLOUT if self._unsent else 0)
        self._poll.modify(self._ours, wanted)

    def _read_output(self, events: int) -> None:
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._budget.keep(data)
        elif events:
            self._poll.unregister(self._output)

    def _look(self) -> None:
        """Find out, while a call takes long, whether it computes and sleeps or waits for a processor."""
        if time.monotonic() - self._progress < LOOK_S:
            return
        if self._own is None:
            self._own = self._child.watch()
        elif self._looked < self._progress:
            self._own.skip()
        elif time.monotonic() - self._looked >= LOOK_S:
            self._own.look()
        else:
            return
        self._looked = time.monotonic()

    def _timeout_ms(self) -> float | None:
        if not self._budget.enforced:
            return None
        left = self._budget.left_s() + _SLACK_S
        if self._dialogue.plan_sent:
            left = min(left, self._call_left_s())
        return max(1.0, min(left, LOOK_S) * 1000)

    def _call_left_s(self) -> float:
        waited = max(0.0, self._budget.waited_s - self._before_s - self._waited_before)
        allowed = self._budget.limits.call_s + _SLACK_S + waited
        return allowed - (time.monotonic() - self._progress)

    def _deadline(self) -> StopReason | None:
        """Return which deadline has passed; waiting for a processor doesn't count."""
        if not self._budget.enforced or not self._passed():
            return None
        self._own = self._own or self._child.watch()
        self._budget.waited_s = self._before_s + self._own.waited_s()
        if time.monotonic() - self._budget.began > self._budget.limits.wall_s * _STARVED_FACTOR + 60:
            raise RunnerLostError(
                "the machine gave the student's code too little processor time",
                next_step="run it again when less else runs, or with fewer slots",
            )
        return self._passed()

    def _passed(self) -> StopReason | None:
        if self._budget.left_s() + _SLACK_S <= 0:
            return StopReason.DEADLINE
        if self._dialogue.plan_sent and self._call_left_s() <= 0:
            return StopReason.CALL_DEADLINE
        return None


# ----------------------------------------------------------------------------------------------------
# What the end of a child says about the call that it was in.


def outcome_of_end(stop: StopReason, ended: ChildEnd, cpu_limit_s: int) -> CallOutcome:
    """Return the outcome of the call (or of the load) in which the child ended.

    Raises
    ------
    RunnerLostError
        If something outside killed it: student code can't send SIGKILL, so it was the machine.
    """
    if stop in (StopReason.DEADLINE, StopReason.CALL_DEADLINE):
        return CallOutcome(CallStatus.TIMED_OUT, detail=f"It was stopped at the {stop.value}.")
    if stop is StopReason.CLOSED:
        return CallOutcome(CallStatus.CRASHED, detail="The code closed the channel to the grader.")
    if not os.WIFSIGNALED(ended.status):
        code = os.waitstatus_to_exitcode(ended.status)
        said = "stopped working" if code == OUR_FAULT else f"ended itself with exit status {code}"
        return CallOutcome(CallStatus.CRASHED, detail=f"The process {said}.")
    number = os.WTERMSIG(ended.status)
    if number == signal.SIGXCPU or (number == signal.SIGKILL and ended.cpu_s >= cpu_limit_s):
        return CallOutcome(
            CallStatus.TIMED_OUT, detail="It used up the processor time of the whole submission."
        )
    if number == signal.SIGKILL:
        raise RunnerLostError(
            "the process that ran student code was killed from outside",
            got="SIGKILL, perhaps from the kernel's out-of-memory killer",
            next_step="run it again with more free memory, or with fewer slots",
        )
    return CallOutcome(CallStatus.CRASHED, detail=f"The process crashed ({_name(number)}).")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
