"""Limits mean the student's own time: verdicts on a busy machine are those on an idle one."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.runner import Call, CallStatus, Job, Limits
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.tiers import missing_layers
from engine.sandbox.zygote_handle import SAMPLE_S, CpuWait

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")

_SOURCE = """
import threading, time

def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds

def compute_beside(seconds):
    thread = threading.Thread(target=compute, args=(seconds,))
    thread.start()
    thread.join()
    return seconds

def sleep(seconds):
    time.sleep(seconds)
    return seconds
"""
_SPIN = [sys.executable, "-S", "-c", "while True: pass"]


@pytest.fixture
def busy() -> Iterator[None]:
    """Give the processor of this test five times as much to do; the others stay free for other tests."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(processors)})  # what is started from here on inherits it
    spinning = [subprocess.Popen(_SPIN) for _ in range(5)]
    try:
        yield
    finally:
        os.sched_setaffinity(0, processors)
        for process in spinning:
            process.kill()
            process.wait()


@pytest.mark.parametrize("tier", ["T1", "T2", "T3"])
def test_slow_but_right_programs_keep_their_verdict_on_a_busy_machine(tier: str, busy: None) -> None:
    if missing_layers(tier):
        pytest.skip(str(missing_layers(tier)))
    calls = (
        Call("compute", (0.5,)),
        Call("compute_beside", (0.5,)),
        Call("sleep", (0.5,)),
        Call("sleep", (300.0,)),
    )
    with open_runner(SandboxOptions(tier=tier, unsafe_local=True)) as runner:
        begun = time.monotonic()
        result = runner.run(Job(_SOURCE, "f.py", calls, Limits(wall_s=4.0, call_s=1.0)))
        took = time.monotonic() - begun
    statuses = [outcome.status for outcome in result.outcomes]
    assert statuses == [CallStatus.RETURNED] * 3 + [CallStatus.TIMED_OUT], result.outcomes
    assert took < 200, "who sleeps is stopped all the same"


@contextmanager
def interpreter_held() -> Iterator[None]:
    """Let a thread hold the interpreter's lock for seconds again and again, as an import of torch does."""
    hold = ctypes.PyDLL(None).usleep  # unlike CDLL, PyDLL keeps the lock
    is_over = threading.Event()

    def hold_often() -> None:
        while not is_over.wait(0.02):
            hold(900_000)

    thread = threading.Thread(target=hold_often)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("tier", ["T1", "T2", "T3"])
def test_a_grader_that_looks_late_costs_the_student_nothing(tier: str) -> None:
    if missing_layers(tier):
        pytest.skip(str(missing_layers(tier)))
    calls = (Call("sleep", (0.1,)), Call("sleep", (0.1,)), Call("sleep", (300.0,)))
    job = Job(_SOURCE, "f.py", calls, Limits(wall_s=1.0, call_s=0.3))
    with open_runner(SandboxOptions(tier=tier, unsafe_local=True)) as runner:
        runner.run(Job(_SOURCE, "f.py", calls[:1]))  # starting the sandbox isn't what is tested
        with interpreter_held():
            result = runner.run(job)
    statuses = [outcome.status for outcome in result.outcomes]
    assert statuses == [CallStatus.RETURNED, CallStatus.RETURNED, CallStatus.TIMED_OUT], result.outcomes


@pytest.mark.parametrize(
    ("doing", "least", "most"),
    [("import time; time.sleep(600)", 0.0, 0.15), ("while True: pass", 0.7, 2.5)],
    ids=["sleeps", "computes"],
)
def test_who_waits_for_a_processor_is_told_from_who_sleeps(
    doing: str, least: float, most: float, busy: None
) -> None:
    start = f"print(flush=True)\n{doing}"
    with subprocess.Popen([sys.executable, "-S", "-c", start], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has started
        own, begun = CpuWait(process.pid), time.monotonic()
        while time.monotonic() < begun + 2:
            time.sleep(SAMPLE_S)
            own.sample()
        waited, passed = own.waited_s(), time.monotonic() - begun
        process.kill()
    # The kernel counts a wait when it ends, with what of it was before.
    assert least <= waited <= most * passed


def test_a_process_that_is_gone_has_waited_for_nothing() -> None:
    own = CpuWait(2**22 + 1)
    own.sample()
    assert own.waited_s() == 0.0
