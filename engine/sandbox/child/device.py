"""A one-shot worker for tensors on a device: ready beforehand, one job, then the end.

A GPU can't be used after a fork, so there is no zygote: the interpreter starts, loads torch, makes the
device ready and warms it up, says so, and waits.  The layers go up when the job's limits arrive, before
any student code.  On a system without the layers, only the limits that it has are set.

Nothing here runs `backward`: the thread that torch makes for it on a GPU may run Python code of a
submission, so it must be started by the submission's own thread, which hands Landlock on to it.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import tempfile
import time
from typing import Any

from . import arrays as leaves
from . import zygote as warm
from .child import FrameChannel, serve
from .modules import offer_only
from .wire import FrameKind
from .worker import limit, take_channel

__all__ = ["main"]


class _UnavailableError(Exception):
    """The device isn't there; the text says how we know."""


def main() -> None:
    """Serve one job on standard input and output, then end."""
    parent = os.getppid()
    channel = FrameChannel(*take_channel())
    setup = channel.receive()
    if setup is None:
        return
    settings = setup.body
    tempfile.tempdir = "/tmp" if settings["walled"] else tempfile.gettempdir()
    try:
        ready = _make_ready(settings["device"])
        confinement = _confinement(settings) if settings["walled"] else None
    except _UnavailableError as error:
        channel.send(FrameKind.BROKEN, {"unavailable": str(error)})
        return
    except Exception as error:  # whatever it is: it is the machine's, and no student code is here yet
        channel.send(FrameKind.BROKEN, {"reason": f"{type(error).__name__}: {error}"[:2000]})
        return
    offer_only(settings["packages"])
    channel.send(FrameKind.READY, ready)
    limits = channel.receive()
    if limits is not None and _locked(channel, confinement, limits.body, parent):
        serve(channel)
        os._exit(0)


def _make_ready(device: str) -> dict[str, Any]:
    """Import what submissions may use, start the device, run common operations once."""
    for name in warm.MODULES:
        importlib.import_module(name)
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    name = device
    if device == "cuda":
        _start_cuda(torch)
        name = str(torch.cuda.get_device_name())
    _run_operations(torch, device)
    leaves.place_tensors(device)
    return {"device": name, "torch": str(torch.__version__), "cpu_s": time.process_time()}


def _start_cuda(torch: Any) -> None:
    if not torch.cuda.is_available():
        built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
        raise _UnavailableError(f"torch.cuda.is_available() is False (PyTorch {torch.__version__}, {built})")
    torch.cuda.init()
    # TF32 keeps 10 bits of a float32: results would leave the bounds of an exercise
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _run_operations(torch: Any, device: str) -> None:
    """Load the libraries of matrix products and attention, which are looked up only when needed."""
    with torch.no_grad():
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            q = torch.ones(1, 2, 4, 8, dtype=dtype, device=device)
            torch.nn.functional.scaled_dot_product_attention(q, q, q)
            scores = torch.einsum("bhqd,bhkd->bhqk", q, q)
            masked = scores.masked_fill(torch.ones(4, 4, device=device).triu(1) > 0, -math.inf)
            (torch.softmax(masked, dim=-1) @ q).sum()
            torch.tanh(torch.exp(q) / q.max(dim=-1, keepdim=True).values)
        torch.linalg.solve(torch.eye(4, device=device), torch.ones(4, 4, device=device))
        torch.zeros(1, device=device).cpu()


def _locked(channel: FrameChannel, confinement: Any, limits: dict[str, Any], parent: int) -> bool:
    """Put the limits and layers up; tell the grader, and whether they stand."""
    cpu_s = limits["cpu_s"] + int(time.process_time()) + 1  # what the start took isn't the job's
    try:
        _limit_device_memory(limits["memory_mib"])
        if confinement is None:
            os.environ.clear()
            limit(cpu_s=cpu_s, data=_data_size(limits["memory_mib"]))
        else:
            from . import lockdown

            lockdown.lock_device_worker(confinement, _data_size(limits["memory_mib"]), cpu_s, parent)
    except Exception as error:  # no student code has run, so it is ours
        channel.send(FrameKind.BROKEN, {"layer": f"{type(error).__name__}: {error}"[:2000]})
        return False
    channel.send(FrameKind.LOCKED, {})
    return True


def _limit_device_memory(memory_mib: int) -> None:
    """Cap what torch allocates on a GPU: against accidents, for code can lift it again."""
    torch = sys.modules["torch"]
    if leaves.device() == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory_mib * 2**20 / total))


def _data_size(memory_mib: int) -> int:
    """Return the private memory in use plus the job's, in bytes; 0 where the system doesn't tell."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123
            used = next(line.split()[1] for line in file if line.startswith("VmData:"))
    except (OSError, StopIteration):
        return 0
    return int(used) * 1024 + memory_mib * 2**20


def _confinement(settings: dict[str, Any]) -> Any:
    from . import landlock, lockdown

    off = frozenset(settings["off"])
    ruleset = None
    if "landlock" not in off:
        ruleset = landlock.make_ruleset(
            settings["abi"], settings["readable"], [os.devnull], settings["device_files"]
        )
    return lockdown.ChildConfinement(
        uid=settings["uid"],
        filter=bytes.fromhex(settings["filter"]),
        ruleset=ruleset,
        processes=settings["processes"],
        path_fds=settings["path_fds"],
        off=off,
    )
