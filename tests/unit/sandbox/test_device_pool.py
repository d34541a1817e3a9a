"""One-shot workers: pool and workers run with tensors on the CPU, and on a GPU where there is one."""

from __future__ import annotations

import os
import signal
import struct
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import NoDeviceError, RunnerLostError, SandboxError
from engine.runner import Call, CallStatus, Job, Limits, Runner, RunResult, WireArray
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox import device_runner as worker_module
from engine.sandbox.child.layers import Layers
from engine.sandbox.device_runner import DeviceRunner, DeviceWorker, WorkerPool
from engine.sandbox.tiers import missing_layers

PATIENT = Limits(wall_s=60.0, call_s=30.0, memory_mib=512)
WALLED = pytest.mark.skipif(bool(missing_layers("T2")), reason="T2 isn't possible here")
CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def leaf(*numbers: float, library: str = "torch", **more: Any) -> WireArray:
    return WireArray(library, "float64", (len(numbers),), struct.pack(f"<{len(numbers)}d", *numbers), **more)


def numbers(value: Any) -> tuple[float, ...]:
    assert isinstance(value, WireArray)
    return struct.unpack(f"<{len(value.data) // 8}d", value.data)


def no_plain() -> Runner:
    raise AssertionError("this job has tensors")


def run(runner: Runner | WorkerPool, source: str, *calls: Call, limits: Limits = PATIENT) -> RunResult:
    return runner.run(Job(textwrap.dedent(source), "hand-in.py", calls, limits))


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    opened = WorkerPool("cpu", base="T3" if missing_layers("T2") else "T2", slots=1)
    yield opened
    opened.close()


def test_the_weakest_tier_gives_the_same_answers() -> None:
    weakest = WorkerPool("cpu", base="T3", slots=1)
    try:
        every_kind_of_end(weakest, "T3-cpu")
    finally:
        weakest.close()


def test_every_kind_of_end_of_a_call_is_told_apart(pool: WorkerPool) -> None:
    every_kind_of_end(pool, pool.tier)


def every_kind_of_end(pool: WorkerPool, tier: str) -> None:
    source = """
        import os, torch
        print("loaded")
        def double(x): return 2 * x
        def stride(x): return list(x.stride())
        def gradient(x):
            x = x.clone().requires_grad_()
            (x * x).sum().backward()
            return x.grad
        def refuse(x): raise ValueError("no")
        def exhaust(x): return torch.ones(2 ** 32)
        def expand(x): return torch.ones(1).expand(10 ** 12)
        def leave(x): os._exit(3)
        def close(x): os.closerange(3, 60)
    """
    names = ("double", "gradient", "refuse", "exhaust", "expand", "leave", "close", "double")
    strided = Call("stride", (leaf(1.0, 2.0, 3.0, contiguous=False),))
    result = run(pool, source, *(Call(name, (leaf(1.5, -2.0),)) for name in names), strided)
    assert result.tier == tier
    assert result.output.startswith("loaded\n")
    assert [outcome.status for outcome in result.outcomes] == [
        CallStatus.RETURNED,
        CallStatus.RETURNED,
        CallStatus.RAISED,
        CallStatus.OUT_OF_MEMORY,
        CallStatus.TOO_LARGE,
        CallStatus.CRASHED,
        CallStatus.CRASHED,
        CallStatus.RETURNED,
        CallStatus.RETURNED,
    ]
    assert numbers(result.outcomes[0].value) == numbers(result.outcomes[7].value) == (3.0, -4.0)
    assert numbers(result.outcomes[1].value) == (3.0, -4.0)
    assert result.outcomes[8].value == [2]


def test_endless_and_sleeping_calls_are_stopped(pool: WorkerPool) -> None:
    source = """
        import time
        def spin(x):
            while True:
                pass
        def sleep(x): time.sleep(1000)
        def same(x): return x
    """
    calls = tuple(Call(name, (leaf(1.0),)) for name in ("spin", "sleep", "same"))
    result = run(pool, source, *calls, limits=Limits(wall_s=60.0, call_s=0.5, memory_mib=512))
    statuses = [outcome.status for outcome in result.outcomes]
    assert statuses == [CallStatus.TIMED_OUT, CallStatus.TIMED_OUT, CallStatus.RETURNED]


