"""One child from fork to end: bytes both ways, deadlines, caps (Linux)."""

from __future__ import annotations

import math
import os
import select
import socket
import time
from dataclasses import dataclass, field
from enum import Enum

from engine.errors import RunnerLostError
from engine.runner import Limits
from engine.sandbox.dialogue import Dialogue, EncodedPlan
from engine.sandbox.zygote import Child, Ended, Zygote

__all__ = ["Budget", "Stop", "converse"]

_CHUNK = 2**20
_SLACK_S = 0.3
_END_GRACE_S = 1.0
_OUTPUT_KEPT = 2**16
_STARVED_FACTOR = 10.0


class Stop(Enum):
    """Why the conversation with a child stopped."""

    DONE = "done"
    EXITED = "exited"
    CALL_DEADLINE = "call deadline"
    DEADLINE = "deadline"


@dataclass
class Budget:
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


def converse(
    zygote: Zygote, dialogue: Dialogue, load: bytes, plan: EncodedPlan, budget: Budget
) -> tuple[Stop, Ended]:
    """Run one child until it is over, exits or passes a deadline.

    Returns
    -------
    stop : Stop
    ended : Ended

    Raises
    ------
    RunnerLostError
        If the zygote is lost, or the machine gives the child no processor.
    """
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    try:
        with theirs:
            try:
                child = zygote.fork(
                    theirs, write_end, memory_mib=budget.limits.memory_mib, cpu_s=budget.processor_s()
                )
            finally:
                os.close(write_end)
        exchange = _Exchange(ours, read_end, child, dialogue, load, plan, budget)
        try:
            stop = exchange.run()
        finally:
            if not dialogue.ended:
                child.kill()
            ended = zygote.wait_end(child, _END_GRACE_S)
        exchange.drain()
        budget.cpu_s += ended.cpu_s
        return stop, ended
    finally:
        ours.close()
        os.close(read_end)


class _Exchange:
    def __init__(
        self,
        ours: socket.socket,
        output: int,
        child: Child,
        dialogue: Dialogue,
        load: bytes,
        plan: EncodedPlan,
        budget: Budget,
    ) -> None:
        ours.setblocking(False)
        os.set_blocking(output, False)
        self._ours = ours
        self._output = output
        self._child = child
        self._dialogue = dialogue
        self._plan = plan
        self._budget = budget
        self._unsent = memoryview(load)
        self._progress = time.monotonic()
        self._poll = select.poll()
        self._poll.register(ours, select.POLLIN | select.POLLOUT)
        self._poll.register(output, select.POLLIN)
        self._before_s = budget.waited_s

    def run(self) -> Stop:
        """Move bytes until something stops the child."""
        while True:
            for fd, events in self._poll.poll(self._timeout_ms()):
                if fd == self._output:
                    self._read_output(events)
                elif not self._move(events):
                    return Stop.DONE if self._dialogue.over else Stop.EXITED
            if self._dialogue.over:
                return Stop.DONE
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
            if before != (self._dialogue.next, self._dialogue.load is None):
                self._progress = time.monotonic()
            if self._dialogue.wants_plan:
                self._dialogue.plan_sent = True
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

    def drain(self) -> None:
        """Read what a dead child left in the pipe."""
        while True:
            try:
                data = os.read(self._output, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            self._budget.keep(data)

    def _timeout_ms(self) -> float | None:
        if not self._budget.enforced:
            return None
        left = self._budget.left_s() + _SLACK_S
        if self._dialogue.plan_sent:
            left = min(left, self._call_left_s())
        return max(1.0, left * 1000)

    def _call_left_s(self) -> float:
        allowed = self._budget.limits.call_s + _SLACK_S + (self._budget.waited_s - self._before_s)
        return allowed - (time.monotonic() - self._progress)

    def _deadline(self) -> Stop | None:
        """Return which deadline has passed; waiting for a processor doesn't count."""
        if not self._budget.enforced or not self._passed():
            return None
        self._budget.waited_s = self._before_s + self._child.waited_s()
        if time.monotonic() - self._budget.began > self._budget.limits.wall_s * _STARVED_FACTOR + 60:
            raise RunnerLostError(
                "the machine gave the student's code too little processor time",
                next_step="run it again when less else runs, or with fewer slots",
            )
        return self._passed()

    def _passed(self) -> Stop | None:
        if self._budget.left_s() + _SLACK_S <= 0:
            return Stop.DEADLINE
        if self._dialogue.plan_sent and self._call_left_s() <= 0:
            return Stop.CALL_DEADLINE
        return None
