"""The zygote: a process that has numpy loaded, or torch too, and forks one child per submission (Linux).

It reads nothing that student code wrote: a job goes from the grader to the child over the child's
own socket.  Its only peer is the grader, over a sequenced-packet socket; when that closes, for
whatever reason, it kills its children and ends.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import tempfile
import threading
from typing import Any, Final, NoReturn

from . import linux, lockdown, serve
from .modules import OUR_FAULT, offer_only
from .wire import FrameKind

_MESSAGE_BYTES: Final = 2**18  # far above a list of some hundred readable paths
_MESSAGE_FDS: Final = 4  # one more than a request has
# CAP_KILL too: the parent-death signal is sent with the dying parent's rights
_INHERITED_CAPABILITIES: Final = (5, 6, 7)  # CAP_KILL, CAP_SETGID, CAP_SETUID


def main() -> None:
    """Serve the grader at the other end of standard input."""
    control = socket.socket(fileno=os.dup(0))
    control.set_inheritable(False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    settings = json.loads(control.recv(_MESSAGE_BYTES))
    _warm_up(settings["library"])
    offer_only(settings["packages"], beside=settings["library"])
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    if settings["die_with_parent"]:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    if settings["keep_capabilities"]:
        linux.keep_capabilities(_INHERITED_CAPABILITIES)
    zygote = _Zygote(control, lockdown.confinement_of(settings))
    # With this descriptor the grader finds our process id as its own namespace numbers it.
    pidfd = os.pidfd_open(os.getpid())
    zygote.tell({"ready": True}, [pidfd])
    os.close(pidfd)
    zygote.answer_requests()
    os._exit(0)  # to take torch apart first would take longer than a submission


def _warm_up(library: str) -> None:
    gc.disable()  # imports leave next to no garbage, and to look for it takes a sixth of their time
    tempfile.tempdir = "/tmp"  # torch asks for one; nothing can be written there
    serve.import_modules()
    serve.run_numpy()
    if library != "numpy":
        serve.import_torch(library)
        serve.run_torch()
    _check_single_thread()
    gc.freeze()  # a collection in a child would write into every object's header, and so copy every page
    gc.enable()


def _check_single_thread() -> None:
    """After a fork the other threads would be missing, and operations that wait for them would hang."""
    threads = threading.active_count()
    if os.path.isdir("/proc/self/task"):  # noqa: PTH112
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"{threads} threads run after the imports; one was expected")


class _Zygote:
    """Forks on request and reports how each child ended."""

    def __init__(self, control: socket.socket, confinement: lockdown.ChildConfinement) -> None:
        self._control = control
        self._confinement = confinement
        self._children: dict[int, int] = {}  # pidfd -> pid

    def tell(self, message: dict[str, Any], fds: list[int]) -> None:
        """Send one message with descriptors."""
        socket.send_fds(self._control, [json.dumps(message).encode()], fds)

    def answer_requests(self) -> None:
        """Serve until the grader is gone, then kill what still runs."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd != self._control.fileno():
                    poll.unregister(fd)
                    self._report(fd)
                elif not self._answer(poll):
                    for pidfd in self._children:
                        with contextlib.suppress(OSError):
                            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    return

    def _answer(self, poll: select.poll) -> bool:
        """Fork for one request; False when the grader is gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, _MESSAGE_FDS)
        except OSError:
            return False
        if not data:
            return False
        # See every earlier child to its end: two never live at the same time, so none meets another.
        for pidfd in list(self._children):
            poll.unregister(pidfd)
            self._report(pidfd)
        zygote_pid = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            for fd in fds:
                os.close(fd)
            self.tell({"no_child": str(error)}, [])
            return True
        if pid == 0:
            self._be_child(json.loads(data), fds, zygote_pid)
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        poll.register(pidfd, select.POLLIN)
        self.tell({"child": pid}, [pidfd])
        return True

    def _be_child(self, request: dict[str, Any], fds: list[int], parent: int) -> NoReturn:
        """Lock down, serve the job, end; never return into the zygote's loop.

        ``fds`` are the job's socket, the output pipe and, if the plan has any, the memory of its arrays.
        """
        code = OUR_FAULT
        try:
            self._control.detach()
            memory = None
            if fds[2:]:  # student code gets the pages, never the descriptor
                memory = linux.SharedMemory(fds[2], request["memory"])
                os.close(fds[2])
            lockdown.arrange_descriptors(fds[0], fds[1], self._confinement)
            channel = serve.FrameChannel(lockdown.JOB_FD, lockdown.JOB_FD)
            try:
                lockdown.lock(self._confinement, request["address_space"], request["cpu_s"], parent)
            except Exception as error:  # whatever it is: no student code has run, so it is ours
                channel.send(FrameKind.BROKEN, {"layer": f"{type(error).__name__}: {error}"})
            else:
                channel.send(FrameKind.LOCKED, {})
                serve.serve(channel, memory, repeat=not self._confinement.layers.fork)
                code = 0
        except BaseException:
            code = OUR_FAULT
        finally:
            os._exit(code)

    def _report(self, pidfd: int) -> None:
        pid = self._children.pop(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        self.tell({"ended": pid, "status": status, "cpu_s": usage.ru_utime + usage.ru_stime}, [])