def test_each_submission_has_a_process_of_its_own_that_dies(pool: WorkerPool) -> None:
    source = """
        import os, sys, torch
        def who(x):
            seen = hasattr(torch, "mark")
            torch.mark = True
            return [os.getpid(), seen]
    """
    seen = [run(pool, source, Call("who", (leaf(1.0),))).outcomes[0].value for _ in range(2)]
    assert seen[0][0] != seen[1][0]
    assert [marked for _, marked in seen] == [False, False]
    assert not any(Path(f"/proc/{pid}").exists() for pid, _ in seen)


def test_the_next_worker_starts_while_one_is_taken(pool: WorkerPool) -> None:
    pool.check()
    taken = pool.take()
    try:
        following = pool.take()
        following.close()
        assert taken.pid != following.pid
        assert pool.check() == "cpu"
    finally:
        taken.close()


@WALLED
def test_the_walls_hold_for_the_child(pool: WorkerPool) -> None:
    source = f"""
        import ctypes, os, socket, signal
        def read(x): return open({__file__!r}).read()
        def write(x): return open("/tmp/softmark-device-probe", "w")
        def connect(x): return socket.socket()
        def fork(x): return os.fork()
        def kill(x): os.kill(os.getpid(), signal.SIGKILL)
        def signal_grader(x): os.kill({os.getpid()}, 0)
        def terminal(x):
            import fcntl
            return fcntl.ioctl(1, 0x5412, b"x")
        def environment(x): return len(os.environ)
    """
    names = ("read", "write", "connect", "fork", "kill", "signal_grader", "terminal")
    calls = tuple(Call(name, (leaf(1.0),)) for name in (*names, "environment"))
    result = run(pool, source, *calls)
    kinds = [outcome.exception.type for outcome in result.outcomes[:-1] if outcome.exception]
    assert len(kinds) == len(names), [outcome.status for outcome in result.outcomes]
    assert set(kinds) <= {"PermissionError", "OSError"}
    assert result.outcomes[-1].value == 0


@WALLED
@pytest.mark.parametrize(("layer", "act"), [("landlock", "read"), ("seccomp", "connect")])
def test_a_layer_that_is_switched_off_is_missed(layer: str, act: str) -> None:
    source = """
        import socket
        def read(x): return len(open("/etc/passwd").read()) > 0
        def connect(x):
            socket.socket().close()
            return True
    """
    pool = WorkerPool("cpu", base="T2", slots=1, layers=Layers(**{layer: False}))
    try:
        assert run(pool, source, Call(act, (leaf(1.0),))).outcomes[0].value is True
    finally:
        pool.close()


@WALLED
def test_a_layer_that_fails_lets_no_student_code_run(monkeypatch: pytest.MonkeyPatch) -> None:
    real = worker_module._wall_settings
    monkeypatch.setattr(worker_module, "_wall_settings", lambda *a: {**real(*a), "filter": ""})
    pool = WorkerPool("cpu", base="T2", slots=1)
    try:
        with pytest.raises(SandboxError, match="layer of the sandbox failed") as caught:
            run(pool, "def f(x): return x", Call("f", (leaf(1.0),)))
    finally:
        pool.close()
    assert "seccomp" in str(caught.value.got)


@WALLED
def test_forged_frames_count_for_nothing(pool: WorkerPool) -> None:
    source = """
        import os
        for fd in range(3, 30):
            try:
                os.write(fd, b"SMK1" + bytes(40))
            except OSError:
                pass
        def f(x): return x
    """
    result = run(pool, source, Call("f", (leaf(1.0),)))
    assert result.outcomes[0].status is CallStatus.PROTOCOL_VIOLATION


def test_a_worker_that_died_while_it_waited_is_replaced(pool: WorkerPool) -> None:
    pool.check()
    victim = pool._waiting.get()
    pool._waiting.put(victim)
    os.kill(victim.result().pid, signal.SIGKILL)
    outcome = run(pool, "def f(x): return x", Call("f", (leaf(7.0),))).outcomes[0]
    assert numbers(outcome.value) == (7.0,)


def test_a_worker_killed_from_outside_while_it_grades_is_no_mark(pool: WorkerPool) -> None:
    source = """
        import time
        def f(x):
            print("here", flush=True)
            time.sleep(60)
    """
    pool.check()
    future = pool._waiting.get()  # the one that the next job takes: with one slot only one waits
    pool._waiting.put(future)
    worker = future.result()

    def kill_when_it_prints() -> None:
        while not worker._process._printed:
            time.sleep(0.01)
        os.kill(worker.pid, signal.SIGKILL)

    thread = threading.Thread(target=kill_when_it_prints)
    thread.start()
    with pytest.raises(RunnerLostError, match="killed from outside"):
        run(pool, source, Call("f", (leaf(1.0),)))
    thread.join()


