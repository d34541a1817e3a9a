"""The process that has torch loaded and forks one child per submission (Linux).

It reads nothing that student code wrote: a job goes from the grader to the child over the child's
own socket.  Its only peer is the grader, over a sequenced-packet socket; when that closes, for
whatever reason, it kills its children and ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import tempfile
import threading
from typing import Any, NoReturn

from . import child, landlock, lockdown
from . import landlock as linux
from .child import OUR_FAULT
from .modules import offer_only
from .wire import FrameKind

__all__ = ["MODULES", "main", "warm_up"]


# ----------------------------------------------------------------------------------------------------
# Imports and warms what student code may use, before any fork.

MODULES = (
    "abc",
    "bisect",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "inspect",
    "itertools",
    "linecache",
    "math",
    "operator",
    "pdb",
    "random",
    "statistics",
    "string",
    "textwrap",
    "traceback",
    "typing",
    "unittest",
    "numpy",
    "numpy.linalg",
    "numpy.random",
    "numpy.testing",
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch._dynamo",
)


def warm_up() -> dict[str, str]:
    """Import, run each common operation once, freeze the garbage collector.

    Returns
    -------
    dict
        Versions of numpy and torch.

    Raises
    ------
    RuntimeError
        If more than one thread runs afterwards: after a fork the others would be missing, and
        operations that wait for them would hang.
    """
    tempfile.tempdir = "/tmp"  # torch asks for one; nothing can be written there
    for name in MODULES:
        importlib.import_module(name)
    _run_operations()
    _check_single_thread()
    gc.collect()
    gc.freeze()
    import numpy
    import torch

    return {"numpy": numpy.__version__, "torch": torch.__version__}


def _run_operations() -> None:
    import numpy as np
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    a = np.ones((4, 4))
    np.linalg.solve(a + np.eye(4), a)
    np.einsum("ij,jk->ik", a, a)
    np.exp(a - a.max(axis=-1, keepdims=True)) @ a
    # the first operations look up what the processor can do, in a file that no child may open; without it
    # float16 fails
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        q = torch.ones(1, 2, 4, 8, dtype=dtype)
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
        torch.einsum("bhqd,bhkd->bhqk", q, q).masked_fill(torch.ones(4, 4).triu(1) > 0, -torch.inf)
        (torch.softmax(q @ q.transpose(-1, -2), dim=-1) @ q).sum()
        torch.tanh(torch.exp(q) / q.max(dim=-1, keepdim=True).values)
        torch.nn.Linear(8, 8, dtype=dtype)(q)
    torch.linalg.solve(torch.eye(4), torch.ones(4, 4))


def _check_single_thread() -> None:
    threads = threading.active_count()
    if os.path.isdir("/proc/self/task"):  # noqa: PTH112
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"{threads} threads run after the imports; one was expected")


_MESSAGE_BYTES = 2**18
# CAP_KILL too: the parent-death signal is sent with the dying parent's rights
_KEPT_CAPABILITIES = (5, 6, 7)  # CAP_KILL, CAP_SETGID, CAP_SETUID


def main() -> None:
    """Serve the grader at the other end of standard input."""
    control = socket.socket(fileno=os.dup(0))
    control.set_inheritable(False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    settings = json.loads(control.recv(_MESSAGE_BYTES))
    versions = warm_up()
    offer_only(settings["packages"])
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    if settings["die_with_parent"]:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    if settings["keep_capabilities"]:
        linux.keep_capabilities(_KEPT_CAPABILITIES)
    zygote = ZygoteProcess(control, _confinement(settings))
    pidfd = os.pidfd_open(os.getpid())
    zygote.say({"ready": versions}, [pidfd])
    os.close(pidfd)
    zygote.serve()


def _confinement(settings: dict[str, Any]) -> lockdown.ChildConfinement:
    off = frozenset(settings["off"])
    ruleset = None
    if "landlock" not in off:
        ruleset = landlock.make_ruleset(settings["abi"], settings["readable"], [os.devnull])
    return lockdown.ChildConfinement(
        uid=settings["uid"],
        filter=bytes.fromhex(settings["filter"]),
        ruleset=ruleset,
        processes=settings["processes"],
        path_fds=settings["path_fds"],
        off=off,
    )


def _shared_memory(fds: list[int], size: int) -> linux.SharedMemory | None:
    """Map the memory of the plan's arrays; student code gets the pages, never the descriptor."""
    if not fds:
        return None
    memory = linux.SharedMemory(fds[0], size)
    os.close(fds[0])
    return memory


class ZygoteProcess:
    """Forks on request and reports how each child ended."""

    def __init__(self, control: socket.socket, confinement: lockdown.ChildConfinement) -> None:
        self._control = control
        self._confinement = confinement
        self._children: dict[int, int] = {}  # pidfd -> pid

    def say(self, message: dict[str, Any], fds: list[int]) -> None:
        """Send one message with descriptors."""
        socket.send_fds(self._control, [json.dumps(message).encode()], fds)

    def serve(self) -> None:
        """Answer until the grader is gone."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self._control.fileno():
                    if not self._answer(poll):
                        self._end()
                        return
                else:
                    poll.unregister(fd)
                    self._report(fd)

    def _answer(self, poll: select.poll) -> bool:
        """Fork for one request; False when the grader is gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 4)
        except OSError:
            return False
        if not data:
            return False
        self._await_children(poll)
        own = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            for fd in fds:
                os.close(fd)
            self.say({"no_child": str(error)}, [])
            return True
        if pid == 0:
            self._be_child(json.loads(data), fds, own)
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        poll.register(pidfd, select.POLLIN)
        self.say({"child": pid}, [pidfd])
        return True

    def _be_child(self, request: dict[str, Any], fds: list[int], parent: int) -> NoReturn:
        """Lock down, serve the job, end; never return into the zygote's loop.

        ``fds`` are the job's socket, the output pipe and, if the plan has any, the memory of its arrays.
        """
        code = OUR_FAULT
        try:
            self._control.detach()
            memory = _shared_memory(fds[2:], request["memory"])
            lockdown.arrange_descriptors(fds[0], fds[1], self._confinement)
            channel = child.FrameChannel(lockdown.JOB_FD, lockdown.JOB_FD)
            try:
                lockdown.lock(self._confinement, request["address_space"], request["cpu_s"], parent)
            except Exception as error:  # whatever it is: no student code has run, so it is ours
                channel.send(FrameKind.BROKEN, {"layer": f"{type(error).__name__}: {error}"})
            else:
                channel.send(FrameKind.LOCKED, {})
                child.serve(channel, memory, again="fork" in self._confinement.off)
                code = 0
        except BaseException:
            code = OUR_FAULT
        finally:
            os._exit(code)

    def _await_children(self, poll: select.poll) -> None:
        """See every earlier child to its end: two never live at the same time, and share nothing."""
        for pidfd in list(self._children):
            poll.unregister(pidfd)
            self._report(pidfd)

    def _report(self, pidfd: int) -> None:
        pid = self._children.pop(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        self.say({"ended": pid, "status": status, "cpu_s": usage.ru_utime + usage.ru_stime}, [])

    def _end(self) -> None:
        for pidfd in self._children:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
