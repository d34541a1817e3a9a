"""What a fresh child does to itself before it sees any student code (Linux).

The order matters: descriptors, environment and limits first, then the user, then Landlock, then
seccomp, which forbids most of what came before.  At the end each layer is tried: a layer that the
tier promises and that doesn't hold stops the child.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import linux
from .layers import ALL_LAYERS, Layers

JOB_FD: Final = 3
_RULESET_FD: Final = 4
_PATH_FDS: Final = 100  # folders that stay open where the child's user can't walk to them
_SPARE_DESCRIPTORS: Final = 64
_DEVICE_DESCRIPTORS: Final = 256  # a GPU's driver holds some dozens
_FORBIDDEN: Final = (  # files that grow, core dumps, message queues, better priorities: limits of 0
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_CORE,
    resource.RLIMIT_MSGQUEUE,
    resource.RLIMIT_RTPRIO,
    resource.RLIMIT_NICE,
)


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
    layers : Layers
        Switched off by tests only.
    """

    uid: int | None
    filter: bytes
    ruleset: int | None
    processes: int
    path_fds: int = 0
    layers: Layers = ALL_LAYERS


def confinement_of(settings: Mapping[str, Any]) -> ChildConfinement:
    """Return the confinement that the grader's settings ask for; its ruleset is made here."""
    layers = Layers(**settings["layers"])
    ruleset = None
    if layers.landlock:
        ruleset = linux.make_ruleset(
            settings["abi"], settings["readable"], [os.devnull], settings.get("device_files", ())
        )
    return ChildConfinement(
        uid=settings["uid"],
        filter=bytes.fromhex(settings["filter"]),
        ruleset=ruleset,
        processes=settings["processes"],
        path_fds=settings["path_fds"],
        layers=layers,
    )


def arrange_descriptors(job: int, output: int, confinement: ChildConfinement) -> None:
    """Put the job's socket at 3, the output pipe at 1 and 2, and close everything else."""
    job, output = _dup_above(job), _dup_above(output)
    ruleset = confinement.ruleset
    if ruleset is not None:
        os.dup2(_dup_above(ruleset), _RULESET_FD, inheritable=False)
    os.dup2(job, JOB_FD, inheritable=False)
    for target in (1, 2):
        os.dup2(output, target, inheritable=False)
    # an own /dev/null: the flags of the zygote's would carry a message to the next submission
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if not confinement.layers.descriptors:
        return
    os.closerange(_RULESET_FD + (ruleset is not None), _PATH_FDS)
    os.closerange(_PATH_FDS + confinement.path_fds, os.sysconf("SC_OPEN_MAX"))


def _dup_above(fd: int) -> int:
    """Return a copy of a descriptor above those to be filled; copies that are too low are closed later."""
    fd = os.dup(fd)
    while fd <= _RULESET_FD:
        fd = os.dup(fd)
    return fd


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
    layers, uid = confinement.layers, confinement.uid if confinement.layers.uid else None
    os.environ.clear()
    if layers.rlimits:
        _step("rlimits", lambda: _set_limits(confinement.processes, cpu_s, limits))
    if uid is not None:
        _step("uid", lambda: _become(uid))
    elif layers.uid:
        # an ordinary user has some where a container or a unit of systemd adds them
        _step("capabilities", lambda: linux.set_capabilities(0))
    _step("privileges", lambda: _renounce(parent))
    if layers.landlock:
        _step("landlock", lambda: _enter_landlock(_RULESET_FD if not every_thread else confinement.ruleset))
    if layers.seccomp:
        _step("seccomp", lambda: linux.install_filter(confinement.filter, every_thread=every_thread))
    _try_layers(layers, uid)


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
    for name, value in (limits | dict.fromkeys(_FORBIDDEN, (0, 0))).items():
        resource.setrlimit(name, value)


def _become(uid: int) -> None:
    # groups first, then the group: once the user has changed, neither is allowed any more
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    linux.set_capabilities(0)  # the change of user leaves the inheritable set


def _renounce(parent: int) -> None:
    # after the change of user: that clears the parent-death signal
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the signal was asked for, so none will come
        os._exit(0)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)


def _enter_landlock(ruleset: int | None) -> None:
    if ruleset is None:
        raise ValueError("there is no ruleset")
    linux.enforce_ruleset(ruleset)
    os.close(ruleset)


def _try_layers(layers: Layers, uid: int | None) -> None:
    if layers.rlimits and resource.getrlimit(resource.RLIMIT_FSIZE) != (0, 0):
        raise BrokenLayerError("rlimits: not in force")
    if uid is not None and (set(os.getresuid() + os.getresgid()) != {uid} or os.getgroups()):
        raise BrokenLayerError("uid: not in force")
    if layers.uid and linux.capabilities():
        raise BrokenLayerError("capabilities: some are left")
    if layers.landlock:
        _must_fail("landlock", lambda: os.open(__file__, os.O_RDONLY))
    if layers.seccomp:
        _must_fail("seccomp", lambda: os.memfd_create("probe"))


def _must_fail(layer: str, act: Callable[[], int]) -> None:
    try:
        act()
    except OSError:
        return
    raise BrokenLayerError(f"{layer}: not in force")
