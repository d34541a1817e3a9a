"""What the end of a child says about the call that it was in."""

from __future__ import annotations

import os
import signal

from engine.errors import RunnerLostError
from engine.runner import CallOutcome, CallStatus
from engine.sandbox.attempt import Stop
from engine.sandbox.inside.exits import OUR_FAULT
from engine.sandbox.zygote import Ended

__all__ = ["outcome_of_end"]


def outcome_of_end(stop: Stop, ended: Ended, cpu_limit_s: int) -> CallOutcome:
    """Return the outcome of the call (or of the load) in which the child ended.

    Raises
    ------
    RunnerLostError
        If something outside killed it: student code can't send SIGKILL, so it was the machine.
    """
    if stop in (Stop.DEADLINE, Stop.CALL_DEADLINE):
        return CallOutcome(CallStatus.TIMED_OUT, detail=f"It was stopped at the {stop.value}.")
    if stop is Stop.CLOSED:
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