def test_only_jobs_with_tensors_go_to_the_device(pool: WorkerPool) -> None:
    opened: list[Runner] = []

    def open_plain() -> Runner:
        opened.append(open_runner(SandboxOptions(unsafe_local=True)))
        return opened[-1]

    runner = DeviceRunner(pool, open_plain)
    source = "def f(x): return type(x).__module__\n"
    nested = run(runner, source, Call("f", ([leaf(1.0)],)))
    assert nested.tier == pool.tier and nested.outcomes[0].value == "builtins" and not opened
    plain = run(runner, source, Call("f", (leaf(1.0, library="numpy"),)))
    assert plain.outcomes[0].value == "numpy"
    assert plain.tier == opened[0].tier != runner.tier
    opened[0].close()


def test_a_closed_pool_runs_nothing_and_leaves_nothing() -> None:
    pool = WorkerPool("cpu", base="T3", slots=2)
    pool.check()
    future = pool._waiting.get()
    pool._waiting.put(future)
    pool.close()
    assert not Path(f"/proc/{future.result().pid}").exists()
    with pytest.raises(SandboxError, match="closed"):
        run(pool, "def f(x): return x", Call("f", (leaf(1.0),)))


def test_a_device_that_cannot_be_made_ready_is_told_with_its_reason() -> None:
    worker = DeviceWorker("abacus", walled=False, number=0)
    try:
        with pytest.raises(SandboxError, match="couldn't make abacus ready") as caught:
            worker.wait_ready()
    finally:
        worker.close()
    assert "abacus" in str(caught.value.got) and caught.value.exit_code == 3


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_missing_gpu_is_told_before_anything_is_graded() -> None:
    with pytest.raises(
        NoDeviceError, match=r"no CUDA device: torch.cuda.is_available\(\) is False"
    ) as caught:
        open_runner(SandboxOptions(device="cuda", unsafe_local=True))
    assert caught.value.exit_code == 2 and caught.value.next_step is not None


def test_a_gpu_is_never_chosen_for_code_that_nobody_trusts() -> None:
    with pytest.raises(SandboxError, match="weaker tier"):
        open_runner(SandboxOptions(device="cuda"))
    with pytest.raises(SandboxError, match="T1 isn't possible with a GPU"):
        open_runner(SandboxOptions(device="cuda", tier="T1", unsafe_local=True))
    with pytest.raises(SandboxError, match="unknown device"):
        open_runner(SandboxOptions(device="abacus"))


@CUDA
def test_a_gpu_runs_a_submission_and_its_results_come_home() -> None:
    source = """
        import torch
        def softmax(x): return torch.softmax(x, dim=-1)
        def where(x): return x.device.type
        def gradient(x):
            x = x.clone().requires_grad_()
            (x * x).sum().backward()
            return x.grad
        def exhaust(x): return torch.ones(2 ** 33, device=x.device)
        def break_it(x): return x[torch.tensor([10 ** 6], device=x.device)]
        def read(x): return open("/etc/passwd").read()
    """
    names = ("softmax", "where", "gradient", "exhaust", "break_it", "softmax", "read")
    with open_runner(SandboxOptions(device="cuda", unsafe_local=True)) as runner:
        result = run(runner, source, *(Call(name, (leaf(1.0, 2.0),)) for name in names))
    assert result.tier in ("T2-cuda", "T3-cuda")
    expected = torch.softmax(torch.tensor([1.0, 2.0], dtype=torch.float64), dim=-1).tolist()
    assert numbers(result.outcomes[0].value) == pytest.approx(expected, abs=1e-12)
    assert result.outcomes[1].value == "cuda"
    assert numbers(result.outcomes[2].value) == (2.0, 4.0)
    assert result.outcomes[3].status is CallStatus.OUT_OF_MEMORY
    assert result.outcomes[4].status is CallStatus.CRASHED
    assert numbers(result.outcomes[5].value) == pytest.approx(expected, abs=1e-12)
    if result.tier == "T2-cuda":
        assert result.outcomes[6].status is CallStatus.RAISED
