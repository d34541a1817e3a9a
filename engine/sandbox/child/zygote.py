"""The process that has torch loaded and forks one child per submission (Linux).

It reads nothing that student code wrote: a job goes from the grader to the child over the child's
own socket.  Its only peer is the grader, over a sequenced-packet socket; when that closes, for
whatever reason, it kills its children and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
from typing import Any, NoReturn

from . import child, landlock, linux, lockdown
from .exits import OUR_FAULT
from .imports import offer_only
from .warm import warm_up
from .wire import Kind

__all__ = ["main"]

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
    zygote = Zygote(control, _confinement(settings))
    pidfd = os.pidfd_open(os.getpid())
    zygote.say({"ready": versions}, [pidfd])
    os.close(pidfd)
    zygote.serve()


def _confinement(settings: dict[str, Any]) -> lockdown.Confinement:
    off = frozenset(settings["off"])
    ruleset = None
    if "landlock" not in off:
        ruleset = landlock.make_ruleset(settings["abi"], settings["readable"], [os.devnull])
    return lockdown.Confinement(
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


class Zygote:
    """Forks on request and reports how each child ended."""

    def __init__(self, control: socket.socket, confinement: lockdown.Confinement) -> None:
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
            channel = child.Channel(lockdown.JOB_FD, lockdown.JOB_FD)
            try:
                lockdown.lock(self._confinement, request["address_space"], request["cpu_s"], parent)
            except Exception as error:  # whatever it is: no student code has run, so it is ours
                channel.send(Kind.BROKEN, {"layer": f"{type(error).__name__}: {error}"})
            else:
                channel.send(Kind.LOCKED, {})
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
