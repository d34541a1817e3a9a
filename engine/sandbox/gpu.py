"""One worker as the grader sees it: started ahead, ready, given one job, gone."""

from __future__ import annotations

import math
import os
import queue
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import NoDeviceError, RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Limits
from engine.sandbox.dialogue import Dialogue
from engine.sandbox.inputs import EncodedPlan
from engine.sandbox.inside.exits import DEVICE_LOST, OUR_FAULT
from engine.sandbox.inside.wire import Frame, FrameReader, Kind, WireError, pack
from engine.sandbox.layout import find_layout
from engine.sandbox.process import TIMED_OUT, Exchange, Exit, PipedProcess, crashed

__all__ = ["DeviceWorker"]

_READY_S = 180.0
# what CUDA and the loader look at; in the walled tier the child forgets them before any student code
_KEPT = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
_DEVICE_ENVIRONMENT = {"CUDA_CACHE_DISABLE": "1"}  # it would be a file
_DEVICE_FILES = ("nvidia*", "kfd", "dri/renderD*", "dxg")
_DEVICE_THREADS = 64  # of the driver, over those that a submission may have


@dataclass(frozen=True, slots=True)
class _Ready:
    """What a worker says when it is ready."""

    device: str
    torch: str
    cpu_s: float


class DeviceWorker:
    """A process that makes a device ready, then takes one job and ends.

    Parameters
    ----------
    device : {"cuda", "cpu"}
    walled : bool
        Whether Landlock, seccomp and all limits are to be put up (Linux); else only limits.
    number : int
        Of the worker; as root it becomes a user that belongs to this number alone.
    off : frozenset of str
        Layers switched off, by tests only.

    Notes
    -----
    The thread that calls the constructor must outlive the worker: the kernel sends the
    parent-death signal when that *thread* ends.
    """

    def __init__(self, device: str, *, walled: bool, number: int, off: frozenset[str] = frozenset()) -> None:
        self._device = device
        self._process = _start_walled(number) if walled else _start_anywhere()
        settings = {"device": device, "walled": walled, "packages": list(find_layout().package_names)}
        if walled:
            settings |= _wall_settings(number, off)
        self._process.send(pack(Kind.LOAD, settings))
        self._ready: _Ready | None = None

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
        if self._ready is None:
            body = self._first_frame()
            self._ready = _Ready(str(body["device"]), str(body["torch"]), float(body["cpu_s"]))
            self._process.forget_printed()
        return self._ready.device

    def _first_frame(self) -> dict[str, Any]:
        frame = self._wait_frame()
        if frame is None:
            said = self._process.printed().decode("utf-8", "replace").strip().splitlines()
            raise _unstartable(self._device, said[-1] if said else "it ended or said nothing in time")
        if frame.kind == Kind.READY:
            return dict(frame.body)
        if "unavailable" in frame.body:
            raise NoDeviceError(
                f"no {self._device.upper()} device: {frame.body['unavailable']}",
                next_step="leave --device out, or use a machine with a GPU, its driver and a PyTorch that is "
                'built for it (python -c "import torch; print(torch.cuda.is_available())" says True)',
            )
        raise _unstartable(self._device, str(frame.body.get("reason")))

    def _wait_frame(self) -> Frame | None:
        reader = FrameReader(0)
        deadline = time.monotonic() + _READY_S
        while True:
            try:
                data = self._process.arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            reader.feed(data)
            try:
                for frame in reader.frames():
                    return frame
            except WireError:
                return None
            if not data:
                return None

    def begin(self, dialogue: Dialogue, limits: Limits, plan: EncodedPlan, left_s: float) -> Exchange:
        """Return the started exchange of its one job.

        Raises
        ------
        RunnerLostError
            If the worker is lost before any student code ran.
        SandboxError
            If it can't be made ready, or a layer failed.
        """
        self.wait_ready()
        cpu_limit_s = max(1, math.ceil(left_s)) + (self._ready.cpu_s if self._ready else 0.0)

        def judge(end: Exit) -> CallOutcome:
            return _outcome_of_exit(end, cpu_limit_s)

        exchange = Exchange(self._process, dialogue, limits, plan, judge)
        exchange.start({}, left_s)
        return exchange

    def close(self) -> None:
        """End it."""
        self._process.close()


def _unstartable(device: str, got: str) -> SandboxError:
    return SandboxError(
        f"the process for student code couldn't make {device} ready",
        got=got,
        next_step="see what else uses the device (nvidia-smi), or leave --device out",
    )


def _start_anywhere() -> PipedProcess:
    from engine.sandbox.local import local_process

    return local_process("device", _KEPT)


def _start_walled(number: int) -> PipedProcess:
    from engine.sandbox.bootstrap import ENVIRONMENT, interpreter_command

    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    command = interpreter_command(find_layout(), "device", held=_held())
    return PipedProcess(command, ENVIRONMENT | _DEVICE_ENVIRONMENT | kept, "/")


def _held() -> bool:
    from engine.sandbox.bootstrap import must_hold
    from engine.sandbox.bwrap import is_root

    return is_root() and must_hold(find_layout())


def _wall_settings(number: int, off: frozenset[str]) -> dict[str, Any]:
    from engine.sandbox.bwrap import is_root
    from engine.sandbox.filter import compile_filter
    from engine.sandbox.tiers import landlock_abi
    from engine.sandbox.users import process_limit, slot_user

    layout = find_layout()
    return {
        "abi": landlock_abi(),
        "readable": [str(path) for path in layout.readable()],
        "device_files": sorted(str(path) for names in _DEVICE_FILES for path in Path("/dev").glob(names)),
        "filter": "" if "seccomp" in off else compile_filter(device=True).hex(),
        "uid": slot_user(number) if is_root() else None,
        "processes": process_limit(namespaced=False, root=is_root()) + _DEVICE_THREADS,
        "path_fds": len(layout.module_path) if _held() else 0,
        "off": sorted(off),
    }


def _outcome_of_exit(end: Exit, cpu_limit_s: float) -> CallOutcome:
    """Return what the end of a worker says about the call that it was in.

    Raises
    ------
    RunnerLostError
        If something outside killed it.
    """
    if end.code == DEVICE_LOST:
        told = "The call left the device unusable, as an index out of range does in a GPU's own code."
        return CallOutcome(CallStatus.CRASHED, detail=told)
    if end.code == OUR_FAULT:
        return CallOutcome(CallStatus.CRASHED, detail="The process stopped working.")
    number = None if end.code is None else -end.code
    killed = number == getattr(signal, "SIGKILL", 9)
    if number == getattr(signal, "SIGXCPU", 24) or (killed and end.cpu_s >= cpu_limit_s):
        return TIMED_OUT
    if killed:
        raise RunnerLostError(
            "the process that ran student code was killed from outside",
            got="SIGKILL, perhaps from the kernel's out-of-memory killer",
            next_step="run it again with more free memory, or with fewer workers",
        )
    return crashed(end)
