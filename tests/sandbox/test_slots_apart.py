"""Two submissions at the same time: no signal between them, and right programs keep what they need."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.runner import Call, CallStatus, Job, Limits, Runner
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.child.layers import Layers
from engine.sandbox.tiers import missing_layers

_FUTEX = """
import ctypes, os, time

libc = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
PLACE = ctypes.cast(ctypes.CDLL("libm.so.6").tanh, ctypes.c_void_p).value & ~3

class Span(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]

def listen():
    value = ctypes.c_uint32.from_address(PLACE).value
    end = time.monotonic() + 3
    while time.monotonic() < end:
        span = Span(0, 3 * 10**8)
        if libc.syscall(NUMBER, ctypes.c_void_p(PLACE), 0, ctypes.c_uint32(value), ctypes.byref(span)) == 0:
            return "woken"
    return "nothing came"

def call():
    end = time.monotonic() + 4
    woken = 0
    while time.monotonic() < end and woken <= 0:
        woken = libc.syscall(NUMBER, ctypes.c_void_p(PLACE), 1, 1, None)
        time.sleep(0.02)
    return woken
"""

_THREADS = """
import concurrent.futures, ctypes, threading, time
import numpy as np
import torch

def python_threads():
    found = []
    threads = [threading.Thread(target=lambda n=n: found.append(n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    condition = threading.Condition()
    with condition:
        condition.wait(0.01)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return sum(pool.map(abs, found))

def c_thread():
    libc = ctypes.CDLL("libc.so.6")
    body = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: time.sleep(0.05))
    thread = ctypes.c_ulong()
    made = libc.pthread_create(ctypes.byref(thread), None, body, None)
    return [made, libc.pthread_join(thread, None)]

def torch_threads():
    torch.set_num_threads(4)
    x = torch.randn(400, 400, requires_grad=True)
    (x @ x).softmax(-1).sum().backward()
    torch.randn(10**6).sort()
    torch.vmap(lambda row: (row * row).sum())(torch.ones(2, 3))
    return int((torch.ones(300, 300) @ torch.ones(300, 300))[0, 0])

def numpy_work():
    a = np.random.rand(300, 300)
    np.linalg.svd(a), np.linalg.eig(a[:50, :50]), np.sort(a, axis=0), np.fft.fft(a)
    return int(np.zeros(10**7).sum())
"""
_RIGHT = {"python_threads": 28, "c_thread": [0, 0], "torch_threads": 300, "numpy_work": 0}


def _needs(tier: str) -> None:
    if missing_layers(tier):
        if os.environ.get("CI"):
            pytest.fail(f"CI must run everything: {missing_layers(tier)}")
        pytest.skip(str(missing_layers(tier)))


def _signalled(runner: Runner) -> tuple[object, object]:
    limits = Limits(wall_s=20.0, call_s=10.0)
    with ThreadPoolExecutor(2) as pool:
        jobs = [Job(_FUTEX, "f.py", (Call(name),), limits) for name in ("listen", "call")]
        heard, called = pool.map(runner.run, jobs)
    return heard.outcomes[0].value, called.outcomes[0].value


@pytest.mark.parametrize("tier", ["T1", "T2"])
def test_no_futex_reaches_the_neighbour(tier: str) -> None:
    _needs(tier)
    with open_runner(SandboxOptions(tier=tier), slots=2) as runner:
        assert _signalled(runner) == ("nothing came", -1)
    with open_runner(SandboxOptions(tier=tier), slots=2, layers=Layers(seccomp=False)) as runner:
        # A loaded machine may start the one that calls after the 3 s in which the other listens.
        assert any(_signalled(runner) == ("woken", 1) for _ in range(3))


@pytest.mark.parametrize("tier", ["T1", "T2"])
def test_right_programs_with_threads_run(tier: str) -> None:
    """What the filter cuts off from the neighbour, the C library and torch need within the process."""
    _needs(tier)
    with open_runner(SandboxOptions(tier=tier)) as runner:
        job = Job(_THREADS, "f.py", tuple(map(Call, _RIGHT)), Limits(wall_s=120.0, call_s=60.0))
        outcomes = runner.run(job).outcomes
    assert {o.status for o in outcomes} == {CallStatus.RETURNED}
    assert [o.value for o in outcomes] == list(_RIGHT.values())
