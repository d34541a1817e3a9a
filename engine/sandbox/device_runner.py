"""The runner behind ``--device``: a pool of one-shot workers; while one runs a submission, the next starts.

A GPU can't be used after a fork, so nothing is forked here: each worker makes the device ready ahead of time
and ends with its job.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine.errors import EngineError, NoDeviceError, RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Job, Limits, Runner, RunResult
from engine.sandbox.bwrap import find_layout, is_root, slot_user
from engine.sandbox.child.layers import ALL_LAYERS, Layers
from engine.sandbox.child.modules import DEVICE_LOST, OUR_FAULT
from engine.sandbox.child.wire import FrameKind, FrameReader, WireError, WireFrame, pack
from engine.sandbox.confinement import (
    ENVIRONMENT,
    confinement_settings,
    interpreter_arguments,
    must_hold_folders,
)
from engine.sandbox.local_runner import (
    TIMED_OUT,
    PipedProcess,
    ProcessExchange,
    ProcessExit,
    crashed,
    local_process,
    run_job,
)
from engine.sandbox.replies import ChildDialogue, has_tensors, killed_from_outside
from engine.sandbox.requests import EncodedPlan

_READY_S = 180.0  # torch with CUDA from a cold disk, and the first context on a shared GPU
# what CUDA and the loader look at; in the walled tier the child forgets them before any student code
_VARIABLES = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
_DEVICE_ENVIRONMENT = {"CUDA_CACHE_DISABLE": "1"}  # it would be a file
_DEVICE_FILES = ("nvidia*", "kfd", "dri/renderD*", "dxg")  # NVIDIA, AMD (two), WSL
_DEVICE_THREADS = 64  # of the driver, over those that a submission may have


class DeviceWorker:
    """A process that makes a device ready, then takes one job and ends.

    Parameters
    ----------
    device : {"cuda", "cpu"}
    walled : bool
        Whether Landlock, seccomp and all limits are to be put up (Linux); else only limits.
    number : int
        Of the worker; as root it becomes a user that belongs to this number alone.
    layers : Layers
        Switched off by tests only.

    Notes
    -----
    The thread that calls the constructor must outlive the worker: the kernel sends the
    parent-death signal when that *thread* ends.
    """

    def __init__(self, device: str, *, walled: bool, number: int, layers: Layers = ALL_LAYERS) -> None:
        self._device = device
        self._process = _start_walled() if walled else local_process("device_worker", _VARIABLES)
        settings = {"device": device, "walled": walled, "packages": list(find_layout().package_names)}
        if walled:
            settings |= _wall_settings(number, layers)
        self._process.send(pack(FrameKind.LOAD, settings))
        self._name: str | None = None  # of the device, once it is ready
        self._start_cpu_s = 0.0

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_ready(self) -> str:
        """Wait until the device is ready; return the device's own name.

        Raises
        ------
        NoDeviceError
            If the machine has no such device.
        SandboxError
            If it can't be made ready.
        """
        if self._name is None:
            body = self._first_frame()
            self._name, self._start_cpu_s = str(body["device"]), float(body["cpu_s"])
            self._process.forget_printed()  # warnings of the driver
        return self._name

    def _first_frame(self) -> dict[str, Any]:
        frame = self._wait_frame()
        if frame is None:
            lines = self._process.printed().decode("utf-8", "replace").strip().splitlines()
            raise _unstartable(self._device, lines[-1] if lines else "it ended or said nothing in time")
        if frame.kind == FrameKind.READY:
            return dict(frame.body)
        if "unavailable" in frame.body:
            raise NoDeviceError(
                f"no {self._device.upper()} device: {frame.body['unavailable']}",
                next_step="leave --device out, or use a machine with a GPU, its driver and a PyTorch that is "
                'built for it (python -c "import torch; print(torch.cuda.is_available())" says True)',
            )
        raise _unstartable(self._device, str(frame.body.get("reason")))

    def _wait_frame(self) -> WireFrame | None:
        """Return the first frame; None if the process ends, writes something else or nothing in time."""
        reader = FrameReader(0)
        deadline = time.monotonic() + _READY_S
        with contextlib.suppress(queue.Empty, WireError):
            while data := self._process.arrived.get(timeout=max(0.0, deadline - time.monotonic())):
                reader.feed(data)
                for frame in reader.frames():
                    return frame
        return None

    def begin(
        self, dialogue: ChildDialogue, limits: Limits, plan: EncodedPlan, left_s: float
    ) -> ProcessExchange:
        """Return the started exchange of its one job.

        Raises
        ------
        RunnerLostError
            If the worker is lost before any student code ran.
        SandboxError
            If it can't be made ready, or a layer failed.
        """
        self.wait_ready()
        cpu_limit_s = max(1, math.ceil(left_s)) + self._start_cpu_s

        def judge(end: ProcessExit) -> CallOutcome:
            return _outcome_of_exit(end, cpu_limit_s)

        exchange = ProcessExchange(self._process, dialogue, limits, plan, judge)
        exchange.start({}, left_s)
        return exchange

    def close(self) -> None:
        """End it."""
        self._process.close()


def _unstartable(device: str, reason: str) -> SandboxError:
    return SandboxError(
        f"the process for student code couldn't make {device} ready",
        got=reason,
        next_step="check what else uses the device (nvidia-smi), or leave --device out",
    )


def _start_walled() -> PipedProcess:
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    layout = find_layout()
    arguments = interpreter_arguments(layout, "device_worker", hold_folders=_holds_folders())
    command = [str(layout.executable), "-P", "-s", *arguments]
    return PipedProcess(command, ENVIRONMENT | _DEVICE_ENVIRONMENT | variables, "/")


def _holds_folders() -> bool:
    return is_root() and must_hold_folders(find_layout())


def _wall_settings(number: int, layers: Layers) -> dict[str, Any]:
    settings = confinement_settings(
        find_layout(),
        layers,
        slot_user(number) if is_root() else None,
        namespaced=False,
        hold_folders=_holds_folders(),
        device=True,
    )
    devices = sorted(str(path) for names in _DEVICE_FILES for path in Path("/dev").glob(names))
    return settings | {"device_files": devices, "processes": settings["processes"] + _DEVICE_THREADS}


def _outcome_of_exit(end: ProcessExit, cpu_limit_s: float) -> CallOutcome:
    """Return what the end of a worker says about the call that it was in.

    Raises
    ------
    RunnerLostError
        If something outside killed it.
    """
    if end.code == DEVICE_LOST:
        detail = "The call left the device unusable, as an index out of range does in a GPU's own code."
        return CallOutcome(CallStatus.CRASHED, detail=detail)
    if end.code == OUR_FAULT:
        return CallOutcome(CallStatus.CRASHED, detail="The process stopped working.")
    number = None if end.code is None else -end.code
    killed = number == getattr(signal, "SIGKILL", 9)
    if number == getattr(signal, "SIGXCPU", 24) or (killed and end.cpu_s >= cpu_limit_s):
        return TIMED_OUT
    if killed:
        raise killed_from_outside("workers")
    return crashed(end)


class WorkerPool:
    """Workers for one device; safe to use from several threads.

    Parameters
    ----------
    device : {"cuda", "cpu"}
        ``"cpu"`` runs the very same code without a GPU: for tests.
    base : {"T2", "T3"}
        The tier whose layers the workers put up, except those that a process with a GPU can't bear.
    slots : int
        How many submissions run at the same time; as many workers wait beside them.
    layers : Layers
        Switched off by tests only.
    """

    def __init__(self, device: str, *, base: str, slots: int, layers: Layers = ALL_LAYERS) -> None:
        self.tier = f"{base}-{device}"
        self._device = device
        self._walled = base == "T2"
        self._layers = layers
        self._numbers = itertools.count()
        # one thread starts all workers and lives as long as they: see DeviceWorker's notes
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="worker-starter")
        self._seats = threading.Semaphore(slots)
        self._lock = threading.Lock()
        self._closed = False
        self._waiting: queue.SimpleQueue[Future[DeviceWorker]] = queue.SimpleQueue()
        for _ in range(slots):
            self._waiting.put(self._start())

    def _start(self) -> Future[DeviceWorker]:
        number = next(self._numbers)
        return self._starter.submit(
            DeviceWorker, self._device, walled=self._walled, number=number, layers=self._layers
        )

    def check(self) -> str:
        """Wait until a worker is ready; return the device's own name.

        Raises
        ------
        NoDeviceError, SandboxError
            If none can be had.
        """
        future = self._waiting.get()
        self._waiting.put(future)  # it still waits for its job
        return _worker(future).wait_ready()

    def take(self) -> DeviceWorker:
        """Return a worker for the caller alone, and have the next one started."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            future = self._waiting.get()
            self._waiting.put(self._start())
        return _worker(future)

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first."""
        with self._seats:
            return run_job(job, self.tier, "torch", functools.partial(self._begin, job))

    def _begin(self, job: Job, dialogue: ChildDialogue, plan: EncodedPlan, left_s: float) -> ProcessExchange:
        try:
            return self._begin_once(job, dialogue, plan, left_s)
        except RunnerLostError:  # a worker died while it waited; no student code ran in it
            return self._begin_once(job, dialogue, plan, left_s)

    def _begin_once(
        self, job: Job, dialogue: ChildDialogue, plan: EncodedPlan, left_s: float
    ) -> ProcessExchange:
        worker = self.take()
        try:
            return worker.begin(dialogue, job.limits, plan, left_s)
        except BaseException:
            worker.close()
            raise

    def close(self) -> None:
        """End all waiting workers; those that run a job end with it."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        while not self._waiting.empty():
            try:
                self._waiting.get().result().close()
            except (EngineError, OSError):
                continue
        self._starter.shutdown()


