"""What a fresh child does to itself before it sees any student code (Linux).

The order matters: descriptors, environment and limits first, then the user, then Landlock, then
seccomp, which forbids most of what came before.  At the end each layer is tried: a layer that the
tier promises and that doesn't hold stops the child.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from . import landlock
from . import landlock as linux

__all__ = [
    "JOB_FD",
    "BrokenLayerError",
    "ChildConfinement",
    "arrange_descriptors",
    "lock",
    "lock_device_worker",
]

JOB_FD: Final = 3
_RULESET_FD: Final = 4
_PATH_FDS: Final = 100  # folders that stay open where the child's user can't walk to them
_SPARE_DESCRIPTORS: Final = 64
_DEVICE_DESCRIPTORS: Final = 256  # a GPU's driver holds some dozens


class BrokenLayerError(Exception):
    """A layer that couldn't be put up, or that doesn't hold."""


@dataclass(frozen=True)
class ChildConfinement:
    """What one zygote's children are bound to.

    Parameters
    ----------
    uid : int or None
        The slot's own user; None keeps the user (a user namespace, or an ordinary user).
    filter : bytes
        The seccomp program.
    ruleset : int or None
        The Landlock ruleset's descriptor.
    processes : int
        RLIMIT_NPROC: threads count too.
    path_fds : int
        How many folders are held open from descriptor 100 on.
    off : frozenset of str
        Layers switched off, by tests only.
    """

    uid: int | None
    filter: bytes
    ruleset: int | None
    processes: int
    path_fds: int = 0
    off: frozenset[str] = frozenset()


def arrange_descriptors(job: int, output: int, confinement: ChildConfinement) -> None:
    """Put the job's socket at 3, the output pipe at 1 and 2, and close everything else."""
    high = [os.dup(fd) for fd in (job, output)]  # out of the way of 1 to 4
    while min(high) <= _RULESET_FD:
        high = [os.dup(fd) for fd in high]
    ruleset = confinement.ruleset
    if ruleset is not None:
        held = os.dup(ruleset)
        while held <= _RULESET_FD:
            held = os.dup(held)
        os.dup2(held, _RULESET_FD, inheritable=False)
    os.dup2(high[0], JOB_FD, inheritable=False)
    for target in (1, 2):
        os.dup2(high[1], target, inheritable=False)
    # an own /dev/null: the flags of the zygote's would carry a message to the next submission
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if "descriptors" in confinement.off:
        return
    os.closerange(_RULESET_FD + (ruleset is not None), _PATH_FDS)
    os.closerange(_PATH_FDS + confinement.path_fds, os.sysconf("SC_OPEN_MAX"))


def lock(confinement: ChildConfinement, address_space: int, cpu_s: int, parent: int) -> None:
    """Put up all layers, then try them.

    Parameters
    ----------
    confinement : ChildConfinement
    address_space : int
        RLIMIT_AS in bytes.
    cpu_s : int
        RLIMIT_CPU in seconds; one second later the kernel kills.
    parent : int
        The zygote's process id: if it is gone already, so are we.

    Raises
    ------
    BrokenLayerError
        Its text names the layer.
    """
    limits = {
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_NOFILE: _SPARE_DESCRIPTORS,
        resource.RLIMIT_MEMLOCK: 0,
    }
    _put_up(confinement, cpu_s, limits, parent)


def lock_device_worker(confinement: ChildConfinement, data: int, cpu_s: int, parent: int) -> None:
    """Put up what a process can bear that holds a GPU, then try it.

    A GPU's driver reserves more address space than there is memory, so what is limited is private
    memory that can be written; memory that the driver locks isn't.  Its threads run already: the filter
    binds them too, Landlock only this thread and those that it starts.

    Parameters
    ----------
    confinement : ChildConfinement
    data : int
        RLIMIT_DATA in bytes.
    cpu_s, parent : int
        As for `lock`.

    Raises
    ------
    BrokenLayerError
        Its text names the layer.
    """
    limits = {resource.RLIMIT_DATA: data, resource.RLIMIT_NOFILE: _DEVICE_DESCRIPTORS}
    _put_up(confinement, cpu_s, limits, parent, every_thread=True)


def _put_up(
    confinement: ChildConfinement,
    cpu_s: int,
    limits: dict[int, int],
    parent: int,
    *,
    every_thread: bool = False,
) -> None:
    off = confinement.off
    os.environ.clear()
    if "rlimits" not in off:
        _step("rlimits", lambda: _set_limits(confinement.processes, cpu_s, limits))
    if confinement.uid is not None and "uid" not in off:
        uid = confinement.uid
        _step("uid", lambda: _become(uid))
    _step("privileges", lambda: _renounce(parent))
    if "landlock" not in off:
        _step("landlock", lambda: _enter_landlock(_RULESET_FD if not every_thread else confinement.ruleset))
    if "seccomp" not in off:
        _step("seccomp", lambda: linux.install_filter(confinement.filter, every_thread=every_thread))
    _try_layers(confinement)


def _step(layer: str, act: Callable[[], None]) -> None:
    try:
        act()
    except (OSError, ValueError) as error:
        raise BrokenLayerError(f"{layer}: {error}") from None


def _set_limits(processes: int, cpu_s: int, others: dict[int, int]) -> None:
    limits = {name: (value, value) for name, value in others.items()} | {
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_NPROC: (processes, processes),
    }
    for name in (
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_CORE,
        resource.RLIMIT_MSGQUEUE,
        resource.RLIMIT_RTPRIO,
        resource.RLIMIT_NICE,
    ):
        limits[name] = (0, 0)
    for name, value in limits.items():
        resource.setrlimit(name, value)


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    linux.set_capabilities(0)  # the change of user leaves the inheritable set


def _renounce(parent: int) -> None:
    # after the change of user: that clears the parent-death signal
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)


def _enter_landlock(ruleset: int | None) -> None:
    if ruleset is None:
        raise ValueError("there is no ruleset")
    landlock.restrict(ruleset)
    os.close(ruleset)


def _try_layers(confinement: ChildConfinement) -> None:
    off = confinement.off
    if "rlimits" not in off and resource.getrlimit(resource.RLIMIT_FSIZE) != (0, 0):
        raise BrokenLayerError("rlimits: not in force")
    if confinement.uid is not None and "uid" not in off:
        _check_user(confinement.uid)
    if "uid" not in off and "capabilities" not in off and linux.capabilities():
        raise BrokenLayerError("capabilities: some are left")
    if "landlock" not in off:
        _must_fail("landlock", lambda: os.open(__file__, os.O_RDONLY))
    if "seccomp" not in off:
        _must_fail("seccomp", lambda: os.memfd_create("probe"))


def _check_user(uid: int) -> None:
    if set(os.getresuid() + os.getresgid()) != {uid} or os.getgroups():
        raise BrokenLayerError("uid: not in force")


def _must_fail(layer: str, act: Callable[[], int]) -> None:
    try:
        act()
    except OSError:
        return
    raise BrokenLayerError(f"{layer}: not in force")
