"""A one-shot worker for tensors on a device: ready beforehand, one job, then the end.

A GPU can't be used after a fork, so there is no zygote: the interpreter starts, loads torch, makes the
device ready and warms it up, says so, and waits.  The layers go up when the job's limits arrive, before
any student code.  On a system without the layers, only the limits that it has are set.

Nothing here runs `backward`: the thread that torch makes for it on a GPU may run Python code of a
submission, so it must be started by the submission's own thread, which hands Landlock on to it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any, Final

from . import arrays
from .modules import COMPILER, offer_only
from .serve import FrameChannel, import_modules, import_torch, run_torch, serve, set_limits
from .wire import FrameKind

_MAX_REASON: Final = 2000  # a driver's message may go on for pages


class _UnavailableError(Exception):
    """The device isn't there; the text says how we know."""


def main() -> None:
    """Serve one job on standard input and output, then end."""
    parent = os.getppid()
    channel = FrameChannel.over_standard_streams()
    setup = channel.receive()
    if setup is None:
        return
    settings = setup.body
    tempfile.tempdir = "/tmp" if settings["walled"] else tempfile.gettempdir()
    try:
        ready = _make_ready(settings["device"])
        confinement = None
        if settings["walled"]:  # only then is this a system that can import it
            from .lockdown import confinement_of

            confinement = confinement_of(settings)
    except _UnavailableError as error:
        channel.send(FrameKind.BROKEN, {"unavailable": str(error)})
        return
    except Exception as error:  # whatever it is: it is the machine's, and no student code is here yet
        channel.send(FrameKind.BROKEN, {"reason": f"{type(error).__name__}: {error}"[:_MAX_REASON]})
        return
    offer_only(settings["packages"], beside=COMPILER)
    channel.send(FrameKind.READY, ready)
    limits = channel.receive()
    if limits is not None and _locked(channel, confinement, limits.body, parent):
        serve(channel)
        os._exit(0)


def _make_ready(device: str) -> dict[str, Any]:
    import_modules()
    torch = import_torch()
    name = device
    if device == "cuda":
        if not torch.cuda.is_available():
            built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
            text = f"torch.cuda.is_available() is False (PyTorch {torch.__version__}, {built})"
            raise _UnavailableError(text)
        torch.cuda.init()
        # TF32 keeps 10 bits of a float32: results would leave the bounds of an exercise
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        name = str(torch.cuda.get_device_name())
    run_torch(device)
    arrays.place_tensors(device)
    return {"device": name, "cpu_s": time.process_time()}


def _locked(channel: FrameChannel, confinement: Any, limits: dict[str, Any], parent: int) -> bool:
    """Put the limits and layers up; tell the grader whether they hold, and return the same."""
    cpu_s = limits["cpu_s"] + int(time.process_time()) + 1  # what the start took isn't the job's
    try:
        _limit_device_memory(limits["memory_mib"])
        if confinement is None:
            os.environ.clear()
            set_limits(cpu_s=cpu_s, data=_data_size(limits["memory_mib"]))
        else:
            from .lockdown import lock_device_worker

            lock_device_worker(confinement, _data_size(limits["memory_mib"]), cpu_s, parent)
    except Exception as error:  # no student code has run, so it is ours
        channel.send(FrameKind.BROKEN, {"layer": f"{type(error).__name__}: {error}"[:_MAX_REASON]})
        return False
    channel.send(FrameKind.LOCKED, {})
    return True


def _limit_device_memory(memory_mib: int) -> None:
    """Cap what torch allocates on a GPU: against accidents, for code can lift it again."""
    torch = sys.modules["torch"]
    if arrays.device() == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory_mib * 2**20 / total))


def _data_size(memory_mib: int) -> int:
    """Return the private memory in use plus the job's, in bytes; 0 where the system doesn't say."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123
            used = next(line.split()[1] for line in file if line.startswith("VmData:"))
    except (OSError, StopIteration):
        return 0
    return int(used) * 1024 + memory_mib * 2**20