def _worker(future: Future[DeviceWorker]) -> DeviceWorker:
    try:
        return future.result()
    except OSError as error:
        raise SandboxError("a process for student code couldn't be started", got=str(error)) from None


class DeviceRunner(Runner):
    """Runs jobs with torch tensors on a device; safe to call from several threads.

    A job without tensors (a numpy submission, a search over lists) has nothing to put on a device:
    it runs where it always does, and its result names that tier.

    Parameters
    ----------
    pool : WorkerPool
        Closed with the runner.
    open_plain : callable
        Opens the runner for jobs without tensors; called when the first comes.
    """

    def __init__(self, pool: WorkerPool, open_plain: Callable[[], Runner]) -> None:
        self._pool = pool
        self._open_plain = open_plain
        self._plain: Runner | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def tier(self) -> str:
        """The tier of jobs with tensors: ``"T2-cuda"`` or ``"T3-cuda"``."""
        return self._pool.tier

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits."""
        return self._pool.run(job) if has_tensors(job) else self._plain_runner().run(job)

    def _plain_runner(self) -> Runner:
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            if self._plain is None:
                self._plain = self._open_plain()
            return self._plain

    def close(self) -> None:
        """Give back all processes."""
        with self._lock:
            self._closed = True
            plain = self._plain
        self._pool.close()
        if plain is not None:
            plain.close()
